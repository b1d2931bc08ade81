//! The readers of a call's arguments, and the questions that each of them answers.
//!
//! ```text
//! Arguments::Value        {"n": 1}                          value
//! Arguments::Keywords     (n=1)                             value
//! Arguments::Object       {"name": "f", "arguments": {…}}   object, and value inside of it
//! Arguments::Raw          print(1)                          raw, or value if it is an object
//! Arguments::Parameters   <parameter=n>1</parameter>        parameters
//! Arguments::Elements     ]<n>1]</n>                        elements
//! ```

use super::{
    arguments::{elements::Elements, parameters::Parameters, tag::longest},
    call_sink::CallSink,
    object::{ObjectAt, ObjectReader},
    plan::{Arguments, Leaf},
    raw::Raw,
};
use crate::{
    cursor::Undecided,
    event::Outcome,
    family::CommitOn,
    texts::Bytes,
    value::{ValueKind, ValueReader},
};

/// The reader of the arguments, if it may hold some of their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActiveReader {
    None,
    Value,
    Object,
    Parameters,
    Elements,
}

/// A tag of a parameter or element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterTag {
    /// The first tag, with its length in bytes; 0 for an element.
    First(usize),
    /// An inner tag, with its length in bytes; 0 for an element.
    Part(usize),
    /// The end tag of a value, with its length in bytes.
    End(usize),
}

/// The readers of arguments. One of them is in use.
#[derive(Debug, Clone)]
pub(super) struct ArgumentReaders {
    /// Whether the call is not read exactly as it was written. The readers of tags have their own.
    repaired: bool,
    pub(super) active: ActiveReader,
    pub(super) value: ValueReader,
    pub(super) object: ObjectReader,
    pub(super) raw: Raw,
    pub(super) parameters: Parameters,
    pub(super) elements: Elements,
}

impl ArgumentReaders {
    pub(super) fn new() -> Self {
        Self {
            repaired: false,
            active: ActiveReader::None,
            value: ValueReader::new(ValueKind::Arguments),
            object: ObjectReader::new(),
            raw: Raw::new(),
            parameters: Parameters::default(),
            elements: Elements::default(),
        }
    }

    /// Prepares the reader of `arguments` for a call of the tool `name`.
    pub(super) fn begin(&mut self, arguments: &Arguments, name: &str) {
        (self.active, self.repaired) = (ActiveReader::None, false);
        match arguments {
            Arguments::None => {}
            Arguments::Value(_) => self.begin_value(ValueKind::Arguments),
            Arguments::Keywords(_) => self.begin_value(ValueKind::Keywords),
            Arguments::Object(syntax) => {
                self.object.begin();
                self.object.syntax = *syntax;
                self.active = ActiveReader::Object;
            }
            Arguments::Raw { .. } => self.raw.begin(),
            Arguments::Parameters(_) => {
                self.parameters.begin(name);
                self.active = ActiveReader::Parameters;
            }
            Arguments::Elements(_) => {
                self.elements.begin(name);
                self.active = ActiveReader::Elements;
            }
        }
    }

    /// Prepares the reader of values.
    pub(super) fn begin_value(&mut self, kind: ValueKind) {
        self.value = ValueReader::new(kind);
        self.active = ActiveReader::Value;
    }

    /// Returns whether all of `text` is the inside of a string and can be emitted unchanged.
    /// `unseen` states whether strings are not decoded.
    #[inline]
    pub(super) fn passes(&mut self, arguments: &Arguments, text: &str, unseen: bool) -> bool {
        match arguments {
            Arguments::Value(_) | Arguments::Keywords(_) => unseen && self.value.passes(text),
            Arguments::Object(_) => unseen && self.object.streams() && self.value.passes(text),
            Arguments::Parameters(spec) => self.parameters.passes(spec, text),
            Arguments::Raw { .. } | Arguments::Elements(_) | Arguments::None => false,
        }
    }

    /// Returns whether held text is being searched for the end of a value, or for the call's end.
    pub(super) fn is_searching(&self, arguments: &Arguments) -> bool {
        match arguments {
            Arguments::Parameters(_) => {
                self.parameters.is_searching() || self.parameters.is_between()
            }
            Arguments::Elements(_) => self.elements.is_searching(),
            Arguments::Value(_) => self.value.is_searching(),
            _ => false,
        }
    }

    /// Returns the length of the tag that the reader consumed up to a faulty character, in bytes.
    pub(super) fn faulty_tag_len(&self, arguments: &Arguments) -> u64 {
        match arguments {
            Arguments::Parameters(_) => self.parameters.faulty_header_len(),
            Arguments::Elements(_) => self.elements.faulty_tag_len(),
            _ => 0,
        }
    }

    /// Returns whether a parameter or element was read.
    pub(super) fn has_read_parameter(&self, arguments: &Arguments) -> bool {
        match arguments {
            Arguments::Elements(_) => self.elements.has_read(),
            _ => self.parameters.has_read(),
        }
    }

    /// Returns whether the last parameter's value contains an end tag of the call.
    pub(super) fn ends_in_end(&self, arguments: &Arguments) -> bool {
        matches!(arguments, Arguments::Parameters(_)) && self.parameters.ends_in_end()
    }

    /// Returns the outcome of a call whose arguments are whole.
    pub(super) fn outcome(&self, leaf: &Leaf) -> Outcome {
        let in_tags = match &leaf.arguments {
            Arguments::Parameters(_) => self.parameters.is_repaired(),
            Arguments::Elements(_) => self.elements.is_repaired(),
            _ => false,
        };
        let is_exact = !self.repaired && !in_tags && leaf.commit != CommitOn::Foreign;
        if is_exact { Outcome::Complete } else { Outcome::Repaired }
    }

    /// Records that the call is not read exactly as it was written.
    pub(super) fn repair(&mut self) {
        self.repaired = true;
    }

    /// Records that text came after a parameter or element.
    pub(super) fn text_came(&mut self) {
        self.parameters.text_came();
        self.elements.text_came();
    }

    /// Returns the tag of a parameter or element at the start of `rest`.
    pub(super) fn tag_at(
        &self,
        arguments: &Arguments,
        rest: &str,
    ) -> Result<Option<ParameterTag>, Undecided> {
        Ok(match arguments {
            Arguments::Parameters(spec) => {
                let first = longest(rest, spec.openers())?;
                let end = longest(rest, &spec.value_ends)?;
                let part = longest(rest, &spec.parts)?;
                let first = first.map(|(_, len)| ParameterTag::First(len));
                let end = end.map(|(_, len)| ParameterTag::End(len));
                first.or(end).or_else(|| part.map(|(_, len)| ParameterTag::Part(len)))
            }
            Arguments::Elements(spec) => self
                .elements
                .tag_at(spec, rest)?
                .map(|first| if first { ParameterTag::First(0) } else { ParameterTag::Part(0) }),
            _ => None,
        })
    }

    /// Completes the JSON of the arguments after the last parameter or element.
    pub(super) fn close_parameters(&mut self, arguments: &Arguments, out: &mut CallSink<'_>) {
        match arguments {
            Arguments::Elements(_) => self.elements.close(out),
            _ => self.parameters.close(out),
        }
    }

    /// Returns the number of bytes that the active reader holds, or `None` if it holds all of the
    /// call. `decoded` bytes are held by the decoder of strings.
    #[inline]
    pub(super) fn held(&self, decoded: usize) -> Option<usize> {
        match self.active {
            ActiveReader::Object if self.object.at == ObjectAt::Key => None,
            ActiveReader::Value | ActiveReader::Object => {
                Some(self.value.held().saturating_add(decoded))
            }
            ActiveReader::Parameters => Some(self.parameters.held().saturating_add(decoded)),
            ActiveReader::Elements => Some(self.elements.held()),
            ActiveReader::None => Some(0),
        }
    }

    /// Returns the number of bytes in buffers that grow with input.
    pub(super) fn buffered(&self) -> usize {
        let Self { value, object, parameters, elements, .. } = self;
        [value.buffered(), object.buffered(), parameters.buffered(), elements.buffered()]
            .iter()
            .sum()
    }
}

impl Arguments {
    /// Returns the bytes with which the tags of a parameter or element may begin.
    pub(super) fn tag_bytes(&self) -> Bytes {
        match self {
            Self::Parameters(spec) => spec.value_tags.first(),
            Self::Elements(spec) => spec.first(),
            _ => Bytes::default(),
        }
    }
}
