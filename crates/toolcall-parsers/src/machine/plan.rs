//! A family, compiled: openers, the trie of headers after them, and what each header leads to.
//!
//! ```text
//! <tool_call>            opener, edge 0 ──► node 1, where the calls of section 0 begin
//! <function=             tag            ──► node 2
//! NAME                   field          ──► node 3
//! >                      tag            ──► node 4: leaf 0, the parameters of template 0
//! ```

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::Anchor;

use super::{
    arguments::{attributes::AttributeHeader, elements::ElementSpec, parameters::ParameterSpec},
    messages::{EntryKind, MessagePlan},
};
use crate::{
    family::{CommitOn, Erase, Keys, Types},
    template::Dialect as Syntax,
    texts::Texts,
};

/// Number of a node of the trie.
pub(crate) type NodeId = u16;
/// The index of a leaf in the plan.
pub(crate) type LeafId = u16;
/// Number of a section.
pub(crate) type SectionId = u16;

/// Everything the machine knows of a family.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) openers: Vec<Opener>,
    pub(crate) nodes: Vec<TrieNode>,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) sections: Vec<Section>,
    pub(crate) forms: Vec<FormPlan>,
    pub(crate) messages: Option<MessagePlan>,
    /// Texts that are removed in content.
    pub(crate) erase: Vec<Erase>,
    /// End tags that are removed directly after a call, even if none is open.
    pub(crate) orphans: Vec<Box<str>>,
    /// Places to continue after a fault, except end tags: openers and ends of turns.
    pub(crate) stops: Vec<Box<str>>,
    /// These, and all end tags, tags of calls and openers of sections: places to go on of any call.
    pub(crate) places: Texts,
    /// The same as texts that may follow a call.
    pub(crate) follows: Vec<String>,
}

/// Text that makes the driver hand over to the machine.
#[derive(Debug, Clone)]
pub(crate) struct Opener {
    pub(crate) marker: Box<str>,
    pub(crate) at: Anchor,
    /// Newlines before it that go with it.
    pub(crate) newlines: u8,
    pub(crate) start: Start,
}

/// The start of the machine after an opener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At this node of the trie.
    Node(NodeId),
    /// Inside the brace of a call object, or of bare arguments, of this node.
    Object(NodeId),
    /// Inside the bracket of this section.
    List(SectionId),
    /// In the field of this node, whose first letter was the opener.
    Letter(NodeId),
    /// In a message header that began with the part of this number.
    Header(u16),
    /// Nowhere: what may come is the block before, once more.
    Echo,
}

/// A place in a header.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrieNode {
    pub(crate) tags: Vec<HeaderTag>,
    pub(crate) field: Option<(HeaderField, NodeId)>,
    /// Arguments that may begin here, in order of preference.
    pub(crate) leaves: Vec<LeafId>,
    /// The sections whose calls may begin here.
    pub(crate) sections: Vec<SectionId>,
    /// The first tag of a section or call, by which this node was reached: repeated, it is
    /// absorbed.
    pub(crate) again: Vec<Box<str>>,
    /// Whether white space is possible before the next token.
    pub(crate) blanks: BlankRule,
    /// When calls that go on from here are certain: on their marker only if all of them are.
    pub(crate) commit: CommitOn,
}

/// Whether white space is possible at a place where the template shows none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BlankRule {
    #[default]
    Free,
    Exact,
}

/// Literal text of a header, and the node after it.
#[derive(Debug, Clone)]
pub(crate) struct HeaderTag {
    pub(crate) text: Box<str>,
    pub(crate) to: NodeId,
}

/// A hole of a call's header.
#[derive(Debug, Clone)]
pub(crate) struct HeaderField {
    pub(crate) kind: FieldKind,
    /// Whether the text may be in quotes.
    pub(crate) quotes: Quotes,
    /// The texts that may follow and so end the field. They are left for the node after it.
    pub(crate) stops: Vec<Box<str>>,
    pub(crate) blank_stop: BlankStop,
    /// For attributes: how they are read, up to and including one of the tags of the node after
    /// them.
    pub(crate) header: Option<AttributeHeader>,
}

/// The content of a header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Name,
    /// Any text around a declared name.
    Declared,
    Id,
    /// An id that holds the name after a prefix and before a separator and a number, both of which
    /// may be missing.
    IdWithName {
        prefix: Box<str>,
        separator: Box<str>,
    },
    /// A label, which is dropped.
    Label,
    /// A number, which is dropped.
    Index,
    /// Attributes `key="value"` in any order, others among them; each with what its value is.
    Attributes(Vec<(Box<str>, Self)>),
}

/// Whether the text of a field may be in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quotes {
    None,
    Optional,
}

/// Whether whitespace ends a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlankStop {
    None,
    Newline,
    Any,
}

/// Where the arguments of a call begin.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) form: u16,
    pub(crate) commit: CommitOn,
    /// The name, where the header does not hold it.
    pub(crate) name: Option<Box<str>>,
    pub(crate) arguments: Arguments,
    /// End tags in order, each in all its spellings.
    pub(crate) ends: EndTags,
}

/// End tags, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EndTags {
    pub(crate) tags: Vec<Vec<Box<str>>>,
    /// Whether a missing one is reported.
    pub(crate) missing: Missing,
}

/// Whether a missing end tag is worth a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Missing {
    #[default]
    Reported,
    Silent,
}

/// The reader of a call's arguments.
#[derive(Debug, Clone)]
pub(crate) enum Arguments {
    /// A call without arguments.
    None,
    /// An object that is the arguments.
    Value(Syntax),
    /// Python keyword arguments, or one object, after a parenthesis up to the closing one.
    Keywords(Syntax),
    /// An object that holds name and arguments.
    Object(Syntax),
    /// Text that is the value of this key, up to one of the ends. The token before it, repeated,
    /// is absorbed.
    Raw {
        key: Box<str>,
        again: Vec<Box<str>>,
        ends: Vec<Box<str>>,
        /// Tokens of message headers: text that begins with one is none.
        headers: Vec<Box<str>>,
    },
    Parameters(ParameterSpec),
    Elements(ElementSpec),
}

/// Properties that the calls of a form share.
#[derive(Debug, Clone)]
pub(crate) struct FormPlan {
    pub(crate) keys: Keys,
    pub(crate) no_call: Vec<String>,
    /// Delimiters of strings in the literal dialect, in addition to the quotes of scripts.
    pub(crate) quote: Vec<String>,
    pub(crate) types: Types,
    /// Keys that are allowed next to those of a call, if restricted. Another key refutes a call
    /// that is not certain yet.
    pub(crate) beside: Option<Vec<String>>,
    /// Texts that end a call around a value with a missing end.
    pub(crate) value_ends: Vec<String>,
}

/// The markup around calls.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// The node at which its calls begin.
    pub(crate) calls: NodeId,
    pub(crate) bracket: Bracket,
    /// The first tags of its opener, which may begin another section; empty without an opener.
    pub(crate) opens: Vec<Box<str>>,
    pub(crate) ends: EndTags,
    pub(crate) commit: CommitOn,
    /// Whether white space is possible before its bracket.
    pub(crate) blanks: BlankRule,
    /// The effect of text after its opener.
    pub(crate) prose: Prose,
}

/// The effect of text after the opener of a section, in place of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prose {
    /// Refutes the section; its opener is text, too.
    Refutes,
    /// Follows the section's opener, which is a token that no prose contains and therefore markup.
    Follows,
    /// The same, unless a call comes that its own tag announces: then the text is noise.
    MayBeNoise,
}

/// Whether the calls of a section are a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    None,
    Square,
}

/// Lookups by the numbers of the plan.
impl Plan {
    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &TrieNode {
        &self.nodes[usize::from(id)]
    }

    #[inline]
    pub(crate) fn leaf(&self, id: LeafId) -> &Leaf {
        &self.leaves[usize::from(id)]
    }

    #[inline]
    pub(crate) fn section(&self, id: SectionId) -> &Section {
        &self.sections[usize::from(id)]
    }

    /// The form that a leaf is of.
    #[inline]
    pub(crate) fn form_of(&self, leaf: &Leaf) -> &FormPlan {
        &self.forms[usize::from(leaf.form)]
    }
}

impl Plan {
    /// Whether no text holds the opener but a model's of the family.
    pub(crate) fn is_marked(&self, opener: &Opener) -> bool {
        match opener.start {
            Start::Node(node) => self.node(node).commit == CommitOn::Marker,
            Start::Header(n) => {
                let entries = self.messages.as_ref().map(|messages| &messages.entries);
                let entry = entries.and_then(|entries| entries.get(usize::from(n)));
                let bare = entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Bare(_)));
                opener.at == Anchor::Anywhere && !bare
            }
            Start::Object(_) | Start::List(_) | Start::Letter(_) | Start::Echo => false,
        }
    }
}
