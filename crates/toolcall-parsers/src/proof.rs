//! The proof of a family's file: calls that the encoder writes are read back, at every cut.
//!
//! ```text
//! call = '[act]{name}[args]{parameters}[/act]', parameter = '[{key}]{value}[/]'
//! writes  [act]find_book[args][title]Emma[/][/act]
//! reads   find_book {"title": "Emma"}, whole and cut in two at each byte
//! ```

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use jail_match::{End, Event};
use serde_json::json;

use crate::{
    compiled::Grammar,
    encode::{EncodeCall, EncodeError, EncodeErrorKind, encode_form},
    event::{Message, Outcome},
    family::{Family, FamilyError, Form},
    limits::{MAX_PROOF_CUT, MAX_PROOF_TAGS},
    options::{LateIds, Options},
    parser::Parser,
    template::{Hole, Part, Template},
    tools::Tools,
};

/// The name of the called tool, unless the templates fix one.
const NAME: &str = "find_book";
/// Arguments of every kind. The first are needed to find the field at fault.
const ARGUMENTS: [&str; 3] =
    ["{}", r#"{"title": "Emma"}"#, r#"{"title": "Emma", "pages": 3, "tags": ["new"]}"#];

/// Checks that calls which the family writes are read back.
///
/// # Errors
/// A form writes no call, or a written call is read differently. The error names the field.
pub(crate) fn prove(family: &Family) -> Result<(), FamilyError> {
    // A family that cannot be compiled is refused when it is compiled, with the reason.
    let Ok(grammar) = Grammar::new(family.clone()) else { return Ok(()) };
    for (n, form) in family.forms.iter().enumerate() {
        let path = if family.forms.len() > 1 { format!("calls[{n}]") } else { "calls".into() };
        let proof = Proof { grammar: &grammar, n, form };
        proof.run().map_err(|(key, why)| FamilyError::new(format!("{path}.{key}"), why))?;
    }
    Ok(())
}

/// A field of a form, and its fault.
type Fault = (&'static str, String);

struct Proof<'p> {
    grammar: &'p Grammar,
    n: usize,
    form: &'p Form,
}

impl Proof<'_> {
    fn run(&self) -> Result<(), Fault> {
        let name = self.name();
        let raw = self.raw_key().map(|key| json!({ key: "a + b" }).to_string());
        let samples: Vec<&str> = raw.as_deref().into_iter().chain(ARGUMENTS).collect();
        let (mut written, mut refused) = (false, None);
        for arguments in samples {
            let field = if arguments == ARGUMENTS[0] { "call" } else { self.arguments_field() };
            match self.holds(&[EncodeCall::new(name, arguments)]) {
                Ok(()) => written = true,
                Err(Failure::Differs(why)) => return Err((field, why)),
                Err(Failure::Refused(error)) if misreads(&error) => {
                    return Err((field, error.to_string()));
                }
                Err(Failure::Refused(error)) => refused = refused.or(Some(error)),
            }
        }
        if let Some(error) = refused.filter(|_| !written) {
            return Err(("call", error.to_string()));
        }
        for tag in self.tags() {
            // A value that begins like a tag may be refused by the encoder, but not misread.
            let begun: String = tag.chars().take(tag.chars().count().saturating_sub(1)).collect();
            let arguments = json!({ "title": format!("{begun} x") }).to_string();
            if let Err(Failure::Differs(why)) = self.holds(&[EncodeCall::new(name, &arguments)]) {
                return Err((self.arguments_field(), why));
            }
        }
        let calls = [ARGUMENTS[1], ARGUMENTS[0]].map(|arguments| EncodeCall::new(name, arguments));
        match self.holds(&calls) {
            Err(Failure::Differs(why)) => Err(("section", why)),
            _ => Ok(()),
        }
    }

    /// Writes calls, and reads them at every cut.
    fn holds(&self, calls: &[EncodeCall<'_>]) -> Result<(), Failure> {
        let tools = Tools::implied_by(calls);
        let wire = encode_form(self.grammar, self.n, calls, &tools).map_err(Failure::Refused)?;
        let differs = |why: &str| Failure::Differs(format!("{why}: {:?}", short(&wire)));
        let options = Options { late_ids: LateIds::Tell, ..Options::default() };
        let parser = Parser::builder(self.grammar.clone()).tools(tools).options(options).build();
        let parser = parser.map_err(|error| Failure::Differs(error.to_string()))?;
        let whole = read(&parser, &wire, wire.len()).ok_or_else(|| differs("a limit"))?;
        let cuts = (1..wire.len().min(MAX_PROOF_CUT)).filter(|&at| wire.is_char_boundary(at));
        for at in cuts {
            if read(&parser, &wire, at).as_ref() != Some(&whole) {
                return Err(differs(&format!("cut at byte {at}, a call is read differently")));
            }
        }
        Ok(())
    }

    /// Returns the name of a call that the templates can write.
    fn name(&self) -> &str {
        let mut names = self.form.calls.iter().map(fixed_name);
        match names.next() {
            Some(Some(word)) if names.all(|name| name.is_some()) => word,
            _ => NAME,
        }
    }

    /// Returns the argument of a call that is raw text.
    fn raw_key(&self) -> Option<&str> {
        let mut holes = self.form.calls.iter().flat_map(Template::holes);
        holes.find_map(|hole| match hole {
            Hole::Raw(key) => Some(key.as_str()),
            _ => None,
        })
    }

    /// Returns the field of the templates that write arguments.
    fn arguments_field(&self) -> &'static str {
        match (self.form.parameters.is_empty(), self.form.elements.is_empty()) {
            (false, _) => "parameter",
            (_, false) => "element",
            _ => "call",
        }
    }

    /// Returns the literals of the form.
    fn tags(&self) -> impl Iterator<Item = &str> {
        let Form { sections, calls, parameters, elements, .. } = self.form;
        let all = [parameters, elements, calls, sections].into_iter().flatten();
        let literals = all.flat_map(|template| &template.parts).filter_map(|part| match part {
            Part::Literal(text) => Some(text.trim_ascii()).filter(|text| text.len() > 1),
            _ => None,
        });
        literals.take(MAX_PROOF_TAGS)
    }
}

/// Returns the name that a template fixes.
fn fixed_name(template: &Template) -> Option<&str> {
    template.holes().find_map(|hole| match hole {
        Hole::NameIs(word) | Hole::NameMeant(word) => Some(word.as_str()),
        _ => None,
    })
}

/// The reason why calls are not read back.
enum Failure {
    /// The encoder refuses the calls.
    Refused(EncodeError),
    /// The parser reads the calls differently.
    Differs(String),
}

/// Returns whether the encoder refused a call because it is not read back, and not because the
/// syntax has no place for it.
fn misreads(error: &EncodeError) -> bool {
    error.kind() == EncodeErrorKind::NotReadBack
}

/// The name, the arguments and the outcome of each call, and the content. Generated ids differ.
type Seen = (Vec<(String, String, Option<Outcome>)>, String);

/// Reads `wire` in two pieces.
fn read(parser: &Parser, wire: &str, at: usize) -> Option<Seen> {
    let mut parser = parser.clone();
    let mut message = Message::default();
    let mut sink = |event: Event<'_>| message.collect(event);
    let (head, tail) = wire.split_at(at);
    parser.push(head, &mut sink).ok()?;
    parser.push(tail, &mut sink).ok()?;
    parser.finish(End::Stop, &mut sink).ok()?;
    let calls = message.calls.into_iter().map(|call| (call.name, call.arguments, call.outcome));
    Some((calls.collect(), message.content))
}

/// Returns the start of a text, for an error message.
fn short(wire: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 80;
    wire.chars().take(MAX_SHOWN_CHARS).collect()
}
