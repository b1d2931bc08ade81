//! The field of the calls.

use serde_json::{Value, json};
use toolcall_parsers::{
    Family,
    family::{At, CommitOn, Form, Keys, NamedKeys, Repeated, Suffix, Undeclared},
    template::{Dialect, Hole, Part, Trim},
};

use super::{
    messages::Headers,
    pattern::{BLANK, Pattern, any, closing, escaped, first, in_class, literal},
};

const NEITHER: &str = "its arguments are neither JSON nor flat tags";

/// The calls of a family.
pub(super) struct Calls {
    /// Their field.
    pub(super) field: Value,
    /// What only a call begins with.
    pub(super) begins: String,
    /// What stands behind the last call of a section.
    pub(super) tails: Vec<String>,
}

/// A way to write calls.
struct Way {
    open: Pattern,
    /// What comes behind it and is no part of it; nothing if anything may.
    ahead: String,
    /// What ends a call.
    close: String,
    /// What stands behind the last of several.
    tail: String,
    /// What the next call begins with, in each of its ways.
    next: Vec<String>,
    /// All that is said of the text between.
    field: Value,
}

/// All calls of `family` that can stand in one field.
#[expect(clippy::indexing_slicing, reason = "`field` was made an object by `way`")]
pub(super) fn of(
    family: &Family,
    headers: Option<&Headers<'_>>,
    lost: &mut Vec<String>,
) -> Result<Calls, String> {
    let written = family.forms.get(family.write.form).or(family.forms.first());
    let written = written.ok_or("it has no calls")?;
    let forms = core::iter::once(written)
        .chain(family.forms.iter().filter(|form| !core::ptr::eq(*form, written)));
    let mut ways: Vec<Way> = Vec::new();
    let mut all = true;
    for form in forms {
        for section in &form.sections {
            for call in &form.calls {
                match (way(form, headers, &section.parts, &call.parts), ways.first()) {
                    (Ok(way), None) => ways.push(way),
                    (Ok(way), Some(main)) if joins(&way, main) => ways.push(way),
                    (Err(error), None) => return Err(error),
                    _ => all = false,
                }
            }
        }
    }
    if let Some(main) = ways.first() {
        notes(family, written, main, all, lost);
    }
    let ends = ways.iter().map(|way| way.close.clone());
    let ends = ends.chain(family.end_of_turn.iter().map(|text| escaped(text)));
    let ends: Vec<_> = ends.chain(headers.into_iter().flat_map(Headers::ends)).collect();
    let next = ways.iter().flat_map(|way| &way.next).map(|next| before(next, &ends).to_owned());
    let (next, ends) = (any(next), any(ends.into_iter()));
    let open = |way: &Way| match way.ahead.is_empty() {
        true => way.open.text.clone(),
        false => format!(r"{}(?={})", way.open.text, way.ahead),
    };
    let open = any(ways.iter().map(open));
    let begins = any(ways.iter().map(|way| way.open.unnamed() + &way.ahead));
    let tails = ways.iter().map(|way| way.tail.clone()).collect();
    let mut field = ways.into_iter().next().ok_or("it has no call")?.field;
    field["open_pattern"] = format!(r"\s*{open}").into();
    field["close_pattern"] = closing(&ends, &next).into();
    Ok(Calls { field, begins, tails })
}

/// What of an expression stands before the first of `ends` in it: a reader of pieces would find that
/// one while it waits for the rest.
fn before<'a>(next: &'a str, ends: &[String]) -> &'a str {
    let before = |end: &String| Some(next.split_once(end)?.0.trim_end_matches(BLANK));
    let ends = ends.iter().filter(|end| !end.is_empty());
    let shortest = ends.filter_map(before).filter(|it| !it.is_empty()).min_by_key(|it| it.len());
    shortest.unwrap_or(next)
}

/// Whether both can be one field.
fn joins(way: &Way, main: &Way) -> bool {
    way.field == main.field && way.open.groups.is_empty() && main.open.groups.is_empty()
}

/// What is lost of the calls that are written in `form`; `all`: no other form is.
fn notes(family: &Family, form: &Form, main: &Way, all: bool, lost: &mut Vec<String>) {
    let content = |is: &str| main.field.get("content").is_some_and(|content| content == is);
    let arguments = main.field.pointer("/transform/function/arguments").and_then(Value::as_str);
    let notes = [
        (!all, "forms of calls other than the one it writes"),
        (
            family.messages.is_some(),
            "headers without their tokens, ended or begun again before their text, and messages \
             to recipients that are no tools",
        ),
        (
            family.erase.iter().any(|it| it.at != At::Anywhere || it.once),
            "where texts are removed, and how often",
        ),
        (form.at != At::Anywhere, "where calls may stand"),
        (family.suffix != Suffix::None, "the suffix of the checkpoint's tags"),
        (
            !form.no_call.is_empty() || form.commit_on == Some(CommitOn::DeclaredName),
            "names that make no call",
        ),
        (
            arguments != Some("{content}"),
            "objects with other keys, without arguments or with an empty name, and lists and \
             objects in the place of each other",
        ),
        (content("json"), "JSON with faults, such as line ends in its strings"),
        (
            !form.quote.is_empty(),
            "blanks, bare words, other quotes and what quotes say of types in its objects",
        ),
        (main.close.is_empty(), "text behind a call that only the next call or turn ends"),
        (
            form.parameters.len() > 1,
            "parameters written in other ways, and newlines that are a value's own",
        ),
        (content("xml-inline"), "values as Python spells them"),
        (form.repeated == Repeated::KeepFirst, "that the first of repeated parameters counts"),
        (true, "markers that are missing, cut or repeated, and what is read behind a fault"),
        (
            true,
            "rules for values beyond the template: quoted markup, JSON inside strings, lists of one \
             object, bare words for strings",
        ),
        (true, "that closers in strings and values are data (boundaries can be read so)"),
    ];
    lost.extend(notes.iter().filter(|(is, _)| *is).map(|(_, what)| (*what).to_owned()));
}

/// A call of `form` in a section.
fn way(
    form: &Form,
    headers: Option<&Headers<'_>>,
    section: &[Part],
    call: &[Part],
) -> Result<Way, String> {
    let spellings = &form.spellings[..];
    let behind_header = |parts: &[Part]| headers.map_or(parts.to_vec(), |it| it.payload(parts));
    let (section, call) = (&behind_header(section)[..], &behind_header(call)[..]);
    let around = Around::of(section)?;
    let (head, tail) = (around.head.trim(), around.tail.trim());
    if let (Some(head), [Part::Hole(Hole::Object(Dialect::Json))]) = (head.strip_suffix('['), call)
    {
        return list(form, head, tail.strip_prefix(']').unwrap_or(tail));
    }
    let at = call.iter().position(is_payload).ok_or(NEITHER)?;
    let (before, [hole, after @ ..]) = call.split_at(at) else { return Err(NEITHER.to_owned()) };
    let close = match after {
        [] => String::new(),
        [Part::Literal(text)] => literal(text.trim(), spellings),
        _ => return Err("what stands behind its arguments is no text".to_owned()),
    };
    let payload = match (hole, form.parameters.first().map(|it| &*it.parts)) {
        (Part::Hole(Hole::Parameters { .. }), Some([Part::Literal(text), ..])) => text.trim(),
        (Part::Hole(Hole::Parameters { .. }), _) => {
            return Err("its parameters begin without a marker".to_owned());
        }
        _ => "{",
    };
    let named = |part: &Part| matches!(part, Part::Literal(text) if !text.trim().is_empty());
    let is_object = matches!(hole, Part::Hole(Hole::Object(_)));
    let is_named = is_object || before.contains(&Part::Hole(Hole::Name));
    let mut opener = match headers {
        Some(headers) => headers.call(!is_named)?,
        None => Pattern::default(),
    };
    let (head, tail) = (literal(head, spellings), literal(tail, spellings));
    let optional = around.repeated || form.call_alone == Some(CommitOn::DeclaredName);
    match (head.is_empty(), optional) {
        (true, _) => {}
        (_, true) => opener.then(&format!(r"(?:{head}\s*)?")),
        (_, false) => opener.then(&format!(r"{head}\s*")),
    }
    let marker = match before.first() {
        Some(Part::Literal(text)) => literal(text.trim(), spellings),
        _ => String::new(),
    };
    if marker.is_empty() && !head.is_empty() && around.repeated {
        return Err("only lines tell its calls apart".to_owned());
    }
    if marker.is_empty() && headers.is_none() && (head.is_empty() || optional) {
        return Err("its calls begin without a marker".to_owned());
    }
    opener.header(before, form, payload.chars().next())?;
    opener.then(BLANK);
    let ahead = match hole {
        Part::Hole(Hole::Parameters { .. }) => {
            any([literal(payload, spellings), close.clone()].into_iter())
        }
        // Behind a marker whatever comes is meant for arguments.
        Part::Hole(Hole::Arguments(_)) if before.last().map_or(headers.is_some(), named) => {
            String::new()
        }
        Part::Hole(Hole::Arguments(Dialect::Json)) => r#"(?:\{|"|null)"#.to_owned(),
        _ => escaped(payload),
    };
    let (close, tail) = match (close.is_empty(), tail.is_empty()) {
        (true, _) => (tail, String::new()),
        // An option at the end would not be waited for by every reader.
        (_, empty) if empty || optional => (close, tail),
        (..) => (format!(r"{close}\s*{tail}"), String::new()),
    };
    if !close.is_empty() && close.chars().all(|c| r"\}])s*".contains(c)) {
        return Err("its calls end with nothing but a bracket".to_owned());
    }
    let field = field(form, hole, &opener)?;
    let next = match headers {
        Some(headers) => vec![headers.any()],
        None => vec![head, marker],
    };
    Ok(Way { open: opener, ahead, close, tail, next, field })
}

/// What is said of a call whose arguments are in `payload`.
#[expect(
    clippy::indexing_slicing,
    reason = "`field` was made an object at the top, and its `transform` just before the id"
)]
fn field(form: &Form, payload: &Part, opener: &Pattern) -> Result<Value, String> {
    let mut field = json!({"repeats": true, "content": "json"});
    let (mut name, mut arguments) = ("{name}".to_owned(), "{content}".to_owned());
    match payload {
        Part::Hole(Hole::Object(_)) => {
            let keys = keys(form)?;
            let place = |keys: &[String]| keys.first().map(|key| format!("{{content.{key}}}"));
            name = place(&keys.name).unwrap_or_default();
            arguments = place(&keys.arguments).unwrap_or_default();
        }
        Part::Hole(Hole::Parameters { .. }) => {
            field["content"] = json!("xml-inline");
            field["content_args"] = parameters(form)?;
        }
        Part::Hole(Hole::Arguments(Dialect::Literal)) => {
            let quote = form.quote.first().ok_or(NEITHER)?;
            field["content_args"] =
                json!({"unquoted_keys": true, "string_delims": [[quote, quote]]});
        }
        _ => {}
    }
    if name == "{name}" && !opener.groups.contains(&"name") {
        return Err("its calls have no name of their own".to_owned());
    }
    field["transform"] =
        json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    if opener.groups.contains(&"id") {
        field["transform"]["id"] = json!("{id}");
    }
    Ok(field)
}

/// Objects in a list.
fn list(form: &Form, head: &str, tail: &str) -> Result<Way, String> {
    let spellings = &form.spellings[..];
    let (open, close) = (literal(head.trim(), spellings), literal(tail.trim(), spellings));
    if open.is_empty() {
        return Err("its calls begin without a marker".to_owned());
    }
    let keys = keys(form)?;
    let place = |keys: &[String]| keys.first().map(|key| format!("{{{key}}}"));
    let field = json!({
        "content": "json", "transform_each": true,
        "transform": {"type": "function", "function": {
            "name": place(&keys.name), "arguments": place(&keys.arguments),
        }},
    });
    let next = vec![open.clone()];
    let open = Pattern { text: format!(r"{open}\s*"), ..Pattern::default() };
    Ok(Way { open, ahead: r"\[".to_owned(), close, tail: String::new(), next, field })
}

fn keys(form: &Form) -> Result<&NamedKeys, String> {
    let Keys::Named(keys) = &form.keys else {
        return Err("the key of its objects is the name".to_owned());
    };
    Ok(keys)
}

/// The texts around the calls of a section.
#[derive(Default)]
struct Around {
    head: String,
    tail: String,
    /// Whether calls follow each other inside: its texts do not stand around each of them.
    repeated: bool,
}

impl Around {
    fn of(section: &[Part]) -> Result<Self, String> {
        let mut around = Self::default();
        let mut behind = false;
        for part in section {
            match part {
                Part::Literal(text) if behind => around.tail.push_str(text),
                Part::Literal(text) => around.head.push_str(text),
                Part::Hole(Hole::Calls { .. }) => (around.repeated, behind) = (true, true),
                Part::Hole(Hole::Call) => behind = true,
                // Around many calls it may be missing in any case.
                Part::Group(inner) => match (&inner[..], behind) {
                    ([Part::Literal(text)], true) => around.tail.push_str(text),
                    ([Part::Literal(text)], false) => around.head.push_str(text),
                    _ => return Err("its section has parts that may be missing".to_owned()),
                },
                Part::Hole(_) => return Err("its section has a header".to_owned()),
            }
        }
        Ok(around)
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

/// What `xml-inline` is told of the parameters.
fn parameters(form: &Form) -> Result<Value, String> {
    let spellings = &form.spellings[..];
    let parts = form.parameters.first().map_or(&[][..], |template| &template.parts);
    let [
        Part::Literal(before),
        Part::Hole(Hole::Key),
        behind_key @ Part::Literal(between),
        Part::Hole(Hole::Value(trim)),
        Part::Literal(after),
    ] = parts
    else {
        return Err("its parameters are more than a key and a value".to_owned());
    };
    let key = in_class(first(behind_key).ok_or("its keys end without a marker")?);
    // Another template may show newlines around the same.
    let shows = |place: usize, edge: fn(&str) -> bool| {
        form.parameters.iter().any(|it| match it.parts.get(place) {
            Some(Part::Literal(text)) => edge(text),
            _ => false,
        })
    };
    let edge = |shown: bool| match trim {
        Trim::All => BLANK,
        Trim::Shown if shown => r"\n?",
        Trim::Shown => "",
    };
    let pattern = format!(
        r"{}(?P<key>[^{key}]+){}{}(?P<value>.*?){}{}",
        literal(before.trim(), spellings),
        literal(between.trim_end(), spellings),
        edge(shows(2, |text| text.ends_with('\n'))),
        edge(shows(4, |text| text.starts_with('\n'))),
        literal(after.trim(), spellings),
    );
    Ok(match form.undeclared {
        Some(Undeclared::Json) => json!({
            "tag_pattern": pattern,
            "value_parser": {"name": "json", "args": {"allow_non_json": true, "strip": false}},
        }),
        _ => json!({"tag_pattern": pattern}),
    })
}
