//! The cursor, which recognises markup: the driver with a family's parsers, or the parser of a
//! response template.

use jail_match::{
    Channel, Counters, Driver, Edge, End, Held, HeldKind, LimitError, ServerItem, Sink, Stretch,
};
use toolcall_parsers::{BrokenBlock, Calls, Grammar, Ids, Rejected, ToolCallParser};

use super::template::TemplateCursor;

/// A reader of the text of a message, after all input stages.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "a guard has one; the usual one is not boxed")]
pub(super) enum Cursor {
    Family(FamilyCursor),
    Template(Box<TemplateCursor>),
}

impl From<TemplateCursor> for Cursor {
    fn from(template: TemplateCursor) -> Self {
        Self::Template(Box::new(template))
    }
}

impl Cursor {
    pub(super) fn reset(&mut self) {
        match self {
            Self::Family(family) => family.reset(),
            Self::Template(template) => template.reset(),
        }
    }

    // Without inlining, text that passes costs a fifth more instructions.
    #[inline(always)]
    pub(super) fn push<S: Sink + ?Sized>(
        &mut self,
        text: &str,
        sink: &mut S,
    ) -> Result<(), LimitError> {
        if self.pass(text, sink) {
            return Ok(());
        }
        self.push_looking(text, &mut jail_match::ByRef(sink))
    }

    /// Feeds `text` if it passes unchanged. Otherwise it returns `false`, without an effect.
    #[inline(always)]
    pub(super) fn pass<S: Sink + ?Sized>(&mut self, text: &str, sink: &mut S) -> bool {
        match self {
            Self::Family(family) => family.driver.pass(text, sink),
            Self::Template(_) => false,
        }
    }

    /// Feeds text that does not pass unchanged.
    #[inline]
    pub(super) fn push_looking(
        &mut self,
        text: &str,
        sink: &mut dyn Sink,
    ) -> Result<(), LimitError> {
        match self {
            Self::Family(FamilyCursor { driver, bodies }) => {
                driver.push_looking(text, bodies, sink)
            }
            Self::Template(template) => {
                template.push(text, sink);
                Ok(())
            }
        }
    }

    /// Whether `text` would pass unchanged as content, with nothing held after it. May return
    /// `false` where it would.
    pub(super) fn passes(&self, text: &str) -> bool {
        match self {
            Self::Family(FamilyCursor { driver, .. }) => {
                driver.channel() == Channel::CONTENT && driver.passes(text)
            }
            Self::Template(_) => false,
        }
    }

    pub(super) fn finish(&mut self, end: End, sink: &mut dyn Sink) -> Result<(), LimitError> {
        match self {
            Self::Family(family) => family.finish(end, sink),
            Self::Template(template) => {
                template.finish(end, sink);
                Ok(())
            }
        }
    }

    /// Records that a range of the text is literal, as reported by a wire decoder. No decoder is
    /// used with a template.
    pub(super) fn mark(&mut self, stretch: Stretch) {
        if let Self::Family(family) = self {
            family.driver.mark(stretch);
        }
    }

    /// Returns the offset of the first byte that is still kept.
    pub(super) fn settled(&self) -> u64 {
        match self {
            Self::Family(FamilyCursor { driver, .. }) => {
                driver.position().saturating_sub(driver.buffered() as u64)
            }
            Self::Template(template) => template.settled(),
        }
    }

    /// Whether text goes to reasoning that was opened in the text and is not closed.
    pub(super) fn is_unclosed(&self) -> bool {
        match self {
            Self::Family(family) => family.driver.is_unclosed(),
            Self::Template(_) => false,
        }
    }

    /// Whether text was held that has begun a call. Ask before the cursor ends the message.
    pub(super) fn has_begun_call(&self) -> bool {
        match self {
            Self::Family(family) => {
                let Held { bytes, kind } = family.held();
                bytes > 0 && matches!(kind, HeldKind::Candidate | HeldKind::Call)
            }
            Self::Template(template) => template.open_channel() == Some(None),
        }
    }

    /// Whether reasoning is open, after the cursor ended the message with `end`.
    pub(super) fn ends_in_reasoning(&self, end: End) -> bool {
        match self {
            // A server that separates reasoning does not report its end.
            Self::Family(FamilyCursor { driver, .. }) => {
                driver.channel() == Channel::REASONING && (driver.is_unclosed() || end != End::Stop)
            }
            Self::Template(template) => template.open_channel() == Some(Some(Channel::REASONING)),
        }
    }

    pub(super) fn message_boundary(&mut self, sink: &mut dyn Sink) {
        match self {
            Self::Family(family) => family.driver.message_boundary(sink),
            Self::Template(template) => template.next_message(sink),
        }
    }

    /// Records an item that a server separated. Returns `false` if nothing was done, as always with
    /// a template.
    pub(super) fn server_item(
        &mut self,
        item: ServerItem,
        sink: &mut dyn Sink,
    ) -> Result<bool, LimitError> {
        match self {
            Self::Family(FamilyCursor { driver, bodies }) => driver.server_item(item, bodies, sink),
            Self::Template(_) => Ok(false),
        }
    }

    /// Returns the number of received bytes that were not emitted and are not known to be markup.
    pub(super) fn undecided(&self) -> usize {
        match self {
            Self::Family(family) => family.held().bytes,
            Self::Template(template) => template.held().bytes,
        }
    }

    pub(super) fn held(&self) -> Held {
        match self {
            Self::Family(family) => family.held(),
            Self::Template(template) => template.held(),
        }
    }

    pub(super) fn buffered(&self) -> usize {
        match self {
            Self::Family(family) => family.buffered(),
            Self::Template(template) => template.buffered(),
        }
    }

    pub(super) fn counters(&self) -> &Counters {
        match self {
            Self::Family(family) => family.driver.counters(),
            Self::Template(template) => template.counters(),
        }
    }

    /// Returns the markers of the family's table, or the boundaries of the response template.
    pub(super) fn edges(&self) -> &[Edge] {
        match self {
            Self::Family(family) => family.driver.table().edges(),
            Self::Template(template) => template.edges(),
        }
    }

    pub(super) fn grammar(&self) -> Option<&Grammar> {
        match self {
            Self::Family(family) => Some(family.bodies.grammar()),
            Self::Template(_) => None,
        }
    }

    pub(super) fn calls(&self) -> &Calls {
        match self {
            Self::Family(family) => family.bodies.calls(),
            Self::Template(template) => template.calls(),
        }
    }

    pub(super) fn set_ids(&mut self, ids: Ids) {
        match self {
            Self::Family(family) => family.bodies.set_ids(ids),
            Self::Template(template) => template.set_ids(ids),
        }
    }

    /// Applies at least `policy` to later blocks.
    pub(super) fn add_broken_block(&mut self, policy: BrokenBlock) {
        if let Self::Family(FamilyCursor { bodies, .. }) = self {
            bodies.set_broken_block(bodies.broken_block().max(policy));
        }
    }

    pub(super) fn rejected(&self) -> Option<Rejected> {
        match self {
            Self::Family(family) => family.bodies.rejected(),
            Self::Template(_) => None,
        }
    }
}

/// The driver, and the parsers of a family's calls.
#[derive(Debug, Clone)]
pub(super) struct FamilyCursor {
    pub(super) driver: Driver,
    pub(super) bodies: ToolCallParser,
}

impl FamilyCursor {
    fn reset(&mut self) {
        self.driver.reset();
        self.bodies.reset();
    }

    fn finish(&mut self, end: End, sink: &mut dyn Sink) -> Result<(), LimitError> {
        self.driver.finish(end, &mut self.bodies, sink)
    }

    fn held(&self) -> Held {
        toolcall_parsers::held(&self.driver, self.bodies.held())
    }

    fn buffered(&self) -> usize {
        self.driver.buffered().saturating_add(self.bodies.buffered())
    }
}
