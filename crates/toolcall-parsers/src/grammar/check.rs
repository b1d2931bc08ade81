//! What the types of a grammar cannot rule out.

use alloc::format;

use super::{
    At, BraceShape, CallBody, Envelope, FieldKind, Grammar, GrammarError, Head, Item, JsonShape,
    Keys, NamedShape, Next, Opener, PythonCall, PythonShape, Role, Shape, TaggedShape, Target,
    Text, TreeShape,
};

type Checked = Result<(), GrammarError>;

impl Grammar {
    /// Checks what the types cannot: that there is something to find, and everything that must
    /// be a literal text is one.
    ///
    /// # Errors
    /// The first fault, with its field.
    pub fn check(&self) -> Checked {
        let odd = |c: char| c.is_whitespace() || c == ':';
        if self.name.is_empty() || self.name.contains(odd) {
            return fault("name", "expected a word without blanks and colons");
        }
        if self.openers.is_empty() && self.envelope.is_none() {
            return fault("openers", "expected at least one, or an envelope");
        }
        for (i, one) in self.openers.iter().enumerate() {
            opener(&format!("openers[{i}]"), one)?;
            let mut before = self.openers[..i].iter();
            if let Some(n) = before.position(|o| (&o.marker, o.at) == (&one.marker, one.at)) {
                let why = format!("the same as openers[{n}], whose shapes can be several");
                return fault(&format!("openers[{i}].marker"), &why);
            }
        }
        if let Some(one) = &self.envelope {
            envelope("envelope", one)?;
        }
        for (i, erase) in self.erase.iter().enumerate() {
            filled(&format!("erase[{i}].marker"), &erase.marker)?;
        }
        all_filled("orphans", &self.orphans)?;
        for (i, layout) in self.layouts.iter().enumerate() {
            let shapes = match &self.envelope {
                Some(envelope) => envelope.routes.get(layout.opener).map(|route| match &route.to {
                    Target::Calls(shapes) => shapes.len(),
                    _ => 1,
                }),
                None => self.openers.get(layout.opener).map(|opener| opener.shapes.len()),
            };
            match shapes {
                None => {
                    return fault(&format!("layouts[{i}].opener"), "there is none of this number");
                }
                Some(shapes) if layout.shape >= shapes => {
                    return fault(&format!("layouts[{i}].shape"), "there is none of this number");
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn fault(field: &str, problem: &str) -> Checked {
    Err(GrammarError::new(field, problem))
}

fn filled(field: &str, text: &Text) -> Checked {
    if text.is_empty() { fault(field, "expected text, found none") } else { Ok(()) }
}

fn all_filled(field: &str, texts: &[Text]) -> Checked {
    texts.iter().enumerate().try_for_each(|(i, text)| filled(&format!("{field}[{i}]"), text))
}

fn some<T>(field: &str, list: &[T]) -> Checked {
    if list.is_empty() { fault(field, "expected at least one") } else { Ok(()) }
}

/// A list of literals, one of which must be there.
fn some_filled(field: &str, texts: &[Text]) -> Checked {
    some(field, texts)?;
    all_filled(field, texts)
}

fn opener(field: &str, opener: &Opener) -> Checked {
    match opener.role {
        Role::Before | Role::Part => filled(&format!("{field}.marker"), &opener.marker)?,
        Role::Name if !opener.marker.is_empty() => {
            return fault(&format!("{field}.marker"), "expected none: the name begins the call");
        }
        Role::Name if !matches!(opener.at, At::Lead | At::Start | At::LineStart) => {
            let why = "a call that nothing announces needs `lead`, `start` or `line_start`";
            return fault(&format!("{field}.at"), why);
        }
        Role::Name => {}
    }
    shapes(&format!("{field}.shapes"), &opener.shapes)
}

fn shapes(field: &str, list: &[Shape]) -> Checked {
    some(field, list)?;
    list.iter().enumerate().try_for_each(|(i, one)| match one {
        Shape::Json(shape) => json(&format!("{field}[{i}].json"), shape),
        Shape::Named(shape) => named(&format!("{field}[{i}].named"), shape),
        Shape::Python(shape) => python(&format!("{field}[{i}].python"), shape),
        Shape::Tagged(shape) => {
            let field = format!("{field}[{i}].tagged");
            head(&format!("{field}.call"), &shape.call)?;
            tagged(&field, shape)
        }
        Shape::Brace(shape) => brace(&format!("{field}[{i}].brace"), shape),
        Shape::Tree(shape) => tree(&format!("{field}[{i}].tree"), shape),
    })
}

fn json(field: &str, shape: &JsonShape) -> Checked {
    all_filled(&format!("{field}.glue"), &shape.glue)?;
    all_filled(&format!("{field}.closers"), &shape.closers)?;
    match &shape.item {
        Item::Keys(one) => keys(&format!("{field}.item.keys"), one),
        Item::Arguments(name) => filled(&format!("{field}.item.arguments"), name),
        Item::NameIsKey => Ok(()),
    }
}

fn keys(field: &str, keys: &Keys) -> Checked {
    some_filled(&format!("{field}.name"), &keys.name)?;
    some_filled(&format!("{field}.arguments"), &keys.arguments)
}

fn named(field: &str, shape: &NamedShape) -> Checked {
    all_filled(&format!("{field}.close"), &shape.close)?;
    if let Some(section) = &shape.section {
        some_filled(&format!("{field}.section.open"), &section.open)?;
        some_filled(&format!("{field}.section.close"), &section.close)?;
        filled(&format!("{field}.open"), &shape.open)?;
    }
    for (i, one) in shape.header.iter().enumerate() {
        some(&format!("{field}.header[{i}].stops"), &one.stops)?;
        for (n, stop) in one.stops.iter().enumerate() {
            let field = format!("{field}.header[{i}].stops[{n}]");
            filled(&format!("{field}.text"), &stop.text)?;
            if let Next::Field(next) = stop.next
                && usize::from(next) >= shape.header.len()
            {
                return fault(&format!("{field}.next"), "there is no field of this number");
            }
        }
    }
    let names = |kind: &FieldKind| {
        matches!(kind, FieldKind::Name | FieldKind::Declared | FieldKind::IdWithName { .. })
    };
    if shape.name.is_none() && !shape.header.iter().any(|one| names(&one.kind)) {
        return fault(&format!("{field}.header"), "expected a field that holds the name");
    }
    Ok(())
}

fn python(field: &str, shape: &PythonShape) -> Checked {
    all_filled(&format!("{field}.glue"), &shape.glue)?;
    all_filled(&format!("{field}.null_words"), &shape.null_words)?;
    all_filled(&format!("{field}.closers"), &shape.closers)?;
    match &shape.call {
        PythonCall::Dict(one) => keys(&format!("{field}.call.dict"), one),
        PythonCall::Call | PythonCall::Object => Ok(()),
    }
}

fn head(field: &str, head: &Head) -> Checked {
    some_filled(&format!("{field}.open"), &head.open)?;
    some(&format!("{field}.ends"), &head.ends)?;
    let mut ends = head.ends.iter().enumerate();
    ends.try_for_each(|(i, end)| filled(&format!("{field}.ends[{i}].text"), &end.text))
}

/// All but the call's header, which in messages does not come.
fn tagged(field: &str, shape: &TaggedShape) -> Checked {
    if let Some(wrapper) = &shape.wrapper {
        some_filled(&format!("{field}.wrapper.open"), &wrapper.open)?;
        some_filled(&format!("{field}.wrapper.close"), &wrapper.close)?;
    }
    head(&format!("{field}.parameter"), &shape.parameter)?;
    for (name, texts) in [
        ("call_close", &shape.call_close),
        ("value_open", &shape.value_open),
        ("ignored", &shape.ignored),
    ] {
        all_filled(&format!("{field}.{name}"), texts)?;
    }
    if let Some(tags) = &shape.type_tags {
        filled(&format!("{field}.type_tags.open"), &tags.open)?;
        filled(&format!("{field}.type_tags.close"), &tags.close)?;
    }
    filled(&format!("{field}.value_close"), &shape.value_close)
}

fn brace(field: &str, shape: &BraceShape) -> Checked {
    all_filled(&format!("{field}.prefix"), &shape.prefix)?;
    all_filled(&format!("{field}.closers"), &shape.closers)?;
    filled(&format!("{field}.quote"), &shape.quote)
}

fn tree(field: &str, shape: &TreeShape) -> Checked {
    let TreeShape { namespace, wrapper, call, name, item, text } = shape;
    for (part, literal) in [
        ("namespace", namespace),
        ("wrapper", wrapper),
        ("call", call),
        ("name", name),
        ("item", item),
        ("text", text),
    ] {
        filled(&format!("{field}.{part}"), literal)?;
    }
    Ok(())
}

fn envelope(field: &str, envelope: &Envelope) -> Checked {
    for (i, start) in envelope.starts.iter().enumerate() {
        filled(&format!("{field}.starts[{i}].marker"), &start.marker)?;
    }
    for (i, one) in envelope.fields.iter().enumerate() {
        filled(&format!("{field}.fields[{i}].marker"), &one.marker)?;
    }
    some(&format!("{field}.messages"), &envelope.messages)?;
    for (i, message) in envelope.messages.iter().enumerate() {
        filled(&format!("{field}.messages[{i}].marker"), &message.marker)?;
    }
    all_filled(&format!("{field}.ends"), &envelope.ends)?;
    some(&format!("{field}.routes"), &envelope.routes)?;
    for (i, route) in envelope.routes.iter().enumerate() {
        let field = format!("{field}.routes[{i}].to");
        match &route.to {
            Target::Calls(list) => shapes(&format!("{field}.calls"), list)?,
            Target::Call(CallBody::Parameters(shape)) => {
                tagged(&format!("{field}.call.parameters"), shape)?;
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use serde_json::{Value, json};

    use crate::{Grammar, grammars};

    #[test]
    fn every_registered_family_is_sound_and_reads_back() {
        for grammar in grammars() {
            grammar.check().unwrap_or_else(|fault| panic!("{}: {fault}", grammar.name));
            let json = serde_json::to_string(&grammar).expect("a grammar is data");
            assert_eq!(Grammar::from_json(&json), Ok(grammar));
        }
    }

    /// A sound grammar of every shape.
    fn sound() -> Value {
        let keys = json!({"name": ["n"], "arguments": ["a"]});
        let head = |tag: &str| json!({"open": [tag], "ends": [{"text": ">"}]});
        json!({
            "name": "own",
            "openers": [
                {"marker": "J", "shapes": [{"json":
                    {"container": "object", "item": {"keys": keys}, "closers": ["/J"]}}]},
                {"marker": "N", "shapes": [{"named": {"open": "N",
                    "header": [{"kind": "name", "stops": [{"text": "(", "next": "arguments"}]}]}}]},
                {"marker": "P", "shapes": [{"python": {"container": "list", "call": {"dict": keys}}}]},
                {"marker": "T", "shapes": [{"tagged": {"call": head("<f="), "call_close": ["</f>"],
                    "parameter": head("<p="), "value_close": "</p>"}}]},
                {"marker": "B", "shapes": [{"brace": {"quote": "'"}}]},
                {"marker": "E", "shapes": [{"tree": {"namespace": "~", "wrapper": "w", "call": "c",
                    "name": "name", "item": "i", "text": "t"}}]},
                {"marker": "", "role": "name", "at": "lead", "certainty": "unmarked",
                    "shapes": [{"python": {"container": "call"}}]},
            ],
            "erase": [{"marker": "<end>"}],
            "orphans": ["/J"],
            "layouts": [{"opener": 0}],
        })
    }

    #[test]
    fn faults_are_named_by_field() {
        assert!(Grammar::from_json(&sound().to_string()).is_ok());
        for (pointer, value, field) in [
            ("/name", json!("a b"), "name"),
            ("/name", json!(7), "name"),
            ("/nam", json!("x"), "nam"),
            ("/openers", json!([]), "openers"),
            ("/openers/0/marker", json!(""), "openers[0].marker"),
            ("/openers/1/marker", json!("J"), "openers[1].marker"),
            ("/openers/0/at", json!("here"), "openers[0].at"),
            ("/openers/0/shapes", json!([]), "openers[0].shapes"),
            (
                "/openers/0/shapes/0/json/closers/0",
                json!(""),
                "openers[0].shapes[0].json.closers[0]",
            ),
            (
                "/openers/0/shapes/0/json/container",
                json!("x"),
                "openers[0].shapes[0].json.container",
            ),
            (
                "/openers/0/shapes/0/json/item/keys/name",
                json!([]),
                "openers[0].shapes[0].json.item.keys.name",
            ),
            ("/openers/1/shapes/0/named/header", json!([]), "openers[1].shapes[0].named.header"),
            (
                "/openers/1/shapes/0/named/header/0/stops/0/next",
                json!({"field": 1}),
                "openers[1].shapes[0].named.header[0].stops[0].next",
            ),
            (
                "/openers/2/shapes/0/python/call/dict/arguments/0",
                json!(""),
                "openers[2].shapes[0].python.call.dict.arguments[0]",
            ),
            (
                "/openers/3/shapes/0/tagged/value_close",
                json!(""),
                "openers[3].shapes[0].tagged.value_close",
            ),
            (
                "/openers/3/shapes/0/tagged/call/open",
                json!([]),
                "openers[3].shapes[0].tagged.call.open",
            ),
            ("/openers/4/shapes/0/brace/quote", json!(""), "openers[4].shapes[0].brace.quote"),
            ("/openers/5/shapes/0/tree/item", json!(""), "openers[5].shapes[0].tree.item"),
            ("/openers/6/marker", json!("x"), "openers[6].marker"),
            ("/openers/6/at", json!("anywhere"), "openers[6].at"),
            ("/erase/0/marker", json!(""), "erase[0].marker"),
            ("/orphans/0", json!(""), "orphans[0]"),
            ("/layouts/0/opener", json!(9), "layouts[0].opener"),
            ("/layouts/0/shape", json!(9), "layouts[0].shape"),
        ] {
            let mut grammar = sound();
            match grammar.pointer_mut(pointer) {
                Some(place) => *place = value,
                None => {
                    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
                    grammar.pointer_mut(parent).expect("it is there")[key] = value;
                }
            }
            let error = Grammar::from_json(&grammar.to_string()).expect_err(pointer);
            assert_eq!(error.field(), field, "{pointer}: {error}");
        }
    }

    #[test]
    fn text_that_is_no_grammar_is_refused() {
        for text in ["", "{", "[]", "{\"name\": \"x\"} y", "{\"name\": \"x\"}"] {
            assert!(Grammar::from_json(text).is_err(), "{text}");
        }
    }

    #[cfg(feature = "toml")]
    #[test]
    fn toml_says_the_same() {
        let toml = toml::to_string(&sound()).expect("it is data");
        let read = Grammar::from_toml(&toml).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(Ok(read), Grammar::from_json(&sound().to_string()));
        let error = Grammar::from_toml(&toml.replace("value_close", "value_clos")).unwrap_err();
        assert!(error.to_string().contains("value_clos"), "{error}");
        assert!(Grammar::from_toml("name = ").is_err());
    }
}
