//! A decoder and an encoder of server-sent events that keep the bytes of each event.
//!
//! A [`Decoder`] takes bytes in arbitrary pieces. Each [`SseEvent`] borrows its raw bytes, so a
//! proxy can forward unchanged events byte for byte. [`SseEvent::with_data`] replaces the data of
//! an event and keeps its other lines. [`Fields::encode`] writes a new event.
//!
//! ```
//! use sse_events::{Decoder, SseItem};
//! let (mut decoder, mut forwarded, mut seen) = (Decoder::new(), Vec::new(), Vec::new());
//! let input = b": ping\r\nid: 7\r\ndata: {\"n\":\r\ndata: 1}\r\n\r\n";
//! for chunk in input.chunks(3) {
//!     decoder.push(chunk, |item| {
//!         forwarded.extend_from_slice(item.raw());
//!         if let SseItem::Event(event) = item {
//!             seen.extend(event.data.map(<[u8]>::to_vec));
//!         }
//!     })?;
//! }
//! decoder.finish(|_| unreachable!("every event was complete"))?;
//! assert_eq!(forwarded, input);
//! assert_eq!(seen, [b"{\"n\":\n1}"]);
//! # Ok::<(), sse_events::TooLong>(())
//! ```
//!
//! # Guarantees
//!
//! - The raw bytes of all items, in order, are the input, unless [`SseLimitPolicy::Drop`] drops an
//!   event.
//! - The items do not depend on the cuts of the input.
//! - Memory is bounded by [`SseLimits`], and work is linear in the input.
//!
//! # Features
//!
//! - `lenient`: `Decoder::lenient`, which reads events of servers that do not follow the standard.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![warn(unnameable_types, clippy::exhaustive_enums, clippy::exhaustive_structs)]

mod block;
mod decoder;
mod encode;
mod event;
mod limits;
mod lines;

pub use decoder::{Decoder, SseItem};
pub use encode::{FieldError, Fields, comment};
pub use event::SseEvent;
pub use limits::{Limit, SseLimitPolicy, SseLimits, TooLong};

/// The mark that some producers write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
