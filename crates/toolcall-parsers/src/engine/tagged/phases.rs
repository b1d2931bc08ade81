//! Inside a value, behind a tag: what must follow for it to be one.

use super::{
    attribute::Flag,
    head::{Names, Read},
    shape::TaggedShape,
    value::{By, Fed, MAX_GAP, Phase, ValueReader},
};
use crate::{
    calls::Calls,
    engine::text::{Is, Undecided, any, is, space},
    event::CallSink,
};

const CDATA_CLOSE: &str = "]]>";

impl ValueReader {
    pub(super) fn cdata(
        &mut self,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Option<Fed> {
        let mut from = *i;
        while let Some(hit) = memchr::memchr(b']', &text.as_bytes()[from..]) {
            let at = from + hit;
            match is(&text[at..], CDATA_CLOSE) {
                Is::No => from = at + 1,
                Is::Maybe => {
                    self.put(&text[*i..at], calls, sink);
                    return Some(Fed::More { used: at });
                }
                Is::Yes => {
                    self.put(&text[*i..at], calls, sink);
                    *i = at + CDATA_CLOSE.len();
                    (self.phase, self.cdata_here, self.run) = (Phase::Text, true, 0);
                    return None;
                }
            }
        }
        self.put(&text[*i..], calls, sink);
        Some(Fed::More { used: text.len() })
    }

    pub(super) fn next_parameter(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Option<Fed> {
        let limit = calls.options.limits.name;
        let flag = Flag::of(shape);
        let rest = &text[*i..];
        match self.next.feed(&shape.parameter, flag, Names::Parameter, limit, rest) {
            Read::More { used } => {
                self.pending.push_str(&rest[..used]);
                Some(Fed::More { used: *i + used })
            }
            Read::Done { used, then } => {
                Some(Fed::Closed { used: *i + used, by: By::NextParameter(then) })
            }
            Read::Bad { at } => {
                self.pending.push_str(&rest[..at]);
                *i += at;
                self.release(shape, calls, sink);
                None
            }
        }
    }

    pub(super) fn call_close(
        &mut self,
        shape: &TaggedShape,
        text: &str,
        i: &mut usize,
        calls: &Calls,
        sink: &mut dyn CallSink,
    ) -> Option<Fed> {
        let gap = space(&text[*i..]);
        if self.gap + gap <= MAX_GAP {
            self.gap += gap;
            self.pending.push_str(&text[*i..*i + gap]);
            *i += gap;
            let closers = shape.wrapper.as_ref().map_or(&[][..], |wrapper| &wrapper.close);
            match any(&text[*i..], closers) {
                _ if *i == text.len() => return Some(Fed::More { used: *i }),
                Err(Undecided) => return Some(Fed::More { used: *i }),
                Ok(Some(n)) => {
                    let used = *i + closers[n].len();
                    return Some(Fed::Closed { used, by: By::Wrapper });
                }
                Ok(None) => {}
            }
        }
        self.release(shape, calls, sink);
        None
    }
}
