//! Tests of server-sent events: decoding at every cut, against another implementation and within
//! limits, and encoding.

mod decoding;
mod encoding;
mod limits;
mod oracle;
mod support;
