//! The part of a JSON schema that a grammar can express.

mod arrange;
mod keywords;
mod merge;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::{arrange::one_of, keywords::Types, merge::merged};
use super::notes::Notes;
use crate::limits::{MAX_COUNT, MAX_SCHEMA_DEPTH, MAX_SCHEMAS};

/// The values that a schema admits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Any value that JSON can express.
    Any,
    Null,
    Bool,
    /// A number without a fraction, between bounds.
    Integer(Option<i64>, Option<i64>),
    Number,
    /// A string, with the minimum and maximum of its characters.
    String(u32, Option<u32>),
    /// Exactly this one value.
    Const(Value),
    OneOf(Vec<Self>),
    /// An array with its elements' shape and the bounds of their number.
    Array(Box<Self>, u32, Option<u32>),
    Object(Object),
    /// The definition with this number.
    Ref(usize),
}

/// The members of an object.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Object {
    pub(crate) members: Vec<Member>,
    /// The values of members with any key, if the object has only such members.
    pub(crate) rest: Option<Box<Shape>>,
}

/// A declared member of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) is_required: bool,
    pub(crate) shape: Shape,
}

/// Reads the schema of one tool's arguments.
pub(crate) struct Reader<'s> {
    root: &'s Value,
    tool: &'s str,
    notes: &'s mut Notes,
    /// The definitions that were referred to, by pointer.
    numbers: BTreeMap<String, usize>,
    pub(crate) definitions: Vec<Shape>,
    path: Vec<String>,
    read: usize,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(root: &'s Value, tool: &'s str, notes: &'s mut Notes) -> Self {
        let (numbers, definitions) = (BTreeMap::new(), Vec::new());
        Self { root, tool, notes, numbers, definitions, path: Vec::new(), read: 0 }
    }

    /// Returns the arguments of the tool, an object.
    pub(crate) fn arguments(&mut self) -> Object {
        let mut shape = self.shape(self.root, 0);
        let mut seen = 0;
        while let Shape::Ref(number) = shape {
            shape = self.definitions.get(number).cloned().unwrap_or(Shape::Any);
            seen += 1;
            if seen > self.definitions.len() {
                shape = Shape::Any;
            }
        }
        match shape {
            Shape::Object(object) => object,
            Shape::Any => Object { members: Vec::new(), rest: Some(Box::new(Shape::Any)) },
            _ => {
                self.widened("a schema of arguments that are not one object");
                Object { members: Vec::new(), rest: Some(Box::new(Shape::Any)) }
            }
        }
    }

    fn widened(&mut self, what: &str) {
        self.notes.widened(self.tool, &self.path, what);
    }

    fn narrowed(&mut self, what: &str) {
        self.notes.narrowed(self.tool, &self.path, what);
    }

    fn within<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step.to_owned());
        let value = read(self);
        self.path.pop();
        value
    }

    pub(crate) fn shape(&mut self, schema: &Value, depth: usize) -> Shape {
        self.read += 1;
        if depth > MAX_SCHEMA_DEPTH || self.read > MAX_SCHEMAS {
            self.widened("a schema that is too deep or too long");
            return Shape::Any;
        }
        match schema {
            Value::Bool(false) => {
                self.widened("`false`, which admits nothing");
                Shape::Any
            }
            Value::Object(schema) => self.keywords(schema, depth),
            _ => Shape::Any,
        }
    }

    fn keywords(&mut self, schema: &Map<String, Value>, depth: usize) -> Shape {
        if let Some(pointer) = schema.get("$ref") {
            let siblings = schema.keys().filter(|key| *key != "$ref" && keywords::restricts(key));
            if siblings.count() > 0 {
                self.widened("keywords beside `$ref`");
            }
            return self.reference(pointer, depth);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let whole = merged(self.root, schema, parts);
            if whole.is_lossy {
                self.widened("`allOf` with keywords that contradict each other");
            }
            return self.shape(&Value::Object(whole.schema), depth + 1);
        }
        let nullable = schema.get("nullable") == Some(&Value::Bool(true));
        let shape = self.without_null(schema, depth);
        match (nullable, shape) {
            (false, shape) | (true, shape @ (Shape::Any | Shape::Null)) => shape,
            (true, shape) => one_of(vec![shape, Shape::Null]),
        }
    }

    fn without_null(&mut self, schema: &Map<String, Value>, depth: usize) -> Shape {
        for key in ["anyOf", "oneOf"] {
            let Some(parts) = schema.get(key).and_then(Value::as_array) else { continue };
            if key == "oneOf" && parts.len() > 1 {
                self.widened("`oneOf`, which is read as `anyOf`");
            }
            return self.any_of(schema, (key, parts), depth);
        }
        for key in schema.keys().filter(|key| keywords::is_unsupported(key)) {
            self.widened(&format!("`{key}`"));
        }
        let values = match (schema.get("const"), schema.get("enum").and_then(Value::as_array)) {
            (Some(only), _) => Some(vec![only.clone()]),
            (None, Some(values)) if !values.is_empty() => Some(values.clone()),
            _ => None,
        };
        let types = Types::declared_by(schema);
        if let Some(mut values) = values {
            if let Some(types) = &types {
                values.retain(|value| types.admit(value));
            }
            if values.is_empty() {
                self.widened("values of other types than declared");
                return Shape::Any;
            }
            return one_of(values.into_iter().map(Shape::Const).collect());
        }
        let Some(types) = types else { return Shape::Any };
        let all: Vec<_> = types.names().map(|name| self.typed(name, schema, depth)).collect();
        if all.contains(&Shape::Any) { Shape::Any } else { one_of(all) }
    }

    fn any_of(
        &mut self,
        schema: &Map<String, Value>,
        (key, parts): (&str, &[Value]),
        depth: usize,
    ) -> Shape {
        let mut rest = schema.clone();
        rest.retain(|own, _| own != key);
        let restricts = |part: &Value| {
            part.as_object().is_none_or(|part| {
                part.keys().any(|key| keywords::restricts(key) && key != "required")
            })
        };
        if rest.keys().any(|key| keywords::restricts(key)) && !parts.iter().any(restricts) {
            self.widened(&format!("`{key}` of required members"));
            return self.shape(&Value::Object(rest), depth + 1);
        }
        let has_own = rest.keys().any(|key| keywords::restricts(key));
        let mut all = Vec::new();
        for part in parts {
            let shape = if has_own {
                let whole = merged(self.root, &rest, core::slice::from_ref(part));
                if whole.is_lossy {
                    self.widened(&format!("keywords beside `{key}`"));
                }
                self.shape(&Value::Object(whole.schema), depth + 1)
            } else {
                self.shape(part, depth + 1)
            };
            all.push(shape);
        }
        if all.is_empty() || all.contains(&Shape::Any) { Shape::Any } else { one_of(all) }
    }

    fn reference(&mut self, pointer: &Value, depth: usize) -> Shape {
        let local = pointer.as_str().and_then(|text| text.strip_prefix('#'));
        let Some(pointer) = local else {
            self.widened("a `$ref` to another document");
            return Shape::Any;
        };
        if let Some(&number) = self.numbers.get(pointer) {
            return Shape::Ref(number);
        }
        let root = self.root;
        let Some(target) = root.pointer(pointer) else {
            self.widened("a `$ref` without a target");
            return Shape::Any;
        };
        let number = self.definitions.len();
        self.numbers.insert(pointer.to_owned(), number);
        self.definitions.push(Shape::Any);
        let shape = self.shape(target, depth + 1);
        if let Some(definition) = self.definitions.get_mut(number) {
            // A definition that refers only to itself would never end.
            *definition = if shape == Shape::Ref(number) { Shape::Any } else { shape };
        }
        Shape::Ref(number)
    }

    fn typed(&mut self, name: &str, schema: &Map<String, Value>, depth: usize) -> Shape {
        match name {
            "null" => Shape::Null,
            "boolean" => Shape::Bool,
            "integer" => self.integer(schema),
            "number" => {
                for key in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
                    if schema.contains_key(key) {
                        self.widened(&format!("`{key}` of a number with a fraction"));
                    }
                }
                Shape::Number
            }
            "string" => {
                let (least, most) = self.count(schema, "minLength", "maxLength");
                Shape::String(least, most)
            }
            "array" => self.array(schema, depth),
            "object" => Shape::Object(self.object(schema, depth)),
            _ => Shape::Any,
        }
    }

    fn integer(&mut self, schema: &Map<String, Value>) -> Shape {
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        // Bounds that a double cannot hold exactly are ignored.
        let exact = |value: f64| (value.abs() < 9e15).then_some(value as i64);
        let least = [
            number("minimum").map(f64::ceil),
            number("exclusiveMinimum").map(|it| it.floor() + 1.0),
        ];
        let most = [
            number("maximum").map(f64::floor),
            number("exclusiveMaximum").map(|it| it.ceil() - 1.0),
        ];
        let least = least.into_iter().flatten().reduce(f64::max).and_then(exact);
        let most = most.into_iter().flatten().reduce(f64::min).and_then(exact);
        if least.zip(most).is_some_and(|(least, most)| least > most) {
            self.widened("bounds between which there is no integer");
            return Shape::Integer(None, None);
        }
        Shape::Integer(least, most)
    }

    fn count(
        &mut self,
        schema: &Map<String, Value>,
        least: &str,
        most: &str,
    ) -> (u32, Option<u32>) {
        let mut bound = |key: &str| {
            let count = schema.get(key).and_then(Value::as_u64)?;
            if count > MAX_COUNT {
                self.widened(&format!("`{key}` above {MAX_COUNT}"));
                return None;
            }
            u32::try_from(count).ok()
        };
        let (least, most) = (bound(least).unwrap_or(0), bound(most));
        match most {
            Some(most) if most < least => {
                self.widened("bounds that contradict each other");
                (least, None)
            }
            most => (least, most),
        }
    }

    fn array(&mut self, schema: &Map<String, Value>, depth: usize) -> Shape {
        let (least, most) = self.count(schema, "minItems", "maxItems");
        let items = match schema.get("items") {
            Some(items @ Value::Object(_)) => self.within("[]", |it| it.shape(items, depth + 1)),
            Some(Value::Array(_)) => {
                self.widened("a list of schemas in `items`");
                Shape::Any
            }
            _ => Shape::Any,
        };
        Shape::Array(Box::new(items), least, most)
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Object {
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let mut members: Vec<Member> = Vec::new();
        for (key, schema) in properties.into_iter().flatten() {
            let shape = self.within(key, |it| it.shape(schema, depth + 1));
            let is_required = required.contains(&key.as_str());
            members.push(Member { key: key.clone(), is_required, shape });
        }
        for key in required {
            if !members.iter().any(|member| member.key == key) {
                let key = key.to_owned();
                members.push(Member { key, is_required: true, shape: Shape::Any });
            }
        }
        let more = schema.get("additionalProperties");
        let open = !matches!(more, Some(Value::Bool(false)));
        if !members.is_empty() {
            if open {
                self.narrowed("members that the schema does not list");
            }
            if members.len() > 1 {
                self.narrowed("members in another order than the schema lists");
            }
            return Object { members, rest: None };
        }
        // An object with an empty `properties` and no other rule has no members.
        let rest = match more {
            Some(Value::Bool(false)) => None,
            Some(more @ Value::Object(_)) => Some(self.within("*", |it| it.shape(more, depth + 1))),
            _ if properties.is_some() && more.is_none() => {
                self.narrowed("members that the schema does not list");
                None
            }
            _ => Some(Shape::Any),
        };
        Object { members, rest: rest.map(Box::new) }
    }
}
