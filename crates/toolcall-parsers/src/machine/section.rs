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
    plan::{Arguments, Bracket, EndTags, Missing, Section, SectionId},
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
        let from = out.cursor.at;
        if self.place.list == List::None && few_blanks(out.cursor.rest()) > MAX_BLANKS {
            let Some(id) = self.place.section else { return MachineStep::done(from) };
            return self.unclosed(&out.plan.section(id).ends, from, out);
        }
        out.cursor.skip_blanks();
        let Some(byte) = out.cursor.peek() else { return self.more_between(from, out) };
        let in_list = self.place.list != List::None;
        match byte {
            b',' if in_list => {
                out.cursor.advance(1);
                return MachineStep::Go;
            }
            b']' if in_list => {
                out.cursor.advance(1);
                return self.end_list();
            }
            _ => {}
        }
        if self.place.list == List::Call {
            return self.next_arguments(byte, out);
        }
        let Some(id) = self.place.section else { return MachineStep::done(from) };
        let section = out.plan.section(id);
        let separated = if in_list { None } else { self.separator(section, byte, from, out) };
        let step = separated.or_else(|| self.tag_between((id, section), from, out));
        step.or_else(|| self.next_call(section, byte, out)).unwrap_or_else(|| match in_list {
            true => self.bad(out),
            false => self.unclosed(&section.ends, from, out),
        })
    }

    /// Waits for more text, from `from` on: white space after a call without enclosing markup may
    /// belong to the answer.
    fn more_between(&self, from: usize, out: &mut CallSink<'_>) -> MachineStep {
        if self.place.list == List::None {
            out.cursor.at = from;
        }
        MachineStep::more(out.cursor.at)
    }

    /// Begins the next arguments of a call that has a list of them.
    fn next_arguments(&mut self, byte: u8, out: &mut CallSink<'_>) -> MachineStep {
        if byte != b'{' {
            return self.bad(out);
        }
        let leaf = out.plan.leaf(self.place.leaf);
        self.call.item_at = out.stream_offset(out.cursor.at);
        self.begin_reader(&leaf.arguments);
        self.state = MachineState::Arguments;
        MachineStep::Go
    }

    /// Reads a separator of calls, or the first end tag of their section. Returns `None` if
    /// another text is there.
    fn separator(
        &mut self,
        section: &Section,
        byte: u8,
        from: usize,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        if byte == b',' && section.bracket == Bracket::Square {
            out.cursor.advance(1);
            return Some(MachineStep::Go);
        }
        let separators = section.separators.iter().map(|text| &**text);
        match longest_prefix(out.cursor.rest(), separators) {
            Err(Undecided) => return Some(self.more_between(from, out)),
            Ok(Some(n)) => {
                out.cursor.advance(section.separators[n].len());
                return Some(MachineStep::Go);
            }
            Ok(None) => {}
        }
        match end_tag(&section.ends, 0, &out.cursor) {
            Err(Undecided) => Some(self.more_between(from, out)),
            Ok(EndTag::Found { next, tag, .. }) => {
                out.cursor.at = tag.end;
                out.end_tag(tag.start, tag.len());
                self.state = MachineState::SectionEnd(next);
                Some(MachineStep::Go)
            }
            Ok(EndTag::Other) => None,
        }
    }

    /// Reads a tag of the next call, the opener of another section, or an end tag of the last call
    /// once more. Returns `None` if another text is there.
    fn tag_between(
        &mut self,
        (id, section): (SectionId, &Section),
        from: usize,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        let plan = out.plan;
        let node = plan.node(section.calls);
        let tags = node.tags.iter().map(|tag| &*tag.text);
        let opens = section.opens.iter().map(|open| &**open);
        let ends = plan.leaf(self.place.leaf).ends.tags.iter().flatten().map(|end| &**end);
        let found = match longest_prefix(out.cursor.rest(), tags.chain(opens).chain(ends.clone())) {
            Err(Undecided) => return Some(self.more_between(from, out)),
            Ok(found) => found?,
        };
        if let Some(tag) = node.tags.get(found) {
            self.call.item_at = out.stream_offset(out.cursor.at);
            out.cursor.advance(tag.text.len());
            self.go(plan, tag.to);
            self.place.section = Some(id);
            return Some(MachineStep::Go);
        }
        let found = found.saturating_sub(node.tags.len());
        if found < section.opens.len() {
            // Another section begins, although this one did not end. It is a new candidate. The
            // blanks before it were consumed if a list is open.
            let at = if self.place.list == List::None { from } else { out.cursor.at };
            return Some(self.unclosed(&section.ends, at, out));
        }
        // A repetition of the call's end tag is skipped.
        let len = ends.clone().nth(found.saturating_sub(section.opens.len())).map_or(0, str::len);
        out.end_tag(out.cursor.at, len);
        out.cursor.advance(len);
        Some(MachineStep::Go)
    }

    /// Begins the next call, if it begins without a tag.
    fn next_call(
        &mut self,
        section: &Section,
        byte: u8,
        out: &mut CallSink<'_>,
    ) -> Option<MachineStep> {
        let plan = out.plan;
        let node = plan.node(section.calls);
        let is_object = |leaf| matches!(plan.leaf(leaf).arguments, Arguments::Object(_));
        let object = byte == b'{' && node.leaves.iter().any(|&leaf| is_object(leaf));
        let scalar = out.cursor.rest().chars().next().unwrap_or('\0');
        let named = node.field.is_some() && (scalar.is_alphabetic() || scalar == '_');
        (object || named).then(|| {
            self.call.item_at = out.stream_offset(out.cursor.at);
            self.place.node = section.calls;
            self.state = MachineState::Header;
            MachineStep::Go
        })
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
