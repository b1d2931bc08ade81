//! Clean arguments (L13) on damaged wires. Whatever is missing, doubled or exchanged, no complete
//! call has markup or another call in its arguments.

use std::collections::BTreeSet;

use stream_laws::{
    Cut, RecordedEvent, is_complete, json, json::JsonValue, run, vector::VectorCase,
};
use toolcall_parsers::{EncodeCall, Grammar, Tools, Whitespace, encode, grammars, template::Part};

use crate::support::{
    ParserMachine,
    families::{sorted, texts, ways},
    vectors_if_any,
};

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// One piece is removed.
    Missing,
    /// Two markers are removed.
    MissingTwo,
    /// One piece is doubled.
    Twice,
    /// Two adjacent pieces are exchanged.
    Swapped,
    /// Text is inserted after a marker.
    Inserted,
}

/// Families with Python calls, without declared tools.
const UNDECLARED: &[&str] = &[
    "granite_pythonic, undeclared",
    "lfm2, undeclared",
    "llama4_pythonic, undeclared",
    "olmo3, undeclared",
    "pythonic, undeclared",
];

/// Damage that cannot be distinguished from a value with markup: the families or vectors, the
/// kinds, and the reason.
const EXCEPTIONS: &[(&[&str], &[Kind], &str)] = &[
    (
        &["harn_text"],
        &[Kind::Missing, Kind::Swapped],
        "in quotes all is data up to a quote that may end the string, be it another call's; so is a \
         bare value up to a brace",
    ),
    (
        UNDECLARED,
        &[Kind::Missing, Kind::Swapped],
        "in quotes all is data, but the head of a call of a declared tool with a quote of that kind",
    ),
    (
        &["beam"],
        &[Kind::MissingTwo],
        "after the end of a message a value may go on with anything but the head of a call",
    ),
    (
        &["minicpm5"],
        &[Kind::MissingTwo],
        "a value without its own end tag ends with the call, which is repaired, and may hold the end \
         of an envelope whose beginning is missing, too",
    ),
    (
        &[
            "claude_invoke/parallel",
            "deepseek_v3_2/parallel",
            "deepseek_v4/parallel",
            "deepseek_v4_1/parallel",
            "dots/parallel",
            "gigachat35/parallel",
            "glm45/parallel",
            "glm47/parallel",
            "hy_v3/parallel",
            "hy_v4/parallel",
            "iquest_coder_v2/parallel",
            "iquest_q1/parallel",
            "mimo/parallel",
            "minicpm5/parallel",
            "minimax_m2/parallel",
            "nemotron3/parallel",
            "seed_oss/parallel",
            "solar_open2/parallel",
            "spark25/parallel",
            "step3/parallel",
            "step3p5/parallel",
            "xing4/parallel",
        ],
        &[Kind::MissingTwo],
        "a value goes on up to an end that a legal continuation follows, and the opener of a \
         parameter that was given already is data",
    ),
    (
        &["minicpm5/opener-of-a-given-parameter-is-data"],
        &[Kind::Missing, Kind::MissingTwo, Kind::Swapped, Kind::Twice, Kind::Inserted],
        "the value quotes markup, and the quotes around it are damaged",
    ),
    (
        &["ling3/cut-after-quoted-call", "solar_open2/cut-after-quoted-call"],
        &[Kind::Swapped],
        "a quoted parameter without a key takes no end with it",
    ),
    (&["gemma4"], &[Kind::MissingTwo], "one string lost its last quote, the next its first one"),
    (
        &["gemma4/closer-in-string", "gemma4/nested", "gemma4/unicode", "gemma4/lines"],
        &[Kind::Missing, Kind::MissingTwo, Kind::Swapped, Kind::Inserted],
        "a quote of the family's own that neither a member nor the call's end follows is data",
    ),
    (
        &["minimax_m2/quoted-block"],
        &[Kind::Twice, Kind::Swapped],
        "a header inside a value that lost its name opens no parameter",
    ),
    (&["functiongemma/spaces"], &[Kind::Twice], "what is before a colon need not be a key"),
    (
        &["functiongemma"],
        &[Kind::Missing, Kind::MissingTwo, Kind::Swapped],
        "a quote of the family's own that neither a member nor the call's end follows is data",
    ),
    (
        &["glm47/no-value-tag-no-end", "iquest_coder_v2/no-value-tag-no-end"],
        &[Kind::MissingTwo],
        "the wire lacks two tags before two others are missing",
    ),
    (
        &["functiongemma/nested"],
        &[Kind::Inserted],
        "a quote of the family's own that neither a member nor the call's end follows is data",
    ),
    (
        &["qwen3_coder/undeclared-parameter"],
        &[Kind::Missing, Kind::MissingTwo],
        "a header ends a value if the tool declares its parameter",
    ),
];

/// Two calls without a common word.
const CALLS: [EncodeCall<'_>; 2] = [
    EncodeCall::new("weigh", r#"{"crate": "B7", "grams": 250}"#),
    EncodeCall::new("ring_bell", r#"{"word": "ding dong", "times": {"most": [3]}}"#),
];

/// The words of each call.
const WORDS: [&[&str]; 2] = [
    &["weigh", "crate", "B7", "grams", "250"],
    &["ring_bell", "word", "ding", "dong", "times", "most"],
];

const TEXT: &str = " as you asked: ";

const TEXT_AFTER: &str = "\nAll done.";

fn tools() -> Tools {
    let tool = |name: &str, properties| {
        serde_json::json!({"type": "function", "function": {"name": name, "parameters": {
            "type": "object", "properties": properties}}})
    };
    let string = serde_json::json!({"type": "string"});
    let tools = serde_json::json!([
        tool("weigh", serde_json::json!({"crate": string, "grams": {"type": "integer"}})),
        tool("ring_bell", serde_json::json!({"word": string, "times": {"type": "object"}})),
    ]);
    Tools::from_json(&tools).expect("tools")
}

/// Returns the tags of the family's templates, and its quotes.
fn markup(grammar: &Grammar) -> Vec<String> {
    let family = grammar.family();
    let whole = texts(family);
    let mut markup: Vec<String> = grammar.openers().map(String::from).collect();
    for text in &whole {
        let mut rest = text.as_str();
        loop {
            let ends = |at: &usize| rest[at + 1..].trim_ascii_start().starts_with('<');
            let end = rest.match_indices('>').map(|(at, _)| at).find(ends);
            let (piece, tail) = end.map_or((rest, ""), |at| rest.split_at(at + 1));
            // A quote before a tag ends an attribute.
            markup.push(piece.trim().trim_start_matches('"').to_owned());
            if tail.is_empty() {
                break;
            }
            rest = tail;
        }
    }
    markup.extend(family.forms.iter().flat_map(|form| form.quote.iter().cloned()));
    let punctuation = |c: char| c.is_ascii_punctuation();
    let attribute = |marker: &str| marker.ends_with('"') && !marker.trim().starts_with(punctuation);
    markup.retain(|it| it.len() > 2 && it.contains(punctuation) && !attribute(it));
    sorted(markup)
}

/// Cuts `wire` into markers, punctuation, and the text between them.
fn pieces<'w>(wire: &'w str, markup: &[String]) -> Vec<&'w str> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    while at < wire.len() {
        let rest = &wire[at..];
        let longest = markup
            .iter()
            .filter(|marker| rest.starts_with(marker.as_str()))
            .max_by_key(|m| m.len());
        let scalar = rest.chars().next().expect("not at the end");
        let len = match longest {
            Some(marker) => marker.len(),
            None if "{}[]()<>\"'`,:=".contains(scalar) => 1,
            None => 0,
        };
        if len == 0 {
            at += scalar.len_utf8();
            continue;
        }
        pieces.extend([&wire[from..at], &wire[at..at + len]]);
        at += len;
        from = at;
    }
    pieces.push(&wire[from..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Returns the names and arguments of the complete calls of `wire`.
fn calls(machine: &ParserMachine, wire: &str) -> Vec<(String, String)> {
    let (mut found, mut name, mut arguments) = (Vec::new(), String::new(), String::new());
    for event in run(machine, wire, Cut::Whole).events {
        match event {
            RecordedEvent::CallStart { name: called, .. } => {
                name = called;
                arguments.clear();
            }
            RecordedEvent::CallArguments { fragment, .. } => arguments.push_str(&fragment),
            RecordedEvent::CallEnd { outcome, .. } if is_complete(&outcome) => {
                found.push((name.clone(), arguments.clone()));
            }
            RecordedEvent::CallEnd { .. } | RecordedEvent::Text { .. } => {}
        }
    }
    found
}

/// Returns all strings and keys of `value`.
fn strings(value: &JsonValue) -> Vec<&str> {
    match value {
        JsonValue::String(text) => vec![text],
        JsonValue::Array(elements) => elements.iter().flat_map(strings).collect(),
        JsonValue::Object(members) => members
            .iter()
            .flat_map(|(key, value)| [vec![key.as_str()], strings(value)].concat())
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns markup or a word of the other call in a complete call's arguments. Returns `None` if the
/// wire legally quotes markup.
fn foreign(
    (name, arguments): &(String, String),
    markup: &[String],
    quotes: impl Fn(&str) -> bool,
) -> Option<String> {
    let arguments = json::parse(arguments).expect("one object");
    let found = strings(&arguments);
    let holds_markup = |text: &str| markup.iter().any(|marker| text.contains(marker.as_str()));
    if found.iter().any(|text| holds_markup(text) && quotes(text)) {
        return None;
    }
    let found = found.join("\0");
    let known = WORDS.iter().any(|words| words[0] == name);
    let other = WORDS.iter().filter(|words| known && words[0] != name);
    let others = other.copied().flatten().copied();
    let mut texts = markup.iter().map(String::as_str).chain(others);
    texts.find(|text| found.contains(text)).map(String::from)
}

/// Returns all damaged wires that can be made of `pieces`.
fn damages(pieces: &[&str], markup: &[String]) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let but = |left: &[usize]| -> String {
        let rest = pieces.iter().enumerate().filter(|(n, _)| !left.contains(n));
        rest.map(|(_, piece)| *piece).collect()
    };
    let mut before = Vec::new();
    for (n, &piece) in pieces.iter().enumerate() {
        found.push((Kind::Missing, but(&[n])));
        found.push((Kind::Twice, pieces[..=n].concat() + &pieces[n..].concat()));
        if n > 0 {
            let mut swapped = pieces.to_vec();
            swapped.swap(n - 1, n);
            found.push((Kind::Swapped, swapped.concat()));
        }
        if markup.iter().any(|marker| marker == piece) {
            found.push((
                Kind::Inserted,
                [&pieces[..=n], &[TEXT], &pieces[n + 1..]].concat().concat(),
            ));
            found.extend(before.iter().map(|&m| (Kind::MissingTwo, but(&[m, n]))));
            before.push(n);
        }
    }
    found
}

/// Returns one call and both calls, written in each of the family's ways.
fn wires(grammar: &Grammar, tools: &Tools) -> BTreeSet<String> {
    let mut wires = BTreeSet::new();
    for way in ways(grammar).iter().chain([grammar]) {
        for calls in [&CALLS[..], &CALLS[..1]] {
            wires.extend(encode(way, calls, tools).map(|wire| wire + TEXT_AFTER));
        }
    }
    wires
}

fn is_excused(names: &[&str], kind: Kind) -> bool {
    let one = |all: &&[&str]| names.iter().any(|name| all.contains(name));
    EXCEPTIONS.iter().any(|(all, kinds, _)| one(all) && kinds.contains(&kind))
}

/// Returns foreign text in the arguments of a complete call of `wire`.
fn swallowed(
    machine: &ParserMachine,
    (ends, markup): (&[ValueEnd], &[String]),
    wire: &str,
) -> Option<String> {
    let calls = calls(machine, wire);
    let quotes = |text: &str| ends.iter().any(|end| end.quotes(text, wire));
    calls.iter().find_map(|call| foreign(call, markup, quotes))
}

/// The tags around values of one template.
struct ValueEnd {
    /// The literals of a parameter's header, up to the value.
    header: Vec<String>,
    /// The end tag of the value.
    end: String,
    /// All markup of the family.
    markup: Vec<String>,
}

impl ValueEnd {
    /// Returns the tags around the values of each template.
    fn all(grammar: &Grammar) -> Vec<Self> {
        let family = grammar.family();
        let templates = family.forms.iter().flat_map(|form| &form.parameters);
        let shown = |text: &String| text.trim().to_owned();
        let tags = templates.map(|template| {
            let mut header: Vec<String> = literals(&template.parts).iter().map(shown).collect();
            let end = header.pop().expect("an end tag");
            Self { header, end, markup: markup(grammar) }
        });
        let mut all: Vec<Self> = tags.collect();
        // The end tag of an element also contains its name, after this text.
        let elements = family.forms.iter().flat_map(|form| &form.elements);
        all.extend(elements.map(|template| {
            let end = literals(&template.parts).swap_remove(2);
            Self { header: Vec::new(), end, markup: markup(grammar) }
        }));
        for (text, others) in family.forms.iter().flat_map(|form| &form.spellings) {
            for n in 0..all.len() {
                let spelled: Vec<Self> = others.iter().map(|it| all[n].spelled(text, it)).collect();
                all.extend(spelled);
            }
        }
        all
    }

    fn spelled(&self, text: &str, other: &str) -> Self {
        let spell = |tag: &String| tag.replace(text, other);
        let header = self.header.iter().map(spell).collect();
        Self { header, end: spell(&self.end), markup: self.markup.clone() }
    }

    /// Returns whether `wire` legally quotes the markup in `value`. The value's end tag must
    /// follow, and after it other markup or the end of the wire. Parameters inside the value must
    /// be opened and closed.
    fn quotes(&self, value: &str, wire: &str) -> bool {
        let ends = |rest: &str| {
            let Some(mut rest) = rest.trim_start().strip_prefix(self.end.as_str()) else {
                return false;
            };
            if self.header.is_empty() {
                rest = rest.split_once('>').map_or("", |(_, rest)| rest);
            }
            while !self.header.is_empty()
                && let Some(next) = rest.trim_start().strip_prefix(self.end.as_str())
            {
                rest = next;
            }
            // Text after a parameter is skipped, so the next tag decides.
            let next = self.markup.iter().filter_map(|tag| Some((rest.find(tag.trim())?, tag)));
            let first = next.min_by_key(|(at, tag)| (*at, usize::MAX - tag.len()));
            let is_part = |tag: &str| {
                let later = self.header.iter().skip(1).any(|it| it == tag);
                !self.header.is_empty() && (later || tag.contains(self.end.as_str()))
            };
            rest.trim_start().is_empty() || first.is_some_and(|(_, tag)| !is_part(tag.trim()))
        };
        let places = wire.match_indices(value.trim());
        let followed = |(at, text): (usize, &str)| ends(&wire[at + text.len()..]);
        self.is_balanced(value) && places.into_iter().any(followed)
    }

    fn is_balanced(&self, value: &str) -> bool {
        let (mut at, mut depth) = (0, 0_usize);
        while at < value.len() {
            let rest = &value[at..];
            let mut len = rest.chars().next().map_or(1, char::len_utf8);
            if rest.starts_with(self.end.as_str()) {
                depth = depth.saturating_sub(1);
                len = self.end.len();
            } else if let Some(header) = self.header_len(rest) {
                depth += 1;
                len = header;
            }
            at += len;
        }
        depth == 0
    }

    /// Returns the length of a complete header at the start of `text`.
    fn header_len(&self, text: &str) -> Option<usize> {
        let (first, others) = self.header.split_first()?;
        let mut at = text.strip_prefix(first.as_str()).map(|_| first.len())?;
        for piece in others {
            let found = text[at..].find(piece.as_str())?;
            if text[at..at + found].contains('<') || found == 0 && at == first.len() {
                return None;
            }
            at += found + piece.len();
        }
        Some(at)
    }
}

/// Returns the literals of a template, including those in groups.
fn literals(parts: &[Part]) -> Vec<String> {
    let of = |part: &Part| match part {
        Part::Literal(text) => vec![text.clone()],
        Part::Group(parts) => literals(parts),
        Part::Hole(_) => Vec::new(),
    };
    parts.iter().flat_map(of).collect()
}

#[test]
fn no_complete_call_of_a_damaged_wire_holds_markup_or_another_call() {
    let only = std::env::var("FAMILY").ok();
    let (mut broken, mut excused) = (Vec::new(), BTreeSet::new());
    for grammar in grammars().filter(|it| only.as_deref().is_none_or(|only| only == it.name())) {
        let (name, markup, ends) = (grammar.name(), markup(&grammar), ValueEnd::all(&grammar));
        for declared in [tools(), Tools::none()] {
            let name = format!("{name}{}", if declared.is_empty() { ", undeclared" } else { "" });
            let names = [name.as_str(), grammar.name()];
            let machine = ParserMachine::with_tools(&grammar, declared, Whitespace::Framing);
            let wires = wires(&grammar, &tools());
            let damaged: BTreeSet<(Kind, String)> =
                wires.iter().flat_map(|wire| damages(&pieces(wire, &markup), &markup)).collect();
            for (kind, wire) in damaged {
                let Some(what) = swallowed(&machine, (&ends, &markup), &wire) else { continue };
                if is_excused(&names, kind) {
                    excused.extend(names.map(|name| (name.to_owned(), kind)));
                } else {
                    broken.push(format!("{name}, {kind:?}: {what:?} in {wire:?}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    for (names, kinds, why) in EXCEPTIONS.iter().filter(|_| only.is_none()) {
        for name in names.iter().filter(|name| !name.contains('/')) {
            let seen = |&&kind: &&Kind| excused.contains(&((*name).to_owned(), kind));
            assert!(kinds.iter().all(|kind| seen(&kind)), "{name}: it is not so that {why}");
        }
    }
}

/// If the vector declares tools, also declares all other tools that it calls.
fn declare_all(case: &mut VectorCase) {
    let Some(tools) = &mut case.tools else { return };
    let mut list: Vec<serde_json::Value> = serde_json::from_str(tools).expect("a list");
    for call in &case.expect.calls {
        let named = |tool: &serde_json::Value| {
            let tool = tool.get("function").unwrap_or(tool);
            tool.get("name").and_then(|name| name.as_str()) == Some(&call.name)
        };
        if !list.iter().any(named) {
            list.push(serde_json::json!({"name": call.name, "parameters": {}}));
        }
    }
    *tools = serde_json::Value::from(list).to_string();
}

#[test]
fn no_complete_call_of_a_damaged_vector_holds_markup() {
    let mut broken = Vec::new();
    for grammar in grammars() {
        let (markup, ends) = (markup(&grammar), ValueEnd::all(&grammar));
        for mut case in vectors_if_any(grammar.name()) {
            declare_all(&mut case);
            let expected = format!("{:?}", case.expect);
            let markup: Vec<String> = markup
                .iter()
                .filter(|marker| !expected.contains(marker.as_str()))
                .cloned()
                .collect();
            let machine = ParserMachine::of_case(&grammar, &case);
            // Skip vectors whose wire is already damaged.
            let whole = run(&machine, &case.wire, Cut::Whole).diagnostics.is_empty();
            let parts = pieces(&case.wire, &markup);
            let twice = |two: &[&str]| two[0] == two[1] && markup.iter().any(|it| it == two[0]);
            if !whole
                || parts.windows(2).any(twice)
                || swallowed(&machine, (&ends, &markup), &case.wire).is_some()
            {
                continue;
            }
            for (kind, wire) in damages(&parts, &markup) {
                let what = swallowed(&machine, (&ends, &markup), &wire);
                if let Some(what) = what.filter(|_| !is_excused(&[&case.id, grammar.name()], kind))
                {
                    broken.push(format!("{}, {kind:?}: {what:?} in {wire:?}", case.id));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}
