//! The compiled form of a form's `element` template.

use alloc::{borrow::ToOwned, string::String, vec, vec::Vec};

use crate::{
    cursor::{Prefix, blanks, match_prefix},
    family::Form,
    limits::MAX_BLANKS,
    machine::{
        arguments::{
            CallEnds,
            parameters::{Unreadable, spec::merge_inner},
            tag::{self, TagTexts},
        },
        compile::respell::{Respell, Speller},
    },
    template::{Hole, Part, Template},
    texts::Bytes,
};

/// A compiled `element` template: tags that all begin with the same token.
///
/// An element with only text is a scalar. An element with children is an object or a list, as the
/// schema declares. Without a schema, it is a list if its first child is called `item`.
#[derive(Debug, Clone)]
pub(crate) struct ElementSpec {
    /// The text before every tag.
    pub(super) token: String,
    /// The ends of the call and of its section, and tokens that end the turn.
    pub(super) ends: Vec<TagTexts>,
    /// Texts that begin the next call or section.
    pub(super) openers: Vec<TagTexts>,
    /// Those of `ends` after which the templates have another end tag.
    pub(super) inner: TagTexts,
    /// Tokens that end the turn.
    pub(super) turn: Vec<TagTexts>,
}

/// The name of a list's items.
pub(super) const ITEM: &str = "item";
/// The name of the member for text besides elements. If the name is taken, dollar signs are
/// appended.
pub(super) const TEXT: &str = "$text";

/// Whether a text begins with a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagAt {
    /// The text begins with a tag. Its token and `<` have this length.
    Yes(usize),
    No,
    /// The text is too short to decide.
    Undecided,
}

impl ElementSpec {
    /// Compiles a form's `element` template, which must be `TOKEN<{key}>{value}TOKEN</{key}>`.
    pub(crate) fn compile(form: &Form, ends: CallEnds) -> Result<Self, Unreadable> {
        const SHAPE: Unreadable =
            Unreadable("an element that is not `TOKEN<{key}>..TOKEN</{key}>`");
        let [Template { parts }] = form.elements.as_slice() else { return Err(SHAPE) };
        let [
            Part::Literal(open),
            Part::Hole(Hole::Key),
            Part::Literal(following),
            Part::Hole(Hole::Value(_)),
            Part::Literal(close),
            Part::Hole(Hole::Key),
            Part::Literal(end),
        ] = parts.as_slice()
        else {
            return Err(SHAPE);
        };
        let token = open.strip_suffix('<').filter(|token| !token.is_empty()).ok_or(SHAPE)?;
        let closes = close.strip_prefix(token) == Some("</");
        if following.trim_ascii() != ">" || end.trim_ascii() != ">" || !closes {
            return Err(SHAPE);
        }
        let mut own = ends.call;
        own.extend(ends.section);
        // Only the first word of an opener is compared: attributes after it have several spellings.
        let word = |text: String| text.split_ascii_whitespace().next().map(ToOwned::to_owned);
        let openers = vec![TagTexts::exact(ends.openers.into_iter().filter_map(word))];
        let (inner, turn) = (TagTexts::exact(ends.inner), vec![TagTexts::exact(ends.turn)]);
        Ok(Self { token: token.to_owned(), ends: vec![TagTexts::exact(own)], openers, inner, turn })
    }

    /// Adds the ends of another template with the same header and elements.
    pub(crate) fn merge_ends(&mut self, other: Self) {
        merge_inner((&mut self.inner, &self.ends), (other.inner, &other.ends));
        tag::merge(&mut self.ends, other.ends);
    }

    /// Returns the set of first bytes of tags.
    pub(crate) fn first(&self) -> Bytes {
        self.token.bytes().take(1).fold(Bytes::default(), Bytes::with)
    }

    /// Returns whether `text` begins with a tag.
    pub(super) fn tag_at(&self, text: &str) -> TagAt {
        match match_prefix(text, &self.token) {
            Prefix::Mismatch => return TagAt::No,
            Prefix::Partial => return TagAt::Undecided,
            Prefix::Match => {}
        }
        let at = self.token.len();
        let blank = blanks(&text[at..]);
        match text.as_bytes().get(at.saturating_add(blank)) {
            _ if blank > MAX_BLANKS => TagAt::No,
            None => TagAt::Undecided,
            Some(b'<') => TagAt::Yes(at.saturating_add(blank).saturating_add(1)),
            Some(_) => TagAt::No,
        }
    }
}

impl Respell for ElementSpec {
    fn respell(&mut self, speller: &Speller<'_>) {
        let Self { token, ends, openers, inner, turn } = self;
        token.respell(speller);
        ends.respell(speller);
        openers.respell(speller);
        inner.respell(speller);
        turn.respell(speller);
    }
}
