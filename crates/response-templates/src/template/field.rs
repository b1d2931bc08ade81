//! Fields: the boundaries of a part of the message, and the way its text becomes a value.

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::Channel;

use super::{Boundary, Transform};
use crate::{pattern::Program, text::strip};

/// A part of the message.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// The opener; `None` for the leftover field.
    pub(crate) open: Option<Boundary>,
    /// The closer; `None` for a field that ends with the stream.
    pub(crate) close: Option<Boundary>,
    pub(crate) content: Content,
    pub(crate) repeats: bool,
    pub(crate) join: Option<String>,
    pub(crate) optional: bool,
    pub(crate) transform: Option<Transform>,
    /// Whether the transform is applied to each item of a list.
    pub(crate) each: bool,
}

/// The kind of events of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Content,
    Reasoning,
    Calls,
    /// Any other value, as text of this channel.
    Extra(Channel),
}

impl Role {
    /// Returns the channel of the field's text. Calls are not text.
    pub(crate) fn channel(self) -> Option<Channel> {
        match self {
            Self::Content => Some(Channel::CONTENT),
            Self::Reasoning => Some(Channel::REASONING),
            Self::Extra(channel) => Some(channel),
            Self::Calls => None,
        }
    }
}

/// The way in which the text of a region becomes a value.
#[derive(Debug)]
pub(crate) enum Content {
    Text {
        strip: bool,
    },
    Int,
    Float,
    Bool {
        strip: bool,
    },
    Json(Dialect),
    /// Tags with one value each: `xml-inline`.
    Tags {
        pattern: Box<Program>,
        value: Option<Box<Self>>,
        merge: bool,
    },
    /// Calls in the syntax of Python: `python-call-list`.
    CallList,
    /// Lines of keys and values: `kv-lines`. Without a separator, lines end at white space.
    Lines {
        line: Option<String>,
        pairs: Pairs,
        value: Option<Box<Self>>,
    },
}

/// The separator of key and value in a line, and whether white space around them is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    pub(crate) separator: String,
    pub(crate) strip: bool,
}

impl Pairs {
    pub(crate) fn stripped<'t>(&self, text: &'t str) -> &'t str {
        if self.strip { strip(text) } else { text }
    }
}

/// The rewriting of a text before it is read as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) unquoted_keys: bool,
    pub(crate) delimiters: Vec<(String, String)>,
    /// Whether a text that is not JSON is a string, and whether that string is trimmed.
    pub(crate) text: Option<bool>,
}

impl Field {
    /// Returns whether the value is trimmed, if the value is the text of the region. Such a value
    /// is emitted as it arrives.
    pub(crate) fn plain(&self) -> Option<bool> {
        match self.content {
            Content::Text { strip } if self.transform.is_none() => Some(strip),
            _ => None,
        }
    }
}
