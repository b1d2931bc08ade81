//! The roles that a case expects of its wire.

use llm_stream_guard::{Event, Profile, RoleReader, Token, TokenKind};
use stream_laws::vector::{CaseTokens, Mismatch, VectorCase};

use super::case::{builder_with, end};

/// The names of each role in a case. The first is the library's own name.
const NAMES: [&[&str]; 6] = [
    &["content"],
    &["reasoning"],
    &["call_name", "call name", "name"],
    &["arguments"],
    &["markup"],
    &["dropped"],
];

/// Runs the pieces of the case and compares their roles with those that it expects.
pub(super) fn check(
    case: &VectorCase,
    tokens: &CaseTokens,
    own: &[Profile],
) -> Result<(), Mismatch> {
    let Some(expected) = &tokens.roles else { return Ok(()) };
    let problem = |field: String| Mismatch { field, expected: String::new(), got: String::new() };
    let mut wanted: Vec<(&str, String)> = Vec::new();
    for (role, text) in expected {
        let known = NAMES.iter().find(|names| names.contains(&role.as_str()));
        let name = known.and_then(|names| names.first().copied());
        let name = name.ok_or_else(|| problem(format!("`roles`: `{role}` is not a role")))?;
        append(&mut wanted, name, text);
    }
    let found = roles(case, tokens, own).map_err(problem)?;
    let differs = || {
        let at = wanted.iter().zip(&found).take_while(|(one, other)| one == other).count();
        let (expected, got) = (wanted.get(at), found.get(at));
        problem(format!("roles[{at}]: expected {expected:?}, found {got:?}"))
    };
    if wanted == found { Ok(()) } else { Err(differs()) }
}

fn roles(
    case: &VectorCase,
    tokens: &CaseTokens,
    own: &[Profile],
) -> Result<Vec<(&'static str, String)>, String> {
    let guard = builder_with(case, own)?.build().map_err(|error| error.to_string())?;
    let mut reader = RoleReader::new(guard).map_err(|error| error.to_string())?;
    let (mut spans, mut sink) = (Vec::new(), |_: Event<'_>| {});
    for (id, (text, marker)) in (0..).zip(&tokens.pieces) {
        let kind = if *marker { TokenKind::Marker } else { TokenKind::Text };
        let pushed = reader.push(Token { id, text, kind }, &mut sink, |span| spans.push(span));
        pushed.map_err(|error| error.to_string())?;
    }
    let ended = reader.finish(end(case), &mut sink, |span| spans.push(span));
    ended.map_err(|error| error.to_string())?;
    let (mut found, mut at, mut token) = (Vec::new(), 0, 0);
    for span in spans {
        if span.token != token {
            (token, at) = (span.token, 0);
        }
        let piece = usize::try_from(token).ok().and_then(|token| tokens.pieces.get(token));
        let end = span.bytes.saturating_add(at);
        let text = piece.and_then(|(text, _)| text.get(at..end)).unwrap_or_default();
        append(&mut found, span.role.name(), text);
        at = end;
    }
    Ok(found)
}

/// Appends a stretch of text. Neighbours with the same role are joined.
fn append<'r>(stretches: &mut Vec<(&'r str, String)>, role: &'r str, text: &str) {
    match stretches.last_mut() {
        Some((last, whole)) if *last == role => whole.push_str(text),
        _ if text.is_empty() => {}
        _ => stretches.push((role, text.to_owned())),
    }
}
