//! How a family's own templates lay calls out, as data: what its readers do not care about.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::envelope;
use crate::grammar::{At, Grammar, List, Text};

/// One way to write calls: which of a grammar's openers and shapes, and the whitespace and order
/// that readers leave open.
///
/// The default writes what any reader of the shape takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layout {
    /// The opener, by its place in the grammar; in an envelope the route.
    pub opener: usize,
    /// The shape, by its place in the opener or route.
    pub shape: usize,
    /// How several calls stand together.
    pub calls: Arrangement,
    /// Around all of them: markup that readers remove.
    pub around: (Text, Text),
    /// Whether the end marker is written.
    pub closer: Closer,
    /// Before each literal between an opener and the calls.
    pub glue: Text,
    /// Inside a block: behind its opener, and before its closer.
    pub inside: (Text, Text),
    /// Between the calls of a block; absent, what the shape needs.
    pub between: Option<Text>,
    /// Between blocks.
    pub blocks: Text,
    /// Whitespace inside JSON.
    pub json: Spacing,
    /// Between the tags of a tagged call, unless such whitespace stands there already.
    pub tags: Text,
    /// Around a tagged value; absent, what its trimming takes away.
    pub value: Option<(Text, Text)>,
    /// Behind a named call's name.
    pub behind_name: Text,
    /// Before and behind the arguments of a named call.
    pub arguments: (Text, Text),
    /// Which of the ends of a tagged call's header is written.
    pub header_end: usize,
    /// Whether names in headers stand in quotes that may be missing.
    pub names: Naming,
    /// An attribute of a tagged call's header that counts the calls, from 1.
    pub index: Option<Text>,
    /// The header of a message, with the call's name between any two of these; absent, what the
    /// route needs.
    pub header: List<Text>,
    /// Which of the ends of a message is written, if its calls do not end it.
    pub end: Option<usize>,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            opener: 0,
            shape: 0,
            calls: Arrangement::default(),
            around: Default::default(),
            closer: Closer::default(),
            glue: Text::default(),
            inside: Default::default(),
            between: None,
            blocks: "\n".into(),
            json: Spacing::default(),
            tags: Text::default(),
            value: None,
            behind_name: Text::default(),
            arguments: Default::default(),
            header_end: 0,
            names: Naming::default(),
            index: None,
            header: List::new(),
            end: None,
        }
    }
}

impl Layout {
    /// The layouts of `grammar`, best first: its own, else what its openers allow.
    pub(super) fn of(grammar: &Grammar) -> Vec<Self> {
        if !grammar.layouts.is_empty() {
            return grammar.layouts.clone();
        }
        if let Some(envelope) = &grammar.envelope {
            return envelope::layouts(envelope);
        }
        let begins = grammar.openers.iter().enumerate().filter(|(_, o)| o.at != At::AfterCall);
        let layouts = begins.flat_map(|(opener, o)| {
            (0..o.shapes.len()).map(move |shape| Self { opener, shape, ..Self::default() })
        });
        layouts.collect()
    }
}

/// How several calls stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// In one block if the shape takes several, else in blocks of their own.
    #[default]
    AsShaped,
    /// In blocks of their own.
    Alone,
    /// In one block: a list, a section, lines.
    Together,
}

/// Whether the end marker of a block is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Closer {
    /// If readers expect it.
    #[default]
    IfExpected,
    /// Always, if there is one.
    Always,
    /// Never.
    Never,
}

/// Whitespace inside JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// A space behind each comma and colon.
    #[default]
    Spaced,
    /// None.
    Compact,
}

impl Spacing {
    pub(super) const fn comma(self) -> &'static str {
        match self {
            Self::Spaced => ", ",
            Self::Compact => ",",
        }
    }

    pub(super) const fn colon(self) -> &'static str {
        match self {
            Self::Spaced => ": ",
            Self::Compact => ":",
        }
    }
}

/// Whether names in headers stand in quotes that may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Naming {
    /// They do not.
    #[default]
    Bare,
    /// They do.
    Quoted,
}
