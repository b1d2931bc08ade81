//! Work on requests and whole answers, on another thread if they are long.

use llm_stream_guard::chat::{Completion, TooManyValues, condense};
use serde_json::Value;

use crate::{
    dialect::ApiDialect,
    elsewhere::{HEAVY, elsewhere},
    error::{Fault, Kind},
};

/// Runs work on `length` bytes, on another thread if it would delay other streams.
pub(super) async fn heavy<T: Send + 'static>(
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    if length < HEAVY {
        return Ok(work());
    }
    elsewhere(work).await
}

/// Reads upstream's whole answer as a chat completion.
pub(super) fn whole(dialect: ApiDialect, said: &[u8]) -> Result<Completion, Fault> {
    let none = |_| Fault::new(Kind::Broken, "upstream's answer is no completion");
    let too_many =
        |it: TooManyValues| Fault::new(Kind::Broken, format!("upstream's answer has {it}"));
    let text = String::from_utf8_lossy(said);
    let text = condense(&text).map_err(too_many)?;
    let read = dialect.read_condensed(&text);
    if read.as_ref().map_or(true, |read| read.choices.is_empty()) {
        let said: Value = serde_json::from_str(&text).map_err(none)?;
        if said.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::reported(&said));
        }
    }
    let read = read.map_err(none)?;
    match read.choices.is_empty() {
        true => Err(Fault::new(Kind::Broken, "upstream's answer has no choices")),
        false => Ok(read),
    }
}

#[cfg(test)]
mod tests {
    use llm_stream_guard::{
        Guard,
        chat::{ChatGuard, ChatOptions},
        profile,
    };
    use serde_json::Value;

    use super::{ApiDialect, HEAVY, heavy, whole};
    use crate::dialect::UnsupportedTools;

    #[test]
    fn reading_a_request_allocates_less_than_four_times_its_size() {
        let small = "{\"\":0},".repeat(600_000);
        let turn = r#"{"role": "user", "content": "a"},"#.repeat(100_000);
        let text = format!(r#"{{"role": "user", "content": "{}"}},"#, "x".repeat(4 << 20));
        for dialect in ApiDialect::ALL {
            for field in ["messages", "input", "tools", "metadata", "user", "prompt"] {
                for many in [&small, &turn, &text] {
                    let body =
                        format!(r#"{{"model": "m", "{field}": [{}]}}"#, many.trim_end_matches(','));
                    let memory = allocation_counter::measure(|| {
                        drop(dialect.translate(body.as_bytes(), UnsupportedTools::Drop));
                    });
                    let times = memory.bytes_max / body.len() as u64;
                    assert!(times < 4, "{dialect:?} {field}: {times}");
                }
            }
        }
    }

    /// Whole answers of two megabytes, of which most is one kind of values.
    fn answers() -> Vec<(String, bool)> {
        let many = |one: &str| {
            let list = one.repeat((2 << 20) / one.len());
            format!("[{}]", list.trim_end_matches(','))
        };
        let objects = many("{\"\":0},");
        let message = "\"role\":\"assistant\",\"content\":\"Hi\"";
        let answer = |fields: &str, choice: &str, message: &str| {
            format!(
                "{{\"choices\":[{{\"index\":0,\"message\":{{{message}}},\
                 \"finish_reason\":\"stop\"{choice}}}]{fields}}}"
            )
        };
        let member = |name: &str, value: &str| format!(",\"{name}\":{value}");
        let call = |arguments: &str| {
            let function = format!("{{\"name\":\"f\",\"arguments\":{arguments}}}");
            format!("[{{\"id\":\"a\",\"type\":\"function\",\"function\":{function}}}]")
        };
        let arguments = format!("{{\"a\":{objects}}}");
        let arguments = call(&Value::from(arguments).to_string());
        let token = r#"{"token":"a","logprob":-0.125,"bytes":[97],"top_logprobs":[]},"#;
        vec![
            (answer(&member("state", &objects), "", message), true),
            (answer(&member("usage", &objects), "", message), false),
            (answer(&member("prompt_token_ids", &many("1,")), "", message), true),
            (answer("", &member("state", &many("[],")), message), true),
            (answer("", &member("token_ids", &many("12345,")), message), true),
            (answer("", &member("logprobs", &objects), message), true),
            (answer("", &format!(",\"logprobs\":{{\"content\":{}}}", many(token)), message), true),
            (answer("", "", &format!("{message},\"state\":{objects}")), true),
            (answer("", "", &format!("\"content\":\"{}\"", "x".repeat(2 << 20))), true),
            (answer("", "", &format!("{message},\"tool_calls\":{arguments}")), true),
            (answer("", "", &format!("{message},\"tool_calls\":{objects}")), false),
            (answer("", "", &format!("\"content\":{objects}")), false),
            (format!("{{\"choices\":{objects}}}"), false),
            (
                format!("{{\"error\":{{\"message\":\"upstream is full\",\"state\":{objects}}}}}"),
                false,
            ),
            (objects, false),
        ]
    }

    #[test]
    fn whole_answer_takes_at_most_eight_times_its_size() {
        let guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
        let guard = ChatGuard::new(guard, ChatOptions::default());
        for dialect in ApiDialect::ALL {
            for (n, (answer, is_read)) in answers().into_iter().enumerate() {
                let mut written = None;
                let memory = allocation_counter::measure(|| {
                    let read = whole(dialect, answer.as_bytes()).ok();
                    let guarded = read.map(|it| dialect.whole(&guard, it, &Value::Null).unwrap());
                    written = guarded.map(|it| it.body.len());
                });
                let times = memory.bytes_max / answer.len() as u64;
                assert!(times < 8, "{dialect:?} {n}: {times}");
                let kept = memory.bytes_current;
                assert!(kept < 1 << 12, "{dialect:?} {n}: {kept}");
                if dialect != ApiDialect::Completions {
                    assert_eq!(written.is_some(), is_read, "{dialect:?} {n}");
                }
            }
        }
    }

    #[test]
    fn event_takes_at_most_eight_times_its_size_and_three_times_what_is_written() {
        let guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
        let guard = ChatGuard::new(guard, ChatOptions::default());
        for dialect in ApiDialect::ALL {
            for (n, (answer, _)) in answers().into_iter().enumerate() {
                let event = answer.replace("\"message\":{\"", "\"delta\":{\"");
                let event = format!("data: {event}\n\ndata: [DONE]\n\n");
                let mut written = 0;
                let memory = allocation_counter::measure(|| {
                    let mut out = Vec::new();
                    let mut machine = dialect.stream(guard.clone(), &Value::Null);
                    for piece in event.as_bytes().chunks(16 << 10) {
                        machine.push(piece, &mut out).unwrap();
                    }
                    machine.finish(&mut out).unwrap();
                    let text = String::from_utf8_lossy(&out);
                    assert!(!text.contains('\u{FDD0}'));
                    assert!(!answer.starts_with("{\"error\"") || text.contains("upstream is full"));
                    written = if dialect.is_upstreams() { 0 } else { out.len() };
                });
                let most = 8 * event.len() + 3 * written;
                assert!(memory.bytes_max < most as u64, "{dialect:?} {n}: {}", memory.bytes_max);
                let kept = memory.bytes_current;
                assert!(kept < 1 << 12, "{dialect:?} {n}: {kept}");
            }
        }
    }

    #[tokio::test]
    async fn heavy_work_runs_on_another_thread() {
        let here = std::thread::current().id();
        let at = |length| heavy(length, || std::thread::current().id());
        assert_eq!(at(HEAVY - 1).await.unwrap(), here);
        assert_ne!(at(HEAVY).await.unwrap(), here);
    }
}
