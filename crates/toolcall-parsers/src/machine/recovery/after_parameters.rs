//! Reading of the text between parameters, and after the last one up to the call's end.
//!
//! ```text
//! <parameter=city>Oslo</parameter>        a parameter
//! and the days:                           skipped and reported
//! <parameter=days>3</parameter>           the next parameter
//! As you asked.                           skipped and reported
//! </function>                             the end: the call is complete
//! ```
//!
//! A part of a parameter makes the call malformed, because the part before it is missing. So does a
//! tag that can only follow a call. A parameter after skipped text must not belong to another call
//! whose first tags are missing.

use alloc::vec::Vec;

use jail_match::{CallPart, End};

use crate::{
    cursor::{TextCursor, Undecided, after_blanks, longest_prefix},
    event::{DiagnosticKind, Outcome},
    limits::MAX_CALL_HEAD,
    machine::{
        arguments::value::ending::begins_head,
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::{Arguments, Leaf, Plan},
        readers::ParameterTag,
    },
};

/// The kind of text after a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// The first tag of another parameter.
    Parameter,
    /// The first end tag of the call, with its length in bytes.
    End(usize),
    /// Another end tag of the call or of its section, with its length in bytes.
    LaterEnd(usize),
    /// A tag that can only follow a call: the next call, or the end of the turn.
    Outside,
    /// An inner tag of a parameter.
    Part,
    /// The end tag of a value, with its length in bytes.
    ValueEnd(usize),
    Text,
}

impl Machine {
    /// Reads the text after a parameter or element. Text that is not a tag is skipped.
    pub(in crate::machine) fn after_parameters(
        &mut self,
        leaf: &Leaf,
        out: &mut CallSink<'_>,
    ) -> MachineStep {
        let plan = out.plan;
        loop {
            if out.cursor.skip_blanks() > 0 && self.skipped.bytes > 0 {
                self.keep_text(" ");
            }
            if out.cursor.rest().is_empty() {
                return MachineStep::more(out.cursor.at);
            }
            match self.follows(leaf, out.cursor.rest(), out) {
                Err(Undecided) => return MachineStep::more(out.cursor.at),
                Ok(Follows::Text) if self.readers.has_read_parameter(&leaf.arguments) => {
                    self.drop_text(plan, leaf, &mut out.cursor);
                }
                Ok(Follows::Parameter) if !self.text_may_be_head(out) => {
                    self.report_skipped_text(out.cursor.at, out);
                    self.readers.text_came();
                    return MachineStep::Go;
                }
                // No value is open, so the end tag ends nothing.
                Ok(Follows::ValueEnd(len))
                    if self.skipped.bytes == 0
                        && self.readers.has_read_parameter(&leaf.arguments) =>
                {
                    out.diagnose(DiagnosticKind::Noise, out.cursor.at, len as u64);
                    self.readers.repair();
                    out.cursor.advance(len);
                }
                Ok(Follows::End(len) | Follows::LaterEnd(len))
                    if !self.readers.ends_in_end(&leaf.arguments)
                        && self.parameter_follows(leaf, len, out) != Ok(false) =>
                {
                    if self.parameter_follows(leaf, len, out).is_err() {
                        return MachineStep::more(out.cursor.at);
                    }
                    // The call goes on, so the tag ended nothing.
                    out.diagnose(DiagnosticKind::Noise, out.cursor.at, len as u64);
                    self.readers.repair();
                    out.cursor.advance(len);
                }
                Ok(follows) => {
                    // If the first end tag is missing, the one inside the last value may be it.
                    let may_end = !self.readers.ends_in_end(&leaf.arguments);
                    let ends = match follows {
                        Follows::End(_) => true,
                        Follows::LaterEnd(_) => may_end,
                        Follows::Outside => may_end && self.skipped.bytes == 0,
                        Follows::Parameter
                        | Follows::Part
                        | Follows::ValueEnd(_)
                        | Follows::Text => false,
                    };
                    if follows == Follows::Outside {
                        self.readers.repair();
                    }
                    self.skipped.after_text = self.skipped.bytes > 0;
                    self.report_skipped_text(out.cursor.at, out);
                    if !ends {
                        return self.bad(out);
                    }
                    out.part(CallPart::Rest, out.cursor.at);
                    self.readers.close_parameters(&leaf.arguments, out);
                    self.complete(out);
                    return MachineStep::Go;
                }
            }
        }
    }

    /// Returns the kind of tag at the start of `rest`.
    pub(super) fn follows(
        &self,
        leaf: &Leaf,
        rest: &str,
        out: &CallSink<'_>,
    ) -> Result<Follows, Undecided> {
        let plan = out.plan;
        if !plan.may_be_between_parameters(leaf, rest) {
            return Ok(Follows::Text);
        }
        let section = self.place.section.map(|id| plan.section(id));
        let ends = section.into_iter().flat_map(|section| section.ends.tags.iter().flatten());
        let calls = section.map_or(&[][..], |it| &plan.node(it.calls).tags);
        let opens = section.map_or(&[][..], |section| &section.opens);
        let own = leaf.ends.tags.iter().flatten();
        let inside = own.clone().count().saturating_add(ends.clone().count());
        let texts = own.chain(ends).chain(opens).chain(&plan.recovery_points).map(|text| &**text);
        let mut texts = texts.chain(calls.iter().map(|tag| &*tag.text));
        let found = longest_prefix(rest, texts.clone())?;
        let (parameter, len) = match self.readers.tag_at(&leaf.arguments, rest)? {
            Some(ParameterTag::First(len)) => (Follows::Parameter, len),
            Some(ParameterTag::Part(len)) => (Follows::Part, len),
            Some(ParameterTag::End(len)) => (Follows::ValueEnd(len), len),
            None => (Follows::Text, 0),
        };
        // Between parameters an opener ends the call only with a name.
        let is_head = match &leaf.arguments {
            Arguments::Parameters(spec) if !spec.heads.is_empty() => {
                begins_head(spec, rest, &out.calls.tools)?
            }
            _ => true,
        };
        let opens = |text: &str| plan.opener_texts().iter().any(|opener| **opener == *text);
        // Two tags may begin alike. The longer one counts.
        Ok(match found.and_then(|n| Some((n, texts.nth(n)?))) {
            Some((n, text)) if text.len() >= len => {
                let first = leaf.ends.tags.first().map_or(0, Vec::len);
                match n {
                    n if n < first => Follows::End(text.len()),
                    n if n < inside => Follows::LaterEnd(text.len()),
                    _ if !is_head && opens(text) => Follows::Text,
                    _ if !plan.shows_end(text, &rest[text.len()..], out.calls.ended)? => {
                        Follows::Text
                    }
                    _ => Follows::Outside,
                }
            }
            _ => parameter,
        })
    }

    /// Returns whether a parameter follows the end tag of `len` bytes at the cursor. A tag that
    /// also begins a call does not.
    fn parameter_follows(
        &self,
        leaf: &Leaf,
        len: usize,
        out: &CallSink<'_>,
    ) -> Result<bool, Undecided> {
        let rest = out.cursor.rest().get(len..).and_then(after_blanks);
        let tagged = matches!(leaf.arguments, Arguments::Parameters(_));
        let look = match rest.filter(|_| tagged) {
            None => return Ok(false),
            Some("") => Err(Undecided),
            // A call's head is undecided up to its name, so other tags are not compared with it.
            Some(rest) => self.readers.tag_at(&leaf.arguments, rest).and_then(|tag| {
                Ok(matches!(tag, Some(ParameterTag::First(_)))
                    && self.follows(leaf, rest, out)? == Follows::Parameter)
            }),
        };
        match look {
            Err(Undecided) if out.calls.ended => Ok(false),
            look => look,
        }
    }

    /// Returns whether the skipped text may be the rest of another call's head, or a head that
    /// lacks its end. It may if it contains a tag before a name, or a declared name. If the current
    /// name is undeclared, a single word also may.
    fn text_may_be_head(&self, out: &CallSink<'_>) -> bool {
        let text = self.skipped.text.trim_ascii();
        let calls = self.place.section.map(|id| out.plan.node(out.plan.section(id).calls));
        let mut tags = calls.into_iter().flat_map(|calls| &calls.tags);
        if tags.any(|tag| text.contains(tag.text.trim_ascii())) {
            return true;
        }
        if text.len() >= MAX_CALL_HEAD {
            return false;
        }
        let tools = &out.calls.tools;
        let between = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/'));
        let named = text.split(between).any(|word| tools.get(word).is_some());
        named || tools.get(&self.call.name).is_none() && !text.contains(|c: char| c.is_whitespace())
    }

    /// Skips text up to the next character that may begin a tag.
    fn drop_text(&mut self, plan: &Plan, leaf: &Leaf, cursor: &mut TextCursor<'_>) {
        let begins = leaf.arguments.tag_bytes();
        let recovery = plan.recovery_texts.first();
        let rest = cursor.rest();
        cursor.skip_char();
        let hit = cursor.rest().bytes().position(|byte| begins.has(byte) || recovery.has(byte));
        cursor.advance(hit.unwrap_or(cursor.rest().len()));
        let len = rest.len().saturating_sub(cursor.rest().len());
        let dropped = rest.get(..len).unwrap_or_default();
        if self.skipped.bytes == 0 {
            self.skipped.text.clear();
        }
        self.skipped.bytes = self.skipped.bytes.saturating_add(visible(dropped));
        self.keep_text(dropped);
    }

    /// Records the start of the skipped text, with one blank for each run of whitespace.
    fn keep_text(&mut self, dropped: &str) {
        for scalar in dropped.chars() {
            let blank = scalar.is_whitespace();
            if self.skipped.text.len() >= MAX_CALL_HEAD {
                return;
            }
            if !blank || !self.skipped.text.ends_with(' ') {
                self.skipped.text.push(if blank { ' ' } else { scalar });
            }
        }
    }

    /// Reports the text that was skipped before `offset`.
    fn report_skipped_text(&mut self, offset: usize, out: &mut CallSink<'_>) {
        if self.skipped.bytes > 0 {
            out.diagnose(DiagnosticKind::Noise, offset, self.skipped.bytes);
            self.readers.repair();
            self.skipped.bytes = 0;
        }
    }

    /// Ends a call in the text after a parameter, at the end of the stream. The text being fed is
    /// unread.
    pub(in crate::machine) fn cut_after_parameter(
        &mut self,
        end: End,
        out: &mut CallSink<'_>,
    ) -> Outcome {
        let tail = out.cursor.text;
        self.skipped.bytes = self.skipped.bytes.saturating_add(visible(tail));
        out.calls.decides_at(tail.len());
        self.report_skipped_text(tail.len(), out);
        if end == End::Stop { Outcome::Malformed } else { Outcome::Incomplete }
    }
}

/// Returns the number of bytes of `text` that are not whitespace.
fn visible(text: &str) -> u64 {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() as u64
}
