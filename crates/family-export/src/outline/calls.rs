//! The shapes of a family's calls.

use toolcall_parsers::{
    Family,
    family::{CommitOn, Form, Keys, NamedKeys, Undeclared},
    template::{Dialect, Hole, Part, Trim},
};

use super::{
    Outline,
    header::{first_char, header},
    lost::lost,
    messages::Headers,
};
use crate::{
    ExportError,
    expr::{Expr, Without, marker},
};

const NEITHER: &str = "its arguments are neither JSON nor flat tags";

/// A way to write calls.
#[derive(Debug)]
pub(crate) struct CallShape {
    pub(crate) open: Expr,
    /// The beginning of the payload that confirms the opener. Empty if any payload confirms it.
    pub(crate) confirmed_by: Expr,
    pub(crate) payload: Payload,
    /// The end marker. Empty if only the next call or the turn's end ends the call.
    pub(crate) close: Expr,
    /// The marker after the last call of a section.
    pub(crate) tail: Expr,
    /// The beginnings of a next call.
    pub(crate) next: Vec<Expr>,
}

/// The part of a call that holds its arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// The object alone: `{"city": "Oban"}`.
    Json,
    /// `{city: <q>Oban<q>}` with this quote.
    BareKeys { quote: String },
    /// `{"name": "f", "arguments": {}}` with these keys; empty if there is none.
    Object { name: String, arguments: String },
    /// A list of such objects.
    List { name: String, arguments: String },
    /// `<city>Oban</city>`, with the groups `key` and `value`. `may_be_json` states whether an
    /// undeclared value is read as JSON if it is JSON.
    Parameters { tag: Expr, may_be_json: bool },
}

/// Adds all calls of `family` that have the payload of the form that the encoder writes.
pub(super) fn add_calls(
    outline: &mut Outline,
    family: &Family,
    headers: Option<&Headers<'_>>,
) -> Result<(), ExportError> {
    let written = family.forms.get(family.write.form).or(family.forms.first());
    let written = written.ok_or_else(|| ExportError::new("it has no calls"))?;
    let forms = family.forms.iter().filter(|form| !core::ptr::eq(*form, written));
    let mut has_all = true;
    for form in core::iter::once(written).chain(forms) {
        let walk = FormWalk { form, headers };
        for section in &form.sections {
            for call in &form.calls {
                match (walk.shape(&section.parts, &call.parts), outline.calls.first()) {
                    (Ok(shape), None) => outline.calls.push(shape),
                    (Ok(shape), Some(first)) if shape.joins(first) => outline.calls.push(shape),
                    (Err(error), None) => return Err(error),
                    _ => has_all = false,
                }
            }
        }
    }
    let first = outline.calls.first().ok_or_else(|| ExportError::new("it has no call"))?;
    outline.lost = lost(family, written, first, has_all);
    outline.ends = outline.calls.iter().map(|shape| shape.close.clone()).collect();
    outline.ends.extend(family.end_of_turn.iter().map(|text| text.as_str().into()));
    outline.ends.extend(headers.into_iter().flat_map(Headers::ends));
    Ok(())
}

impl CallShape {
    /// Returns whether both can be one field of a template.
    fn joins(&self, other: &Self) -> bool {
        let has_group = |shape: &Self| ["name", "id"].iter().any(|name| shape.open.has_group(name));
        self.payload == other.payload && !has_group(self) && !has_group(other)
    }
}

/// The walk over one form.
struct FormWalk<'a> {
    form: &'a Form,
    headers: Option<&'a Headers<'a>>,
}

impl FormWalk<'_> {
    fn marker(&self, text: &str) -> Expr {
        marker(text.trim(), &self.form.spellings)
    }

    /// Returns the shape of a call in a section.
    fn shape(&self, section: &[Part], call: &[Part]) -> Result<CallShape, ExportError> {
        let Self { form, headers } = self;
        let after_header = |parts: &[Part]| headers.map_or(parts.to_vec(), |it| it.payload(parts));
        let (section, call) = (&after_header(section)[..], &after_header(call)[..]);
        let section = Section::new(section)?;
        let (head, tail) = (section.head.trim(), section.tail.trim());
        if let (Some(head), [Part::Hole(Hole::Object(Dialect::Json))]) =
            (head.strip_suffix('['), call)
        {
            return self.list(head, tail.strip_prefix(']').unwrap_or(tail));
        }
        let at = call.iter().position(is_payload).ok_or_else(|| ExportError::new(NEITHER))?;
        let (before, rest) = call.split_at(at);
        let [hole, after @ ..] = rest else { return Err(ExportError::new(NEITHER)) };
        let close = match after {
            [] => Expr::default(),
            [Part::Literal(text)] => self.marker(text),
            _ => return Err(ExportError::new("the part after its arguments is not text")),
        };
        let begins = match (hole, form.parameters.first().map(|it| &*it.parts)) {
            (Part::Hole(Hole::Parameters { .. }), Some([Part::Literal(text), ..])) => text.trim(),
            (Part::Hole(Hole::Parameters { .. }), _) => {
                return Err(ExportError::new("its parameters begin without a marker"));
            }
            _ => "{",
        };
        let head = self.marker(head);
        let is_optional = section.is_repeated || form.call_alone == Some(CommitOn::DeclaredName);
        let marker = match before.first() {
            Some(Part::Literal(text)) => self.marker(text),
            _ => Expr::default(),
        };
        if marker.is_empty() && !head.is_empty() && section.is_repeated {
            return Err(ExportError::new("only line breaks separate its calls"));
        }
        if marker.is_empty() && headers.is_none() && (head.is_empty() || is_optional) {
            return Err(ExportError::new("its calls begin without a marker"));
        }
        let is_object = matches!(hole, Part::Hole(Hole::Object(_)));
        let is_named = is_object || before.contains(&Part::Hole(Hole::Name));
        let mut open = headers.map_or(Ok(Expr::default()), |headers| headers.call(!is_named))?;
        open = match (head.is_empty(), is_optional) {
            (true, _) => open,
            (_, true) => open.then(Expr::optional([head.clone(), Expr::Blanks])),
            (_, false) => open.then(head.clone()).then(Expr::Blanks),
        };
        open = open.then(header(before, form, begins.chars().next())?).then(Expr::Blanks);
        let has_text = |part: &Part| matches!(part, Part::Literal(text) if !text.trim().is_empty());
        let confirmed_by = match hole {
            Part::Hole(Hole::Parameters { .. }) => {
                Expr::choice([self.marker(begins), close.clone()])
            }
            // After a marker any text counts as arguments.
            Part::Hole(Hole::Arguments(_)) if before.last().map_or(headers.is_some(), has_text) => {
                Expr::default()
            }
            Part::Hole(Hole::Arguments(Dialect::Json)) => {
                Expr::choice(["{", "\"", "null"].map(Expr::from))
            }
            _ => begins.into(),
        };
        let tail = self.marker(tail);
        let (close, tail) = match (close.is_empty(), tail.is_empty()) {
            (true, _) => (tail, Expr::default()),
            // A reader of pieces may not wait for an optional end.
            (_, is_empty) if is_empty || is_optional => (close, tail),
            (..) => (Expr::sequence([close, Expr::Blanks, tail]), Expr::default()),
        };
        if !close.is_empty() && close.has_only("}])") {
            return Err(ExportError::new("its calls end with nothing but a bracket"));
        }
        let payload = self.payload(hole)?;
        if !is_object && !open.has_group("name") {
            return Err(ExportError::new("its calls have no name"));
        }
        let next = match headers {
            Some(headers) => vec![headers.any()],
            None => vec![head, marker],
        };
        Ok(CallShape { open, confirmed_by, payload, close, tail, next })
    }

    fn payload(&self, hole: &Part) -> Result<Payload, ExportError> {
        Ok(match hole {
            Part::Hole(Hole::Object(_)) => {
                let [name, arguments] = self.keys()?;
                Payload::Object { name, arguments }
            }
            Part::Hole(Hole::Parameters { .. }) => self.parameters()?,
            Part::Hole(Hole::Arguments(Dialect::Literal)) => {
                let quote = self.form.quote.first().ok_or_else(|| ExportError::new(NEITHER))?;
                Payload::BareKeys { quote: quote.as_str().to_owned() }
            }
            _ => Payload::Json,
        })
    }

    /// Returns the shape of objects in a list.
    fn list(&self, head: &str, tail: &str) -> Result<CallShape, ExportError> {
        let (open, close) = (self.marker(head), self.marker(tail));
        if open.is_empty() {
            return Err(ExportError::new("its calls begin without a marker"));
        }
        let [name, arguments] = self.keys()?;
        Ok(CallShape {
            next: vec![open.clone()],
            open: open.then(Expr::Blanks),
            confirmed_by: "[".into(),
            payload: Payload::List { name, arguments },
            close,
            tail: Expr::default(),
        })
    }

    /// Returns the keys of the name and of the arguments.
    fn keys(&self) -> Result<[String; 2], ExportError> {
        let Keys::Named(NamedKeys { name, arguments, .. }) = &self.form.keys else {
            return Err(ExportError::new("the key of its objects is the name"));
        };
        Ok([name, arguments].map(|keys| keys.first().map_or("", |key| key.as_str()).to_owned()))
    }

    fn parameters(&self) -> Result<Payload, ExportError> {
        let form = self.form;
        let parts = form.parameters.first().map_or(&[][..], |template| &template.parts);
        let [
            Part::Literal(before),
            Part::Hole(Hole::Key),
            after_key @ Part::Literal(between),
            Part::Hole(Hole::Value(trim)),
            Part::Literal(after),
        ] = parts
        else {
            return Err(ExportError::new("its parameters are more than a key and a value"));
        };
        let key = first_char(after_key);
        let key = key.ok_or_else(|| ExportError::new("its keys end without a marker"))?;
        let key = Without { chars: key.to_string(), at_least_one: true, ..Without::default() };
        // Another template of the family may have newlines at the same place.
        let has_edge = |place: usize, is_edge: fn(&str) -> bool| {
            form.parameters.iter().any(|it| match it.parts.get(place) {
                Some(Part::Literal(text)) => is_edge(text),
                _ => false,
            })
        };
        let edge = |is_shown: bool| match trim {
            Trim::All => Expr::Blanks,
            Trim::Shown if is_shown => Expr::Newline,
            Trim::Shown => Expr::default(),
        };
        let tag = Expr::sequence([
            self.marker(before),
            Expr::Group("key", Box::new(Expr::Without(key))),
            marker(between.trim_end(), &form.spellings),
            edge(has_edge(2, |text| text.ends_with('\n'))),
            Expr::Group("value", Box::new(Expr::AnyText)),
            edge(has_edge(4, |text| text.starts_with('\n'))),
            self.marker(after),
        ]);
        let may_be_json = form.undeclared == Some(Undeclared::Json);
        Ok(Payload::Parameters { tag, may_be_json })
    }
}

/// The texts around the calls of a section.
#[derive(Default)]
struct Section {
    head: String,
    tail: String,
    /// Whether several calls follow each other inside.
    is_repeated: bool,
}

impl Section {
    fn new(parts: &[Part]) -> Result<Self, ExportError> {
        let (mut section, mut after) = (Self::default(), false);
        for part in parts {
            match part {
                Part::Literal(text) if after => section.tail.push_str(text),
                Part::Literal(text) => section.head.push_str(text),
                Part::Hole(Hole::Calls { .. }) => (section.is_repeated, after) = (true, true),
                Part::Hole(Hole::Call) => after = true,
                // Around several calls these texts may always be missing.
                Part::Group(inner) => match (&inner[..], after) {
                    ([Part::Literal(text)], true) => section.tail.push_str(text),
                    ([Part::Literal(text)], false) => section.head.push_str(text),
                    _ => return Err(ExportError::new("its section has parts that may be missing")),
                },
                Part::Hole(_) => return Err(ExportError::new("its section has a header")),
            }
        }
        Ok(section)
    }
}

fn is_payload(part: &Part) -> bool {
    matches!(
        part,
        Part::Hole(
            Hole::Object(Dialect::Json)
                | Hole::Arguments(Dialect::Json | Dialect::Literal)
                | Hole::Parameters { .. }
        )
    )
}
