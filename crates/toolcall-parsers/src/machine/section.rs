//! Reading of the text after a call: its end tags, the next call, and the end of the section.
//!
//! ```text
//! <calls>[{"name": "f", …}, {"name": "g", …}]</calls>
//!                         ^ Between           ^ SectionEnd(0)
//! ```

use core::ops::Range;

use super::{
    call::{Machine, MachineStep},
    call_sink::CallSink,
    plan::{Arguments, Bracket, EndTags, Missing},
    state::{List, MachineState},
};
use crate::{
    cursor::{TextCursor, Undecided, few_blanks, longest_prefix},
    event::DiagnosticKind,
    limits::{MAX_BLANKS, MAX_SURPLUS_BRACKETS},
    texts::TextMatch,
};

/// The text at the position of an end tag.
enum EndTag {
    /// An end tag. `next` is the number of the tag that may follow, and `excess` the number of
    /// surplus brackets before it.
    Found { next: u8, tag: Range<usize>, excess: u64 },
    /// Text that is not an end tag.
    Other,
}

impl Machine {
    /// Reads the text after a call's arguments.
    pub(super) fn call_end(&mut self, n: u8, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        if self.place.list == List::Call {
            self.state = MachineState::Between;
            return MachineStep::Go;
        }
        let ends = &plan.leaf(self.place.leaf).ends;
        match end_tag(ends, n, &out.cursor) {
            Err(Undecided) => MachineStep::more(out.cursor.at),
            Ok(EndTag::Found { next, tag, excess }) => {
                if excess > 0 {
                    out.diagnose(DiagnosticKind::Skipped, tag.end, excess);
                }
                out.cursor.at = tag.end;
                out.end_tag(tag.start, tag.len());
                self.state = MachineState::CallEnd(next);
                MachineStep::Go
            }
            Ok(EndTag::Other) => {
                let missing = usize::from(n) < ends.tags.len();
                if missing && n == 0 && ends.missing == Missing::Reported {
                    out.diagnose(DiagnosticKind::MissingCloser, out.cursor.at, 0);
                }
                self.after_call(out.cursor.at)
            }
        }
    }

    /// Reads the text after a call of a section or a list.
    pub(super) fn between(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let from = out.cursor.at;
        if self.place.list == List::None && few_blanks(out.cursor.rest()) > MAX_BLANKS {
            let Some(id) = self.place.section else { return MachineStep::done(from) };
            return self.unclosed(&plan.section(id).ends, from, out);
        }
        out.cursor.skip_blanks();
        let Some(byte) = out.cursor.peek() else {
            // White space after a call without enclosing markup may belong to the answer.
            if self.place.list == List::None {
                out.cursor.at = from;
            }
            return MachineStep::more(out.cursor.at);
        };
        if self.place.list != List::None {
            match byte {
                b',' => {
                    out.cursor.advance(1);
                    return MachineStep::Go;
                }
                b']' => {
                    out.cursor.advance(1);
                    return self.end_list();
                }
                _ => {}
            }
        }
        if self.place.list == List::Call {
            if byte != b'{' {
                return self.bad(out);
            }
            let leaf = plan.leaf(self.place.leaf);
            self.call.item_at = out.stream_offset(out.cursor.at);
            self.begin_reader(&leaf.arguments);
            self.state = MachineState::Arguments;
            return MachineStep::Go;
        }
        let Some(id) = self.place.section else { return MachineStep::done(from) };
        let section = plan.section(id);
        if self.place.list == List::None {
            if byte == b',' && section.bracket == Bracket::Square {
                out.cursor.advance(1);
                return MachineStep::Go;
            }
            let separators = section.separators.iter().map(|text| &**text);
            match longest_prefix(out.cursor.rest(), separators) {
                Err(Undecided) => {
                    out.cursor.at = from;
                    return MachineStep::more(from);
                }
                Ok(Some(n)) => {
                    out.cursor.advance(section.separators[n].len());
                    return MachineStep::Go;
                }
                Ok(None) => {}
            }
            match end_tag(&section.ends, 0, &out.cursor) {
                Err(Undecided) => {
                    out.cursor.at = from;
                    return MachineStep::more(from);
                }
                Ok(EndTag::Found { next, tag, .. }) => {
                    out.cursor.at = tag.end;
                    out.end_tag(tag.start, tag.len());
                    self.state = MachineState::SectionEnd(next);
                    return MachineStep::Go;
                }
                Ok(EndTag::Other) => {}
            }
        }
        let node = plan.node(section.calls);
        let tags = node.tags.iter().map(|tag| &*tag.text);
        let ends = plan.leaf(self.place.leaf).ends.tags.iter().flatten().map(|t| &**t);
        let opens = section.opens.iter().map(|open| &**open);
        let count = node.tags.len();
        match longest_prefix(out.cursor.rest(), tags.chain(opens).chain(ends)) {
            Err(Undecided) => {
                if self.place.list == List::None {
                    out.cursor.at = from;
                }
                return MachineStep::more(out.cursor.at);
            }
            Ok(Some(n)) if n < count => {
                self.call.item_at = out.stream_offset(out.cursor.at);
                out.cursor.advance(node.tags[n].text.len());
                self.go(plan, node.tags[n].to);
                self.place.section = Some(id);
                return MachineStep::Go;
            }
            // Another section begins, although this one did not end. It is a new candidate. The
            // blanks before it were consumed if a list is open.
            Ok(Some(n)) if n < count.saturating_add(section.opens.len()) => {
                let at = if self.place.list == List::None { from } else { out.cursor.at };
                return self.unclosed(&section.ends, at, out);
            }
            // A repetition of the call's end tag is skipped.
            Ok(Some(n)) => {
                let mut ends = plan.leaf(self.place.leaf).ends.tags.iter().flatten();
                let len = ends
                    .nth(n.saturating_sub(count).saturating_sub(section.opens.len()))
                    .map_or(0, |end| end.len());
                out.end_tag(out.cursor.at, len);
                out.cursor.advance(len);
                return MachineStep::Go;
            }
            Ok(None) => {}
        }
        let begins = node
            .leaves
            .iter()
            .any(|&leaf| matches!(plan.leaf(leaf).arguments, Arguments::Object(_)) && byte == b'{');
        let scalar = out.cursor.rest().chars().next().unwrap_or('\0');
        let named = node.field.is_some() && (scalar.is_alphabetic() || scalar == '_');
        if begins || named {
            self.call.item_at = out.stream_offset(out.cursor.at);
            self.place.node = section.calls;
            self.state = MachineState::Header;
            return MachineStep::Go;
        }
        if self.place.list != List::None {
            return self.bad(out);
        }
        self.unclosed(&section.ends, from, out)
    }

    /// Ends a list at its `]`.
    fn end_list(&mut self) -> MachineStep {
        self.state = match self.place.list {
            List::Call => MachineState::CallEnd(0),
            _ => MachineState::SectionEnd(0),
        };
        self.place.list = List::None;
        MachineStep::Go
    }

    /// Ends a section at `at`, without its end tag.
    fn unclosed(&self, ends: &EndTags, at: usize, out: &mut CallSink<'_>) -> MachineStep {
        if ends.missing == Missing::Reported && !ends.tags.is_empty() {
            out.diagnose(DiagnosticKind::MissingCloser, at, 0);
        }
        MachineStep::done(at)
    }

    /// Reads the text after an empty list. If an end tag follows, the list is markup, otherwise
    /// text.
    pub(super) fn empty(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let ends = match (self.place.list, self.place.section) {
            (List::Section, Some(section)) => &plan.section(section).ends,
            _ => &plan.leaf(self.place.leaf).ends,
        };
        match end_tag(ends, 0, &out.cursor) {
            Err(Undecided) => MachineStep::more(out.cursor.at),
            Ok(EndTag::Found { tag, .. }) => {
                out.diagnose(DiagnosticKind::EmptyList, tag.end, 0);
                MachineStep::done(tag.end)
            }
            Ok(EndTag::Other) => {
                out.cursor.advance(few_blanks(out.cursor.rest()).min(MAX_BLANKS));
                self.bad(out)
            }
        }
    }

    /// Reads the text between the opener of a section and its first call.
    ///
    /// If a call follows, the text is skipped and reported. If the section ends or another begins
    /// first, only the opener is markup. Until then the driver keeps the text as a candidate.
    pub(super) fn skip_to_first_call(&mut self, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let Some(id) = self.place.section else { return self.bad(out) };
        let section = plan.section(id);
        let node = plan.node(section.calls);
        let ends = section.ends.tags.iter().flatten().map(|tag| &**tag);
        let opens = section.opens.iter().map(|open| &**open);
        let texts = node.tags.iter().map(|tag| &*tag.text).chain(ends).chain(opens);
        while let Some(scalar) = out.cursor.rest().chars().next() {
            let begins =
                plan.recovery_texts.match_at(out.cursor.rest().as_bytes()) != TextMatch::None;
            let found =
                if begins { longest_prefix(out.cursor.rest(), texts.clone()) } else { Ok(None) };
            match found {
                Err(Undecided) => break,
                Ok(Some(n)) if n < node.tags.len() => {
                    self.state = MachineState::Header;
                    return MachineStep::Go;
                }
                Ok(Some(_)) => return self.bad(out),
                Ok(None) => {
                    let len = scalar.len_utf8();
                    out.cursor.advance(len);
                    let skipped = if scalar.is_ascii_whitespace() { 0 } else { len };
                    self.skipped.bytes = self.skipped.bytes.saturating_add(skipped as u64);
                }
            }
        }
        MachineStep::more(out.cursor.at)
    }

    /// Reads the text after the calls of a section.
    pub(super) fn section_end(&mut self, n: u8, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        let Some(section) = self.place.section else { return MachineStep::done(out.cursor.at) };
        let ends = &plan.section(section).ends;
        let from = out.cursor.at;
        match end_tag(ends, n, &out.cursor) {
            Err(Undecided) => MachineStep::more(from),
            Ok(EndTag::Found { next, tag, excess }) => {
                if self.place.calls_seen == 0 {
                    out.diagnose(DiagnosticKind::EmptyList, tag.end, 0);
                    self.place.calls_seen = 1;
                }
                if excess > 0 {
                    out.diagnose(DiagnosticKind::Skipped, tag.end, excess);
                }
                out.cursor.at = tag.end;
                out.end_tag(tag.start, tag.len());
                self.state = MachineState::SectionEnd(next);
                MachineStep::Go
            }
            Ok(EndTag::Other) if self.place.calls_seen == 0 && !self.readers.object.answered => {
                out.cursor.advance(few_blanks(out.cursor.rest()).min(MAX_BLANKS));
                self.bad(out)
            }
            Ok(EndTag::Other) if n == 0 => self.unclosed(ends, out.cursor.at, out),
            Ok(EndTag::Other) => MachineStep::done(out.cursor.at),
        }
    }
}

/// Returns the end tag at the cursor, from number `n` on. Tags may be missing, but not change their
/// order.
fn end_tag(ends: &EndTags, n: u8, cursor: &TextCursor<'_>) -> Result<EndTag, Undecided> {
    let left = ends.tags.get(usize::from(n)..).unwrap_or(&[]);
    if left.is_empty() {
        return Ok(EndTag::Other);
    }
    let space = few_blanks(cursor.rest());
    if space > MAX_BLANKS {
        return Ok(EndTag::Other);
    }
    let at = cursor.at.saturating_add(space);
    if let Some((next, tag)) = tag_at(left, n, cursor.text, at)? {
        return Ok(EndTag::Found { next, tag, excess: 0 });
    }
    // Surplus closing brackets before the end tag are skipped.
    let excess = |byte: &u8| matches!(byte, b'}' | b']' | b')') || byte.is_ascii_whitespace();
    let rest = &cursor.text[at..];
    let run = rest.bytes().take(MAX_SURPLUS_BRACKETS + 1).take_while(excess).count();
    if n > 0 || run == 0 || run > MAX_SURPLUS_BRACKETS || rest.trim_ascii_start().len() < rest.len()
    {
        return Ok(EndTag::Other);
    }
    if run == rest.len() {
        return Err(Undecided);
    }
    Ok(match tag_at(left, n, cursor.text, at.saturating_add(run))? {
        Some((next, tag)) => {
            let bytes = rest[..run].bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
            EndTag::Found { next, tag, excess: bytes as u64 }
        }
        None => EndTag::Other,
    })
}

/// Returns the tag of `left` at index `at`, as the number of the next tag and its own position.
fn tag_at(
    left: &[alloc::vec::Vec<alloc::boxed::Box<str>>],
    n: u8,
    text: &str,
    at: usize,
) -> Result<Option<(u8, Range<usize>)>, Undecided> {
    let tags = || left.iter().enumerate().flat_map(|(i, tags)| tags.iter().map(move |t| (i, t)));
    let found = longest_prefix(&text[at..], tags().map(|(_, tag)| &**tag))?;
    Ok(found.and_then(|found| tags().nth(found)).map(|(i, tag)| {
        (n.saturating_add(i as u8).saturating_add(1), at..at.saturating_add(tag.len()))
    }))
}
