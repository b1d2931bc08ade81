//! The shape of tagged calls, as data.

use serde::{Deserialize, Serialize};

use crate::grammar::{List, Section, Text};

/// Calls with a header that holds the name, then parameters between tags.
///
/// Whitespace may stand between any two tags.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaggedShape {
    /// Markers around calls, if the family has them.
    #[serde(default)]
    pub wrapper: Option<Section>,
    /// What begins a call and holds its name.
    pub call: Head,
    /// Whether a name written twice, with a dot between, is written once too often.
    #[serde(default)]
    pub doubled_names: bool,
    /// What becomes of a call whose header breaks off behind its first literal.
    #[serde(default)]
    pub other_calls: OtherCalls,
    /// What ends a call: any of these, or all of them in order. They may be missing.
    #[serde(default)]
    pub call_close: List<Text>,
    /// What begins a parameter and holds its name.
    pub parameter: Head,
    /// A header attribute whose value `true` says that the parameter is a string, and `false`
    /// that it is JSON.
    #[serde(default)]
    pub string_attribute: Option<Text>,
    /// Tags around a type that may stand before a parameter's value, and counts where the
    /// schema says nothing.
    #[serde(default)]
    pub type_tags: Option<TypeTags>,
    /// If that attribute names the type: what it says of strings. Anything else is JSON.
    #[serde(default)]
    pub string_type: Option<Text>,
    /// Literals between a parameter's header and its value.
    #[serde(default)]
    pub value_open: List<Text>,
    /// What ends a value.
    pub value_close: Text,
    /// What a value loses at its edges.
    #[serde(default)]
    pub trim: Trim,
    /// How a value may be quoted.
    #[serde(default)]
    pub quoting: Quoting,
    /// What a value of an undeclared parameter is.
    #[serde(default)]
    pub undeclared: Undeclared,
    /// What a repeated parameter does.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// What else ends an open value.
    #[serde(default)]
    pub implicit: Implicit,
    /// Tags between parameters that mean nothing.
    #[serde(default)]
    pub ignored: List<Text>,
    /// Whether one JSON object may stand in the place of all parameters.
    #[serde(default)]
    pub json_body: bool,
}

impl TaggedShape {
    /// Whether one of the tags around calls and parameters begins with `marker`.
    pub(crate) fn has_tag_like(&self, marker: &str) -> bool {
        let heads = [&self.call, &self.parameter];
        let opens = heads.iter().filter_map(|head| head.open.first());
        let mut tags = opens.chain(&self.call_close).chain([&self.value_close]);
        tags.any(|tag| tag.len() > marker.len() && tag.starts_with(marker))
    }

    /// Calls `change` with every literal of the shape.
    pub(crate) fn each_tag(&mut self, mut change: impl FnMut(&mut Text)) {
        if let Some(wrapper) = &mut self.wrapper {
            wrapper.open.iter_mut().chain(&mut wrapper.close).for_each(&mut change);
        }
        for head in [&mut self.call, &mut self.parameter] {
            head.open.iter_mut().for_each(&mut change);
            head.ends.iter_mut().for_each(|end| change(&mut end.text));
        }
        let lists = [&mut self.call_close, &mut self.value_open, &mut self.ignored];
        lists.into_iter().flatten().for_each(&mut change);
        if let Some(TypeTags { open, close }) = &mut self.type_tags {
            change(open);
            change(close);
        }
        change(&mut self.value_close);
    }
}

/// Tags around a parameter's type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeTags {
    /// What begins it.
    pub open: Text,
    /// What ends it.
    pub close: Text,
}

/// A header: literals, a name, and what ends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// Literals before the name, whitespace allowed between. A call's first one may be repeated.
    pub open: List<Text>,
    /// Whether the name stands in quotes.
    #[serde(default)]
    pub quotes: Quotes,
    /// What else may stand behind a name in quotes.
    #[serde(default)]
    pub attributes: Attributes,
    /// What may end it.
    pub ends: List<HeadEnd>,
}

/// Whether a header's name stands in quotes, single or double.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quotes {
    /// It may.
    #[default]
    Optional,
    /// It must.
    Required,
    /// Quotes would be part of it.
    Literal,
}

/// What else may stand behind a header's name in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attributes {
    /// The attribute that says whether a parameter is a string.
    #[default]
    None,
    /// Any attributes; in the name and in their values `&quot;` and `&amp;` are escapes.
    Any,
}

/// What ends a header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadEnd {
    /// The literal text.
    pub text: Text,
    /// What comes then.
    #[serde(default)]
    pub then: Then,
}

/// What comes after a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// What the header is of.
    #[default]
    Body,
    /// The same, of which the end is the beginning.
    BodyHere,
    /// Nothing: it is complete.
    Closed,
}

/// What becomes of a call whose header breaks off behind its first literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OtherCalls {
    /// It is text.
    #[default]
    Refute,
    /// It is something other than a tool call: dropped up to its end, and counted.
    Skip,
}

/// What a value loses at its edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trim {
    /// Nothing.
    #[default]
    None,
    /// One newline at each edge.
    OneNewline,
    /// All ASCII whitespace.
    Full,
}

/// How a value may be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quoting {
    /// Not at all.
    #[default]
    None,
    /// As XML's `<![CDATA[...]]>`, in which nothing is trimmed and no tag is seen.
    Cdata,
}

/// What a value of an undeclared parameter is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undeclared {
    /// A string.
    #[default]
    Text,
    /// What JSON it spells, else a string.
    JsonElseText,
}

/// What a repeated parameter does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// It is written again; readers of JSON take the last.
    #[default]
    WriteAll,
    /// It is dropped and counted.
    KeepFirst,
}

/// What ends an open value though its own end is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implicit {
    /// The whole header of a parameter at the start of a line.
    #[serde(default)]
    pub next_parameter: bool,
    /// The call's end, if nothing but whitespace stands between it and the wrapper's end or the
    /// end of the stream.
    #[serde(default)]
    pub call_close: bool,
}
