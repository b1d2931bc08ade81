//! What stands around the calls of a block: literals before them, the closer behind them, and
//! the way back to text behind a fault.

use jail_match::{Feed, Resume};
use serde::{Deserialize, Serialize};

use super::{
    step::not_mine,
    text::{BLANKS, Is, Undecided, any, find, is, space},
};
use crate::{
    calls::Calls,
    event::{CallSink, DiagnosticKind},
    grammar::Text,
};

/// Whether an end marker is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// Its absence is reported.
    #[default]
    Expected,
    /// It may be missing.
    Optional,
}

/// Whether the opener of the active body stands again at index `i`, whitespace allowed before it.
/// Repeated before a call's header it goes with the first.
pub(crate) enum Repeated {
    /// It does, up to this index.
    Until(usize),
    /// The text ends too early; from this index on it comes again.
    Undecided(usize),
    No,
}

pub(crate) fn repeated(text: &str, i: usize, calls: &Calls) -> Repeated {
    let Some(marker) = calls.repeatable() else { return Repeated::No };
    let at = i + space(&text[i..]);
    match is(&text[at..], marker) {
        Is::Yes => Repeated::Until(at + marker.len()),
        Is::Maybe => Repeated::Undecided(at),
        Is::No => Repeated::No,
    }
}

/// Reads `literal` from index `i` on, whitespace allowed before it: the index behind it, or what
/// to tell the driver.
pub(crate) fn glue(literal: &str, text: &str, i: usize) -> Result<usize, Feed> {
    // The literal may itself begin with whitespace.
    let mut at = i;
    loop {
        match is(&text[at..], literal) {
            Is::Yes => return Ok(at + literal.len()),
            Is::Maybe => return Err(Feed::More { used: at }),
            Is::No => match text.as_bytes().get(at) {
                Some(byte) if byte.is_ascii_whitespace() => at += 1,
                Some(_) => {
                    return Err(not_mine(text, at));
                }
                None => return Err(Feed::More { used: at }),
            },
        }
    }
}

/// Looks for one of `closers` at index `i`, behind `items` calls.
pub(crate) fn close(
    (closers, closing): (&[Text], Closing),
    items: u32,
    text: &str,
    i: usize,
    calls: &Calls,
    sink: &mut dyn CallSink,
) -> Feed {
    let then = Resume::SameChannel;
    if closers.is_empty() {
        return Feed::Done { used: i, then };
    }
    let at = i + space(&text[i..]);
    let found = if at - i > BLANKS { Ok(None) } else { any(&text[at..], closers) };
    match found {
        Err(Undecided) => Feed::More { used: i },
        Ok(Some(n)) => {
            if items == 0 {
                calls.diagnose(DiagnosticKind::EmptyList, at, 0, sink);
            }
            Feed::Done { used: at + closers[n].len(), then }
        }
        Ok(None) if items == 0 => not_mine(text, at.min(i + BLANKS)),
        Ok(None) => {
            if closing == Closing::Expected {
                calls.diagnose(DiagnosticKind::MissingCloser, i, 0, sink);
            }
            Feed::Done { used: i, then }
        }
    }
}

/// Drops what follows a fault: up to and with the next of `closers`, or up to the next opener of
/// the family.
pub(crate) fn skip(
    closers: &[Text],
    dropped: &mut u64,
    text: &str,
    i: usize,
    calls: &Calls,
    sink: &mut dyn CallSink,
) -> Feed {
    let then = Resume::SameChannel;
    let stops = closers.iter().chain(calls.openers.iter()).map(|t| t.as_ref());
    match find(&text[i..], stops) {
        Ok((at, n)) => {
            let at = i + at;
            *dropped += (at - i) as u64;
            calls.diagnose(DiagnosticKind::Skipped, at, *dropped, sink);
            let closer = closers.get(n).map_or(0, |closer| closer.len());
            Feed::Done { used: at + closer, then }
        }
        Err(keep) => {
            *dropped += keep as u64;
            Feed::More { used: i + keep }
        }
    }
}
