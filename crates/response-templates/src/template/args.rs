//! Content parsers and their arguments.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    ErrorKind, TemplateError,
    boundary::expression,
    field::{Content, Dialect, Pairs},
};
use crate::json::{Object, Value};

/// The parser called `name` with `args`, which stand at `key`.
pub(crate) fn content(name: &Value, args: &Value, key: &str) -> Result<Content, TemplateError> {
    let Some(args) = args.as_object() else { return Err(wrong(key, "expected an object")) };
    let strip = args.get("strip").is_none_or(Value::truthy);
    Ok(match name.as_str().unwrap_or_default() {
        "text" => Content::Text { strip },
        "int" => Content::Int,
        "float" => Content::Float,
        "bool" => Content::Bool { strip },
        "json" => Content::Json(dialect(args, strip, key)?),
        "xml-inline" => tags(args, key)?,
        "kv-lines" => lines(args, strip, key)?,
        _ => return Err(TemplateError::new(ErrorKind::ContentName, "content")),
    })
}

fn wrong(key: &str, what: &str) -> TemplateError {
    TemplateError::new(ErrorKind::ContentArgs, key).detail(what)
}

fn inner(key: &str, name: &str) -> String {
    alloc::format!("{key}.{name}")
}

fn is_set(args: &Object, name: &str) -> bool {
    args.get(name).is_some_and(Value::truthy)
}

fn dialect(args: &Object, strip: bool, key: &str) -> Result<Dialect, TemplateError> {
    let key = inner(key, "string_delims");
    let pairs = match args.get("string_delims") {
        None => &[],
        Some(value) => {
            value.as_array().ok_or_else(|| wrong(&key, "expected a list of pairs of strings"))?
        }
    };
    let pair = |(n, pair): (usize, &Value)| match pair.as_array() {
        Some([Value::String(open), Value::String(close)])
            if !open.is_empty() && !close.is_empty() =>
        {
            Ok((open.clone(), close.clone()))
        }
        _ => Err(wrong(&inner(&key, &n.to_string()), "expected two strings that are not empty")),
    };
    Ok(Dialect {
        unquoted_keys: is_set(args, "unquoted_keys"),
        delimiters: pairs.iter().enumerate().map(pair).collect::<Result<Vec<_>, _>>()?,
        text: is_set(args, "allow_non_json").then_some(strip),
    })
}

fn tags(args: &Object, key: &str) -> Result<Content, TemplateError> {
    let at = inner(key, "tag_pattern");
    let pattern = match args.get("tag_pattern") {
        None | Some(Value::Null) => {
            return Err(TemplateError::new(ErrorKind::NoTagPattern, &at));
        }
        Some(pattern) => expression(pattern, &at)?,
    };
    if !pattern.names.iter().any(|name| name == "key") {
        return Err(TemplateError::new(ErrorKind::TagPatternKey, &at));
    }
    let merge = is_set(args, "merge_duplicates");
    Ok(Content::Tags { pattern: Box::new(pattern), value: value_parser(args, key)?, merge })
}

fn lines(args: &Object, strip: bool, key: &str) -> Result<Content, TemplateError> {
    let text = |name: &str, default: &str, empty: ErrorKind| {
        let at = inner(key, name);
        match args.get(name) {
            None => Ok(default.to_owned()),
            Some(Value::String(text)) if text.is_empty() => Err(TemplateError::new(empty, &at)),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(wrong(&at, "expected a string")),
        }
    };
    let line = match args.get("line_sep") {
        Some(Value::Null) => None,
        _ => Some(text("line_sep", "\n", ErrorKind::EmptyLineSep)?),
    };
    let separator = text("kv_sep", ":", ErrorKind::EmptyKvSep)?;
    let pairs = Pairs { separator, strip };
    Ok(Content::Lines { line, pairs, value: value_parser(args, key)? })
}

fn value_parser(args: &Object, key: &str) -> Result<Option<Box<Content>>, TemplateError> {
    let key = inner(key, "value_parser");
    let parser = match args.get("value_parser") {
        None | Some(Value::Null) => return Ok(None),
        Some(parser) => parser.as_object().ok_or_else(|| wrong(&key, "expected an object"))?,
    };
    let (text, none) = (Value::from("text"), Value::Object(Object::default()));
    let name = parser.get("name").unwrap_or(&text);
    let args = parser.get("args").unwrap_or(&none);
    match content(name, args, &inner(&key, "args")) {
        Err(error) if error.kind == ErrorKind::ContentName => {
            Err(TemplateError::new(ErrorKind::ValueParserName, &inner(&key, "name")))
        }
        content => content.map(Box::new).map(Some),
    }
}
