//! Objects and lists that are emitted while they arrive.
//!
//! ```text
//! {"city":           strict JSON up to the first colon: emitted from here on
//! ["Oslo",           strict JSON up to the first comma: the same
//! {'city': 'Oslo'}   Python: converted when it is complete
//! ```
//!
//! What is almost JSON is mended. A fault that cannot be mended makes the call malformed.

use alloc::string::String;

use super::mode::TextMode;
use crate::{
    cursor::blanks,
    typing::TypeSet,
    value::{JsonScan, MendScan, Scanned},
};

/// The state of a value that may be an object or a list.
#[derive(Debug, Clone, Default)]
pub(super) struct JsonStream {
    phase: StreamPhase,
    /// Finds out whether the value begins as JSON.
    scan: JsonScan,
    mend: MendScan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum StreamPhase {
    /// The value is emitted when it is complete.
    #[default]
    Off,
    /// This number of bytes was scanned, and may begin an object or a list of these types.
    Possible(usize, TypeSet),
    /// The value is emitted while it arrives.
    Emitting,
    /// The emitted value is not JSON. This number of bytes was dropped.
    Faulty(u64),
}

impl JsonStream {
    /// Creates the state before a value.
    pub(super) fn new(mode: TextMode) -> Self {
        let types = match mode {
            TextMode::Typed(types, _) if !types.has(TypeSet::STRING) => types,
            TextMode::Json => TypeSet::ALL,
            _ => return Self::default(),
        };
        Self { phase: StreamPhase::Possible(0, types), ..Self::default() }
    }

    /// Returns whether a part of the value was emitted.
    pub(super) fn is_emitting(&self) -> bool {
        matches!(self.phase, StreamPhase::Emitting | StreamPhase::Faulty(_))
    }

    /// Returns the number of bytes that were dropped after a fault in emitted JSON.
    pub(super) fn fault(&self) -> Option<u64> {
        match self.phase {
            StreamPhase::Faulty(dropped) => Some(dropped),
            _ => None,
        }
    }

    /// Returns whether the emitted JSON is not complete.
    pub(super) fn is_open(&self) -> bool {
        self.phase == StreamPhase::Emitting && !self.mend.is_complete()
    }

    /// Returns the text that completes the emitted JSON, if one exists.
    pub(super) fn closing(&self) -> Option<String> {
        self.mend.closing()
    }

    /// Returns whether the emitted JSON differs from the text.
    pub(super) fn is_mended(&self) -> bool {
        self.mend.is_mended()
    }

    /// Reads the value's text so far. Returns whether its first `limit` bytes show that it can be
    /// emitted.
    pub(super) fn begins(&mut self, text: &str, limit: usize) -> bool {
        let StreamPhase::Possible(from, types) = self.phase else { return false };
        let mut at = from;
        self.phase = loop {
            let separates = !self.scan.in_string() && text[at..].starts_with([':', ',']);
            match self.scan.step(&text[at..]) {
                Ok(used) if at + used > limit => break StreamPhase::Off,
                Ok(0) => break StreamPhase::Possible(at, types),
                Ok(_) if separates => break StreamPhase::Emitting,
                Ok(used) if self.may_go_on(&text[at..at + used], types) => at += used,
                Ok(_) | Err(_) => break StreamPhase::Off,
            }
        };
        self.phase == StreamPhase::Emitting
    }

    /// Returns whether the value may be an object or a list of `types`, and is not complete.
    /// `read` was read last.
    fn may_go_on(&self, read: &str, types: TypeSet) -> bool {
        match self.scan.depth() {
            0 => read.trim_ascii().is_empty(),
            1 if read == "{" => types.has(TypeSet::OBJECT),
            1 if read == "[" => types.has(TypeSet::ARRAY),
            _ => true,
        }
    }

    /// Emits `text`, which follows the text emitted before, and leaves an undecided end in it.
    pub(super) fn emit(&mut self, text: &mut String, out: impl FnMut(&str)) {
        let fault = match self.phase {
            StreamPhase::Emitting if self.mend.is_complete() => {
                let at = blanks(text);
                (at < text.len()).then_some(at)
            }
            StreamPhase::Emitting => match self.mend.feed(text, out) {
                Scanned::More { used } | Scanned::Noted { used, .. } => {
                    text.drain(..used);
                    return;
                }
                Scanned::End { used } => {
                    let at = used + blanks(&text[used..]);
                    (at < text.len()).then_some(at)
                }
                Scanned::Bad { at, .. } => Some(at),
            },
            StreamPhase::Faulty(_) => Some(0),
            StreamPhase::Off | StreamPhase::Possible(..) => return,
        };
        if let Some(at) = fault {
            let dropped = self.fault().unwrap_or(0) + (text.len() - at) as u64;
            self.phase = StreamPhase::Faulty(dropped);
        }
        text.clear();
    }
}
