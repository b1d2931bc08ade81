//! Server-sent events: decoding at every cut, against another implementation, within limits; and
//! encoding.

mod decoding;
mod encoding;
mod limits;
mod oracle;
mod support;
