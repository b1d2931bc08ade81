//! Collects deltas into the message of each choice, and its diagnostics.

use std::{collections::BTreeMap, io};

use llm_stream_guard::{MessageEnd, Outcome, chat::Delta};
use serde_json::{Map, Value, json};

use super::shown::{Remark, Render};

/// The messages of all choices.
#[derive(Debug, Default)]
pub(super) struct Collected(BTreeMap<u32, Message>);

/// The message of a choice.
#[derive(Debug, Default)]
struct Message {
    content: String,
    reasoning: String,
    calls: Vec<Call>,
    diagnostics: Vec<Value>,
    end: Option<MessageEnd>,
}

/// A call of a message.
#[derive(Debug)]
struct Call {
    index: u32,
    id: String,
    name: String,
    arguments: String,
    outcome: &'static str,
}

impl Collected {
    /// Returns the answer: the message and the diagnostics of the first choice, and all choices if
    /// there are several.
    pub(super) fn into_json(mut self, family: &str) -> Value {
        let several = self.0.len() > 1;
        self.0.entry(0).or_default();
        let choices: Vec<Value> = self.0.into_iter().map(|(index, it)| it.json(index)).collect();
        let mut answer = Map::new();
        answer.insert("family".into(), family.into());
        for name in ["message", "diagnostics"] {
            let first = choices.first().and_then(|choice| choice.get(name)).cloned();
            answer.insert(name.into(), first.unwrap_or_default());
        }
        if several {
            answer.insert("choices".into(), choices.into());
        }
        answer.into()
    }
}

impl Message {
    fn json(self, index: u32) -> Value {
        let call = |Call { id, name, arguments, outcome, .. }: &Call| json!({"id": id, "name": name, "arguments": arguments, "outcome": outcome});
        let calls: Vec<Value> = self.calls.iter().map(call).collect();
        json!({
            "index": index,
            "message": {
                "role": "assistant",
                "content": self.content,
                "reasoning": self.reasoning,
                "calls": calls,
                "finish": self.end.map(MessageEnd::finish),
                "open": self.end.map(|end| end.open.name()),
            },
            "diagnostics": self.diagnostics,
        })
    }

    fn call(&mut self, index: u32) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.index == index)
    }
}

impl Render for Collected {
    fn delta(&mut self, choice: u32, delta: Delta<'_>) -> io::Result<()> {
        let message = self.0.entry(choice).or_default();
        match delta {
            Delta::Content(text) => message.content.push_str(text),
            Delta::Reasoning(text) => message.reasoning.push_str(text),
            Delta::CallStart { index, id, name, .. } => message.calls.push(Call {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
                outcome: Outcome::Incomplete.name(),
            }),
            Delta::CallArguments { index, fragment } => {
                if let Some(call) = message.call(index) {
                    call.arguments.push_str(fragment);
                }
            }
            Delta::CallEnd { index, outcome, .. } => {
                if let Some(call) = message.call(index) {
                    call.outcome = outcome.name();
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn note(&mut self, choice: u32, note: Remark<'_>) -> io::Result<()> {
        self.0.entry(choice).or_default().diagnostics.push(diagnostic(note));
        Ok(())
    }

    fn end(&mut self, choice: u32, end: MessageEnd) -> io::Result<()> {
        self.0.entry(choice).or_default().end = Some(end);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn diagnostic(Remark { kind, at, bytes, count, call, message }: Remark<'_>) -> Value {
    let mut fields = Map::new();
    fields.insert("kind".into(), kind.into());
    let numbers = [("at", at), ("bytes", bytes), ("count", count), ("call", call.map(u64::from))];
    for (name, number) in numbers {
        if let Some(number) = number {
            fields.insert(name.into(), number.into());
        }
    }
    if let Some(message) = message {
        fields.insert("message".into(), message.into());
    }
    fields.into()
}
