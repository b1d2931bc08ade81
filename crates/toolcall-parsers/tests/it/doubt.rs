//! The laws of doubt: cut, damaged and quoted calls never become other calls.
//!
//! - **Cuts** (L16): the complete calls of a cut message are the first complete calls of the whole.
//! - **Quotation** (L17): a call that only a value contains never starts, whatever one edit and one
//!   cut do to the wire, under small and large limits.
//! - **Containers** (L18): damaged objects and lists give the same result whole and in pieces.
//! - **Values without a call** (L17): nor does a call in a JSON value after an opener without a name.
//! - **Keys** (L19): no complete call has a key twice, and the first one counts.
//! - **Limits** (L20): under smaller limits a call becomes worse, never another.
//! - **Gaps** (L21): a call whose text is missing up to its end is not complete, and no call that runs
//!   lacks a key that its text has.
//! - **Ends of turns** (L22): the token that ends a turn changes no call of the text before it, if it is
//!   the last text of the message.

use std::collections::BTreeSet;

use serde_json::json;
use toolcall_parsers::{
    CallLimits, EncodeCall, End, Event, Grammar, Options, Outcome, Parser, Tools, encode, grammars,
    template::Hole,
};

use crate::support::vectors_if_any;

/// The tool whose call quotes.
const OUTER: &str = "save_page";
/// The tool whose calls are only quoted.
const QUOTED: &str = "drop_table";

/// A call that a parser reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Seen {
    name: String,
    arguments: String,
    outcome: Option<Outcome>,
}

impl Seen {
    fn runs(&self) -> bool {
        self.outcome.is_some_and(Outcome::runs)
    }
}

/// The calls that a parser reports, as a sink.
#[derive(Debug, Clone, Default)]
struct Record(Vec<Seen>);

impl Record {
    fn event(&mut self, event: &Event<'_>) {
        match *event {
            Event::CallStart { name, .. } => {
                self.0.push(Seen { name: name.to_owned(), ..Seen::default() });
            }
            Event::CallArguments { fragment, .. } => {
                self.0.last_mut().expect("a call started").arguments.push_str(fragment);
            }
            Event::CallEnd { outcome, .. } => {
                self.0.last_mut().expect("a call started").outcome = Some(outcome);
            }
            _ => {}
        }
    }
}

fn parser(grammar: &Grammar, limit: usize) -> Parser {
    let mut options = Options::default();
    options.limits = CallLimits { value: limit, ..CallLimits::default() };
    let builder = Parser::builder(grammar.clone()).tools(tools()).options(options);
    builder.build().expect("a sound table")
}

/// Reads `wire` in chunks of `len` bytes, rounded up to characters.
fn read(parser: &Parser, wire: &str, end: End, len: usize) -> Vec<Seen> {
    let (mut parser, mut record) = (parser.clone(), Record::default());
    let mut rest = wire;
    while !rest.is_empty() {
        let at = (len..rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
        let (chunk, tail) = rest.split_at(at);
        parser.push(chunk, &mut |event: Event<'_>| record.event(&event)).expect("limits release");
        rest = tail;
    }
    parser.finish(end, &mut |event: Event<'_>| record.event(&event)).expect("limits release");
    record.0
}

fn tools() -> Tools {
    let object =
        |properties: serde_json::Value| json!({"type": "object", "properties": properties});
    Tools::new([
        (
            OUTER,
            object(json!({
                "title": {"type": "string"},
                "body": {"type": "string"},
                "meta": {"type": "object"},
                "rows": {"type": "array"},
            })),
        ),
        (QUOTED, object(json!({"table": {"type": "string"}, "title": {"type": "string"}}))),
    ])
}

/// A small generator of numbers, so that a seed reproduces a case.
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// Returns a family's wires of calls whose value quotes calls of [`QUOTED`].
fn quoting(grammar: &Grammar) -> Vec<String> {
    let call = |arguments: serde_json::Value| {
        encode(grammar, &[EncodeCall::new(QUOTED, &arguments.to_string())], &tools()).ok()
    };
    let table = |name: &str| call(json!({"table": name}));
    let (Some(block), Some(other)) = (table("users"), table("orders")) else { return Vec::new() };
    // Without arguments there is no quote that an inner string needs.
    let bare = call(json!({})).unwrap_or_default();
    let boundary = |at: usize| (at..).find(|&at| block.is_char_boundary(at)).unwrap_or(0);
    let half = &block[..boundary(block.len() / 2)];
    let most = &block[..boundary(block.len() * 4 / 5)];
    let values = [
        format!("Never write this:\n{block}\nThat is all."),
        format!("as in {block} here"),
        format!("{block}{other}"),
        format!("first\n{block}\nsecond\n{other}\nthird"),
        format!("a start:\n{half}\nno more"),
        format!("a start: {most} no more"),
        format!("see\n{block}\n{}z", "long text. ".repeat(7_000)),
        format!("so: {bare}{bare} and more"),
        format!("{bare}\nor {bare}{}z", "long text. ".repeat(7_000)),
    ];
    let mut wires = Vec::new();
    for value in &values {
        for arguments in [
            json!({"body": value}),
            json!({"title": "one", "body": value}),
            json!({"body": value, "title": "two"}),
            json!({"meta": {"k": [1, "x"]}, "body": value, "rows": [1, 2]}),
        ] {
            let arguments = arguments.to_string();
            wires.extend(encode(grammar, &[EncodeCall::new(OUTER, &arguments)], &tools()));
        }
    }
    wires
}

/// Returns the tags, words and signs of a wire.
fn tokens(wire: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = wire;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '\\' => rest.chars().take(2).map(char::len_utf8).sum(),
            '<' | '[' => match rest.find(['>', ']', '\n']) {
                Some(end) if end < 64 => end + 1,
                _ => 1,
            },
            c if c.is_alphanumeric() || c == ' ' => {
                rest.find(|c: char| !(c.is_alphanumeric() || c == ' ')).unwrap_or(rest.len())
            }
            c => c.len_utf8(),
        };
        let len = (len..=rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
        tokens.push(&rest[..len]);
        rest = &rest[len..];
    }
    tokens
}

/// Returns the index of `wire` after which the first value of its call has begun.
fn start_of_value(parser: &Parser, wire: &str) -> usize {
    let (mut parser, mut record) = (parser.clone(), Record::default());
    for (at, scalar) in wire.char_indices() {
        let mut bytes = [0; 4];
        let mut sink = |event: Event<'_>| record.event(&event);
        parser.push(scalar.encode_utf8(&mut bytes), &mut sink).expect("limits release");
        if record.0.first().is_some_and(|call| call.arguments.contains("\":")) {
            return at + scalar.len_utf8();
        }
    }
    wire.len()
}

/// Deletes, doubles, swaps or inserts one token after the start of the first value. Edits that make another
/// well-formed call are left out: heads of the quoted call and the tags around them, quotes and
/// brackets, and insertions of end tags.
fn edited(wire: &str, from: usize, random: &mut Random) -> (String, String) {
    let (head, rest) = wire.split_at(from);
    let mut tokens = tokens(rest);
    let plain = |token: &str| token.contains(|c: char| c.is_alphanumeric() || c == '\\');
    let is_in_head = |tokens: &[&str], at: usize| {
        let near = &tokens[at.saturating_sub(12)..tokens.len().min(at + 8)];
        near.concat().contains(QUOTED)
    };
    let at = random.below(tokens.len());
    let kind = random.below(4);
    if tokens.is_empty() || !plain(tokens[at]) || is_in_head(&tokens, at) {
        return (wire.to_owned(), String::from("no edit"));
    }
    let what = format!("{} {:?}", ["delete", "double", "swap", "insert"][kind], tokens[at]);
    match kind {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at]),
        2 if at > 0 && plain(tokens[at - 1]) && !ends_call(tokens[at]) => tokens.swap(at, at - 1),
        _ if is_end(tokens[at]) => {}
        _ => {
            let place = random.below(tokens.len());
            if is_in_head(&tokens, place) {
                return (wire.to_owned(), String::from("no edit"));
            }
            tokens.insert(place, tokens[at]);
        }
    }
    ([head, &tokens.concat()].concat(), what)
}

/// Returns whether a token ends something.
fn is_end(token: &str) -> bool {
    let blank = !token.contains(char::is_alphanumeric);
    blank || token.contains("</") || token.contains("end") || ends_call(token)
}

/// Returns whether a token ends a call, wherever it is.
fn ends_call(token: &str) -> bool {
    ["</function>", "<|call|>", "<|return|>"].iter().any(|end| token.contains(end))
}

fn shown(wire: &str) -> String {
    let at = (0..=200.min(wire.len())).rev().find(|&at| wire.is_char_boundary(at)).unwrap_or(0);
    if wire.len() < 1200 { wire.to_owned() } else { format!("{}…({})", &wire[..at], wire.len()) }
}

/// Returns the keys of the outermost object that occur twice.
fn repeated_keys(arguments: &str) -> Option<String> {
    struct Keys;
    impl<'de> serde::de::Visitor<'de> for Keys {
        type Value = Option<String>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Self::Value, A::Error> {
            let (mut seen, mut twice) = (BTreeSet::new(), None);
            while let Some(key) = map.next_key::<String>()? {
                let _: serde::de::IgnoredAny = map.next_value()?;
                if !seen.insert(key.clone()) {
                    twice = Some(key);
                }
            }
            Ok(twice)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(arguments);
    serde::de::Deserializer::deserialize_map(&mut reader, Keys)
        .unwrap_or(Some(String::from("not JSON")))
}

/// Checks the law of quotation on `cases` random edits and cuts of each family's wires. Returns
/// the violations and the number of cases.
fn check_quotation(grammar: &Grammar, cases: usize, seed: u64) -> (Vec<String>, usize) {
    let only_cuts = OWN_QUOTES.contains(&grammar.name());
    let wires = quoting(grammar);
    let mut random = Random(seed);
    let (mut broken, mut checked) = (Vec::new(), 0);
    let parsers = [8, 300, 1 << 20].map(|limit| parser(grammar, limit));
    let mut check = |wire: &str, end: End, limit: usize, what: &str| {
        let calls = read(&parsers[limit], wire, end, [1 << 30, 7][wire.len() % 2]);
        if calls.iter().any(|call| call.name == QUOTED) {
            broken.push(format!(
                "{} {end:?} limit {limit} {what}: the quoted call starts\n  {}",
                grammar.name(),
                shown(wire)
            ));
        }
        for call in calls.iter().filter(|call| call.runs()) {
            if let Some(key) = repeated_keys(&call.arguments) {
                broken.push(format!(
                    "{} {what}: key {key} twice in {}\n  {}",
                    grammar.name(),
                    shown(&call.arguments),
                    shown(wire)
                ));
            }
        }
    };
    for wire in &wires {
        check(wire, End::Stop, 0, "unchanged");
        check(wire, End::Stop, 2, "unchanged");
        checked += 2;
    }
    if wires.is_empty() {
        return (broken, 0);
    }
    let starts: Vec<usize> = wires.iter().map(|wire| start_of_value(&parsers[2], wire)).collect();
    for case in 0..cases {
        let long = case % 16 != 0;
        let short: Vec<usize> =
            (0..wires.len()).filter(|&n| !long || wires[n].len() < 4_000).collect();
        let n = short[random.below(short.len())];
        let (wire, from) = (&wires[n], starts[n]);
        let (mut wire, mut what) = match case % 3 {
            _ if only_cuts => (wire.clone(), String::from("no edit")),
            0 => (wire.clone(), String::from("no edit")),
            _ => edited(wire, from, &mut random),
        };
        let mut end = End::Stop;
        if case % 3 == 0 || only_cuts || random.below(2) == 0 {
            let at = random.below(wire.len());
            let at = (at..=wire.len()).find(|&at| wire.is_char_boundary(at)).unwrap_or(0);
            wire.truncate(at);
            what.push_str(" and cut");
            end = [End::Length, End::Aborted][random.below(2)];
        }
        check(&wire, end, random.below(3), &what);
        checked += 1;
    }
    (broken, checked)
}

/// Checks the law of cuts on each wire.
fn check_cuts(grammar: &Grammar, tools: &Tools, wire: &str) -> Vec<String> {
    let mut broken = Vec::new();
    let builder = Parser::builder(grammar.clone()).tools(tools.clone());
    let new = builder.build().expect("a sound table");
    let whole: Vec<Seen> =
        read(&new, wire, End::Stop, usize::MAX >> 1).into_iter().filter(Seen::runs).collect();
    let (mut parser, mut record) = (new, Record::default());
    for (at, scalar) in wire.char_indices() {
        let mut bytes = [0; 4];
        let chunk = scalar.encode_utf8(&mut bytes);
        parser.push(chunk, &mut |event: Event<'_>| record.event(&event)).expect("limits release");
        for end in [End::Length, End::Aborted] {
            let (mut cut, mut seen) = (parser.clone(), record.clone());
            cut.finish(end, &mut |event: Event<'_>| seen.event(&event)).expect("limits release");
            let calls: Vec<Seen> = seen.0.into_iter().filter(Seen::runs).collect();
            let same = calls.len() <= whole.len()
                && calls
                    .iter()
                    .zip(&whole)
                    .all(|(a, b)| a.name == b.name && a.arguments == b.arguments);
            if !same {
                let cut = &wire[..at + scalar.len_utf8()];
                broken.push(format!(
                    "{} {end:?} after {cut:?}: {calls:?}, whole {whole:?}",
                    grammar.name()
                ));
            }
        }
    }
    broken
}

/// Damaged containers, and what they become.
const CONTAINERS: &[(&str, Option<&str>)] = &[
    (r#"{"a": True}"#, Some(r#"{"a":true}"#)),
    ("[1, 2,]", Some("[1,2]")),
    (r#"{"k": 1,}"#, Some(r#"{"k":1}"#)),
    ("[1, None]", Some("[1,null]")),
    ("{\"a\": 'x'}", Some(r#"{"a":"x"}"#)),
    (r#"{"n": 007}"#, Some(r#"{"n":7}"#)),
    (r#"{"k": "say "hi" now"}"#, Some(r#"{"k":"say \"hi\" now"}"#)),
    (r#"{"k": "\w+"}"#, Some(r#"{"k":"\\w+"}"#)),
    (r#"{"k": "a", b: 2}"#, Some(r#"{"b":2,"k":"a"}"#)),
    ("{'a': {'b': True}}", Some(r#"{"a":{"b":true}}"#)),
    ("{b: 'it's'}", None),
    (r#"{"k": 7 "z": ]}"#, None),
    (r#"{"k": NaN}"#, None),
    ("[1 2]", None),
    (r#"{"k": 1"#, None),
];

/// Checks the law of containers. If the family's values are text between tags, also what the
/// containers become.
fn check_containers(grammar: &Grammar) -> (Vec<String>, usize) {
    let mut holes = grammar.family().forms.iter().flat_map(|form| {
        form.parameters.iter().chain(&form.elements).flat_map(|template| template.holes())
    });
    let is_text = holes.any(|hole| matches!(hole, Hole::Value(_)));
    let mut broken = Vec::new();
    let mut checked = 0;
    for (damaged, mended) in CONTAINERS {
        let (key, good) = if damaged.starts_with('[') {
            ("rows", "[7357]")
        } else {
            ("meta", r#"{"mark":7357}"#)
        };
        let arguments = format!(r#"{{"{key}": {good}, "title": "t"}}"#);
        let Ok(wire) = encode(grammar, &[EncodeCall::new(OUTER, &arguments)], &tools()) else {
            continue;
        };
        let spelled =
            [good.to_owned(), good.replace(':', ": "), good.replace('"', "'").replace(':', ": ")];
        let Some(text) = spelled.iter().find(|text| wire.contains(text.as_str())) else { continue };
        let wire = wire.replace(text.as_str(), damaged);
        let parser = parser(grammar, 1 << 20);
        let results = [1 << 30, 1, 3].map(|len| read(&parser, &wire, End::Stop, len));
        checked += 1;
        let runs = results[0].first().filter(|call| call.runs());
        let value =
            runs.and_then(|call| serde_json::from_str::<serde_json::Value>(&call.arguments).ok());
        let value = value.map(|value| value[key].clone());
        let mended = mended.map(|json| serde_json::from_str(json).expect("JSON"));
        if results[0] != results[1] || results[0] != results[2] {
            broken.push(format!("{} {damaged}: {results:?}", grammar.name()));
        } else if is_text && value != mended {
            broken.push(format!("{} {damaged}: {value:?}, {:?}", grammar.name(), results[0]));
        }
    }
    (broken, checked)
}

/// Checks that a key which a call has twice counts once, and that the first one does.
fn check_keys(grammar: &Grammar) -> (Vec<String>, usize) {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for (arguments, expected) in [
        (
            json!({"title": "one", "zwo": "two", "body": "three"}),
            json!({"title": "one", "body": "three"}),
        ),
        (
            json!({"meta": {"title": 1, "zwo": [2, {"x": "}"}], "body": 3}, "title": "t"}),
            json!({"meta": {"title": 1, "body": 3}, "title": "t"}),
        ),
    ] {
        let wire = encode(grammar, &[EncodeCall::new(OUTER, &arguments.to_string())], &tools());
        let Ok(wire) = wire else { continue };
        let twice = wire.replace("zwo", "title");
        if twice == wire {
            continue;
        }
        let parser = parser(grammar, 1 << 20);
        let results = [1 << 30, 1, 3].map(|len| read(&parser, &twice, End::Stop, len));
        checked += 1;
        let runs = results[0].first().filter(|call| call.runs());
        let fine = runs.is_none_or(|call| {
            let value: Option<serde_json::Value> = serde_json::from_str(&call.arguments).ok();
            value.as_ref() == Some(&expected) && call.outcome == Some(Outcome::Repaired)
        });
        if !fine || results[0] != results[1] || results[0] != results[2] {
            broken.push(format!("{} {twice:?}: {:?}", grammar.name(), results[0]));
        }
    }
    (broken, checked)
}

/// Checks that smaller limits make calls worse, and never others.
fn check_limits(grammar: &Grammar) -> (Vec<String>, usize) {
    let (mut broken, mut checked) = (Vec::new(), 0);
    let large = parser(grammar, 1 << 20);
    let small = [8, 40, 300].map(|limit| (limit, parser(grammar, limit)));
    for wire in &quoting(grammar) {
        let all = read(&large, wire, End::Stop, 1 << 30);
        for (limit, parser) in &small {
            let calls = read(parser, wire, End::Stop, 7);
            checked += 1;
            let same = |call: &Seen| {
                let mut whole = all.iter().filter(|other| other.name == call.name);
                if call.runs() {
                    whole.any(|other| other.runs() && same_json(&call.arguments, &other.arguments))
                } else {
                    whole.next().is_some()
                }
            };
            if !calls.iter().all(same) {
                let (name, wire) = (grammar.name(), shown(wire));
                broken.push(format!("{name} limit {limit}: {calls:?}, whole {all:?}\n  {wire}"));
            }
        }
    }
    (broken, checked)
}

/// Checks calls whose text is missing from some place up to the end of the call. Families with tags
/// around values are left out: a tag may be text of the value before it.
fn check_gaps(grammar: &Grammar) -> (Vec<String>, usize) {
    let (mut broken, mut checked) = (Vec::new(), 0);
    let has_tags = grammar
        .family()
        .forms
        .iter()
        .any(|it| !it.parameters.is_empty() || !it.elements.is_empty());
    let arguments =
        json!({"title": "one two", "meta": {"mark": [1, "x"]}, "rows": [1, 2], "body": "three"});
    let written = arguments.to_string();
    let wire = encode(grammar, &[EncodeCall::new(OUTER, &written)], &tools()).unwrap_or_default();
    let inside = wire.rfind([']', '}', ')']).filter(|_| !has_tags);
    let Some((body, end)) = inside.map(|at| wire.split_at(at + 1)) else { return (broken, 0) };
    if end.trim().is_empty() {
        return (broken, 0);
    }
    let parser = parser(grammar, 1 << 20);
    let from = start_of_value(&parser, &wire);
    for at in (from..body.len()).filter(|&at| body.is_char_boundary(at)) {
        let text = &body[..at];
        let lost = [text, end].concat();
        let results = [1 << 30, 1, 3].map(|len| read(&parser, &lost, End::Stop, len));
        checked += 1;
        let is_right = |call: &Seen| {
            let value: serde_json::Value =
                serde_json::from_str(&call.arguments).unwrap_or_default();
            let keys =
                ["title", "meta", "rows", "body"].into_iter().filter(|key| text.contains(key));
            let has_all = keys.filter(|key| value.get(key).is_none()).count() == 0;
            has_all && (call.outcome != Some(Outcome::Complete) || value == arguments)
        };
        let runs = results[0].iter().filter(|call| call.runs());
        if !runs.clone().all(is_right) || results[0] != results[1] || results[0] != results[2] {
            broken.push(format!("{} {lost:?}: {:?}", grammar.name(), results[0]));
        }
    }
    (broken, checked)
}

/// Checks that the family's ends of turns at a cut of `wire` leave its calls as they are without them.
fn check_turn_ends(grammar: &Grammar, wire: &str) -> (Vec<String>, usize) {
    let (mut broken, mut checked) = (Vec::new(), 0);
    let parser = parser(grammar, 1 << 20);
    // In the head of a call the token is no value: such a call has no arguments and does not run.
    let begun = |call: &Seen| call.runs() || !call.arguments.is_empty();
    let calls = |wire: &str, end: End, len: usize| {
        let seen = read(&parser, wire, end, len);
        seen.into_iter().filter(begun).collect::<Vec<Seen>>()
    };
    let ends = &grammar.family().end_of_turn;
    for turn_end in ends.iter().filter(|turn_end| !wire.contains(turn_end.as_str())) {
        for at in (1..=wire.len()).filter(|&at| wire.is_char_boundary(at)) {
            let end = if at % 2 == 0 { End::Stop } else { End::Length };
            let (cut, ended) = (&wire[..at], [&wire[..at], turn_end].concat());
            let expected = calls(cut, end, 1 << 30);
            for len in [1 << 30, 3] {
                checked += 1;
                let seen = calls(&ended, end, len);
                if seen != expected {
                    broken.push(format!(
                        "{} {end:?} {ended:?} by {len}: {seen:?}, without the token {expected:?}",
                        grammar.name()
                    ));
                }
            }
        }
    }
    (broken, checked)
}

/// Returns whether two texts are the same JSON.
fn same_json(a: &str, b: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    a == b || read(a).is_some() && read(a) == read(b)
}

/// Returns the grammars that the tests read: all, or that of the variable `FAMILY`.
fn chosen() -> impl Iterator<Item = Grammar> {
    let only = std::env::var("FAMILY").ok();
    grammars().filter(move |it| only.as_deref().is_none_or(|only| only == it.name()))
}

fn assert_none(broken: &[String]) {
    let shown: Vec<&str> = broken.iter().take(20).map(String::as_str).collect();
    assert!(broken.is_empty(), "{} violations\n{}", broken.len(), shown.join("\n"));
}

#[test]
fn complete_calls_of_a_cut_message_are_those_of_the_whole() {
    let mut broken = Vec::new();
    for grammar in chosen() {
        for case in vectors_if_any(grammar.name()) {
            let tools = case.tools.as_deref().map_or_else(Tools::none, |tools| {
                let tools = serde_json::from_str(tools).expect("the reader checked it");
                Tools::from_json(&tools).expect("sound tools")
            });
            if case.wire.len() < 2_000 {
                broken.extend(check_cuts(&grammar, &tools, &case.wire));
            }
        }
        for wire in quoting(&grammar).iter().filter(|wire| wire.len() < 1_000) {
            broken.extend(check_cuts(&grammar, &tools(), wire));
        }
    }
    assert_none(&broken);
}

#[test]
fn call_that_only_a_value_contains_never_starts() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in chosen() {
        let seed = number("DOUBT_SEED", 11) as u64;
        let (violations, cases) = check_quotation(&grammar, number("DOUBT_CASES", 200), seed);
        broken.extend(violations);
        checked += cases;
    }
    assert_none(&broken);
    assert!(checked > 10_000 || std::env::var("FAMILY").is_ok(), "only {checked} cases");
}

/// Families with quotes of their own, where a quote more or less makes another well-formed call. Their
/// wires are cut, but not edited.
const OWN_QUOTES: &[&str] = &["functiongemma", "gemma4", "harn_text", "lfm2"];

/// Returns the number in an environment variable: of the random edits for each family, or their seed.
fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

#[test]
fn damaged_containers_are_read_alike_whole_and_in_pieces() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in chosen() {
        let (violations, cases) = check_containers(&grammar);
        broken.extend(violations);
        checked += cases;
    }
    assert_none(&broken);
    assert!(checked > 1_000 || std::env::var("FAMILY").is_ok(), "only {checked} cases");
}

#[test]
fn key_that_a_call_has_twice_counts_once() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in chosen() {
        let (violations, cases) = check_keys(&grammar);
        broken.extend(violations);
        checked += cases;
    }
    assert_none(&broken);
    assert!(checked > 150 || std::env::var("FAMILY").is_ok(), "only {checked} cases");
}

#[test]
fn smaller_limits_make_calls_worse_and_never_others() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in chosen() {
        let (violations, cases) = check_limits(&grammar);
        broken.extend(violations);
        checked += cases;
    }
    assert_none(&broken);
    assert!(checked > 1_000 || std::env::var("FAMILY").is_ok(), "only {checked} cases");
}

#[test]
fn call_with_a_gap_before_its_end_is_not_complete() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in chosen() {
        let (violations, cases) = check_gaps(&grammar);
        broken.extend(violations);
        checked += cases;
    }
    assert_none(&broken);
    assert!(checked > 1_000 || std::env::var("FAMILY").is_ok(), "only {checked} cases");
}

#[test]
fn end_of_turn_changes_no_call_before_it() {
    let (mut broken, mut checked) = (Vec::new(), 0);
    for grammar in chosen() {
        for wire in quoting(&grammar).iter().filter(|wire| wire.len() < 400).take(1) {
            let (violations, cases) = check_turn_ends(&grammar, wire);
            broken.extend(violations);
            checked += cases;
        }
    }
    assert_none(&broken);
    assert!(checked > 10_000 || std::env::var("FAMILY").is_ok(), "only {checked} cases");
}

/// Returns the wires of a family that quote a call in a JSON value after an opener without a name.
fn values_without_a_call(grammar: &Grammar) -> Vec<String> {
    // The text after the header of a message is an answer.
    if grammar.family().messages.is_some() {
        return Vec::new();
    }
    let arguments = json!({"table": "users"}).to_string();
    let calls = [arguments.as_str(), "{}"].map(|it| EncodeCall::new(QUOTED, it));
    let blocks = calls.iter().filter_map(|call| encode(grammar, &[*call], &tools()).ok());
    let openers: Vec<String> = grammar.openers().map(ToString::to_string).collect();
    let openers = openers
        .iter()
        .filter(|opener| opener.starts_with(['<', '[']) && opener.chars().any(char::is_alphabetic));
    blocks
        .flat_map(|block| {
            let string = json!(block).to_string();
            let values = [format!("{{\"see\": {string}}}"), format!("[0, {block}]"), string];
            openers.clone().flat_map(move |opener| {
                values.clone().map(|value| format!("{opener}{value} and so on"))
            })
        })
        .collect()
}

#[test]
fn call_in_a_value_after_an_opener_without_a_name_never_starts() {
    let (mut broken, mut wires) = (Vec::new(), 0);
    for grammar in grammars() {
        let parser = parser(&grammar, CallLimits::default().value);
        for wire in values_without_a_call(&grammar) {
            wires += 1;
            for len in [wire.len(), 1, 7] {
                let seen = read(&parser, &wire, End::Stop, len);
                if seen.iter().any(|call| call.name == QUOTED) {
                    broken.push(format!("{} {len}: {} -> {seen:?}", grammar.name(), shown(&wire)));
                }
            }
        }
    }
    assert!(wires > 300, "{wires} wires");
    assert_none(&broken);
}
