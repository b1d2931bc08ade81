//! The texts at which reading continues after a fault.

use alloc::{boxed::Box, string::String, vec::Vec};

use crate::{
    machine::{
        plan::{Arguments, Bracket, HeaderTag, Leaf, Plan, Section},
        recovery::fault::FaultPlace,
        state::{List, PlanPlace},
    },
    texts::Bytes,
};

/// The kind of recovery point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecoveryPoint {
    /// The end tag of a call.
    CallEnd,
    /// The end tag of a section, or the end of a list.
    SectionEnd,
    /// A text that is not part of the section: an opener, the end of a turn, or a newline.
    Outside,
    /// The next call of the section.
    NextCall,
}

/// The recovery points of a call.
pub(super) struct RecoveryPoints<'p> {
    pub(super) openers: &'p [Box<str>],
    pub(super) quotes: &'p [String],
    /// Whether neither the call nor its section has an end tag.
    pub(super) bare: bool,
    /// Whether the call's arguments are elements.
    pub(super) elements: bool,
    call_ends: &'p [Vec<Box<str>>],
    section_ends: &'p [Vec<Box<str>>],
    next_call: &'p [HeaderTag],
    message_ends: &'p [Box<str>],
    /// The brackets that end the call and its list.
    list: Option<&'static str>,
    /// The end of the call's line.
    line: Option<&'static str>,
}

impl<'p> RecoveryPoints<'p> {
    /// Returns the recovery points of a call of `leaf` at `place`.
    pub(super) fn new(place: &PlanPlace, leaf: Option<&'p Leaf>, plan: &'p Plan) -> Self {
        // A section in brackets was entered only if its bracket was read.
        let entered =
            |section: &&Section| section.bracket == Bracket::None || place.list == List::Section;
        let section = place.section.map(|id| plan.section(id)).filter(entered);
        let call_ends = leaf.map_or(&[][..], |leaf| &leaf.ends.tags);
        let section_ends = section.map_or(&[][..], |section| &section.ends.tags);
        let bare = call_ends.is_empty() && section_ends.is_empty();
        let object = leaf.is_some_and(|leaf| matches!(leaf.arguments, Arguments::Object(_)));
        let elements = leaf.is_some_and(|leaf| matches!(leaf.arguments, Arguments::Elements(_)));
        let in_list = place.list != List::None;
        // With an end tag, the next call begins only after it. Without one, only after the last
        // bracket.
        let next = section.filter(|_| bare || elements);
        Self {
            openers: plan.opener_texts(),
            quotes: leaf.map_or(&[][..], |leaf| &plan.form_of(leaf).quote),
            bare,
            elements,
            call_ends,
            section_ends,
            next_call: next.map_or(&[][..], |section| &plan.node(section.calls).tags),
            message_ends: plan.message_ends(),
            list: (bare && in_list).then_some(if object { "}]" } else { ")]" }),
            line: (bare && (in_list || !object)).then_some("\n"),
        }
    }

    /// Returns the points that no family's file names.
    pub(super) fn of_form(&self) -> impl Iterator<Item = &'static str> + use<> {
        [self.list, self.line].into_iter().flatten()
    }

    /// Adds to `bytes` the first bytes of the quotation marks, and of the points that no family's
    /// file names.
    pub(super) fn first_bytes(&self, bytes: Bytes) -> Bytes {
        let of_form = self.of_form().filter_map(|text| text.bytes().next());
        let quotes = self.quotes.iter().filter_map(|text| text.bytes().next());
        of_form.chain(quotes).fold(bytes, Bytes::with)
    }

    /// Returns the points that count after `fault`.
    pub(super) fn after(
        &self,
        fault: &FaultPlace,
    ) -> impl Iterator<Item = (RecoveryPoint, &'p str)> + Clone + use<'p> {
        let in_list = fault.seeks_sibling();
        let list = self.list.filter(|_| !in_list);
        let line = self.line.filter(|_| fault.is_flat());
        let call_ends = self.call_ends.iter().rev().take(1).flatten();
        let call_ends = call_ends.map(|tag| (RecoveryPoint::CallEnd, &**tag));
        let section_ends = self.section_ends.iter().flatten();
        let section_ends = section_ends.map(|tag| (RecoveryPoint::SectionEnd, &**tag));
        let next = self.next_call.iter().map(|tag| (RecoveryPoint::NextCall, &*tag.text));
        let opens = self.elements || self.bare && fault.is_flat();
        let ends = self.message_ends;
        let outside = ends.iter().chain(if opens { self.openers } else { &[] });
        let outside = outside.map(|text| (RecoveryPoint::Outside, &**text));
        let list = list.map(|end| (RecoveryPoint::SectionEnd, end));
        let line = line.map(|end| (RecoveryPoint::Outside, end));
        let all = call_ends.chain(section_ends).chain(next).chain(outside).chain(list).chain(line);
        let is_lost = fault.is_lost();
        let all = all.filter(move |(_, text)| !is_lost || ends.iter().any(|end| **end == **text));
        all.filter(move |(_, text)| !in_list || text.contains(char::is_alphanumeric))
    }
}
