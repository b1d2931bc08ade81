//! The encoder, which writes calls by a family's templates.
//!
//! ```text
//! EncodeCall { name: "ring", arguments: {"times":2}, .. }
//! template  <call>{name}<args>{arguments}</call>
//! wire      <call>ring<args>{"times": 2}</call>
//! ```
//!
//! The first template that can express a call is used. The written text is parsed again, and
//! returned only if this gives the same calls.

mod call;
mod elements;
mod error;
mod header;
mod implied;
mod input;
mod json;
mod literal;
mod mistyped;
mod parameters;
mod python;
mod tags;
#[cfg(test)]
mod tests;
mod typed;
mod value;
mod verify;

use alloc::{string::String, vec::Vec};

pub use self::error::{EncodeError, EncodeErrorKind};
use self::{
    call::{Markup, Writer},
    literal::CallEnd,
    verify::verify,
};
use self::{
    error::EncodeFault,
    input::{JsonNode, Members, read_object, repeated},
};
use crate::{
    compiled::Grammar,
    family::{Family, Form, KeyOrder},
    machine::{arguments::parameters::spec::ParameterSpec, plan::Arguments},
    template::{Hole, Part, Template},
    tools::Tools,
};

/// A tool call to encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeCall<'c> {
    /// The name of the called tool.
    pub name: &'c str,
    /// The arguments, as the JSON text of one object. The spelling of numbers and the order of
    /// members are kept. White space and escapes become those of the family.
    pub arguments: &'c str,
    /// The id, if the wire should contain one.
    pub id: Option<&'c str>,
}

impl<'c> EncodeCall<'c> {
    /// Creates a call without an id.
    #[must_use]
    pub const fn new(name: &'c str, arguments: &'c str) -> Self {
        Self { name, arguments, id: None }
    }

    /// Returns the call with an id.
    #[must_use]
    pub const fn with_id(self, id: &'c str) -> Self {
        Self { id: Some(id), ..self }
    }
}

/// Writes calls in the syntax of `grammar`, as an assistant's message without other text.
///
/// A parser of the family with the same tools and default options reads back exactly these calls:
/// names, arguments and given ids. An id after the name needs [`crate::LateIds::Tell`]. An empty
/// list gives an empty text. The family's forms are tried in order, beginning with the one it
/// prefers.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use toolcall_parsers::{EncodeCall, Tools, encode, grammar};
/// let call = EncodeCall::new("lookup_tide", r#"{"port":"Brest","day":3}"#);
/// let wire = |family| encode(&grammar(family).unwrap(), &[call], &Tools::none());
/// assert_eq!(
///     wire("hermes")?,
///     "<tool_call>\n{\"name\": \"lookup_tide\", \"arguments\": {\"port\": \"Brest\", \"day\": 3}}\n</tool_call>",
/// );
/// assert_eq!(wire("pythonic")?, "[lookup_tide(port='Brest', day=3)]");
/// // Without a schema all values of this family are strings, so a number is refused.
/// assert_eq!(
///     wire("qwen3_coder").unwrap_err().to_string(),
///     "qwen3_coder: call 0 (\"lookup_tide\"): cannot write the value of argument \"day\": \
///      it would be read back as a string: no schema declares another type",
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The family cannot express a call. The error has the call, the position, and the reason of the
/// first form that was tried.
pub fn encode(
    grammar: &Grammar,
    calls: &[EncodeCall<'_>],
    tools: &Tools,
) -> Result<String, EncodeError> {
    let grammar = &grammar.with_names(tools);
    let family = grammar.family();
    let forms = family.forms.len();
    let order = (0..forms).cycle().skip(family.write.form.min(forms)).take(forms);
    first_written(order.map(|n| encode_form(grammar, n, calls, tools)))
        .unwrap_or_else(|| encode_form(grammar, 0, calls, tools))
}

/// Writes calls like [`encode`], without the ids that the family cannot write: those it has no place
/// for, and those of another form than its own. Chat APIs give every call an id. Also returns the
/// indices of the calls whose ids were dropped.
///
/// ```
/// use toolcall_parsers::{EncodeCall, Tools, encode_dropping_ids, grammar};
/// let call = EncodeCall::new("ping", "{}").with_id("call_7");
/// let (wire, dropped) = encode_dropping_ids(&grammar("glm47")?, &[call], &Tools::none())?;
/// assert_eq!((wire.as_str(), dropped.as_slice()), ("<tool_call>ping</tool_call>", &[0][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The family cannot express a call without its id.
pub fn encode_dropping_ids(
    grammar: &Grammar,
    calls: &[EncodeCall<'_>],
    tools: &Tools,
) -> Result<(String, Vec<usize>), EncodeError> {
    let (mut calls, mut dropped) = (calls.to_vec(), Vec::new());
    loop {
        let error = match encode(grammar, &calls, tools) {
            Ok(wire) => return Ok((wire, dropped)),
            Err(error) => error,
        };
        let at_fault = (error.kind() == EncodeErrorKind::Id).then(|| calls.get_mut(error.call()));
        match at_fault.flatten() {
            Some(call) if call.id.is_some() => call.id = None,
            _ => return Err(error),
        }
        dropped.push(error.call());
    }
}

/// Writes calls like [`encode`], in the form with index `form`.
///
/// # Errors
/// The form cannot express a call.
pub fn encode_form(
    grammar: &Grammar,
    form: usize,
    calls: &[EncodeCall<'_>],
    tools: &Tools,
) -> Result<String, EncodeError> {
    let grammar = &grammar.with_names(tools);
    let family = grammar.family();
    let Some(first) = calls.first() else { return Ok(String::new()) };
    let fail = |(n, fault): Failed| {
        fault.in_call(&family.name, n, calls.get(n).map_or(first.name, |call| call.name))
    };
    let mut read = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        read.push(
            CallToWrite::read(index, call, family.write.keys).map_err(|no| fail((index, no)))?,
        );
    }
    let leaves = grammar.plan().leaves.iter().filter(|leaf| usize::from(leaf.form) == form);
    let specs = leaves.filter_map(|leaf| match &leaf.arguments {
        Arguments::Parameters(spec) => Some(spec),
        _ => None,
    });
    let specs: Vec<_> = specs.collect();
    let plan = grammar.plan();
    let ends = plan.forms.get(form).map_or(&[][..], |form| &form.value_ends);
    let call_end = CallEnd { ends, follows: &plan.follows };
    let Some(form) = family.forms.get(form) else {
        return Err(fail((
            0,
            EncodeFault::new(EncodeErrorKind::Grammar, "the family does not have this form"),
        )));
    };
    let bare = [Template { parts: alloc::vec![Part::Hole(Hole::Call)] }];
    let sections = if form.sections.is_empty() { &bare } else { &form.sections[..] };
    // All sections, each with the call templates from each index on, because the text of an earlier
    // template may not read back.
    let ways = sections
        .iter()
        .flat_map(|section| (0..form.calls.len().max(1)).map(move |from| (section, from)));
    let written = ways.map(|(section, from)| {
        let write = |markup| {
            let how = (family, &specs[..], call_end, markup);
            let wire = blocks(how, form, (section, from), &read, tools)?;
            verify(grammar, &wire, &read, tools)?;
            Ok(wire)
        };
        // If a value with markup does not read back, the second attempt refuses it with its
        // position, or uses another template.
        write(Markup::Written).or_else(|_| write(Markup::Refused))
    });
    first_written(written)
        .unwrap_or_else(|| {
            Err((0, EncodeFault::new(EncodeErrorKind::Grammar, "the form has no section")))
        })
        .map_err(fail)
}

/// The index of a call that cannot be written, and the reason.
type Failed = (usize, EncodeFault);

/// Returns the first success, or else the first error.
fn first_written<E>(ways: impl Iterator<Item = Result<String, E>>) -> Option<Result<String, E>> {
    let mut first = None;
    for way in ways {
        match way {
            Ok(wire) => return Some(Ok(wire)),
            Err(error) => first = first.or(Some(error)),
        }
    }
    first.map(Err)
}

/// Writes the blocks of a message and the texts between them.
fn blocks(
    (family, specs, call_end, markup): (&Family, &[&ParameterSpec], CallEnd<'_>, Markup),
    form: &Form,
    (section, from): (&Template, usize),
    calls: &[CallToWrite<'_>],
    tools: &Tools,
) -> Result<String, Failed> {
    let all = section.holes().any(|hole| matches!(hole, Hole::Calls { .. }));
    let between = form.between.first().map_or("\n", |between| between);
    let (begun, at, out) = (0, 0, String::new());
    let mut writer =
        Writer { family, form, section, specs, call_end, tools, markup, from, begun, at, out };
    for block in calls.chunks(if all { calls.len() } else { 1 }) {
        let is_first = block.first().is_none_or(|call| call.index == 0);
        writer.out.push_str(if is_first { "" } else { between });
        writer.block(block)?;
    }
    Ok(writer.out)
}

/// A call whose arguments were parsed.
struct CallToWrite<'c> {
    index: usize,
    name: &'c str,
    id: Option<&'c str>,
    arguments: Members<'c>,
}

impl<'c> CallToWrite<'c> {
    fn read(index: usize, call: &EncodeCall<'c>, order: KeyOrder) -> Result<Self, EncodeFault> {
        let EncodeCall { name, arguments, id } = *call;
        let mut arguments = read_object(arguments)
            .map_err(|no| EncodeFault::new(EncodeErrorKind::Arguments, no.expected).at(no.at))?;
        match (name, id) {
            ("", _) => return Err(EncodeFault::new(EncodeErrorKind::Name, "it is empty")),
            (_, Some("")) => return Err(EncodeFault::new(EncodeErrorKind::Id, "it is empty")),
            _ => {}
        }
        if let Some(key) = repeated(&arguments) {
            let why = "it is repeated: the first one counts here, but the last one in JSON";
            return Err(EncodeFault::new(EncodeErrorKind::Key, why).for_key(key));
        }
        if order == KeyOrder::Sorted {
            sort(&mut arguments);
        }
        Ok(Self { index, name, id, arguments })
    }
}

/// Sorts the members of an object and of all inner objects by their keys.
fn sort(members: &mut Members<'_>) {
    fn inside(node: &mut JsonNode<'_>) {
        match node {
            JsonNode::Object(members) => sort(members),
            JsonNode::Array(elements) => elements.iter_mut().for_each(inside),
            _ => {}
        }
    }
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    members.iter_mut().for_each(|(_, value)| inside(value));
}
