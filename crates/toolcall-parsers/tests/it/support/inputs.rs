//! Inputs for the laws: the wires of a family's vectors, and constructed difficult inputs.

use stream_laws::suffixes;
use toolcall_parsers::{
    EncodeCall, Grammar, Tools, encode,
    family::{CommitOn, Form},
    template::{Dialect, Hole, Part, Template},
};

use super::{
    families::{end_tags, holds_arguments, object_keys, sorted, tags, texts, ways},
    profile_cases, vectors_if_any,
};

/// The inputs of one family.
pub(crate) struct Inputs {
    pub(crate) name: String,
    /// The wires of the family's vectors.
    pub(crate) wires: Vec<String>,
    /// Short inputs, such as parts and repetitions of markers.
    pub(crate) edges: Vec<String>,
    /// Units that can be repeated without end.
    pub(crate) endless: Vec<Endless>,
    /// Continuations that may complete held text.
    pub(crate) witnesses: Vec<String>,
    /// Texts at which a call or a message header begins, or that are removed from content.
    pub(crate) openers: Vec<String>,
    /// Words that begin a header if a token follows.
    headers: Vec<String>,
    /// Markers that must not be emitted as text.
    pub(crate) markup: Vec<String>,
    /// Whether answers are decoded from JSON, so that output bytes differ from input bytes.
    pub(crate) decodes_text: bool,
}

/// An input of any length: a head and repetitions of a unit.
#[derive(Debug, Clone)]
pub(crate) struct Endless {
    pub(crate) head: String,
    pub(crate) unit: String,
}

impl Endless {
    pub(crate) fn of_length(&self, bytes: usize) -> String {
        let units = bytes.saturating_sub(self.head.len()) / self.unit.len();
        self.head.clone() + &self.unit.repeat(units)
    }
}

impl Inputs {
    pub(crate) fn of(grammar: &Grammar) -> Self {
        let name = grammar.name().to_owned();
        let family = grammar.family();
        let openers = sorted(grammar.openers().map(String::from).collect());
        let texts = texts(family);
        let mut markers = openers.clone();
        markers.extend(texts.iter().flat_map(|text| tags(text)).map(String::from));
        markers.extend(family.erase.iter().map(|erase| erase.text.clone()));
        // If names are openers, every letter is one. A single letter represents all of them.
        let letter = |marker: &str| marker.len() == 1 && marker.as_bytes()[0].is_ascii_alphabetic();
        let markers = sorted(markers);
        let markers: Vec<&str> =
            markers.iter().map(String::as_str).filter(|m| !letter(m) || *m == "s").collect();

        let mut witnesses = suffixes(&markers);
        witnesses.extend(markers.iter().map(|marker| (*marker).to_owned()));
        witnesses.extend(["x", "\n", "x\n"].map(String::from));
        witnesses.extend(commits(grammar, &markers));
        let unmarked = grammar.openers().zip(grammar.are_marked()).filter(|(_, marked)| !marked);
        let bare: Vec<String> = unmarked.map(|(opener, _)| opener.to_owned()).collect();
        for body in family.messages.iter().flat_map(|messages| &messages.body) {
            for word in bare.iter().chain([&"x".to_owned()]) {
                witnesses.extend(suffixes(&[&format!("{word}{body}")]));
                witnesses.extend(suffixes(&[&format!("{word}functions.f{body}")]));
            }
        }
        let headers = if family.messages.is_some() { bare } else { Vec::new() };
        let mut markup: Vec<String> = grammar.markers().map(String::from).collect();
        markup.extend(end_tags(family));
        let inner = texts.iter().flat_map(|text| tags(text)).filter(|tag| tag.starts_with('<'));
        markup.extend(inner.map(String::from));
        let cases = vectors_if_any(&name).into_iter().chain(profile_cases(&name));
        let decodes_text = object_keys(family).any(|keys| !keys.answer.is_empty());
        Self {
            wires: cases.map(|case| case.wire).collect(),
            edges: edges(&markers),
            endless: endless(grammar, &markers),
            witnesses: sorted(witnesses),
            markup: sorted(markup),
            openers: openers
                .into_iter()
                .chain(family.erase.iter().map(|e| e.text.clone()))
                .collect(),
            decodes_text,
            headers,
            name,
        }
    }

    /// Returns whether `text` ends inside a marker that begins a header, or inside a header without
    /// a marker.
    pub(crate) fn begins_header(&self, text: &str) -> bool {
        let bare = |word: &String| {
            let may = word.len() > 1 || !text.contains('<');
            may && text.rfind(word).is_some_and(|at| !text[at..].contains('>'))
        };
        let inside = |opener: &String| {
            opener.char_indices().skip(1).any(|(at, _)| text.ends_with(&opener[..at]))
        };
        self.openers.iter().any(inside) || self.headers.iter().any(bare)
    }

    /// Returns all wires and edges.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.wires.iter().chain(&self.edges).map(String::as_str)
    }
}

/// Returns continuations that complete a call from any position of a candidate.
fn commits(grammar: &Grammar, markers: &[&str]) -> Vec<String> {
    // A complete call in each way to write one, and in other spellings.
    let family = grammar.family();
    let mut wires = Vec::new();
    for (name, arguments) in [("stop_all", "{\"a\": \"x\"}"), ("python", "{\"code\": \"x\"}")] {
        for way in ways(grammar) {
            wires.extend(encode(&way, &[EncodeCall::new(name, arguments)], &Tools::none()));
        }
    }
    let respelled = |wire: &String, n: usize| {
        let spellings = family.forms.iter().flat_map(|form| &form.spellings);
        spellings.fold(wire.clone(), |wire, (text, others)| {
            wire.replace(text, others.get(n).unwrap_or(&others[0]))
        })
    };
    let written = wires.clone();
    wires.extend((0..4).flat_map(|n| written.iter().map(move |wire| respelled(wire, n))));
    let mut commits = Vec::new();
    let mut add = |whole: String| {
        commits.extend(suffixes(&[&whole]));
        commits.push(whole);
    };
    sorted(wires).into_iter().for_each(&mut add);
    for keys in object_keys(family) {
        let (name, arguments) = (&keys.name[0], &keys.arguments[0]);
        for quote in ['"', '\''] {
            let call = format!(
                "{{{quote}{name}{quote}: {quote}stop_all{quote}, {quote}{arguments}{quote}: {{{quote}a{quote}: 1"
            );
            // After any other key or value.
            let q = quote.to_string();
            let behind = [
                "", &q, "\": 1", "': 1", ": 1", "1", "}", "]", "\": 1}", ": 1}", "1}", "\"\": 1",
                "\"\"", "{}", "[]",
            ];
            behind.iter().for_each(|rest| add(format!("{rest}, {}", &call[1..])));
            add(format!("[{call}"));
            add(call);
        }
    }
    let holes = || family.forms.iter().flat_map(|form| &form.calls).flat_map(Template::holes);
    if holes().any(|hole| {
        matches!(hole, Hole::Arguments(Dialect::Python) | Hole::Object(Dialect::Python))
    }) {
        for call in ["[stop_all(a=1", "stop_all({a: 1", "stop_all({'a': 1", ")", "()"] {
            add(call.to_owned());
        }
    }
    // A name without a marker, and different starts of its arguments.
    if family.forms.iter().any(|form| form.commit_on == Some(CommitOn::DeclaredName)) {
        markers.iter().for_each(|marker| add(format!("{marker}stop_all\n{{")));
        add("x\n{".to_owned());
    }
    // A tag with another attribute before the name.
    if family
        .forms
        .iter()
        .flat_map(|form| &form.calls)
        .any(|call| call.to_string().contains("=\"{name}\""))
    {
        add("=\"x\" name=\"stop_all\">\n".to_owned());
        add("x tool=\"stop_all\"<|sep|>".to_owned());
    }
    commits
}

fn edges(markers: &[&str]) -> Vec<String> {
    let mut edges: Vec<String> =
        ["", "x", " ", "\n \n", "é\u{1F331}\u{0}", "{", "[", "<", "\u{2581}"]
            .map(String::from)
            .to_vec();
    for marker in markers {
        let scalar = marker.chars().next().unwrap_or('x');
        let half: String = marker.chars().take(marker.chars().count() / 2).collect();
        edges.extend([
            (*marker).to_owned(),
            format!("a{marker}b"),
            format!("{scalar}{marker}"),
            format!("{scalar}{scalar}{scalar}{marker}{scalar}"),
            format!("{marker}{marker}{marker}"),
            format!("{marker} \n\t {marker}\n"),
            format!("{half}{marker}{half}"),
            format!("{marker}\u{1F331}{marker}é"),
            format!("\n{half}\n"),
        ]);
        edges.extend(markers.iter().take(3).map(|other| format!("{marker}{{\"name\": {other}")));
    }
    edges
}

/// Texts after an opener, and the units that are repeated after them.
const AFTER_OPENER: &[(&str, &str)] = &[
    ("\"", "x"),
    ("\"name\": \"", "x"),
    ("\"name\"", " "),
    ("\"name\": ", "["),
    ("\"arguments\": ", "{\"a\":"),
    ("\"arguments\": {\"a\": \"", "x"),
    ("\"arguments\": {\"a\": \"", "\\"),
    ("\"arguments\": \"", "\\\""),
    ("\"name\": \"f\", \"arguments\": {\"a\": \"", "x"),
    ("\"name\": \"f\", \"arguments\": {\"a\": \"", "\\u12"),
    ("\"name\": \"f\", \"arguments\": {\"a\": ", "1"),
    ("\"name\": \"f\", \"arguments\": ", " "),
    ("\"name\": \"f\", \"arguments\": \"{", "\\u0020"),
    ("\"name\": \"f\", \"arguments\": {} ", " "),
    ("\"name\": \"f\", \"arguments\": {oops", "x"),
    ("\"name\": \"f\", \"arguments\": {oops", "<"),
    ("\"name\": \"f\", \"arguments\": {}}", " "),
    ("\"name\": \"f\", \"arguments\": {}}", "\n"),
];

fn endless(grammar: &Grammar, markers: &[&str]) -> Vec<Endless> {
    let mut endless = Vec::new();
    let mut add = |head: &str, unit: &str| {
        endless.push(Endless { head: head.to_owned(), unit: unit.to_owned() });
    };
    for unit in ["x", " ", "\n", "{", "[", "<", "<<", "\u{1F331}", "a\n", "``` \n"] {
        add("", unit);
    }
    for marker in markers {
        let first: String = marker.chars().take(1).collect();
        let most: String = marker.chars().take(marker.chars().count() - 1).collect();
        add("", &first);
        if !most.is_empty() {
            add("", &most);
        }
        add("", marker);
        add("", &format!("{marker} "));
        add("", &format!("{marker}x"));
        add("", &format!("{marker}{{"));
    }
    for marker in grammar.openers().filter(|opener| markers.contains(opener)) {
        let is_part = marker == "{" || marker == "[";
        for unit in ["x", " ", "\n", "[", "{", "[{\"a\":", "\u{1F331}", "x "] {
            add(marker, unit);
        }
        let brace = if is_part { "" } else { "{" };
        for (head, unit) in AFTER_OPENER {
            add(&format!("{marker}{brace}{head}"), unit);
        }
    }
    for form in &grammar.family().forms {
        for head in form.calls.iter().flat_map(|call| heads(form, call)) {
            for unit in [" ", "x", "\n", "<", "{\"a\":"] {
                add(&head, unit);
            }
            add(&format!("{head}{{\"a\": \""), "x");
            add(&format!("{head}{{}}"), " ");
            add("", &format!("{head}{{}}"));
            add("", &format!("{head}x"));
        }
    }
    if let Some(messages) = &grammar.family().messages {
        // Openers in the middle of a header are read like the first one.
        for start in grammar.openers().filter(|opener| markers.contains(opener)).take(2) {
            for header in [start.to_owned(), format!("{start}a to=functions.f ")] {
                for unit in ["x", " ", "x ", "\u{1F331}", "to="] {
                    add(&header, unit);
                }
                for body in &messages.body {
                    let body = format!("{header}{body}");
                    for (head, unit) in [
                        ("", " "),
                        ("", "x"),
                        ("{\"a\": \"", "x"),
                        ("{\"a\": \"", "\\u12"),
                        ("{\"a\": {oops", "<"),
                        ("{}", " "),
                        ("{\"name\": \"f\", \"args\": {\"a\": \"", "x"),
                        ("{\"name\": \"f\", \"args\": {}}", " "),
                    ] {
                        add(&format!("{body}{head}"), unit);
                    }
                    add("", &body);
                    add("", &format!("{body}{{}}"));
                    add("", &format!("{body}{{oops"));
                }
            }
        }
    }
    endless
}

/// Returns the text before the arguments of a call, and the text before the first parameter's
/// value. Fields are filled with `f`.
fn heads(form: &Form, call: &Template) -> Vec<String> {
    let head = head(call, holds_arguments);
    let mut heads = vec![head.clone()];
    if call.holes().any(|hole| matches!(hole, Hole::Parameters { .. } | Hole::Elements)) {
        let inner = form.parameters.iter().chain(&form.elements);
        let value = |hole: &Hole| matches!(hole, Hole::Value(_));
        heads.extend(inner.map(|template| format!("{head}{}", self::head(template, value))));
    }
    heads
}

fn head(template: &Template, ends: impl Fn(&Hole) -> bool) -> String {
    let mut head = String::new();
    for part in &template.parts {
        match part {
            Part::Literal(text) => head.push_str(text),
            Part::Hole(hole) if ends(hole) => break,
            Part::Hole(Hole::NameIs(word)) => head.push_str(word),
            Part::Hole(_) => head.push('f'),
            Part::Group(_) => {}
        }
    }
    head
}
