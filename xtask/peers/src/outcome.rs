//! The output of a parser, and its comparison with the wire.

use llm_stream_guard::{Event, Sink};
use serde_json::Value;

use crate::works::Call;

/// The expected output for the wire of a work.
pub(crate) enum Says {
    /// All text is content.
    Content(String),
    /// All text is reasoning.
    Reasoning(String),
    /// The wire holds these calls.
    Calls(Vec<Call>),
}

/// A collector of the output, as a caller would write it.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) content: String,
    pub(crate) reasoning: String,
    /// Names and arguments; the first `begun` are of this run.
    calls: Vec<(String, String)>,
    begun: usize,
    /// Why the parser gave up.
    pub(crate) failure: Option<String>,
}

impl Outcome {
    /// Room for all that a text of `len` bytes can say, so that collecting does not allocate.
    pub(crate) fn room(len: usize, says: &Says) -> Self {
        let count = if let Says::Calls(calls) = says { calls.len() } else { 0 };
        let room = |len: usize| String::with_capacity(len * 2 + 64);
        let calls = (0..count).map(|_| (room(0), room(len / count))).collect();
        Self { content: room(len), reasoning: room(len), calls, begun: 0, failure: None }
    }

    /// The outcome of a parser that gave up before any output.
    pub(crate) fn failed(why: &str) -> Self {
        Self { failure: Some(why.to_owned()), ..Self::default() }
    }

    pub(crate) fn clear(&mut self) {
        self.content.clear();
        self.reasoning.clear();
        for (name, arguments) in &mut self.calls {
            name.clear();
            arguments.clear();
        }
        self.begun = 0;
        self.failure = None;
    }

    /// Names and arguments of this run.
    pub(crate) fn calls(&self) -> &[(String, String)] {
        self.calls.get(..self.begun).unwrap_or_default()
    }

    /// A piece of a call: its name, its arguments, or both.
    pub(crate) fn call(&mut self, index: usize, name: Option<&str>, arguments: &str) {
        self.begun = self.begun.max(index + 1);
        if self.calls.len() < self.begun {
            self.calls.resize_with(self.begun, Default::default);
        }
        let call = &mut self.calls[index];
        call.0.push_str(name.unwrap_or_default());
        call.1.push_str(arguments);
    }

    /// # Errors
    /// The first thing that is not what the wire says.
    pub(crate) fn check(&self, says: &Says) -> Result<(), String> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let (content, reasoning, calls): (&str, &str, &[Call]) = match says {
            Says::Content(text) => (text, "", &[]),
            Says::Reasoning(text) => ("", text, &[]),
            Says::Calls(calls) => ("", "", calls),
        };
        // Blanks between calls are nobody's.
        let got = if calls.is_empty() { &self.content } else { self.content.trim() };
        same_text("content", got, content)?;
        same_text("reasoning", &self.reasoning, reasoning)?;
        if self.begun != calls.len() {
            return Err(format!("{} calls of {}", self.begun, calls.len()));
        }
        let mut pairs = self.calls.iter().zip(calls).enumerate();
        pairs.find_map(|(n, (got, call))| wrong_call(n, got, call)).map_or(Ok(()), Err)
    }
}

fn same_text(what: &str, got: &str, expected: &str) -> Result<(), String> {
    let same = got.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
    if got == expected {
        return Ok(());
    }
    let (got, expected) = (got.len(), expected.len());
    Err(format!("{got} bytes of {what} for {expected}, other from byte {same} on"))
}

fn wrong_call(n: usize, (name, arguments): &(String, String), call: &Call) -> Option<String> {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (value(arguments), value(&call.1)) {
        _ if name != call.0 => Some(format!("call {n} is of {name:?}")),
        (None, _) => Some(format!("the arguments of call {n} are no JSON")),
        (Some(got), Some(said)) if got != said => {
            let wrong = same_text("arguments", &got.to_string(), &said.to_string());
            Some(format!("call {n}: {}", wrong.err().unwrap_or_default()))
        }
        _ => None,
    }
}

impl Sink for Outcome {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) => self.content.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::CallStart { index, name, .. } => self.call(index as usize, Some(name), ""),
            Event::CallArguments { index, fragment } => self.call(index as usize, None, fragment),
            _ => {}
        }
    }
}
