//! Streams of `/api/generate`, one JSON object a line, as streams of chunks.

use serde_json::{Value, json};

use super::{Generated, id};
use crate::{
    dialect::{converted::Converter, ollama},
    limits::MAX_GENERATED_LINE_BYTES,
};

/// A converter of Ollama's lines to events with chunks.
#[derive(Debug)]
pub(crate) struct GeneratedLines {
    /// The line that has not ended.
    line: Vec<u8>,
    created: u64,
    /// Whether a chunk was written.
    begun: bool,
    /// Whether the client asked for usage.
    counted: bool,
}

impl GeneratedLines {
    /// Creates a converter. `counted` adds a chunk with usage at the end.
    pub(crate) fn new(counted: bool) -> Self {
        Self { line: Vec::new(), created: ollama::now(), begun: false, counted }
    }

    /// Converts the line and clears it.
    fn end_line(&mut self, converted: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        if line.trim_ascii().is_empty() {
            return;
        }
        let unread = |_| Generated {
            error: Some("upstream sent a line that cannot be read".into()),
            ..Generated::default()
        };
        let read = serde_json::from_slice::<Generated>(&line).unwrap_or_else(unread);
        converted.extend_from_slice(self.events(&read).as_bytes());
    }

    /// Returns the events of a line.
    fn events(&mut self, line: &Generated) -> String {
        if let Some(error) = &line.error {
            let message = error.as_str().map_or_else(|| error.to_string(), str::to_owned);
            return event(&json!({"error": {"message": message}}));
        }
        let chunk = |choices: Value| {
            json!({"id": id(self.created), "object": "chat.completion.chunk",
                "created": self.created, "model": line.model, "choices": choices})
        };
        let mut events = String::new();
        if !line.response.is_empty() || !self.begun {
            let mut delta = json!({"content": line.response});
            if !self.begun {
                delta["role"] = "assistant".into();
            }
            let choice = json!({"index": 0, "delta": delta, "finish_reason": null});
            events.push_str(&event(&chunk(json!([choice]))));
        }
        if line.done {
            let choice = json!({"index": 0, "delta": {}, "finish_reason": line.finish_reason()});
            events.push_str(&event(&chunk(json!([choice]))));
            if self.counted {
                let mut last = chunk(json!([]));
                last["usage"] = line.usage();
                events.push_str(&event(&last));
            }
            events.push_str("data: [DONE]\n\n");
        }
        self.begun = true;
        events
    }
}

fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

impl Converter for GeneratedLines {
    fn push(&mut self, bytes: &[u8], converted: &mut Vec<u8>) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            let is_long = self.line.len() > MAX_GENERATED_LINE_BYTES;
            if is_long {
                // The rest of a line that is too long is no JSON either.
                self.line.truncate(1);
            }
            if is_long || part.ends_with(b"\n") {
                self.end_line(converted);
            }
        }
    }

    fn finish(&mut self, converted: &mut Vec<u8>) {
        // A line that was cut is dropped: the answer has no end then.
        if serde_json::from_slice::<Generated>(&self.line).is_ok() {
            self.end_line(converted);
        }
    }

    fn held(&self) -> usize {
        self.line.len()
    }
}

#[cfg(test)]
mod tests {
    use llm_stream_guard::{
        Guard,
        chat::{ChatGuard, ChatOptions},
        profile,
    };
    use serde_json::{Value, json};

    use super::{GeneratedLines, MAX_GENERATED_LINE_BYTES};
    use crate::dialect::{ApiDialect, Machine as _, converted::Converted};

    fn machine() -> Converted<GeneratedLines> {
        let guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
        let guard = ChatGuard::new(guard, ChatOptions::default());
        let lines = GeneratedLines { created: 1, ..GeneratedLines::new(true) };
        Converted::new(ApiDialect::Chat.stream(guard, &Value::Null), lines)
    }

    fn read(lines: &str, size: usize) -> String {
        let (mut machine, mut out) = (machine(), Vec::new());
        for piece in lines.as_bytes().chunks(size) {
            machine.push(piece, &mut out).unwrap();
        }
        let _ = machine.finish(&mut out);
        // Ids of calls are random.
        let text = String::from_utf8(out).unwrap();
        let mut parts = text.split("\"call_");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + "\"" + part.split_once('"').unwrap().1)
    }

    fn answer() -> String {
        let texts = [
            "<thi",
            "nk>hm</think>",
            "He",
            "llo <tool_",
            "call>\n{\"name\": \"f\", \
            \"arguments\": {}}\n</tool_call>",
        ];
        let mut lines: String = texts
            .iter()
            .map(|text| json!({"model": "m", "response": text, "done": false}).to_string() + "\n")
            .collect();
        let end = json!({"model": "m", "response": "", "done": true, "done_reason": "stop",
            "prompt_eval_count": 3, "eval_count": 9});
        lines.push_str(&end.to_string());
        lines
    }

    #[test]
    fn lines_are_read_equally_at_every_cut() {
        let lines = answer();
        let whole = read(&lines, lines.len());
        for part in [
            "\"role\":\"assistant\"",
            "\"reasoning_content\":\"hm\"",
            "\"tool_calls\"",
            "\"finish_reason\":\"tool_calls\"",
            "\"total_tokens\":12",
        ] {
            assert!(whole.contains(part), "{part}: {whole}");
        }
        assert!(whole.ends_with("data: [DONE]\n\n"), "{whole}");
        for size in 1..lines.len() {
            assert_eq!(read(&lines, size), whole, "{size}");
        }
    }

    #[test]
    fn error_cut_line_and_long_line_end_the_answer_without_done() {
        let begun = "{\"response\":\"Hi\",\"done\":false}\n";
        let error = read(&format!("{begun}{{\"error\":\"no memory\"}}\n"), 7);
        assert!(error.contains("Hi") && error.contains("no memory"), "{error}");
        let long =
            format!("{begun}{{\"response\":\"{}\"}}\n", "x".repeat(MAX_GENERATED_LINE_BYTES));
        let long = read(&long, 1 << 20);
        assert!(long.contains("cannot be read"), "{long}");
        let cut = read(&format!("{begun}{{\"response\":\"the"), 7);
        assert!(cut.contains("Hi") && !cut.contains("the"), "{cut}");
        for text in [error, long, cut] {
            assert!(!text.contains("[DONE]"), "{text}");
        }
    }
}
