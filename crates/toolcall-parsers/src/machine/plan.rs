//! The plan: a family's templates, compiled into openers, a trie of headers, and leaves.
//!
//! ```text
//! <tool_call>            opener 0 ──► node 1, where the calls of section 0 begin
//! <function=             tag      ──► node 2
//! NAME                   field    ──► node 3
//! >                      tag      ──► node 4: leaf 0, the parameters of template 0
//! ```

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::Anchor;

use super::{
    arguments::{attributes::AttributeHeader, elements::ElementSpec, parameters::ParameterSpec},
    messages::{EntryKind, MessagePlan},
    turn_ends::TurnEnds,
};
use crate::{
    cursor::Undecided,
    family::{CommitOn, Erase, Keys, Types},
    template::Dialect as Syntax,
    texts::Texts,
};

/// The index of a node in the plan.
pub(crate) type NodeId = u16;
/// The index of a leaf in the plan.
pub(crate) type LeafId = u16;
/// The index of a section in the plan.
pub(crate) type SectionId = u16;

/// The compiled templates of a family.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) openers: Vec<Opener>,
    pub(crate) nodes: Vec<TrieNode>,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) sections: Vec<Section>,
    pub(crate) forms: Vec<FormPlan>,
    pub(crate) messages: Option<MessagePlan>,
    /// The number of openers, at the start of the list, that begin a payload.
    pub(crate) payloads: usize,
    /// Texts that are removed from content.
    pub(crate) erase: Vec<Erase>,
    /// Ends of turns that are removed as the last text of a message in any place.
    pub(crate) turn_ends: TurnEnds,
    /// End tags that are removed directly after a call, even if none is open.
    pub(crate) orphans: Vec<Box<str>>,
    /// Texts at which reading continues after a fault, except end tags: openers and ends of turns.
    pub(crate) recovery_points: Vec<Box<str>>,
    /// The number of openers at the start of `recovery_points`.
    pub(crate) opener_points: usize,
    /// All texts at which reading may continue after a fault: `recovery_points`, end tags, tags of
    /// calls, and openers of sections.
    pub(crate) recovery_texts: Texts,
    /// All texts that may be tags between tagged parameters: `recovery_texts`, and the tags of
    /// calls and parameters. `None` if a call may begin without a tag.
    pub(crate) parameter_texts: Option<Texts>,
    /// A copy of `recovery_points`, as texts that may follow a call.
    pub(crate) follows: Vec<String>,
}

/// A text after which the machine reads.
#[derive(Debug, Clone)]
pub(crate) struct Opener {
    pub(crate) marker: Box<str>,
    pub(crate) at: Anchor,
    /// Maximum number of newlines before the opener that are removed with it.
    pub(crate) newlines: u8,
    pub(crate) start: Start,
}

/// The position in the plan after an opener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// At a node of the trie.
    Node(NodeId),
    /// Inside the brace of a call object or of bare arguments, which are leaves of this node.
    Object(NodeId),
    /// Inside the bracket of a section.
    List(SectionId),
    /// In the field of a node. The opener was the field's first letter.
    Letter(NodeId),
    /// In a message header that began with this entry.
    Header(u16),
    /// At a possible repetition of the last block.
    RepeatedBlock,
}

/// A position in a header.
#[derive(Debug, Clone, Default)]
pub(crate) struct TrieNode {
    pub(crate) tags: Vec<HeaderTag>,
    pub(crate) field: Option<(HeaderField, NodeId)>,
    /// Arguments that may begin here, in order of preference.
    pub(crate) leaves: Vec<LeafId>,
    /// The sections whose calls may begin here.
    pub(crate) sections: Vec<SectionId>,
    /// Spellings of the first tag that led to this node. A repetition of it is skipped.
    pub(crate) again: Vec<Box<str>>,
    /// Whether white space may precede the next part.
    pub(crate) blanks: BlankRule,
    /// The evidence that makes a call certain here. A marker does only if it does for all leaves
    /// that can be reached.
    pub(crate) commit: CommitOn,
}

/// Whether white space may occur where the template has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum BlankRule {
    #[default]
    Free,
    Exact,
}

/// A literal of a header, and the node after it.
#[derive(Debug, Clone)]
pub(crate) struct HeaderTag {
    pub(crate) text: Box<str>,
    pub(crate) to: NodeId,
}

/// A field of a call's header.
#[derive(Debug, Clone)]
pub(crate) struct HeaderField {
    pub(crate) kind: FieldKind,
    /// Whether the text may be in quotes.
    pub(crate) quotes: Quotes,
    /// Texts that end the field. They are read by the next node.
    pub(crate) stops: Vec<Box<str>>,
    pub(crate) blank_stop: BlankStop,
    /// For attributes: their reader's specification. The reader also consumes the tag after them.
    pub(crate) header: Option<AttributeHeader>,
}

/// The content of a header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Name,
    /// Any text that contains a declared name.
    Declared,
    Id,
    /// An id that contains the name, such as `functions.ring:0`. Prefix and number may be missing.
    IdWithName {
        prefix: Box<str>,
        separator: Box<str>,
    },
    /// Text of any kind, which is ignored.
    Label,
    /// A number that is ignored.
    Index,
    /// Attributes `key="value"` in any order, with the kind of each value. Other attributes are
    /// ignored.
    Attributes(Vec<(Box<str>, Self)>),
}

impl FieldKind {
    /// Returns whether the field holds the name of the tool.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self, Self::Name | Self::Declared | Self::IdWithName { .. })
    }
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

/// The end of a header: the arguments of a call begin.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub(crate) form: u16,
    pub(crate) commit: CommitOn,
    /// The name, if the header does not contain it.
    pub(crate) name: Option<Box<str>>,
    pub(crate) arguments: Arguments,
    /// The end tags of the call.
    pub(crate) ends: EndTags,
}

/// The end tags of a call or section, in order. Each has a list of spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EndTags {
    pub(crate) tags: Vec<Vec<Box<str>>>,
    /// Whether a missing end tag is reported.
    pub(crate) missing: Missing,
}

/// Whether a missing end tag is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Missing {
    #[default]
    Reported,
    Silent,
}

/// The syntax of a call's arguments.
#[derive(Debug, Clone)]
pub(crate) enum Arguments {
    /// A call without arguments.
    None,
    /// An object with the arguments.
    Value(Syntax),
    /// Python keyword arguments, or one object, in parentheses: `(n=1)`.
    Keywords(Syntax),
    /// An object with name and arguments.
    Object(Syntax),
    /// Text up to one of the ends. The text is the value of the argument `key`. A repetition of the
    /// token before the text is skipped.
    Raw {
        key: Box<str>,
        again: Vec<Box<str>>,
        ends: Vec<Box<str>>,
        /// Tokens of message headers. Text that begins with one is not an argument.
        headers: Vec<Box<str>>,
    },
    Parameters(ParameterSpec),
    Elements(ElementSpec),
}

impl Arguments {
    /// Adds the ends of another template whose arguments are read alike.
    pub(super) fn merge_ends(&mut self, other: Self) {
        match (self, other) {
            (Self::Raw { ends, .. }, Self::Raw { ends: more, .. }) => {
                let new: Vec<_> = more.into_iter().filter(|end| !ends.contains(end)).collect();
                ends.extend(new);
            }
            (Self::Parameters(spec), Self::Parameters(other)) => spec.merge_ends(other),
            (Self::Elements(spec), Self::Elements(other)) => spec.merge_ends(other),
            _ => {}
        }
    }
}

/// The properties that are common to a form's calls.
#[derive(Debug, Clone)]
pub(crate) struct FormPlan {
    pub(crate) keys: Keys,
    pub(crate) no_call: Vec<String>,
    /// Delimiters of strings in the literal dialect, besides quotes.
    pub(crate) quote: Vec<String>,
    pub(crate) types: Types,
    /// Keys that are allowed besides those of a call, if restricted. Another key proves that the
    /// object is not a call, unless the call is certain.
    pub(crate) beside: Option<Vec<String>>,
    /// Texts that end a call whose value has a missing end.
    pub(crate) value_ends: Vec<String>,
}

/// The markup around several calls.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    /// The node of the section's calls.
    pub(crate) calls: NodeId,
    /// Texts that may separate calls, besides white space and the commas of a list.
    pub(crate) separators: Vec<Box<str>>,
    pub(crate) bracket: Bracket,
    /// Spellings of the opener's first tag, which may also begin the next section. Empty without an
    /// opener.
    pub(crate) opens: Vec<Box<str>>,
    pub(crate) ends: EndTags,
    pub(crate) commit: CommitOn,
    /// Whether white space may precede the bracket.
    pub(crate) blanks: BlankRule,
    /// The effect of text between the opener and the first call.
    pub(crate) prose: Prose,
}

/// The effect of text between the opener of a section and its first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prose {
    /// This is not a section. The opener is text.
    Refutes,
    /// The opener is markup and the rest is text, because the opener is a token that does not occur
    /// in text.
    Follows,
    /// As [`Prose::Follows`]. But if a call with its own tag follows, the text is skipped.
    MayBeSkipped,
}

/// Whether the calls of a section are in a bracketed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bracket {
    None,
    Square,
}

/// Lookup of nodes, leaves, sections and forms by index.
impl Plan {
    /// Returns the first form of arguments that a header may lead to from `node` on.
    pub(crate) fn first_leaf(&self, node: NodeId) -> Option<LeafId> {
        let (mut next, mut left) = (Some(node), self.nodes.len());
        while let Some(node) = next.filter(|_| left > 0) {
            let TrieNode { leaves, tags, field, .. } = self.node(node);
            if let Some(&leaf) = leaves.first() {
                return Some(leaf);
            }
            let field = field.as_ref().map(|(_, to)| *to);
            (next, left) = (tags.first().map(|tag| tag.to).or(field), left.saturating_sub(1));
        }
        None
    }

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

    /// Returns the openers among the recovery points.
    pub(crate) fn opener_texts(&self) -> &[Box<str>] {
        self.recovery_points.get(..self.opener_points).unwrap_or(&[])
    }

    /// Returns whether `text` ends a call whose end is missing, if `rest` follows it.
    pub(crate) fn shows_end(&self, text: &str, rest: &str, ended: bool) -> Result<bool, Undecided> {
        self.messages.as_ref().map_or(Ok(true), |it| it.may_begin(text, rest, ended))
    }

    /// Returns whether a tag that may occur between the parameters of `leaf` may be at the start of
    /// `text`. Most text is not even the beginning of one.
    pub(crate) fn may_be_between_parameters(&self, leaf: &Leaf, text: &str) -> bool {
        let tagged = matches!(leaf.arguments, Arguments::Parameters(_));
        let texts = self.parameter_texts.as_ref().filter(|_| tagged);
        texts.is_none_or(|texts| texts.may_begin(text.as_bytes()))
    }

    /// Returns the tokens that end a turn or a message, or begin another message.
    pub(crate) fn message_ends(&self) -> &[Box<str>] {
        self.recovery_points.get(self.opener_points..).unwrap_or(&[])
    }

    /// Returns the form of a leaf.
    #[inline]
    pub(crate) fn form_of(&self, leaf: &Leaf) -> &FormPlan {
        &self.forms[usize::from(leaf.form)]
    }
}

impl Plan {
    /// Returns whether the opener does not occur in ordinary text.
    pub(crate) fn is_marked(&self, opener: &Opener) -> bool {
        match opener.start {
            Start::Node(node) => self.node(node).commit == CommitOn::Marker,
            Start::Header(n) => {
                let entries = self.messages.as_ref().map(|messages| &messages.entries);
                let entry = entries.and_then(|entries| entries.get(usize::from(n)));
                let bare = entry.is_some_and(|entry| matches!(entry.kind, EntryKind::Bare(_)));
                opener.at == Anchor::Anywhere && !bare
            }
            Start::Object(_) | Start::List(_) | Start::Letter(_) | Start::RepeatedBlock => false,
        }
    }
}
