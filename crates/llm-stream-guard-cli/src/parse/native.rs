//! Calls the server has already found: passed on as events, numbered with the guard's.

use llm_stream_guard::End;

use crate::parse::shown::{Note, Shown};

/// The most argument bytes of a call kept to judge them at its end.
const KEPT: usize = 8 << 20;

/// A piece of a call as a chunk carries it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fragment<'f> {
    /// The server's number of the call.
    pub index: u64,
    /// Its id, in the first piece.
    pub id: Option<&'f str>,
    /// Its name, in the first piece.
    pub name: Option<&'f str>,
    /// More of its arguments.
    pub arguments: Option<&'f str>,
}

/// Numbers the calls of a choice in the order they begin, whoever found them.
#[derive(Debug, Default)]
pub(super) struct NativeCalls {
    next: u32,
    of_guard: u32,
    open: Option<Open>,
    /// Beyond the highest number of the server so far.
    highest: u64,
}

#[derive(Debug)]
struct Open {
    native: u64,
    index: u32,
    arguments: String,
    /// Longer than [`KEPT`]: no longer judged.
    unchecked: bool,
}

impl NativeCalls {
    /// The number of a call the guard begins.
    pub(super) fn number_of_guard(&mut self) -> u32 {
        self.of_guard = self.number();
        self.of_guard
    }

    /// The number of the guard's latest call.
    #[must_use]
    pub(super) fn guard_call(&self) -> u32 {
        self.of_guard
    }

    fn number(&mut self) -> u32 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Passes on a piece. Calls come one after the other: a piece of a new one ends the one
    /// before it, and a piece of a call that ended is counted.
    pub(super) fn push(&mut self, fragment: Fragment<'_>, show: &mut dyn FnMut(Shown<'_>)) {
        if self.open.as_ref().is_none_or(|open| open.native != fragment.index) {
            if fragment.index < self.highest {
                let bytes = fragment.arguments.map(|text| text.len() as u64);
                show(Shown::Note(Note { kind: "late_arguments", bytes, ..Note::default() }));
                return;
            }
            self.end(End::Stop, show);
            self.highest = fragment.index.saturating_add(1);
            let index = self.number();
            let made = format!("call_{index:024}");
            let id = fragment.id.filter(|id| !id.is_empty()).unwrap_or(&made);
            show(Shown::CallStart { index, id, name: fragment.name.unwrap_or_default() });
            let (native, arguments) = (fragment.index, String::new());
            self.open = Some(Open { native, index, arguments, unchecked: false });
        }
        if let (Some(open), Some(text)) = (&mut self.open, fragment.arguments)
            && !text.is_empty()
        {
            show(Shown::CallArguments { index: open.index, fragment: text });
            open.unchecked |= open.arguments.len() + text.len() > KEPT;
            if open.unchecked {
                open.arguments = String::new();
            } else {
                open.arguments.push_str(text);
            }
        }
    }

    /// Ends the open call, if there is one.
    pub(super) fn end(&mut self, end: End, show: &mut dyn FnMut(Shown<'_>)) {
        // What comes after the end may count from 0 again.
        self.highest = 0;
        let Some(Open { index, arguments, unchecked, .. }) = self.open.take() else { return };
        let whole = arguments.is_empty()
            || serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&arguments)
                .is_ok();
        if arguments.is_empty() && !unchecked && end == End::Stop {
            // Servers write nothing for no arguments; a call's arguments are an object.
            show(Shown::CallArguments { index, fragment: "{}" });
        }
        let outcome = match end {
            End::Stop if unchecked => {
                let call = Some(index);
                show(Shown::Note(Note { kind: "arguments_unchecked", call, ..Note::default() }));
                "complete"
            }
            End::Stop if whole => "complete",
            End::Stop => "malformed",
            _ if whole && !arguments.is_empty() => "complete",
            _ => "incomplete",
        };
        show(Shown::CallEnd { index, outcome });
    }
}
