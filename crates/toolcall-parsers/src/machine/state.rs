//! The state of the call machine, grouped by what it belongs to.

use alloc::string::String;

use super::{
    arguments::attributes::HeaderReader,
    plan::{LeafId, NodeId, SectionId},
    recovery::{fault::FaultPlace, skipped_call::SkippedCall},
};

/// The position of the machine in a block of calls. [The module](super) shows an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MachineState {
    /// In the header of a message.
    Message,
    /// In the header of a call, between two of its parts.
    Header,
    /// In a field of a call's header, such as the name.
    Field,
    /// Inside the arguments.
    Arguments,
    /// After the arguments. The end tag with this number may follow.
    CallEnd(u8),
    /// After a call of a section or list.
    Between,
    /// After the calls of a section. The end tag with this number may follow.
    SectionEnd(u8),
    /// After a list without calls: an end tag must follow.
    Empty,
    /// In text between the opener of a section and its first call.
    SkippedText,
    /// After a fault, in text that is skipped up to a recovery point.
    Broken,
}

/// The list that contains the calls being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum List {
    #[default]
    None,
    /// The list of a section: `<calls>[…]</calls>`.
    Section,
    /// A list in place of one call: `<call>[{…}, {…}]</call>`.
    Call,
}

/// The position in the family's plan.
#[derive(Debug, Clone, Default)]
pub(super) struct PlanPlace {
    /// The node of the header that is read, or was read last.
    pub(super) node: NodeId,
    /// The form of the current call.
    pub(super) leaf: LeafId,
    pub(super) section: Option<SectionId>,
    pub(super) list: List,
    /// Number of calls of the block so far, including entries that are not real calls.
    pub(super) calls_seen: u32,
}

/// The possible readings of a text with several.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Readings {
    /// The number of the reading that is being tried.
    pub(super) attempt: usize,
    pub(super) choices: usize,
}

/// The header of a call while it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct CallHeader {
    pub(super) field: String,
    pub(super) quote: Option<char>,
    pub(super) attributes: HeaderReader,
    /// Whether blanks precede the next part of the header.
    pub(super) spaced: bool,
    /// Whether the tag of a call was read, not only that of a section.
    pub(super) in_call: bool,
    /// Whether the opener was the brace that begins the arguments, so that it must be fed first.
    pub(super) after_brace: bool,
}

/// The call that is read.
#[derive(Debug, Clone, Default)]
pub(super) struct CurrentCall {
    pub(super) name: String,
    pub(super) id: String,
    /// Whether the call's start was emitted.
    pub(super) started: bool,
    /// Arguments that were read before the call was certain.
    pub(super) early: String,
    /// Stream offset of the call's first byte.
    pub(super) item_at: u64,
}

/// The state of the recovery after a fault.
#[derive(Debug, Clone, Default)]
pub(super) struct Recovery {
    /// Number of bytes skipped since the fault.
    pub(super) dropped: u64,
    /// The position after a fault in a call without tagged parameters.
    pub(super) fault: Option<FaultPlace>,
    /// The position in the rest of a malformed call with tagged parameters.
    pub(super) skipped_call: Option<SkippedCall>,
}

/// Text that was skipped between a section's opener and its first call, or after a parameter.
#[derive(Debug, Clone, Default)]
pub(super) struct SkippedText {
    /// Number of bytes that are not whitespace.
    pub(super) bytes: u64,
    /// The start of the text, if it follows a parameter.
    pub(super) text: String,
    /// Whether text was directly before the tag that made a call malformed.
    pub(super) after_text: bool,
}
