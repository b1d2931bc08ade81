//! A test harness that runs readers over text in pieces: complete, at every cut, and at random
//! cuts.

use alloc::{format, string::String, vec::Vec};

use serde_json::Value;

use crate::{
    CallLimits,
    ids::mix,
    value::{Note, Scanned, Syntax, Typing, ValueDialect, ValueKind, ValueReader},
};

/// A kind of reader, its dialect and its schema.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) kind: ValueKind,
    pub(super) syntax: Syntax,
    pub(super) quotes: Vec<String>,
    pub(super) ends: Vec<String>,
    pub(super) follows: Vec<String>,
    pub(super) limits: CallLimits,
    pub(super) schema: Option<Value>,
}

impl Case {
    pub(super) fn new(kind: ValueKind, syntax: Syntax) -> Self {
        let limits = CallLimits::default();
        Self {
            kind,
            syntax,
            quotes: Vec::new(),
            ends: Vec::new(),
            follows: Vec::new(),
            limits,
            schema: None,
        }
    }

    pub(super) fn dialect(&self) -> ValueDialect<'_> {
        ValueDialect {
            tools: None,
            quotes: &self.quotes,
            ends: &self.ends,
            follows: &self.follows,
            ..ValueDialect::new(self.syntax, self.limits)
        }
    }

    /// Reads `pieces`, and returns the JSON, then notes as `#name@offset`, then the end:
    ///
    /// - `.OFFSET` for a complete value,
    /// - `!OFFSET` for a fault,
    /// - `?` and the JSON that would complete it, for a cut value.
    pub(super) fn read<'t>(&self, pieces: impl IntoIterator<Item = &'t str>) -> String {
        let typing = self.schema.as_ref();
        let typing = typing
            .map(|schema| Typing { parameters: schema.as_object().map(|_| schema), quoted: true });
        let dialect = ValueDialect { typing, ..self.dialect() };
        let mut reader = ValueReader::new(self.kind);
        let (mut json, mut notes, mut tail, mut done) =
            (String::new(), String::new(), String::new(), 0);
        let mut begun = false;
        let ended = ValueDialect { ended: true, ..dialect };
        // After the last piece, the unread rest is fed again as the end of the stream.
        for piece in pieces.into_iter().map(Some).chain([None]) {
            if let Some(piece) = piece.filter(|piece| tail.is_empty() && reader.passes(piece)) {
                json.push_str(piece);
                done += piece.len();
                continue;
            }
            tail.push_str(piece.unwrap_or_default());
            let dialect = if piece.is_some() { &dialect } else { &ended };
            loop {
                let before = json.len();
                let scanned = reader.feed(dialect, &tail, &mut |text| json.push_str(text));
                assert!(begun || json.len() == before, "JSON before the value was certain");
                match scanned {
                    Scanned::More { used } => {
                        done += used;
                        tail.drain(..used);
                        break;
                    }
                    Scanned::Noted { used, note } => {
                        done += used;
                        tail.drain(..used);
                        begun |= note == Note::Begun;
                        assert_eq!(reader.has_begun(), begun);
                        if !matches!(note, Note::Begun | Note::Searched(_)) {
                            notes += &format!(" #{note:?}@{done}");
                        }
                    }
                    Scanned::End { used } => return format!("{json}{notes} .{}", done + used),
                    Scanned::Bad { at, fault } => {
                        return format!("{json}{notes} !{} {fault:?}", done + at);
                    }
                }
            }
        }
        let mut rest = String::new();
        let used = reader.finish(&ended, &tail, &mut |text| rest.push_str(text));
        if let Some(used) = used {
            return format!("{json}{rest}{notes} .{}", done + used);
        }
        match reader.closing(&tail) {
            Some(closing) => format!("{json}{notes} ?{closing}"),
            None => format!("{json}{notes} ?"),
        }
    }

    /// Checks that `wire` gives `expected` at every cut.
    pub(super) fn check(&self, wire: &str, expected: &str) {
        assert_eq!(self.read([wire]), expected, "whole: {wire:?}");
        self.check_cuts(wire);
    }

    /// Checks that `wire` gives the same result at every cut.
    pub(super) fn check_cuts(&self, wire: &str) {
        let whole = self.read([wire]);
        assert_eq!(self.read(wire.split_inclusive(|_: char| true)), whole, "scalars: {wire:?}");
        if wire.len() > 2000 {
            return;
        }
        let cuts: Vec<usize> = wire.char_indices().skip(1).map(|(at, _)| at).collect();
        for &cut in &cuts {
            let (head, tail) = wire.split_at(cut);
            assert_eq!(self.read([head, tail]), whole, "{head:?} + {tail:?}");
        }
        let mut random = Random(wire.len() as u64);
        for _ in 0..16 {
            let mut pieces = Vec::new();
            let mut from = 0;
            for &cut in &cuts {
                if random.below(4) == 0 {
                    pieces.push(&wire[from..cut]);
                    from = cut;
                }
            }
            pieces.push(&wire[from..]);
            assert_eq!(self.read(pieces.iter().copied()), whole, "{pieces:?}");
        }
    }

    pub(super) fn check_rows(&self, rows: &[(&str, &str)]) {
        for (wire, expected) in rows {
            self.check(wire, expected);
        }
    }
}

/// Random numbers that depend on a seed alone. The laws' own generator is not in the packed crate.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0) % bound as u64) as usize
    }
}
