//! Content parsers: the text of a region as a value.

use alloc::{
    borrow::{Cow, ToOwned},
    collections::BTreeSet,
    string::String,
    vec::Vec,
};
use core::fmt::Write;

use crate::{
    bare_keys::BareKeys,
    call_list,
    chars::is_blank,
    json::{self, JsonObject, JsonTree},
    malformed::Malformed,
    pattern::{Found, Matches, Program, group},
    template::{Content, Dialect, Field, Pairs, Scope},
    text::strip,
};

/// Returns the value of a region of `field` with this text. `groups` are those of its opener and its
/// closer.
pub(crate) fn value(
    field: &Field,
    groups: &[(String, String)],
    text: &str,
) -> Result<JsonTree, Malformed> {
    let value = parse(&field.content, text)?;
    let Some(transform) = &field.transform else { return Ok(value) };
    if !field.each {
        return transform.apply(groups, Scope::Content(&value));
    }
    let items = value.as_array().ok_or(Malformed::NotAList)?.iter();
    let item = |item: &JsonTree| {
        let item = item.as_object().ok_or(Malformed::ItemNotAnObject)?;
        transform.apply(groups, Scope::Item(item))
    };
    Ok(JsonTree::Array(items.map(item).collect::<Result<_, _>>()?))
}

fn stripped(text: &str, wanted: bool) -> &str {
    if wanted { strip(text) } else { text }
}

fn parse(content: &Content, text: &str) -> Result<JsonTree, Malformed> {
    Ok(match content {
        Content::Text { strip } => stripped(text, *strip).into(),
        Content::Int => JsonTree::Int(json::parse_int(text).ok_or(Malformed::Int)?),
        Content::Float => JsonTree::Float(json::parse_float(text).ok_or(Malformed::Float)?),
        Content::Bool { strip } => {
            let text = stripped(text, *strip);
            JsonTree::Bool(text.eq_ignore_ascii_case("true") || text == "1")
        }
        Content::Json(dialect) => return parse_json(dialect, text),
        Content::CallList => call_list::parse(text).ok_or(Malformed::CallList)?,
        Content::Tags { pattern, value, merge } => {
            return tags(pattern, value.as_deref(), *merge, text);
        }
        Content::Lines { line: separator, pairs, value } => {
            let lines: Vec<&str> = match separator {
                Some(end) => text.split(end.as_str()).collect(),
                None => text.split(is_blank).collect(),
            };
            let mut object = JsonObject::default();
            for (key, text) in lines.into_iter().filter_map(|text| line(text, pairs)) {
                object.set(key, member_value(value.as_deref(), text)?);
            }
            JsonTree::Object(object)
        }
    })
}

fn parse_json(dialect: &Dialect, text: &str) -> Result<JsonTree, Malformed> {
    let work = rewritten(dialect, text)?;
    match (JsonTree::from_json(&work), dialect.text) {
        (Ok(value), _) => Ok(value),
        (Err(_), Some(strip)) => Ok(stripped(text, strip).into()),
        (Err(_), None) if work == text => Err(Malformed::Json),
        (Err(_), None) => Err(Malformed::Dialect),
    }
}

/// Rewrites a text of a dialect to JSON.
pub(crate) fn rewritten<'t>(dialect: &Dialect, text: &'t str) -> Result<Cow<'t, str>, Malformed> {
    let sentinels = !dialect.delimiters.is_empty();
    if sentinels && text.contains([OPEN, CLOSE]) {
        return Err(Malformed::Sentinel);
    }
    let (mut work, mut lifted) = (Cow::Borrowed(text), Vec::new());
    for (open, close) in &dialect.delimiters {
        work = Cow::Owned(lift(&work, open, close, &mut lifted));
    }
    if dialect.unquoted_keys {
        let (mut keys, mut json) = (BareKeys::new(true), String::with_capacity(work.len() + 16));
        keys.push(&work, &mut json);
        keys.end(&mut json);
        work = Cow::Owned(json);
    }
    if sentinels {
        work = Cow::Owned(put_back(&work, &lifted));
    }
    Ok(work)
}

/// The marks around the number that takes the place of a delimited string.
const OPEN: char = '\x01';
const CLOSE: char = '\x02';

/// Replaces the shortest spans between two delimiters by their numbers, and moves them to `lifted`.
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

/// Replaces the numbers by the strings of `lifted`, written as JSON strings.
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
) -> Result<JsonTree, Malformed> {
    let mut object = JsonObject::default();
    // The keys whose value is a list because the key came again.
    let mut merged = BTreeSet::new();
    for found in Matches::new(pattern, text) {
        let (key, value) = tag(pattern, text, &found)?;
        let value = member_value(parser, value)?;
        let is_merged = merge && object.get(key).is_some() && !merged.insert(key);
        match object.get_mut(key) {
            Some(JsonTree::Array(items)) if is_merged => items.push(value),
            Some(first) if merge => {
                *first = JsonTree::Array(Vec::from([core::mem::take(first), value]));
            }
            _ => object.set(key, value),
        }
    }
    Ok(JsonTree::Object(object))
}

/// The key and the value of a member. The value is `None` if its group took no part in the match.
pub(crate) type Member<'t> = (&'t str, Option<&'t str>);

/// Returns the member of a tag that was found in `text`.
pub(crate) fn tag<'t>(
    pattern: &Program,
    text: &'t str,
    found: &Found,
) -> Result<Member<'t>, Malformed> {
    let key = group(pattern, text, found, "key").ok_or(Malformed::TagKey)?;
    let value = group(pattern, text, found, "value");
    Ok((key, value.or_else(|| pattern.group("value").is_none().then_some(""))))
}

/// Returns the value of a member, parsed if there is a parser.
pub(crate) fn member_value(
    parser: Option<&Content>,
    text: Option<&str>,
) -> Result<JsonTree, Malformed> {
    match (text, parser) {
        (Some(text), None) => Ok(text.into()),
        (Some(text), Some(parser)) => parse(parser, text),
        // A missing value is null unless it is parsed or trimmed.
        (None, None | Some(Content::Text { strip: false })) => Ok(JsonTree::Null),
        (None, Some(_)) => Err(Malformed::TagValue),
    }
}

/// Returns the member in a line, if the line has a separator.
pub(crate) fn line<'t>(text: &'t str, pairs: &Pairs) -> Option<Member<'t>> {
    let (key, value) = pairs.stripped(text).split_once(pairs.separator.as_str())?;
    Some((pairs.stripped(key), Some(pairs.stripped(value))))
}
