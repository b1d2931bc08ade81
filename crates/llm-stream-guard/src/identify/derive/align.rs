//! The alignment of renderings: the literals around names, keys, values and calls.
//!
//! ```text
//! <call>zfuncaz<args>{"zkeyaz": "Zvalaz"}</call>
//! literal     name    literal  arguments   literal
//! ```

use core::ops::Range;

use serde_json::Value;

use super::{
    DeriveError,
    pieces::{KEY, NAME},
    samples::{SampleCall, spaced},
};

/// How a template writes the arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// An object with name and arguments, in JSON.
    Object,
    /// An object with name and arguments, in Python's notation.
    PythonObject,
    /// The arguments as an object in JSON, after the name.
    Arguments,
    /// The arguments as a dictionary of Python, after the name.
    Dictionary,
    /// Keyword arguments in parentheses after the name: `name(key='value')`.
    Keywords,
    /// An object with bare keys, after the name: `name{key: "value"}`.
    Bare,
    /// A key and a value between tags each.
    Tagged,
}

/// The styles, those with the fewest holes first.
pub(super) const STYLES: [Style; 7] = [
    Style::Object,
    Style::Keywords,
    Style::Arguments,
    Style::PythonObject,
    Style::Dictionary,
    Style::Bare,
    Style::Tagged,
];

/// A kind of hole: the part of a call that is in its place on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoleKind {
    /// The name of the called tool.
    Name,
    /// The id of the call, if it is written.
    Id,
    /// Name and arguments in one object.
    Object,
    /// All arguments of the call.
    Arguments,
    /// The name of an argument.
    Key,
    /// The value of an argument.
    Value,
}

/// A wire, cut at its holes. The literal with the same index is before a hole; the last one is after
/// all.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Aligned {
    /// The texts around the holes.
    pub(super) literals: Vec<String>,
    /// The kinds of the holes, in order.
    pub(super) marks: Vec<HoleKind>,
}

/// Returns the reason why the wire of one call with one argument cannot be a call, or nothing.
pub(super) fn lost(wire: &str, call: &SampleCall) -> Option<DeriveError> {
    let lost = |what: &str| {
        let why = format!("its arguments are lost: the {what} of a call is not rendered");
        Some(DeriveError::new(why).with([wire, &call.arguments]).into_final())
    };
    let Some(name) = wire.find(call.name) else {
        return Some(DeriveError::new("it renders no calls").into_final());
    };
    let (key, value) = (wire.find("zkeyaz"), wire.find("Zvalaz"));
    match (key, value) {
        (_, None) => lost("value"),
        (None, _) => lost("key"),
        (Some(key), Some(value)) if key > value => Some(
            DeriveError::new("its values come before their keys, which the language cannot say")
                .with([wire, &call.arguments]),
        ),
        (Some(key), _) if key < name && object(wire, name, key, json_at).is_none() => Some(
            DeriveError::new("its arguments come before the name, outside of an object")
                .with([wire, &call.arguments]),
        ),
        _ => None,
    }
}

/// Cuts a wire of calls at the holes of `style`, or returns nothing if it has other holes.
pub(super) fn align(wire: &str, calls: &[SampleCall], style: Style) -> Option<Aligned> {
    let (mut at, mut aligned) = (0, Aligned::default());
    let (mut names, mut key) = (["", ""], "");
    for call in calls {
        let mut holes = holes(wire, at, call, style)?;
        holes.sort_by_key(|(range, _)| range.start);
        names = [names[1], call.name];
        for (range, mark) in holes {
            aligned.literals.push(again(wire.get(at..range.start)?, names, key));
            aligned.marks.push(mark);
            if mark == HoleKind::Key {
                key = wire.get(range.clone())?;
            }
            at = range.end;
        }
    }
    aligned.literals.push(again(wire.get(at..)?, names, key));
    Some(aligned)
}

/// Returns a literal in which names and the last key are marked as repeated.
fn again(literal: &str, names: [&str; 2], key: &str) -> String {
    let marked = |text: String, word: &str, mark: char| match word {
        "" => text,
        word => text.replace(word, mark.encode_utf8(&mut [0; 4])),
    };
    let text = marked(literal.to_owned(), names[0], NAME);
    marked(marked(text, names[1], NAME), key, KEY)
}

type Holes = Vec<(Range<usize>, HoleKind)>;

fn holes(wire: &str, at: usize, call: &SampleCall, style: Style) -> Option<Holes> {
    let find = |text: &str, from: usize| -> Option<Range<usize>> {
        let found = from + wire.get(from..)?.find(text)?;
        Some(found..found + text.len())
    };
    let name = find(call.name, at)?;
    let value_at = |range: &Range<usize>| match style {
        Style::Object | Style::Arguments => json_at(wire, range.start),
        _ => balanced(wire, range.start),
    };
    if matches!(style, Style::Object | Style::PythonObject) {
        let read = if style == Style::Object { json_at } else { balanced };
        return Some(vec![(enclosing(wire, (at, &name), call, read)?, HoleKind::Object)]);
    }
    let mut holes: Holes = vec![(name.clone(), HoleKind::Name)];
    match style {
        Style::Keywords => {
            let open = name.end;
            let whole = wire.get(open..)?.starts_with('(').then(|| balanced(wire, open))??;
            holes.push((whole.start + 1..whole.end - 1, HoleKind::Arguments));
        }
        Style::Arguments | Style::Dictionary | Style::Bare => {
            let open = find("{", name.end)?;
            let whole = value_at(&open)?;
            let text = wire.get(whole.clone())?;
            let keys: Value = serde_json::from_str(&call.arguments).ok()?;
            let shown = |key: &String| match style {
                Style::Arguments => text.contains(&format!("\"{key}\"")),
                Style::Dictionary => text.contains(&format!("'{key}'")),
                _ => text.contains(key.as_str()) && !text.contains(&format!("\"{key}\"")),
            };
            if !keys.as_object()?.keys().all(shown) {
                return None;
            }
            holes.push((whole, HoleKind::Arguments));
        }
        _ => {
            let mut end = name.end;
            let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
            for (key, value) in arguments.as_object()? {
                let key = find(key, end)?;
                let value = spelled(value).iter().find_map(|text| find(text, key.end))?;
                end = value.end;
                holes.extend([(key, HoleKind::Key), (value, HoleKind::Value)]);
            }
        }
    }
    holes.extend(find(&call.id, at).map(|id| (id, HoleKind::Id)));
    Some(holes)
}

/// Returns the spellings of a value: as JSON, and as Python writes it.
fn spelled(value: &Value) -> Vec<String> {
    if let Some(text) = value.as_str() {
        return vec![text.to_owned()];
    }
    let python = |text: &str| {
        let words = text.replace("true", "True").replace("false", "False");
        words.replace("null", "None").replace('"', "'")
    };
    vec![spaced(value), value.to_string(), python(&spaced(value))]
}

type BracketReader = fn(&str, usize) -> Option<Range<usize>>;

/// Returns the smallest object before the name that holds both positions.
fn object(wire: &str, name: usize, value: usize, read: BracketReader) -> Option<Range<usize>> {
    let opens = wire.get(..name.min(value))?.rmatch_indices('{').map(|(at, _)| at);
    opens.filter_map(|at| read(wire, at)).find(|range| range.contains(&name.max(value)))
}

/// Returns the smallest object from `from` on that holds the name, as a key or a value, and all
/// argument keys.
fn enclosing(
    wire: &str,
    (from, name): (usize, &Range<usize>),
    call: &SampleCall,
    read: BracketReader,
) -> Option<Range<usize>> {
    let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
    let keys: Vec<&String> = arguments.as_object()?.keys().collect();
    let opens = wire.get(from..name.start)?.rmatch_indices('{').map(|(at, _)| from + at);
    opens.filter_map(|at| read(wire, at)).find(|range| {
        let text = wire.get(range.clone()).unwrap_or_default();
        // The arguments are a member, even if they are empty.
        range.end > name.end
            && keys.iter().all(|key| text.contains(key.as_str()))
            && text.matches(['{', '"', '\'']).count() > 6
    })
}

/// Returns the range of the JSON object that begins at `at`.
fn json_at(wire: &str, at: usize) -> Option<Range<usize>> {
    let mut values =
        serde_json::Deserializer::from_str(wire.get(at..)?).into_iter::<serde::de::IgnoredAny>();
    values.next()?.ok()?;
    Some(at..at + values.byte_offset())
}

/// Returns the range of the bracket at `at` up to the one that closes it, outside of quotes.
fn balanced(wire: &str, at: usize) -> Option<Range<usize>> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (offset, scalar) in wire.get(at..)?.char_indices() {
        match (quote, scalar) {
            _ if escaped => escaped = false,
            (Some(_), '\\') => escaped = true,
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(scalar),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth <= 1 => return Some(at..at + offset + 1),
            (None, ')' | ']' | '}') => depth -= 1,
            _ => {}
        }
    }
    None
}
