//! Descriptions of markers and held text.

use std::borrow::Cow;

use jail_match::{Channel, ChannelMask, Edge, Held, HeldKind, OnCommit, Then};

/// Effect of an end tag.
pub(super) const END_TAG: &str = "ends a call, or a block of calls";

/// Returns the effect of a marker, in words.
pub(super) fn edge(edge: &Edge) -> Cow<'static, str> {
    let channel = |channel| match channel {
        Channel::REASONING => "reasoning",
        Channel::CONTENT => "the answer",
        Channel::HIDDEN => "text that is left out",
        _ => "a channel",
    };
    match edge.then {
        Then::Erase => "is removed".into(),
        Then::Enter(to) => format!("opens {}", channel(to)).into(),
        Then::Leave if edge.on.has(Channel::REASONING) => "closes the reasoning".into(),
        Then::Leave if edge.on == ChannelMask::NONE => "closes the tool call".into(),
        Then::Leave => "closes the channel it stands in".into(),
        Then::Switch(to) => format!("begins {}", channel(to)).into(),
        Then::Body(_, OnCommit::Stay) => "opens a tool call".into(),
        Then::Body(_, OnCommit::Leave) => "opens a tool call and ends the reasoning".into(),
    }
}

/// Returns why `held` is held, and what would release it. `tail` is the held text.
pub(super) fn held(held: Held, tail: &str, edges: &[Edge]) -> String {
    match held.kind {
        HeldKind::Marker => {
            let start = tail.trim_start_matches('\n');
            let mut markers: Vec<&str> = edges.iter().map(|edge| &*edge.marker).collect();
            markers.retain(|marker| !start.is_empty() && marker.starts_with(start));
            markers.sort_unstable();
            markers.dedup();
            match &markers[..] {
                [] => "may be the start of a marker; the next characters decide".to_owned(),
                [one] => {
                    format!("may become {}; any other character releases it as text", code(one))
                }
                many => {
                    let first: Vec<String> =
                        many.iter().take(3).map(|marker| code(marker)).collect();
                    let more = if many.len() > 3 { " or another marker" } else { "" };
                    let first = first.join(", ");
                    format!("may become {first}{more}; any other character releases it as text")
                }
            }
        }
        HeldKind::Candidate => {
            "an opener was read; once it is sure that a call follows it is one, \
                                and once it is sure that none does it is text"
                .to_owned()
        }
        HeldKind::Whitespace => {
            "whitespace that may only frame markup; the next visible character \
                                 decides"
                .to_owned()
        }
        HeldKind::Call => "inside a call: the next bytes say whether this is data, an escape or \
                           the call's end"
            .to_owned(),
        HeldKind::Utf8 => "a character is not whole; its other bytes release it".to_owned(),
        HeldKind::Reasoning => {
            "reasoning that is the answer if there is no other; visible text, a \
                                call or the end decides"
                .to_owned()
        }
        _ => "inside a jailed block, or what may be the start of one; its end or a limit decides"
            .to_owned(),
    }
}

/// Formats text as code between backticks, with more backticks than the text has in a row. Line
/// ends and tabs become visible signs; backslashes are unchanged.
pub(super) fn code(text: &str) -> String {
    let mut longest = 0_usize;
    let mut run = 0_usize;
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        run = if c == '`' { run.saturating_add(1) } else { 0 };
        longest = longest.max(run);
        shown.push(match c {
            '\n' => '\u{21b5}',
            '\r' => '\u{240d}',
            '\t' => '\u{21e5}',
            c => c,
        });
    }
    let fence = "`".repeat(longest.saturating_add(1));
    let space = if longest > 0 { " " } else { "" };
    format!("{fence}{space}{shown}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_with_backticks_gets_a_longer_fence_and_keeps_backslashes() {
        assert_eq!(code("a\\n\nb"), "`a\\n\u{21b5}b`");
        assert_eq!(code("```json"), "```` ```json ````");
        assert_eq!(code("say `x`"), "`` say `x` ``");
    }
}
