//! Server-sent events: bytes in, events with the bytes they came in, and bytes out.
//!
//! A [`Decoder`] is fed with whatever the transport delivers. Each [`SseEvent`] borrows its raw bytes,
//! so that what a proxy does not change it can forward as it came; [`SseEvent::with_data`] changes the
//! data and keeps the rest, [`Fields::encode`] writes an event of one's own. The raw bytes of all
//! items, in order, are the input.
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
//! decoder.finish(|_| unreachable!("nothing was left open"))?;
//! assert_eq!(forwarded, input);
//! assert_eq!(seen, [b"{\"n\":\n1}"]);
//! # Ok::<(), sse_events::TooLong>(())
//! ```
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

/// What some producers put before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The README's example, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
