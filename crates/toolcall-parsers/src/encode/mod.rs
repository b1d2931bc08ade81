//! Calls to wire text: a grammar read the other way round.
//!
//! The text is what the family's chat template would render for an earlier turn: the grammar
//! says what its parser needs, its [`Layout`]s what the parser leaves open. Nothing is returned
//! that the parser does not read back: every text is parsed once before it goes out.

mod brace;
mod envelope;
pub(crate) mod error;
mod json;
mod layout;
mod named;
mod python;
mod tagged;
mod tree;
pub(crate) mod value;
mod verify;

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

pub use self::{
    error::{EncodeError, EncodeErrorKind},
    layout::{Arrangement, Closer, Layout, Naming, Spacing},
};

use self::{
    error::Fault,
    value::{Members, read_object},
    verify::verify,
};
use crate::{
    bodies::name_starts,
    grammar::{At, Grammar, Opener, Role, Shape, Text},
    tools::Tools,
};

/// A call to encode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeCall<'c> {
    /// The tool's name.
    pub name: &'c str,
    /// The arguments: the JSON text of one object. Numbers keep their spelling, members their
    /// order; whitespace and escapes become the family's.
    pub arguments: &'c str,
    /// The id, if it is to be on the wire.
    pub id: Option<&'c str>,
}

impl<'c> EncodeCall<'c> {
    /// A call without an id.
    #[must_use]
    pub const fn new(name: &'c str, arguments: &'c str) -> Self {
        Self { name, arguments, id: None }
    }

    /// The call with an id.
    #[must_use]
    pub const fn with_id(self, id: &'c str) -> Self {
        Self { id: Some(id), ..self }
    }
}

/// Writes calls in the syntax of `grammar`, as an assistant's message without other text.
///
/// A parser of the grammar with default options and the same tools gives exactly these calls
/// back: names, arguments, and the ids that were given. No calls are the empty text.
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
/// // Without a schema the family's values are strings, so that a number cannot come back.
/// assert_eq!(
///     wire("qwen3_coder").unwrap_err().to_string(),
///     "qwen3_coder: call 0 (\"lookup_tide\"): cannot write the value of argument \"day\": \
///      it would be read back as a string: no schema says otherwise",
/// );
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// What the family cannot express, with the call and the place: the first layout's reason, if
/// there are several.
pub fn encode(
    grammar: &Grammar,
    calls: &[EncodeCall<'_>],
    tools: &Tools,
) -> Result<String, EncodeError> {
    let mut first = None;
    for layout in Layout::of(grammar) {
        match encode_as(grammar, &layout, calls, tools) {
            Ok(wire) => return Ok(wire),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        Some(error) => Err(error),
        None if calls.is_empty() => Ok(String::new()),
        None => {
            let fault = Fault::new(EncodeErrorKind::Grammar, "no opener begins a call");
            Err(fault.in_call(&grammar.name, 0, calls[0].name))
        }
    }
}

/// Writes calls as [`encode`] does, in one particular layout.
///
/// # Errors
/// What cannot be expressed that way.
pub fn encode_as(
    grammar: &Grammar,
    layout: &Layout,
    calls: &[EncodeCall<'_>],
    tools: &Tools,
) -> Result<String, EncodeError> {
    let fail = |(n, fault): (usize, Fault)| {
        fault.in_call(&grammar.name, n, calls.get(n).map_or("", |call| call.name))
    };
    let mut read = Vec::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        let arguments = read_object(call.arguments).map_err(|no| {
            fail((index, Fault::new(EncodeErrorKind::Arguments, no.expected).at(no.at)))
        })?;
        read.push(Call { index, name: call.name, id: call.id, arguments });
    }
    let wire = write(grammar, layout, &read, tools).map_err(fail)?;
    verify(grammar, &wire, &read, tools).map_err(fail)?;
    Ok(wire)
}

/// A call whose arguments were read.
struct Call<'c> {
    index: usize,
    name: &'c str,
    id: Option<&'c str>,
    arguments: Members<'c>,
}

impl Call<'_> {
    fn no_place_for_id(&self) -> Fault {
        Fault::new(EncodeErrorKind::Id, "the family's syntax has no place for ids")
    }
}

/// What stands around and between the calls of a block.
#[derive(Debug, Default)]
struct Frame {
    head: String,
    between: String,
    tail: String,
}

impl Frame {
    fn new(layout: &Layout, between: &str) -> Self {
        Self {
            head: layout.inside.0.to_string(),
            between: layout.between.as_deref().unwrap_or(between).to_string(),
            tail: layout.inside.1.to_string(),
        }
    }

    /// Puts literals before everything else.
    fn glue(&mut self, literals: &[Text], layout: &Layout) {
        let literals = literals.iter().flat_map(|literal| [&layout.glue, literal]);
        let mut head: String = literals.map(|text| text.as_ref()).collect();
        head.push_str(&self.head);
        self.head = head;
    }
}

fn write(
    grammar: &Grammar,
    layout: &Layout,
    calls: &[Call<'_>],
    tools: &Tools,
) -> Result<String, (usize, Fault)> {
    if let Some(envelope) = &grammar.envelope {
        return envelope::write(envelope, layout, calls, tools);
    }
    let opener = grammar.openers.get(layout.opener);
    let Some((opener, shape)) = opener.and_then(|o| Some((o, o.shapes.get(layout.shape)?))) else {
        return Err((0, Fault::new(EncodeErrorKind::Grammar, "the layout names no shape")));
    };
    let together = match layout.calls {
        Arrangement::AsShaped => together(shape, opener),
        Arrangement::Alone => false,
        Arrangement::Together => true,
    };
    let mut wire = String::from(if calls.is_empty() { "" } else { &layout.around.0 });
    for block in calls.chunks(if together { calls.len().max(1) } else { 1 }) {
        let first = block[0].index;
        let frame = frame(shape, opener, layout).map_err(|fault| (first, fault))?;
        wire.push_str(if first > 0 { &layout.blocks } else { "" });
        if opener.role == Role::Before {
            wire.push_str(&opener.marker);
        }
        let begins = |c: &char| block[0].name.starts_with(*c);
        let unannounced = first == 0 || opener.at == At::LineStart;
        if opener.role == Role::Name && unannounced && !name_starts().any(|c| begins(&c)) {
            let why = "a call that nothing announces begins with an ASCII letter or `_`";
            return Err((0, Fault::new(EncodeErrorKind::Name, why).at(0)));
        }
        let begun = wire.len();
        wire.push_str(&frame.head);
        for call in block {
            wire.push_str(if call.index > first { &frame.between } else { "" });
            one(shape, opener, layout, call, tools, &mut wire)
                .map_err(|fault| (call.index, fault))?;
        }
        wire.push_str(&frame.tail);
        if opener.role == Role::Part && !wire[begun..].starts_with(opener.marker.as_ref()) {
            let why = "the shape does not begin with its opener";
            return Err((first, Fault::new(EncodeErrorKind::Grammar, why)));
        }
    }
    wire.push_str(if calls.is_empty() { "" } else { &layout.around.1 });
    Ok(wire)
}

fn together(shape: &Shape, opener: &Opener) -> bool {
    match shape {
        Shape::Json(shape) => json::together(shape),
        Shape::Named(shape) => named::together(shape, opener),
        Shape::Python(shape) => python::together(shape),
        Shape::Tagged(shape) => tagged::together(shape, opener),
        Shape::Brace(_) => false,
        Shape::Tree(shape) => tree::together(shape, opener),
    }
}

fn frame(shape: &Shape, opener: &Opener, layout: &Layout) -> Result<Frame, Fault> {
    match shape {
        Shape::Json(shape) => json::frame(shape, layout),
        Shape::Named(shape) => Ok(named::frame(shape, opener, layout)),
        Shape::Python(shape) => Ok(python::frame(shape, layout)),
        Shape::Tagged(shape) => Ok(tagged::frame(shape, opener, layout)),
        Shape::Brace(shape) => Ok(brace::frame(shape, layout)),
        Shape::Tree(shape) => Ok(tree::frame(shape, opener, layout)),
    }
}

fn one(
    shape: &Shape,
    opener: &Opener,
    layout: &Layout,
    call: &Call<'_>,
    tools: &Tools,
    out: &mut String,
) -> Result<(), Fault> {
    if call.name.is_empty() {
        return Err(Fault::new(EncodeErrorKind::Name, "it is empty"));
    }
    if call.id == Some("") {
        return Err(Fault::new(EncodeErrorKind::Id, "it is empty"));
    }
    match shape {
        Shape::Json(shape) => json::call(shape, layout, call, out),
        Shape::Named(shape) => named::call(shape, opener, layout, call, out),
        Shape::Python(shape) => python::call(shape, call, out),
        Shape::Tagged(shape) => tagged::call(shape, layout, call, tools, out),
        Shape::Brace(shape) => brace::call(shape, call, tools, out),
        Shape::Tree(shape) => tree::call(shape, layout, call, tools, out),
    }
}
