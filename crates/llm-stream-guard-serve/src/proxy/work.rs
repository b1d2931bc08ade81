//! Reads requests and whole answers, on another thread if they are long.

use llm_stream_guard::{
    Outcome,
    chat::{ChatGuard, ChatNote, ChatSseError, Completion, Note},
};
use serde_json::Value;

use crate::{
    body::Body,
    config::UnsupportedTools,
    dialect::{ApiDialect, unsupported::Unsupported},
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

/// A parsed request of a client.
pub(super) struct Read {
    /// Body of the request to upstream.
    pub(super) body: Body,
    /// The fields that the writer of the answer needs.
    pub(super) asked: Value,
    pub(super) dropped: Vec<&'static str>,
}

pub(super) fn read_request(
    dialect: ApiDialect,
    bytes: &[u8],
    policy: UnsupportedTools,
) -> Result<Read, Fault> {
    let mut unsupported = Unsupported::new(policy);
    let mut body = Body::read(bytes)?;
    let asked = dialect.asked(&mut body)?;
    let body = dialect.request(body, &mut unsupported)?;
    Ok(Read { body, asked, dropped: unsupported.into_dropped() })
}

/// Guards a whole answer. Returns it with the indices of calls that were malformed or incomplete.
pub(super) fn whole(
    dialect: ApiDialect,
    guard: &ChatGuard,
    said: &[u8],
) -> Result<(Completion, Vec<u32>), Fault> {
    let none = |_| Fault::new(Kind::Broken, "upstream's answer is no completion");
    let read = dialect.read(said);
    if read.as_ref().map_or(true, |read| read.choices.is_empty()) {
        let said: Value = serde_json::from_slice(said).map_err(none)?;
        if said.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::reported(&said));
        }
    }
    let read = read.map_err(none)?;
    if read.choices.is_empty() {
        return Err(Fault::new(Kind::Broken, "upstream's answer has no choices"));
    }
    let mut broken = Vec::new();
    let whole = guard.complete_noting(read, |note| broken.extend(broken_call(note)));
    Ok((whole.map_err(|error| Fault::of_stream(ChatSseError::Chat(error)))?, broken))
}

/// Returns the index of the first choice's call that a note reports as malformed or cut.
fn broken_call(ChatNote { choice, note }: ChatNote) -> Option<u32> {
    match note {
        Note::CallEnd { outcome: Outcome::Complete | Outcome::Repaired, .. } => None,
        Note::CallEnd { index, .. } if choice == 0 => Some(index),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiDialect, HEAVY, UnsupportedTools, heavy, read_request};

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
                        drop(read_request(dialect, body.as_bytes(), UnsupportedTools::Drop));
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
