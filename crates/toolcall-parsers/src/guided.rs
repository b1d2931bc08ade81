//! Grammars for guided answers: where the request requires a call, the answer may be bare JSON.
//!
//! ```text
//! {"name": "ring", "arguments": {"times": 2}}   Payload::Calls, Payload::Of("ring")
//! {"times": 2}                                  Payload::Of("ring"): the arguments alone
//! ```
//!
//! ```
//! use toolcall_parsers::{End, Parser, Tools, grammar, guided::{OwnCalls, Payload}, parse};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let required = grammar("hermes")?.guided(Payload::Calls, &Tools::default(), OwnCalls::Tried)?;
//! let message = parse(&Parser::new(required)?, r#"[{"name": "ping", "arguments": {}}]"#, End::Stop)?;
//! assert_eq!(message.calls[0].name, "ping");
//! # Ok(())
//! # }
//! ```
//!
//! [`Payload`] says which payload is allowed, and [`OwnCalls`] what the family's own calls may do next to it.

use alloc::{string::String, vec::Vec};

use crate::{
    compiled::Grammar,
    family::{At, Family, Form, KeyRole, Keys, NamedKeys},
    machine::compile::{CompileError, Guided},
    template::{Dialect, Hole, Part, Template},
    tools::Tools,
};

pub use crate::machine::compile::OwnCalls;

/// The bare JSON that an answer may consist of, besides the family's own calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Payload<'a> {
    /// One object with a name and arguments, or a list of such objects.
    Calls,
    /// As [`Payload::Calls`], or the arguments of this tool without its name.
    Of(&'a str),
}

impl Grammar {
    /// Returns the grammar with a payload added. It may begin at the start of the content and after
    /// a call. [`BadPayload`](crate::BadPayload) says what happens to one that is not calls.
    ///
    /// # Errors
    /// As [`Grammar::new`].
    pub fn guided(
        &self,
        payload: Payload<'_>,
        tools: &Tools,
        own: OwnCalls,
    ) -> Result<Self, CompileError> {
        let mut family = Family::clone(self.family());
        let taken: Vec<&str> = match payload {
            Payload::Calls => Vec::new(),
            // A key that is also a parameter of the tool does not prove that the object is a call.
            Payload::Of(name) => {
                let schema = tools.get(name).map(|tool| &tool.parameters);
                let known = schema.and_then(|schema| schema.get("properties")?.as_object());
                known.into_iter().flat_map(|map| map.keys().map(String::as_str)).collect()
            }
        };
        let mut forms = Vec::new();
        let keys = keys(&taken);
        if !keys.name.is_empty() && !keys.arguments.is_empty() {
            let list =
                [literal("["), Part::Hole(Hole::Calls { separator: ", ".into() }), literal("]")];
            let sections = [Vec::from([Part::Hole(Hole::Call)]), list.to_vec()];
            let call = Vec::from([Part::Hole(Hole::Object(Dialect::Json))]);
            forms.push(form(sections.into(), call, Keys::Named(keys)));
        }
        if let Payload::Of(name) = payload {
            let call = [Hole::NameMeant(name.into()), Hole::Arguments(Dialect::Json)];
            let sections = Vec::from([Vec::from([Part::Hole(Hole::Call)])]);
            forms.push(form(sections, call.map(Part::Hole).to_vec(), Keys::default()));
        }
        let count = forms.len();
        if own == OwnCalls::Tried {
            // The first of two equal openers is used, so the family's own forms come after the
            // payload's.
            let anywhere =
                family.forms.iter().filter(|form| matches!(form.at, At::Anywhere | At::Line));
            forms.extend(
                anywhere.map(|form| Form { at: At::Lead, ..form.clone() }).collect::<Vec<_>>(),
            );
        }
        forms.append(&mut family.forms);
        family.forms = forms;
        let beside = matches!(payload, Payload::Of(_)).then(|| {
            let kind = String::from("type");
            if taken.contains(&"type") { Vec::new() } else { Vec::from([kind]) }
        });
        Self::compile(family, Some(Guided { forms: count, own, beside }))
    }
}

fn literal(text: &str) -> Part {
    Part::Literal(text.into())
}

fn form(sections: Vec<Vec<Part>>, call: Vec<Part>, keys: Keys) -> Form {
    Form {
        sections: sections.into_iter().map(|parts| Template { parts }).collect(),
        calls: Vec::from([Template { parts: call }]),
        at: At::Lead,
        between: Vec::from([",".into(), ";".into()]),
        keys,
        ..Form::default()
    }
}

/// Returns the keys of a call that guiding engines use, without those in `taken`.
fn keys(taken: &[&str]) -> NamedKeys {
    let unless = |keys: &[&str]| {
        keys.iter().filter(|key| !taken.contains(key)).map(|key| String::from(*key)).collect()
    };
    NamedKeys {
        name: unless(&["name"]),
        arguments: unless(&["arguments", "parameters"]),
        id: unless(&["id"]),
        wrapper: unless(&["function", "tool_call"]),
        list: unless(&["tool_calls"]),
        answer: Vec::new(),
        order: [KeyRole::Id, KeyRole::Name, KeyRole::Arguments],
    }
}
