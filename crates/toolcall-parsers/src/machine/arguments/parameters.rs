//! Reading of arguments that are tagged parameters: a header with the name, a value, an end tag.
//!
//! ```text
//! <parameter=city>     Between, Header
//! Oslo                 Value                  {"city": "Oslo"
//! </parameter>
//! <parameter=days>     Between, Header
//! 3                    Value                  , "days": 3
//! </parameter>
//! </function>          Between: the call machine decides that the call ends
//! ```
//!
//! Members are emitted while they arrive. The reader stops before text that is not a parameter.

pub(crate) mod call_heads;
mod fault;
mod finish;
pub(super) mod given;
pub(super) mod header;
mod path;
pub(crate) mod spec;
pub(crate) mod value_tags;

#[cfg(test)]
mod tests;

use alloc::string::String;

pub(crate) use self::spec::{HeadersIn, ParameterSpec, Unreadable};
use self::{
    given::GivenNames,
    header::{HeaderStep, ParameterHeader},
    spec::ValueSpec,
};
use super::{
    tag::longest,
    value::{
        Fed, Value, ValuePlace,
        mode::{HeaderTypes, TextMode, TypedText, mode},
    },
};
use crate::{
    cursor::{Progress, TextCursor, Undecided},
    event::DiagnosticKind,
    family::Types,
    machine::call_sink::CallSink,
    typing::declares,
    value::{is_object, json_or_string},
};

/// The position in a list of parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum ParametersState {
    /// Between two parameters.
    #[default]
    Between,
    Header,
    /// In a value, whose specification is this node.
    Value(usize),
}

/// The part of the arguments that was emitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Written {
    #[default]
    Nothing,
    /// The opening brace and at least one member.
    Members,
    /// Nothing yet. The first parameter is held: it is all arguments, unless another parameter
    /// follows.
    Envelope,
}

/// A reader of tagged parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parameters {
    state: ParametersState,
    tool: String,
    header: ParameterHeader,
    value: Value,
    written: Written,
    /// Whether a parameter of the call was read.
    read: bool,
    /// Whether text was skipped after a parameter, so that the next one must be declared.
    after_text: bool,
    /// Length of the last header on the wire.
    header_len: usize,
    /// The JSON of a held parameter that may be all arguments.
    envelope: String,
    /// Length of the held parameter on the wire.
    envelope_len: usize,
    given: GivenNames,
    /// Whether the call was read with a guess, or without a part of its text.
    repaired: bool,
    /// Whether the fault was found after the header of the next parameter, whose value follows.
    in_next: bool,
}

impl Parameters {
    /// Starts the arguments of a call of `tool`.
    pub(crate) fn begin(&mut self, tool: &str) {
        self.tool.clear();
        self.tool.push_str(tool);
        (self.state, self.written, self.read) = (ParametersState::Between, Written::Nothing, false);
        self.after_text = false;
        self.envelope.clear();
        self.given.clear();
        (self.repaired, self.in_next) = (false, false);
    }

    /// Returns whether the last value ends with the text of an end tag of the call.
    pub(crate) fn ends_in_end(&self) -> bool {
        self.read && self.value.ends_in_end()
    }

    /// Returns whether a parameter of the call was read.
    pub(crate) fn has_read(&self) -> bool {
        self.read
    }

    /// Returns whether the call was read with a guess, or without a part of its text.
    pub(crate) fn is_repaired(&self) -> bool {
        self.repaired
    }

    /// Returns whether the reader is directly after a parameter, or before the first one.
    pub(crate) fn is_between(&self) -> bool {
        self.state == ParametersState::Between
    }

    /// Records that text was skipped before the next parameter.
    pub(crate) fn text_came(&mut self) {
        self.after_text = true;
    }

    /// Returns whether text is held until the end of the current value is found.
    pub(crate) fn is_searching(&self) -> bool {
        matches!(self.state, ParametersState::Value(_)) && self.value.is_searching()
    }

    /// Returns the number of bytes read but not emitted. Tags count until their parameter is
    /// emitted.
    #[inline]
    pub(crate) fn held(&self) -> usize {
        let kept = if self.written == Written::Envelope { self.envelope_len } else { 0 };
        let open = match self.state {
            ParametersState::Between => 0,
            ParametersState::Header => self.header_len,
            ParametersState::Value(_) if self.value.is_begun() => self.value.held(),
            ParametersState::Value(_) => self.header_len.saturating_add(self.value.held()),
        };
        kept.saturating_add(open)
    }

    /// Returns the number of bytes in buffers.
    pub(crate) fn buffered(&self) -> usize {
        self.value.held().saturating_add(self.envelope.len())
    }

    /// Returns whether all of `text` is the inside of a string and can be emitted unchanged: it
    /// needs no escapes, and no tag begins in it.
    #[inline]
    pub(crate) fn passes(&mut self, spec: &ParameterSpec, text: &str) -> bool {
        let ParametersState::Value(node) = self.state else { return false };
        let Some(value) = spec.value(node) else { return false };
        let place = ValuePlace { spec, value, tool: &self.tool, given: &self.given };
        self.value.passes(place, text)
    }

    /// Reads more text. Returns [`Progress::Done`] before text that is not a parameter.
    pub(crate) fn feed(&mut self, spec: &ParameterSpec, out: &mut CallSink<'_>) -> Progress {
        loop {
            let progress = match self.state {
                ParametersState::Value(node) => self.value(spec, node, out),
                ParametersState::Between => self.between(spec, &mut out.cursor),
                ParametersState::Header => self.header(spec, out),
            };
            if let Some(progress) = progress {
                return progress;
            }
        }
    }

    fn between(&mut self, spec: &ParameterSpec, cursor: &mut TextCursor<'_>) -> Option<Progress> {
        cursor.skip_blanks();
        // An end tag wins over an opener with which it begins: `[/act]` over `[`.
        let (ends, opens) =
            (longest(cursor.rest(), &spec.ends), longest(cursor.rest(), spec.openers()));
        match (opens, ends) {
            (Err(Undecided), _) | (Ok(Some(_)), Err(Undecided)) => return Some(Progress::More),
            (Ok(Some((_, opener))), Ok(Some((_, end)))) if end > opener => {
                return Some(Progress::Done);
            }
            (Ok(Some((opener, len))), _) => {
                cursor.advance(len);
                self.header_len = len;
                self.header.begin(spec, opener);
                self.header.may_lack_tag();
                self.state = ParametersState::Header;
                return None;
            }
            (Ok(None), _) => {}
        }
        match longest(cursor.rest(), &spec.separators) {
            Err(Undecided) => Some(Progress::More),
            Ok(Some((_, len))) if self.read => {
                cursor.advance(len);
                None
            }
            Ok(_) => Some(Progress::Done),
        }
    }

    fn header(&mut self, spec: &ParameterSpec, out: &mut CallSink<'_>) -> Option<Progress> {
        let from = out.cursor.at;
        let step = self.header.feed(spec, out.calls.options.limits.name, &mut out.cursor);
        self.header_len = self.header_len.saturating_add(out.cursor.at.saturating_sub(from));
        match step {
            HeaderStep::More => Some(Progress::More),
            HeaderStep::Value(_)
                if (self.after_text || self.header.lacks_tag())
                    && !declares(&out.calls.tools, &self.tool, self.header.key()) =>
            {
                Some(Progress::Bad)
            }
            HeaderStep::Value(node) => self.begin_value(spec, node, out),
            // A name without a value (`Again`): nothing shows which value is whose.
            HeaderStep::Again | HeaderStep::Bad => Some(Progress::Bad),
        }
    }

    fn begin_value(
        &mut self,
        spec: &ParameterSpec,
        node: usize,
        out: &mut CallSink<'_>,
    ) -> Option<Progress> {
        self.after_text = false;
        self.flush_envelope(out);
        let key = self.header.key();
        let mode = if self.given.has(key) {
            self.repaired = true;
            TextMode::Drop
        } else {
            if !self.given.add(key) {
                return Some(Progress::Bad);
            }
            let wire = HeaderTypes { string: self.header.string(), kind: self.header.kind() };
            match mode(spec, &self.tool, key, wire, &out.calls.tools) {
                TextMode::String if spec.types == Types::Wire && self.may_be_envelope(out) => {
                    TextMode::Text(TypedText::OR_ARGUMENTS)
                }
                mode => mode,
            }
        };
        self.value.begin(key, mode, self.written == Written::Nothing, out);
        if spec.python || spec.types == Types::Wire && self.may_be_envelope(out) {
            self.value.hold();
        }
        if self.header.lacks_tag() {
            self.value.lacks_tag();
        }
        if mode == TextMode::String {
            self.written = Written::Members;
        }
        self.state = ParametersState::Value(node);
        None
    }

    fn value(
        &mut self,
        spec: &ParameterSpec,
        node: usize,
        out: &mut CallSink<'_>,
    ) -> Option<Progress> {
        // A header always ends at a value node, so this does not fail.
        let Some(value) = spec.value(node) else { return Some(Progress::Bad) };
        let place = ValuePlace { spec, value, tool: &self.tool, given: &self.given };
        let fed = self.value.feed(place, out);
        if fed == Fed::More {
            return Some(Progress::More);
        }
        // If the header lacks a tag, only the value's own end tag confirms the value.
        let confirmed = fed == Fed::Own || !self.header.lacks_tag();
        if matches!(fed, Fed::Torn | Fed::Lost) || !confirmed {
            return self.fault(spec, fed, out);
        }
        if self.value.is_broken() {
            let _ = self.value.report_fault(out.cursor.at, out);
            (self.state, self.read) = (ParametersState::Between, true);
            return self.fault(spec, fed, out);
        }
        self.end_value(spec, value, fed, out.cursor.at, out);
        if self.value.is_unmendable() {
            return self.fault(spec, fed, out);
        }
        if self.header.lacks_tag() {
            self.repaired = true;
            out.diagnose(DiagnosticKind::Tolerated, out.cursor.at, 0);
        }
        if fed != Fed::Own {
            self.repaired = true;
            out.diagnose(DiagnosticKind::MissingCloser, out.cursor.at, 0);
        }
        match fed {
            Fed::Header(node) => self.begin_next(spec, node, out),
            Fed::Call => Some(Progress::Done),
            Fed::Own | Fed::More | Fed::Torn | Fed::Lost => None,
        }
    }

    fn end_value(
        &mut self,
        spec: &ParameterSpec,
        value: &ValueSpec,
        end: Fed,
        offset: usize,
        out: &mut CallSink<'_>,
    ) {
        (self.state, self.read) = (ParametersState::Between, true);
        if spec.types == Types::Wire && end == Fed::Own && self.is_envelope(out) {
            let json = self.value.collected_json().unwrap_or_default();
            // Cannot fail: `is_envelope` checked that it is an object.
            let _ = json_or_string(json, |piece| self.envelope.push_str(piece));
            self.envelope_len = self.header_len.saturating_add(self.value.held());
            self.written = Written::Envelope;
        } else if self.value.close(value.edges, end, offset, out) {
            self.written = Written::Members;
            if self.value.is_mended() && !spec.python {
                self.repaired = true;
                out.diagnose(DiagnosticKind::Tolerated, offset, 0);
            }
        }
    }

    /// Returns whether the first parameter's value is an object that contains all arguments. Its
    /// name must be one that models use for this, and the tool must not declare it.
    fn is_envelope(&self, out: &CallSink<'_>) -> bool {
        self.may_be_envelope(out) && self.value.collected_json().is_some_and(is_object)
    }

    fn may_be_envelope(&self, out: &CallSink<'_>) -> bool {
        let key = self.header.key();
        self.written == Written::Nothing
            && matches!(key, "arguments" | "input")
            && !out.calls.tools.is_empty()
            && !declares(&out.calls.tools, &self.tool, key)
    }

    /// Emits the held parameter as an ordinary one, because another parameter follows.
    fn flush_envelope(&mut self, out: &mut CallSink<'_>) {
        if self.written == Written::Envelope {
            // The name is still that of the held parameter.
            self.value.write_kept(&self.envelope, out);
            self.envelope.clear();
            self.written = Written::Members;
        }
    }

    /// Emits the closing brace after the last parameter.
    pub(crate) fn close(&mut self, out: &mut CallSink<'_>) {
        match self.written {
            Written::Nothing => out.arguments("{}"),
            Written::Members => out.arguments("}"),
            Written::Envelope => out.arguments(&self.envelope),
        }
        self.envelope.clear();
        self.written = Written::Nothing;
    }
}
