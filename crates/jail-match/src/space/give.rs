//! Giving text out: counted, and reasoning as far as its limit allows.

use super::Spaces;
use crate::{channel::Channel, sink::Sink};

impl Spaces {
    pub(crate) fn reasoning_bytes(&self) -> u64 {
        self.reasoning_bytes
    }

    /// Another stream begins.
    pub(crate) fn forget_counts(&mut self) {
        self.reasoning_bytes = 0;
    }

    /// So many bytes of `channel` are given out.
    pub(crate) fn count(&mut self, channel: Channel, bytes: usize) {
        if channel == Channel::REASONING {
            self.reasoning_bytes += bytes as u64;
        }
    }

    /// Gives out text of a channel, reasoning as far as it may.
    pub(super) fn put<S: Sink + ?Sized>(
        &mut self,
        channel: Channel,
        text: &str,
        at: u64,
        sink: &mut S,
    ) {
        let within = self.cap.within(channel, text);
        if within > 0 {
            self.count(channel, within);
            self.cap.put(channel, &text[..within], at, sink);
        }
        if within < text.len() {
            if self.cap.spills() {
                // It becomes visible content: what was held of that comes out before it.
                self.content.release(Channel::CONTENT, sink);
                self.content.visible = true;
            }
            self.cap.put(channel, &text[within..], at + within as u64, sink);
        }
    }

    /// What is held of a channel comes out.
    pub(super) fn release<S: Sink + ?Sized>(&mut self, channel: Channel, sink: &mut S) {
        if !self.cap.counts(channel) {
            let held = self.run(channel).text.len();
            self.count(channel, held);
            return self.run(channel).release(channel, sink);
        }
        let (text, spans) = self.run(channel).take();
        let mut rest = text.as_str();
        for (at, len) in spans {
            let (piece, behind) = rest.split_at(len as usize);
            self.put(channel, piece, at, sink);
            rest = behind;
        }
    }
}
