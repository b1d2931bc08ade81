//! A reader as strict as the strictest client: it refuses what any client may refuse.

use std::collections::{BTreeMap, HashSet};

use llm_stream_guard::chat::{Choice, Chunk, Field, MessageDelta, ToolCallDelta};
use serde_json::Value;

/// A choice as read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) role: String,
    pub(crate) content: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Option<String>,
    ids: HashSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// Reads a stream; panics where the protocol is broken.
pub(crate) fn read(chunks: &[Chunk]) -> BTreeMap<u32, Read> {
    let mut choices: BTreeMap<u32, Read> = BTreeMap::new();
    for (i, chunk) in chunks.iter().enumerate() {
        let indices: Vec<u32> = chunk.choices.iter().map(|choice| choice.index).collect();
        assert!(indices.is_sorted_by(|a, b| a < b), "indices of chunk {i}: {indices:?}");
        assert_eq!(chunk.fields.get("id"), chunks[0].fields.get("id"), "id of chunk {i}");
        if is_bare_usage(chunk) {
            let mut behind = chunks[i + 1..].iter().flat_map(|chunk| &chunk.choices).peekable();
            let ended =
                behind.peek().is_some() && behind.all(|it| it.delta == MessageDelta::default());
            assert!(!ended, "chunk {i}: the last usage, and reasons behind it");
        }
        for choice in &chunk.choices {
            choices.entry(choice.index).or_default().read(choice, i);
        }
    }
    choices
}

/// Usage alone: the last of the stream, or one that a server sends per choice.
fn is_bare_usage(chunk: &Chunk) -> bool {
    chunk.choices.is_empty() && chunk.usage.value().is_some()
}

/// Reads a stream whose every choice must have finished.
pub(crate) fn read_finished(chunks: &[Chunk]) -> BTreeMap<u32, Read> {
    let choices = read(chunks);
    for (index, choice) in &choices {
        assert!(choice.finish.is_some(), "choice {index} has no finish reason");
    }
    choices
}

impl Read {
    fn read(&mut self, choice: &Choice, i: usize) {
        let Choice { delta, finish_reason, logprobs, extra, .. } = choice;
        assert_eq!(self.finish, None, "chunk {i} comes behind the finish reason");
        if let Some(role) = delta.role.value() {
            assert_eq!(self.role, "", "chunk {i} says the role again");
            self.role.clone_from(role);
        }
        let (text, reasoning) = (delta.text(), delta.reasoning_text());
        let both = !delta.reasoning.is_missing() && !delta.reasoning_content.is_missing();
        assert!(!both, "chunk {i} writes reasoning twice");
        let full = |text: Option<&str>| usize::from(text.is_some_and(|text| !text.is_empty()));
        let kinds = full(text) + full(reasoning) + usize::from(!delta.tool_calls.is_empty());
        assert!(kinds <= 1, "chunk {i} mixes text, reasoning and calls");
        let says = kinds > 0
            || !delta.role.is_missing()
            || matches!(delta.content.value(), Some(llm_stream_guard::chat::Content::Parts(_)))
            || finish_reason.value().is_some()
            || logprobs.value().is_some()
            || delta.extra.values().chain(extra.values()).any(|value| *value != Value::Null);
        assert!(says, "chunk {i} is empty");
        self.content.push_str(text.unwrap_or_default());
        self.reasoning.push_str(reasoning.unwrap_or_default());
        delta.tool_calls.iter().for_each(|call| self.read_call(call, i));
        if let Field::Value(reason) = finish_reason {
            self.finish = Some(reason.clone());
        }
    }

    fn read_call(&mut self, delta: &ToolCallDelta, i: usize) {
        let index = delta.index.expect("a call delta has an index") as usize;
        let function = delta.function.as_ref().expect("a function");
        let arguments = function.arguments.as_deref().expect("arguments");
        if index < self.calls.len() {
            let again = (&delta.id, &delta.kind, &function.name);
            assert_eq!(again, (&None, &None, &None), "chunk {i} says a call's name again");
            assert!(!arguments.is_empty(), "chunk {i} has an empty fragment");
            self.calls[index].arguments.push_str(arguments);
            return;
        }
        assert_eq!(index, self.calls.len(), "chunk {i}: calls count from 0");
        assert_eq!(delta.kind.as_deref(), Some("function"), "chunk {i}");
        let id = delta.id.clone().expect("a call begins with its id");
        assert!(!id.is_empty() && self.ids.insert(id.clone()), "chunk {i}: id {id:?}");
        let name = function.name.clone().expect("a call begins with its name");
        assert!(!name.is_empty(), "chunk {i}: a call without a name");
        self.calls.push(Call { id, name, arguments: arguments.to_owned() });
    }
}
