//! Work on requests and whole answers, on another thread if they are long.

use llm_stream_guard::chat::Completion;
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
    let read = dialect.read(said);
    if read.as_ref().map_or(true, |read| read.choices.is_empty()) {
        let said: Value = serde_json::from_slice(said).map_err(none)?;
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
    use super::{ApiDialect, HEAVY, heavy};
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

    #[tokio::test]
    async fn heavy_work_runs_on_another_thread() {
        let here = std::thread::current().id();
        let at = |length| heavy(length, || std::thread::current().id());
        assert_eq!(at(HEAVY - 1).await.unwrap(), here);
        assert_ne!(at(HEAVY).await.unwrap(), here);
    }
}
