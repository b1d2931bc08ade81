//! Answers inside call objects: the string is emitted as content.
//!
//! ```text
//! {"answer": "Hi"}      Content("Hi"), if the family declares the key `answer` for answers
//! ```

use jail_match::Event;

use super::{
    call::{Machine, MachineStep},
    call_sink::CallSink,
    object::ObjectAt,
};
use crate::value::{Escape, Flavor, unescape};

impl Machine {
    /// Emits the inside of the answer's string, decoded while it arrives.
    pub(super) fn answer_text(&mut self, out: &mut CallSink<'_>) -> Option<MachineStep> {
        loop {
            let rest = out.cursor.rest();
            let stop = memchr::memchr2(b'"', b'\\', rest.as_bytes());
            let plain = &rest[..stop.unwrap_or(rest.len())];
            if !plain.is_empty() {
                out.sink.event(Event::Content(plain));
            }
            out.cursor.advance(plain.len());
            match out.cursor.peek() {
                None => return Some(MachineStep::more(out.cursor.at)),
                Some(b'"') => {
                    out.cursor.advance(1);
                    self.readers.object.at = ObjectAt::Member;
                    return None;
                }
                Some(_) => match unescape(out.cursor.rest().as_bytes(), Flavor::Json) {
                    Escape::Is(scalar, len) => {
                        out.sink.event(Event::Content(scalar.encode_utf8(&mut [0; 4])));
                        out.cursor.advance(len);
                    }
                    Escape::Cut => return Some(MachineStep::more(out.cursor.at)),
                    _ => return Some(self.bad(out)),
                },
            }
        }
    }
}
