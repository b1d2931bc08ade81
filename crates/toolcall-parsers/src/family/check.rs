//! Rules between several fields of a family, checked after reading.

use alloc::{
    format,
    string::{String, ToString},
};

use serde_json::Value;

use super::{Family, FamilyError, Form};
use crate::template::{Hole, Part, Template};

type Checked = Result<(), FamilyError>;

/// Checks the rules between the fields of `family`. `value` is the file it was read from.
pub(super) fn check(family: &Family, value: &Value) -> Checked {
    let own = family.forms.iter().enumerate().map(|(i, form)| ("calls", i, form));
    let foreign = family.foreign.iter().enumerate().map(|(i, form)| ("foreign", i, form));
    for (key, i, form) in own.chain(foreign) {
        let forms = value.get(key).unwrap_or(&Value::Null);
        let (path, value) = match forms.get(i) {
            Some(value) => (format!("{key}[{i}]"), value),
            None => (key.to_string(), forms),
        };
        let names = if family.messages.is_some() { 2 } else { 1 };
        Check { form, path, value, names }.run()?;
    }
    if !family.forms.is_empty() && family.write.form >= family.forms.len() {
        let problem = format!("expected a number from 1 to {}", family.forms.len());
        return Err(FamilyError::new("write.form", problem));
    }
    let Some(messages) = &family.messages else { return Ok(()) };
    let of_header =
        |hole: &Hole| matches!(hole, Hole::Role | Hole::Channel | Hole::Recipient | Hole::Note);
    only("messages.header", &messages.header, of_header)?;
    for (i, route) in messages.routes.iter().enumerate() {
        let path = format!("messages.routes[{i}]");
        for template in &route.recipient {
            only(&format!("{path}.recipient"), template, |hole| matches!(hole, Hole::Name))?;
        }
        if let Some(body) = &route.body
            && !messages.body.contains(body)
        {
            let problem = format!("{body:?} is not one of `messages.body`");
            return Err(FamilyError::new(format!("{path}.body"), problem));
        }
    }
    Ok(())
}

/// Checks that `template` has only holes that are allowed in its field.
fn only(path: &str, template: &Template, fits: impl Fn(&Hole) -> bool) -> Checked {
    match template.holes().find(|hole| !fits(hole)) {
        None => Ok(()),
        Some(hole) => Err(FamilyError::new(path, format!("`{hole}` is not allowed here"))),
    }
}

fn count(template: &Template, fits: impl Fn(&Hole) -> bool) -> usize {
    template.holes().filter(|hole| fits(hole)).count()
}

/// A form with its position in the file.
struct Check<'a> {
    form: &'a Form,
    path: String,
    value: &'a Value,
    /// Maximum number of names per call. In families with message headers the header may contain it
    /// too.
    names: usize,
}

impl Check<'_> {
    /// Returns the path of template `n` of a field.
    fn at(&self, key: &str, n: usize) -> String {
        match self.value.get(key) {
            Some(Value::Array(_)) => format!("{}.{key}[{n}]", self.path),
            _ => format!("{}.{key}", self.path),
        }
    }

    fn run(&self) -> Checked {
        let Form { sections, calls, parameters, elements, .. } = self.form;
        each(sections, |n, template| self.section(&self.at("section", n), template))?;
        each(calls, |n, template| self.call(&self.at("call", n), template))?;
        each(parameters, |n, template| {
            let path = self.at("parameter", n);
            only(&path, template, is_of_parameter)?;
            self.pair(&path, template)
        })?;
        each(elements, |n, template| {
            let path = self.at("element", n);
            only(&path, template, |hole| matches!(hole, Hole::Key | Hole::Value(_)))?;
            self.pair(&path, template)
        })?;
        let used = |fits: fn(&Hole) -> bool| calls.iter().any(|call| count(call, fits) > 0);
        let repeats = used(|hole| matches!(hole, Hole::Parameters { .. }));
        self.goes_with(["parameter", "parameters"], !parameters.is_empty(), repeats)?;
        let nests = used(|hole| matches!(hole, Hole::Elements));
        self.goes_with(["element", "elements"], !elements.is_empty(), nests)
    }

    /// Checks that a template field is present if and only if its hole is used.
    fn goes_with(&self, [key, hole]: [&str; 2], present: bool, used: bool) -> Checked {
        if present == used {
            return Ok(());
        }
        let path = &self.path;
        Err(if used {
            FamilyError::new(path.as_str(), format!("`{key}` is missing: a call has `{{{hole}}}`"))
        } else {
            FamilyError::new(format!("{path}.{key}"), format!("no call has `{{{hole}}}`"))
        })
    }

    fn section(&self, path: &str, section: &Template) -> Checked {
        let holds_calls = |hole: &Hole| matches!(hole, Hole::Calls { .. } | Hole::Call);
        only(path, section, |hole| {
            holds_calls(hole)
                || matches!(hole, Hole::Name | Hole::NameIs(_) | Hole::Label | Hole::Id(_))
        })?;
        let at_top = |part: &&Part| matches!(part, Part::Hole(hole) if holds_calls(hole));
        let sure = section.parts.iter().filter(at_top).count();
        if sure == 1 && count(section, holds_calls) == 1 {
            return Ok(());
        }
        Err(FamilyError::new(
            path,
            "expected exactly one of `{calls}` and `{call}`, not in a group",
        ))
    }

    fn call(&self, path: &str, call: &Template) -> Checked {
        only(path, call, |hole| is_name(hole) || is_arguments(hole) || is_of_call(hole))?;
        for hole in call.holes() {
            if let Hole::Id(Some(id)) = hole {
                only(path, id, |hole| {
                    matches!(hole, Hole::Name | Hole::NameIs(_) | Hole::Index(_) | Hole::Label)
                })?;
            }
        }
        // The name after the arguments is that of an end tag.
        let names = count(call, says_name) - usize::from(call.repeats_name());
        if names == 0 || names > self.names {
            let problem = format!("expected the name once, found it {names} times");
            return Err(FamilyError::new(path, problem));
        }
        if count(call, is_arguments) > 1 {
            return Err(FamilyError::new(path, "expected the arguments only once"));
        }
        // Arguments are emitted while they arrive, so the name must precede them.
        if call.holes().position(is_arguments) < call.holes().position(says_name)
            && call.holes().any(is_arguments)
        {
            return Err(FamilyError::new(path, "the name must precede the arguments"));
        }
        let starts_bare = call.parts.iter().all(|part| !matches!(part, Part::Literal(_)));
        if starts_bare && count(call, |hole| matches!(hole, Hole::Raw(_))) > 0 {
            return Err(FamilyError::new(path, "`{raw}` needs a literal before it"));
        }
        self.ends(path, call)
    }

    /// Checks that the end of a hole directly before `{parameters}` can be found: the parameters
    /// must begin with a literal.
    fn ends(&self, path: &str, call: &Template) -> Checked {
        let touching = call.parts.windows(2).find_map(|pair| match pair {
            [Part::Hole(first), Part::Hole(Hole::Parameters { .. })] => {
                Some((first, &self.form.parameters))
            }
            [Part::Hole(first), Part::Hole(Hole::Elements)] => Some((first, &self.form.elements)),
            _ => None,
        });
        let Some((first, templates)) = touching else { return Ok(()) };
        let begins = |template: &Template| matches!(template.parts.first(), Some(Part::Literal(_)));
        if templates.iter().all(begins) {
            return Ok(());
        }
        let problem =
            format!("the end of `{first}` is unknown: the next template must begin with a literal");
        Err(FamilyError::new(path, problem))
    }

    /// Checks a template of a parameter or element: a key, then a value between two literals.
    fn pair(&self, path: &str, template: &Template) -> Checked {
        let part = |fits: fn(&Hole) -> bool| {
            template.parts.iter().position(|part| matches!(part, Part::Hole(hole) if fits(hole)))
        };
        let key = part(|hole| matches!(hole, Hole::Key | Hole::KeyMeant(_)));
        let value = part(|hole| matches!(hole, Hole::Value(_)));
        let values = count(template, |hole| matches!(hole, Hole::Value(_)));
        let is_literal = |part: &Part| matches!(part, Part::Literal(_));
        match (key, value) {
            (Some(key), Some(value)) if key < value && values == 1 => {
                let (head, tail) = template.parts.split_at(value);
                // A key that is not on the wire needs no end.
                let key = if count(template, |hole| *hole == Hole::Key) > 0 { key } else { 0 };
                if head.iter().skip(key).any(is_literal) && tail.iter().any(is_literal) {
                    return Ok(());
                }
                Err(FamilyError::new(path, "expected literals before and after `{value}`"))
            }
            _ => Err(FamilyError::new(path, "expected `{key}` and then `{value}`, each once")),
        }
    }
}

/// Checks each template with its index.
fn each(templates: &[Template], check: impl Fn(usize, &Template) -> Checked) -> Checked {
    templates.iter().enumerate().try_for_each(|(n, template)| check(n, template))
}

fn is_name(hole: &Hole) -> bool {
    matches!(hole, Hole::Name | Hole::NameIs(_) | Hole::NameMeant(_) | Hole::NameDeclared)
}

/// Returns whether the hole contains the call's name.
fn says_name(hole: &Hole) -> bool {
    match hole {
        Hole::Object(_) => true,
        Hole::Id(Some(id)) => count(id, is_name) > 0,
        hole => is_name(hole),
    }
}

fn is_arguments(hole: &Hole) -> bool {
    hole.holds_arguments()
}

/// Returns whether the hole is a part of a call other than its name and arguments.
fn is_of_call(hole: &Hole) -> bool {
    matches!(hole, Hole::Id(_) | Hole::Index(_) | Hole::Label)
}

fn is_of_parameter(hole: &Hole) -> bool {
    use Hole::{Key, KeyMeant, Label, StringFlag, Type, Value};
    matches!(hole, Key | KeyMeant(_) | Value(_) | Type | StringFlag | Label)
}
