//! The way of a call's arguments to the sink.
//!
//! ```text
//! JSON of a reader -> strings decoded, if the schema has containers -> keys compared -> sink
//! ```

use alloc::boxed::Box;

use super::{Calls, Open};
use crate::{
    decoded::Decoder,
    event::{Diagnostic, DiagnosticKind, Event, Outcome, Sink},
    options::{ArgumentTypes, CallLimits},
    tools::{Tool, Tools},
    typing::has_containers,
    unique_keys::UniqueKeys,
};

/// Writes the JSON of the open call's arguments to the sink, and decodes strings in it.
pub(crate) struct JsonOutput<'a> {
    open: Option<u32>,
    keys: Option<&'a mut UniqueKeys>,
    /// The decoder and the tool with the schema, if a string of the call may be decoded.
    decoder: Option<(&'a mut Decoder, &'a Tool)>,
    limits: &'a CallLimits,
}

impl JsonOutput<'_> {
    /// Emits the next fragment of the arguments.
    #[inline]
    pub(crate) fn put(&mut self, fragment: &str, sink: &mut dyn Sink) {
        let Some(index) = self.open.filter(|_| !fragment.is_empty()) else { return };
        let mut out = KeyedOutput { index, keys: self.keys.as_deref_mut() };
        let Some((decoder, tool)) = &mut self.decoder else { return out.put(fragment, sink) };
        let (schema, limits, mut rest) = (&tool.parameters, self.limits, fragment);
        while let Some(used) =
            decoder.feed(rest, schema, limits, &mut |fragment| out.put(fragment, sink))
        {
            let reported = Diagnostic::new(DiagnosticKind::Tolerated, decoder.call_at, 0);
            sink.event(reported.about(Some(index)).into());
            rest = rest.get(used..).unwrap_or_default();
        }
    }
}

/// The stages that the arguments of a call pass before they are emitted.
#[derive(Debug, Clone, Default)]
pub(super) struct ArgumentStages {
    /// Decodes strings that contain arrays or objects. Allocated with the first call whose schema
    /// has such a parameter.
    pub(super) decoder: Option<Box<Decoder>>,
    /// Drops members whose key came before, if the calls ask for that.
    pub(super) keys: Option<UniqueKeys>,
    /// Whether the call's name is not the name on the wire, but the declared one in it.
    pub(super) renamed: bool,
}

impl ArgumentStages {
    /// Returns whether the ended call differs from the wire: another name, or a string that became a
    /// number, a boolean or `null`.
    pub(super) fn has_changed(&self) -> bool {
        self.renamed || self.decoder.as_ref().is_some_and(|decoder| decoder.has_scalar)
    }
}

/// Writes the final JSON of a call to the sink: members with a key that came before are dropped.
pub(super) struct KeyedOutput<'a> {
    pub(super) index: u32,
    pub(super) keys: Option<&'a mut UniqueKeys>,
}

impl KeyedOutput<'_> {
    #[inline]
    pub(super) fn put(&mut self, fragment: &str, sink: &mut dyn Sink) {
        let index = self.index;
        let Some(keys) = &mut self.keys else {
            return sink.event(Event::CallArguments { index, fragment });
        };
        if keys.is_broken() {
            return;
        }
        let mut rest = fragment;
        while let Some(used) =
            keys.feed(rest, &mut |fragment| sink.event(Event::CallArguments { index, fragment }))
        {
            let at = keys.call_at();
            let reported = Diagnostic::new(DiagnosticKind::DuplicateParameter, at, 0);
            sink.event(reported.about(Some(index)).into());
            rest = rest.get(used..).unwrap_or_default();
        }
    }
}

impl Calls {
    /// Emits the next fragment of the open call's arguments. An empty fragment is ignored.
    #[inline]
    pub fn arguments(&mut self, fragment: &str, sink: &mut dyn Sink) {
        if let Open::Call(index) = self.open
            && !fragment.is_empty()
            && !self.quiet
        {
            let keys = self.stages.as_deref_mut().and_then(|stages| stages.keys.as_mut());
            KeyedOutput { index, keys }.put(fragment, sink);
        }
    }

    /// Returns whether the plain text of a string in the open call is emitted unchanged and at once.
    #[inline]
    pub(crate) fn passes_strings(&self) -> bool {
        matches!(self.open, Open::Call(_))
            && !self.quiet
            && self.keys().is_none_or(|keys| keys.passes() && !keys.is_broken())
    }

    /// Emits and counts plain text of a string, if [such text passes](Self::passes_strings).
    #[inline]
    pub(crate) fn string(&mut self, text: &str, sink: &mut dyn Sink) {
        if let Open::Call(index) = self.open {
            sink.event(Event::CallArguments { index, fragment: text });
        }
        self.at += text.len() as u64;
    }

    /// Returns the number of bytes on the wire that wait until a key is known to be new. `literal`
    /// states that the reader emits a comma only with the key after it.
    pub(crate) fn held_keys(&self, literal: bool) -> usize {
        let keys = self.keys().filter(|keys| self.is_open() && !keys.is_broken());
        keys.map_or(0, |keys| if literal { keys.held_key() } else { keys.held() })
    }

    /// Returns the number of bytes in the buffers that compare keys.
    pub(crate) fn buffered_keys(&self) -> usize {
        self.keys().map_or(0, UniqueKeys::buffered)
    }

    fn keys(&self) -> Option<&UniqueKeys> {
        self.stages.as_ref().and_then(|stages| stages.keys.as_ref())
    }

    /// Prepares decoding of string arguments of the open call, if the schema of `tool` has arrays
    /// or objects, or if every declared type counts. `offset` is the position of the call in the text being fed.
    pub(crate) fn decode_strings(&mut self, tool: &str, offset: usize) {
        let reported = matches!(self.open, Open::Call(_));
        let of_name = |declared: &Tool| declared.name == tool;
        let Some(tool) = self.tools.iter().position(of_name).filter(|_| reported) else { return };
        let types = self.options.argument_types;
        let may_decode = types == ArgumentTypes::Declared
            || self.tools.iter().nth(tool).is_some_and(|tool| has_containers(&tool.parameters));
        if may_decode {
            let at = self.at + offset as u64;
            let stages = self.stages.get_or_insert_default();
            stages.decoder.get_or_insert_default().begin(tool, at, types);
        }
    }

    /// Returns the decoder of the open call's strings, if any may be decoded.
    pub(crate) fn decoder(&self) -> Option<&Decoder> {
        let decoder = self.stages.as_ref().and_then(|stages| stages.decoder.as_deref());
        decoder.filter(|decoder| decoder.is_active())
    }

    /// Emits the next JSON fragment of the open call's arguments, after decoding strings in it.
    #[inline]
    pub(crate) fn json(&mut self, fragment: &str, sink: &mut dyn Sink) {
        self.json_output().1.put(fragment, sink);
    }

    /// Returns the declared tools, and the writer of the open call's JSON.
    #[inline]
    pub(crate) fn json_output(&mut self) -> (&Tools, JsonOutput<'_>) {
        let Self { tools, stages, open, options, .. } = self;
        let open = match *open {
            Open::Call(index) => Some(index),
            Open::No | Open::Muted => None,
        };
        let stages =
            stages.as_deref_mut().map(|ArgumentStages { keys, decoder, .. }| (keys, decoder));
        let (keys, decoder) = stages.unzip();
        let decoder = decoder.and_then(Option::as_deref_mut);
        let decoder = decoder.filter(|decoder| decoder.is_active());
        let decoder = decoder.and_then(|it| tools.iter().nth(it.tool).map(|tool| (it, tool)));
        let keys = keys.and_then(Option::as_mut);
        (tools, JsonOutput { open, keys, decoder, limits: &options.limits })
    }

    /// Marks the open call as malformed by the character at `offset` of the text being fed. It is
    /// read to its end, but no more of its arguments are emitted.
    pub(crate) fn break_silently(&mut self, offset: usize) {
        self.decides_at(offset);
        if let Some(keys) = self.stages.as_deref_mut().and_then(|stages| stages.keys.as_mut()) {
            keys.set_broken();
        }
    }

    /// Emits what waits for the comparison of keys. Returns `outcome`, lowered if members were
    /// dropped or could not be compared.
    pub(super) fn keyed_outcome(
        &mut self,
        outcome: Outcome,
        index: u32,
        sink: &mut dyn Sink,
    ) -> Outcome {
        let keys = self.stages.as_deref_mut().and_then(|stages| stages.keys.as_mut());
        let Some(keys) = keys else { return outcome };
        keys.flush(&mut |fragment: &str| sink.event(Event::CallArguments { index, fragment }));
        let outcome = match outcome {
            _ if keys.is_broken() => Outcome::Malformed,
            Outcome::Complete | Outcome::Repaired if keys.has_overflowed() => Outcome::Malformed,
            Outcome::Complete if keys.has_dropped() => Outcome::Repaired,
            outcome => outcome,
        };
        keys.end();
        outcome
    }
}
