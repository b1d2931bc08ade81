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

use jail_match::CallPart;

use crate::{
    cursor::{TextCursor, Undecided, longest_prefix},
    event::{DiagnosticKind, Outcome},
    limits::MAX_CALL_HEAD,
    machine::{
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::{Leaf, Plan},
        readers::ParameterTag,
    },
};

/// The kind of text after a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// The first tag of another parameter.
    Parameter,
    /// The first end tag of the call.
    End,
    /// Another end tag of the call or of its section.
    LaterEnd,
    /// A tag that can only follow a call: the next call, or the end of the turn.
    Outside,
    /// An inner or closing tag of a parameter.
    Part,
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
            match self.follows(plan, leaf, out.cursor.rest()) {
                Err(Undecided) => return MachineStep::more(out.cursor.at),
                Ok(Follows::Text) if self.readers.has_read_parameter(&leaf.arguments) => {
                    self.drop_text(plan, leaf, &mut out.cursor);
                }
                Ok(Follows::Parameter) if !self.text_may_be_head(out) => {
                    self.report_skipped_text(out.cursor.at, out);
                    self.readers.text_came();
                    return MachineStep::Go;
                }
                Ok(follows) => {
                    // If the first end tag is missing, the one inside the last value may be it.
                    let may_end = !self.readers.ends_in_end(&leaf.arguments);
                    let ends = match follows {
                        Follows::End => true,
                        Follows::LaterEnd => may_end,
                        Follows::Outside => may_end && self.skipped.bytes == 0,
                        Follows::Parameter | Follows::Part | Follows::Text => false,
                    };
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
    fn follows(&self, plan: &Plan, leaf: &Leaf, rest: &str) -> Result<Follows, Undecided> {
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
            None => (Follows::Text, 0),
        };
        // Two tags may begin alike. The longer one counts.
        Ok(match found.and_then(|n| Some((n, texts.nth(n)?))) {
            Some((n, text)) if text.len() >= len => {
                let first = leaf.ends.tags.first().map_or(0, Vec::len);
                match n {
                    n if n < first => Follows::End,
                    n if n < inside => Follows::LaterEnd,
                    _ => Follows::Outside,
                }
            }
            _ => parameter,
        })
    }

    /// Returns whether the skipped text may be the rest of another call's head. It may if it
    /// contains a declared name. If the current name is undeclared, a single word also may.
    fn text_may_be_head(&self, out: &CallSink<'_>) -> bool {
        let text = self.skipped.text.trim_ascii();
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
            self.skipped.bytes = 0;
        }
    }

    /// Ends a call that was cut in the text after a parameter. The text being fed
    /// is unread.
    pub(in crate::machine) fn cut_after_parameter(&mut self, out: &mut CallSink<'_>) -> Outcome {
        let tail = out.cursor.text;
        self.skipped.bytes = self.skipped.bytes.saturating_add(visible(tail));
        out.calls.breaks_at(tail.len());
        self.report_skipped_text(tail.len(), out);
        Outcome::Malformed
    }
}

/// Returns the number of bytes of `text` that are not whitespace.
fn visible(text: &str) -> u64 {
    text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count() as u64
}
