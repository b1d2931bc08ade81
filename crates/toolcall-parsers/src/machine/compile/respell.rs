//! Respelling of a plan: marker tokens get the private spellings in which they are fed.
//!
//! The compiler sees the spellings of the family file, because it classifies texts by their
//! characters. The plan is respelled afterwards.

use alloc::{boxed::Box, string::String, vec::Vec};

pub(crate) use crate::texts::Speller;
use crate::{
    family::Erase,
    machine::{
        arguments::{
            attributes::AttributeHeader,
            parameters::{
                call_heads::{CallHead, CallHeadPart},
                spec::{ParameterNode, ParameterSpec, ValueSpec},
                value_tags::ValueTags,
            },
        },
        messages::{HeaderMark, MessageEntry, MessagePlan},
        plan::{
            Arguments, EndTags, FormPlan, HeaderField, HeaderTag, Leaf, Opener, Plan, Section,
            TrieNode,
        },
    },
};

/// A part of a plan that contains literal texts.
pub(crate) trait Respell {
    /// Replaces each text by the spelling that `speller` returns.
    fn respell(&mut self, speller: &Speller<'_>);
}

impl Respell for Box<str> {
    fn respell(&mut self, speller: &Speller<'_>) {
        if let Some(spelled) = speller(self) {
            *self = spelled.into();
        }
    }
}

impl Respell for String {
    fn respell(&mut self, speller: &Speller<'_>) {
        if let Some(spelled) = speller(self) {
            *self = spelled;
        }
    }
}

impl<T: Respell> Respell for Vec<T> {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.iter_mut().for_each(|item| item.respell(speller));
    }
}

impl<T: Respell> Respell for Option<T> {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.iter_mut().for_each(|item| item.respell(speller));
    }
}

impl Respell for Plan {
    fn respell(&mut self, speller: &Speller<'_>) {
        let Self { openers, nodes, leaves, sections, forms, .. } = self;
        openers.respell(speller);
        nodes.respell(speller);
        leaves.respell(speller);
        sections.respell(speller);
        forms.respell(speller);
        let Self { messages, erase, turn_ends, orphans, .. } = self;
        messages.respell(speller);
        erase.respell(speller);
        turn_ends.change(|texts| texts.respell(speller));
        orphans.respell(speller);
        let Self { recovery_points, recovery_texts, parameter_texts, follows, .. } = self;
        recovery_points.respell(speller);
        *recovery_texts = recovery_texts.respelled(speller);
        *parameter_texts = parameter_texts.as_ref().map(|texts| texts.respelled(speller));
        follows.respell(speller);
    }
}

impl Respell for Opener {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.marker.respell(speller);
    }
}

impl Respell for Erase {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.text.respell(speller);
    }
}

impl Respell for TrieNode {
    fn respell(&mut self, speller: &Speller<'_>) {
        let Self { tags, field, again, .. } = self;
        tags.respell(speller);
        again.respell(speller);
        if let Some((field, _)) = field {
            field.respell(speller);
        }
    }
}

impl Respell for HeaderTag {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.text.respell(speller);
    }
}

impl Respell for HeaderField {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.stops.respell(speller);
        self.header.respell(speller);
    }
}

impl Respell for AttributeHeader {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.ends.respell(speller);
    }
}

impl Respell for Leaf {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.ends.respell(speller);
        match &mut self.arguments {
            Arguments::Raw { again, ends, headers, .. } => {
                again.respell(speller);
                ends.respell(speller);
                headers.respell(speller);
            }
            Arguments::Parameters(spec) => spec.respell(speller),
            Arguments::Elements(spec) => spec.respell(speller),
            Arguments::None
            | Arguments::Value(_)
            | Arguments::Keywords(_)
            | Arguments::Object(_) => {}
        }
    }
}

impl Respell for EndTags {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.tags.respell(speller);
    }
}

impl Respell for Section {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.separators.respell(speller);
        self.opens.respell(speller);
        self.ends.respell(speller);
    }
}

impl Respell for FormPlan {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.quote.respell(speller);
        self.value_ends.respell(speller);
    }
}

impl Respell for MessagePlan {
    fn respell(&mut self, speller: &Speller<'_>) {
        let Self { entries, marks, recipient, ends, .. } = self;
        entries.respell(speller);
        marks.respell(speller);
        recipient.respell(speller);
        ends.respell(speller);
    }
}

impl Respell for MessageEntry {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.marker.respell(speller);
    }
}

impl Respell for HeaderMark {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.text.respell(speller);
    }
}

impl Respell for ParameterSpec {
    fn respell(&mut self, speller: &Speller<'_>) {
        let Self { nodes, parts, separators, ends, inner, turn, followers, heads, .. } = self;
        parts.respell(speller);
        self.value_ends.respell(speller);
        nodes.respell(speller);
        separators.respell(speller);
        ends.respell(speller);
        inner.respell(speller);
        turn.respell(speller);
        followers.respell(speller);
        let spelled = heads.clone();
        heads.respell(speller);
        self.drop_typed_markup(spelled);
        self.value_tags = ValueTags::new(self);
    }
}

impl Respell for ParameterNode {
    fn respell(&mut self, speller: &Speller<'_>) {
        match self {
            Self::Tags { tags, .. } => tags.respell(speller),
            Self::Holes { header, .. } => header.respell(speller),
            Self::Value(value) => value.respell(speller),
        }
    }
}

impl Respell for ValueSpec {
    fn respell(&mut self, speller: &Speller<'_>) {
        let Self { edges: _, ends, again, quotes, key: _ } = self;
        ends.respell(speller);
        again.respell(speller);
        for (open, close) in quotes {
            open.respell(speller);
            close.respell(speller);
        }
    }
}

impl Respell for CallHead {
    fn respell(&mut self, speller: &Speller<'_>) {
        self.pieces.respell(speller);
    }
}

impl Respell for CallHeadPart {
    fn respell(&mut self, speller: &Speller<'_>) {
        match self {
            Self::Tag(tag) => tag.respell(speller),
            Self::Attributes(header, _) => header.respell(speller),
            Self::Name | Self::Other => {}
        }
    }
}
