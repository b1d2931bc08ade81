//! Content parsers: the text of a region as a value.

use alloc::{
    borrow::{Cow, ToOwned},
    string::String,
    vec::Vec,
};
use core::fmt::Write;

use crate::{
    chars::{is_blank, is_word},
    json::{self, Object, Value},
    malformed::Malformed,
    pattern::{Found, Matches, Program, group},
    template::{Content, Dialect, Field, Pairs, Scope},
    text::strip,
};

/// The value of a region of `field` with this text, whose opener's groups matched `groups`.
pub(crate) fn value(
    field: &Field,
    groups: &[(String, String)],
    text: &str,
) -> Result<Value, Malformed> {
    let value = parse(&field.content, text)?;
    let Some(transform) = &field.transform else { return Ok(value) };
    if !field.each {
        return transform.apply(groups, Scope::Content(&value));
    }
    let items = value.as_array().ok_or(Malformed::NotAList)?.iter();
    let item = |item: &Value| {
        let item = item.as_object().ok_or(Malformed::ItemNotAnObject)?;
        transform.apply(groups, Scope::Item(item))
    };
    Ok(Value::Array(items.map(item).collect::<Result<_, _>>()?))
}

fn stripped(text: &str, wanted: bool) -> &str {
    if wanted { strip(text) } else { text }
}

fn parse(content: &Content, text: &str) -> Result<Value, Malformed> {
    Ok(match content {
        Content::Text { strip } => stripped(text, *strip).into(),
        Content::Int => Value::Int(json::parse_int(text).ok_or(Malformed::Int)?),
        Content::Float => Value::Float(json::parse_float(text).ok_or(Malformed::Float)?),
        Content::Bool { strip } => {
            let text = stripped(text, *strip);
            Value::Bool(text.eq_ignore_ascii_case("true") || text == "1")
        }
        Content::Json(dialect) => return parse_json(dialect, text),
        Content::Tags { pattern, value, merge } => {
            return tags(pattern, value.as_deref(), *merge, text);
        }
        Content::Lines { line, pairs, value } => {
            let lines: Vec<&str> = match line {
                Some(line) => text.split(line.as_str()).collect(),
                None => text.split(is_blank).collect(),
            };
            return read_lines(&lines, pairs, value.as_deref());
        }
    })
}

/// The value of the text of a part, which has no parser unless it says so.
fn part(parser: Option<&Content>, text: &str) -> Result<Value, Malformed> {
    parser.map_or_else(|| Ok(text.into()), |parser| parse(parser, text))
}

fn parse_json(dialect: &Dialect, text: &str) -> Result<Value, Malformed> {
    let sentinels = !dialect.delimiters.is_empty();
    if sentinels && text.contains([OPEN, CLOSE]) {
        return Err(Malformed::Sentinel);
    }
    let (mut work, mut lifted) = (Cow::Borrowed(text), Vec::new());
    for (open, close) in &dialect.delimiters {
        work = Cow::Owned(lift(&work, open, close, &mut lifted));
    }
    if dialect.unquoted_keys {
        work = Cow::Owned(quote_keys(&work));
    }
    if sentinels {
        work = Cow::Owned(put_back(&work, &lifted));
    }
    match (Value::from_json(&work), dialect.text) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(strip)) => Ok(stripped(text, strip).into()),
        (Err(_), None) if work == text => Err(Malformed::Json),
        (Err(_), None) => Err(Malformed::Dialect),
    }
}

/// What stands where a string was lifted out: its number between these two.
const OPEN: char = '\x01';
const CLOSE: char = '\x02';

/// Lifts the shortest spans between two delimiters out of `text`.
fn lift(text: &str, open: &str, close: &str, lifted: &mut Vec<String>) -> String {
    let mut work = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(open) {
        let Some((inner, after)) = behind.split_once(close) else { break };
        // Writing to a string cannot fail.
        let _ = write!(work, "{before}{OPEN}{}{CLOSE}", lifted.len());
        lifted.push(inner.to_owned());
        rest = after;
    }
    work + rest
}

/// Quotes each word that stands directly between `{` or `,` and `:`.
fn quote_keys(text: &str) -> String {
    let mut work = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(['{', ',']) {
        let (before, behind) = rest.split_at(at + 1);
        work.push_str(before);
        let end = behind.find(|c| !is_word(c)).unwrap_or(behind.len());
        if end > 0 && behind[end..].starts_with(':') {
            let _ = write!(work, "\"{}\":", &behind[..end]);
            rest = &behind[end + 1..];
        } else {
            rest = behind;
        }
    }
    work + rest
}

/// Puts lifted strings back, as JSON strings.
fn put_back(text: &str, lifted: &[String]) -> String {
    let mut work = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(OPEN) {
        work.push_str(before);
        let (number, after) = behind.split_once(CLOSE).unwrap_or((behind, ""));
        let string = number.parse().ok().and_then(|n: usize| lifted.get(n));
        let _ = json::quoted(string.map_or("", String::as_str), &mut work);
        rest = after;
    }
    work + rest
}

fn tags(
    pattern: &Program,
    parser: Option<&Content>,
    merge: bool,
    text: &str,
) -> Result<Value, Malformed> {
    let mut object = Object::default();
    let mut matches = Matches::new(pattern, text);
    while let Some(found) = matches.next().map_err(|_| Malformed::TooLong)? {
        let (key, value) = tag(pattern, parser, text, &found)?;
        add(&mut object, key, value, merge);
    }
    Ok(Value::Object(object))
}

/// The member that a tag found in `text` is.
pub(crate) fn tag<'t>(
    pattern: &Program,
    parser: Option<&Content>,
    text: &'t str,
    found: &Found,
) -> Result<(&'t str, Value), Malformed> {
    let key = group(pattern, text, found, "key").ok_or(Malformed::TagKey)?;
    let value = match group(pattern, text, found, "value") {
        None if pattern.names.iter().any(|name| name == "value") => None,
        value => Some(value.unwrap_or("")),
    };
    Ok((key, tag_value(parser, value)?))
}

/// The value of a tag whose value has this text, if that took part.
fn tag_value(parser: Option<&Content>, text: Option<&str>) -> Result<Value, Malformed> {
    match (text, parser) {
        (Some(text), parser) => part(parser, text),
        // What is neither parsed nor trimmed passes as it is.
        (None, None | Some(Content::Text { strip: false })) => Ok(Value::Null),
        (None, Some(_)) => Err(Malformed::TagValue),
    }
}

fn add(object: &mut Object, key: &str, value: Value, merge: bool) {
    match object.get_mut(key) {
        Some(Value::Array(items)) if merge => items.push(value),
        Some(other) if merge => {
            let first = core::mem::take(other);
            *other = Value::Array(Vec::from([first, value]));
        }
        _ => object.set(key, value),
    }
}

fn read_lines(lines: &[&str], pairs: &Pairs, parser: Option<&Content>) -> Result<Value, Malformed> {
    let mut object = Object::default();
    for text in lines {
        if let Some((key, value)) = line(text, pairs, parser)? {
            object.set(key, value);
        }
    }
    Ok(Value::Object(object))
}

/// The member that a line is, if it is one.
pub(crate) fn line<'t>(
    text: &'t str,
    pairs: &Pairs,
    parser: Option<&Content>,
) -> Result<Option<(&'t str, Value)>, Malformed> {
    let parts = pairs.stripped(text).split_once(pairs.separator.as_str());
    let Some((key, value)) = parts else { return Ok(None) };
    Ok(Some((pairs.stripped(key), part(parser, pairs.stripped(value))?)))
}
