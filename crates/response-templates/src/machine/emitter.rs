//! The output of a machine: text, spans and calls after the end of the prompt.

use alloc::string::{String, ToString};

use jail_match::{
    Channel, Diagnostic, DiagnosticKind, Event, Outcome, Sink, Span, SpanKind, Trace,
};
use toolcall_parsers::Calls;

use crate::json::JsonTree;

/// A writer of events to a sink.
///
/// Places in the machine are counted from the start of the text that was read, which may begin with
/// a part of the prompt. Places in events are counted from the start of the model's text. The
/// emitter converts them.
pub(super) struct Emitter<'s> {
    pub(super) sink: &'s mut dyn Sink,
    pub(super) calls: &'s mut Calls,
    /// The end of the prompt.
    pub(super) from: u64,
    /// The place in the stream where the message begins.
    pub(super) origin: u64,
}

impl Emitter<'_> {
    /// Converts a place to the place that events report.
    fn place(&self, at: u64) -> u64 {
        at.saturating_sub(self.from) + self.origin
    }

    /// Emits text of `channel` that is at `at`.
    pub(super) fn text(&mut self, channel: Channel, at: u64, text: &str) {
        let muted = usize::try_from(self.from.saturating_sub(at)).unwrap_or(usize::MAX);
        if let Some(text) = text.get(muted..).filter(|text| !text.is_empty()) {
            self.sink.event(Event::text(channel, text));
        }
    }

    /// Accounts for the bytes from `at` to `end`, which are not text.
    pub(super) fn span(&mut self, kind: SpanKind, at: u64, end: u64) {
        let (at, end) = (at.max(self.from), end.max(self.from));
        if end > at {
            self.sink.account(Span { kind, at: self.place(at), len: end - at });
        }
    }

    /// Accounts for the boundary with the number `edge`, which is from `at` to `end`.
    pub(super) fn marker(&mut self, edge: usize, at: u64, end: u64) {
        let (at, end) = (at.max(self.from), end.max(self.from));
        if end > at {
            self.span(SpanKind::Markup, at, end);
            self.sink.trace(Trace::Matched { edge, at: self.place(at), len: end - at });
        }
    }

    pub(super) fn diagnostic(&mut self, kind: DiagnosticKind, at: u64, bytes: u64) {
        let diagnostic = Diagnostic::new(kind, self.place(at), bytes);
        self.sink.event(diagnostic.into());
    }

    /// Emits a diagnostic that counts the bytes from `at` to `end`.
    pub(super) fn counted(&mut self, kind: DiagnosticKind, at: u64, end: u64) {
        let at = at.max(self.from);
        if end > at {
            self.diagnostic(kind, at, end - at);
        }
    }

    /// Accounts for dropped bytes, and emits a diagnostic that counts them.
    pub(super) fn dropped(&mut self, kind: DiagnosticKind, at: u64, end: u64) {
        self.counted(kind, at, end);
        self.span(SpanKind::Dropped, at, end);
    }

    /// Begins a call of a region that began at `at`.
    pub(super) fn start_call(&mut self, name: &str, id: Option<&str>, at: u64) {
        let place = self.place(at);
        self.calls.begin(place);
        self.calls.start(name, id, 0, self.sink);
    }

    /// Emits a part of the arguments of the call that is open.
    pub(super) fn arguments(&mut self, fragment: &str) {
        self.calls.arguments(fragment, self.sink);
    }

    /// Ends the call that is open.
    pub(super) fn end_call(&mut self, outcome: Outcome) {
        self.calls.end(outcome, self.sink);
    }

    /// Emits a diagnostic of the call that is open.
    pub(super) fn call_diagnostic(&mut self, kind: DiagnosticKind, at: u64) {
        let place = self.place(at);
        self.calls.begin(place);
        self.calls.diagnose(kind, 0, 0, self.sink);
    }

    /// Ends a call with these arguments: a JSON object, or `None` if they are not an object.
    pub(super) fn finish_call(&mut self, arguments: Option<&str>) {
        self.arguments(arguments.unwrap_or_default());
        let is_good = arguments.is_some();
        self.end_call(if is_good { Outcome::Complete } else { Outcome::Malformed });
    }

    /// Emits the calls in `value`, the value of a region that began at `at`. Returns their number.
    pub(super) fn all_calls(&mut self, value: &JsonTree, at: u64) -> usize {
        if let JsonTree::Array(items) = value {
            return items.iter().map(|item| self.all_calls(item, at)).sum();
        }
        let Some((function, name)) = function(value) else { return 0 };
        let id = [value, function].into_iter().find_map(|at| at.get("id")?.as_str());
        self.start_call(name, id, at);
        self.finish_call(arguments(function).as_deref());
        1
    }
}

/// Returns the function and the name of a call, wrapped or bare. A call needs a name.
pub(super) fn function(value: &JsonTree) -> Option<(&JsonTree, &str)> {
    let function = value.get("function").unwrap_or(value);
    let name = function.get("name")?.as_str().filter(|name| !name.is_empty())?;
    Some((function, name))
}

/// Returns the arguments of a function as a JSON object. Missing arguments are an empty object, and
/// a string is read as JSON.
pub(super) fn arguments(function: &JsonTree) -> Option<String> {
    match function.get("arguments") {
        None | Some(JsonTree::Null) => Some("{}".to_string()),
        Some(arguments @ JsonTree::Object(_)) => Some(arguments.to_string()),
        Some(JsonTree::String(text)) => object_in(text),
        Some(_) => None,
    }
}

/// Returns `text` as a JSON object, or `None` if it is not one.
pub(super) fn object_in(text: &str) -> Option<String> {
    let value = JsonTree::from_json(text).ok()?;
    value.as_object().is_some().then(|| value.to_string())
}
