//! A stream's life on record: what happens when, whatever ends it. Ids like `S4.7` are
//! those of `CONTRACT.md`.

/// Random scripts, callers and consumers.
mod chaos;
mod chaotic;
/// What is collected: limits, times, marks.
mod collected;
/// Surroundings, on the thread that polls.
mod context;
/// Every way to end, and what follows.
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
