//! Content parsers and their arguments, as a template declares them.

use alloc::{
    borrow::ToOwned,
    boxed::Box,
    string::{String, ToString},
    vec::Vec,
};

use super::{
    ErrorKind, ResponseTemplateError,
    boundary::expression,
    field::{Content, Dialect, Pairs},
};
use crate::json::{JsonObject, JsonTree};

/// Reads the content parser called `name` with its `args`, which are at `key` of the template.
pub(crate) fn content(
    name: &JsonTree,
    args: &JsonTree,
    key: &str,
) -> Result<Content, ResponseTemplateError> {
    let Some(args) = args.as_object() else { return Err(wrong(key, "expected an object")) };
    let strip = args.get("strip").is_none_or(JsonTree::truthy);
    Ok(match name.as_str().unwrap_or_default() {
        "text" => Content::Text { strip },
        "int" => Content::Int,
        "float" => Content::Float,
        "bool" => Content::Bool { strip },
        "json" => Content::Json(dialect(args, strip, key)?),
        "xml-inline" => tags(args, key)?,
        "kv-lines" => lines(args, strip, key)?,
        "python-call-list" => Content::CallList,
        _ => return Err(ResponseTemplateError::new(ErrorKind::ContentName, "content")),
    })
}

fn wrong(key: &str, what: &str) -> ResponseTemplateError {
    ResponseTemplateError::new(ErrorKind::ContentArgs, key).detail(what)
}

fn inner(key: &str, name: &str) -> String {
    alloc::format!("{key}.{name}")
}

fn is_set(args: &JsonObject, name: &str) -> bool {
    args.get(name).is_some_and(JsonTree::truthy)
}

fn dialect(args: &JsonObject, strip: bool, key: &str) -> Result<Dialect, ResponseTemplateError> {
    let key = inner(key, "string_delims");
    let pairs = match args.get("string_delims") {
        None => &[],
        Some(value) => {
            value.as_array().ok_or_else(|| wrong(&key, "expected a list of pairs of strings"))?
        }
    };
    let pair = |(n, pair): (usize, &JsonTree)| match pair.as_array() {
        Some([JsonTree::String(open), JsonTree::String(close)])
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

fn tags(args: &JsonObject, key: &str) -> Result<Content, ResponseTemplateError> {
    let at = inner(key, "tag_pattern");
    let pattern = match args.get("tag_pattern") {
        None | Some(JsonTree::Null) => {
            return Err(ResponseTemplateError::new(ErrorKind::NoTagPattern, &at));
        }
        Some(pattern) => expression(pattern, &at)?,
    };
    if !pattern.names.iter().any(|name| name == "key") {
        return Err(ResponseTemplateError::new(ErrorKind::TagPatternKey, &at));
    }
    let merge = is_set(args, "merge_duplicates");
    Ok(Content::Tags { pattern: Box::new(pattern), value: value_parser(args, key)?, merge })
}

fn lines(args: &JsonObject, strip: bool, key: &str) -> Result<Content, ResponseTemplateError> {
    let text = |name: &str, default: &str, empty: ErrorKind| {
        let at = inner(key, name);
        match args.get(name) {
            None => Ok(default.to_owned()),
            Some(JsonTree::String(text)) if text.is_empty() => {
                Err(ResponseTemplateError::new(empty, &at))
            }
            Some(JsonTree::String(text)) => Ok(text.clone()),
            Some(_) => Err(wrong(&at, "expected a string")),
        }
    };
    let line = match args.get("line_sep") {
        Some(JsonTree::Null) => None,
        _ => Some(text("line_sep", "\n", ErrorKind::EmptyLineSep)?),
    };
    let separator = text("kv_sep", ":", ErrorKind::EmptyKvSep)?;
    let pairs = Pairs { separator, strip };
    Ok(Content::Lines { line, pairs, value: value_parser(args, key)? })
}

fn value_parser(
    args: &JsonObject,
    key: &str,
) -> Result<Option<Box<Content>>, ResponseTemplateError> {
    let key = inner(key, "value_parser");
    let parser = match args.get("value_parser") {
        None | Some(JsonTree::Null) => return Ok(None),
        Some(parser) => parser.as_object().ok_or_else(|| wrong(&key, "expected an object"))?,
    };
    let (text, none) = (JsonTree::from("text"), JsonTree::Object(JsonObject::default()));
    let name = parser.get("name").unwrap_or(&text);
    let args = parser.get("args").unwrap_or(&none);
    match content(name, args, &inner(&key, "args")) {
        Err(error) if error.kind == ErrorKind::ContentName => {
            Err(ResponseTemplateError::new(ErrorKind::ValueParserName, &inner(&key, "name")))
        }
        content => content.map(Box::new).map(Some),
    }
}
