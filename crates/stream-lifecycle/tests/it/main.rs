//! Tests of the record of a stream. Ids like `S4.7` are those of `CONTRACT.md`.

/// Random scripts, callers and consumers.
mod chaos;
mod chaotic;
/// Collectors: limits, times, marks.
mod collected;
/// Surroundings, on the thread that polls.
mod context;
/// Every ending of a stream.
mod endings;
/// Guardrails on the live stream.
mod enforce;
/// END in the words of OpenTelemetry's conventions.
#[cfg(all(feature = "tracing", feature = "gen-ai"))]
mod gen_ai;
/// Panics of everybody's code.
mod panics;
mod parts;
/// The END event's content: sanitizers, codec, metadata.
mod record;
/// Starting, and failing to.
mod starts;
/// Queues, flushes, threads.
mod subscribers;
mod support;
/// Asynchronous checks of passages.
mod window;
