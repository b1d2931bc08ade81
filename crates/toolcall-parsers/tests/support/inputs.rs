//! Inputs for the laws: the wires of a family's vectors, and inputs made to hurt.

use stream_laws::suffixes;
use toolcall_parsers::{
    EncodeCall, Grammar, Tools, encode_as,
    grammar::{Certainty, Item, JsonShape, Layout, PythonCall, Shape, Target},
};

use super::{profile_cases, vectors_if_any};

/// Everything a law is checked on for one family.
pub(crate) struct Inputs {
    pub(crate) name: String,
    /// The wires of its vectors.
    pub(crate) wires: Vec<String>,
    /// Short inputs at the edges of its grammar.
    pub(crate) edges: Vec<String>,
    /// Units that, repeated, grow into endless candidates.
    pub(crate) endless: Vec<Endless>,
    /// Continuations that may turn held text into something else.
    pub(crate) witnesses: Vec<String>,
    /// Markers that begin the headers of messages.
    pub(crate) starts: Vec<String>,
    /// Markers no committed call may leak.
    pub(crate) markup: Vec<String>,
    /// Answers stand in JSON and come out decoded: other bytes than came in.
    pub(crate) decodes_text: bool,
}

/// An input without end.
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
        let name = grammar.name.to_string();
        let cases = vectors_if_any(&name);
        let openers = grammar.openers.iter().map(|opener| opener.marker.as_ref());
        let openers: Vec<&str> = openers.filter(|marker| !marker.is_empty()).collect();
        let mut markers: Vec<&str> = openers.clone();
        markers.extend(grammar.erase.iter().map(|erase| erase.marker.as_ref()));
        markers.extend(grammar.orphans.iter().map(|orphan| orphan.as_ref()));

        if let Some(envelope) = &grammar.envelope {
            markers.extend(envelope.markers());
            markers.sort_unstable();
            markers.dedup();
        }

        let mut witnesses = suffixes(&markers);
        witnesses.extend(markers.iter().map(|marker| (*marker).to_owned()));
        witnesses.extend(["x", "\n", "x\n"].map(String::from));
        witnesses.extend(commits(grammar));
        let marked = grammar.openers.iter().filter(|o| o.certainty == Certainty::Marked);
        let mut markup: Vec<String> = marked.map(|opener| opener.marker.to_string()).collect();
        markup.extend(grammar.orphans.iter().map(|orphan| orphan.to_string()));
        let mut wires: Vec<String> = cases.into_iter().map(|case| case.wire).collect();
        wires.extend(profile_cases(&name).into_iter().map(|case| case.wire));
        let starts = grammar.envelope.iter().flat_map(|envelope| &envelope.starts);
        Self {
            starts: starts.map(|start| start.marker.to_string()).collect(),
            wires,
            edges: edges(&markers),
            endless: endless(grammar, &markers),
            witnesses,
            markup,
            decodes_text: decodes_text(grammar),
            name,
        }
    }

    /// Whether `text` ends inside a marker that begins a header.
    pub(crate) fn begins_header(&self, text: &str) -> bool {
        let inside = |start: &String| (1..start.len()).any(|n| text.ends_with(&start[..n]));
        self.starts.iter().any(inside)
    }

    /// Wires and edges.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.wires.iter().chain(&self.edges).map(String::as_str)
    }
}

fn decodes_text(grammar: &Grammar) -> bool {
    grammar.openers.iter().flat_map(|opener| &opener.shapes).any(|shape| match shape {
        Shape::Json(JsonShape { item: Item::Keys(keys), .. }) => !keys.answer.is_empty(),
        _ => false,
    })
}

/// What makes a call of an unfinished candidate, whatever its state.
fn commits(grammar: &Grammar) -> Vec<String> {
    const DICT: &str = "[{'name': 'stop_all', 'arguments': {'a': 1";
    const JSON: &str = r#"{"name": "stop_all", "parameters": {"#;
    let mut commits = Vec::new();
    let unmarked = grammar.openers.iter().filter(|o| o.certainty == Certainty::Unmarked);
    for (opener, shape) in unmarked.flat_map(|o| o.shapes.iter().map(move |shape| (o, shape))) {
        // The opener commits nothing by itself: what follows it does.
        let behind: Vec<String> = match shape {
            Shape::Json(shape) => {
                let glue = shape.glue.concat();
                vec![format!("{glue}{JSON}"), format!("{glue}[{JSON}")]
            }
            Shape::Named(shape) => {
                let stops = shape.header.iter().flat_map(|field| &field.stops);
                let names = stops.map(|stop| format!("stop_all{}{{", stop.text));
                names.chain(["x".to_owned()]).collect()
            }
            Shape::Python(_) | Shape::Tagged(_) | Shape::Brace(_) | Shape::Tree(_) => continue,
        };
        for behind in behind {
            let whole = format!("{}{behind}", opener.marker);
            commits.extend(suffixes(&[&whole]));
            commits.extend([whole, behind]);
        }
    }
    let routes = grammar.envelope.iter().flat_map(|envelope| &envelope.routes);
    let routed = routes.flat_map(|route| match &route.to {
        Target::Calls(shapes) => &shapes[..],
        _ => &[],
    });
    for shape in grammar.openers.iter().flat_map(|opener| &opener.shapes).chain(routed) {
        match shape {
            Shape::Json(_) => {
                commits.push(JSON.to_owned());
                commits.extend(suffixes(&[JSON]));
                // Behind any other key or value.
                let behind = ["", "\"", "\": 1", ": 1", "1", "}", "]", "\": 1}", ": 1}", "1}"];
                commits.extend(behind.map(|rest| format!("{rest}, {}", &JSON[1..])));
            }
            Shape::Python(shape) => {
                let call = match shape.call {
                    PythonCall::Call => "[stop_all(a=1",
                    PythonCall::Object => "stop_all({a: 1",
                    PythonCall::Dict(_) => DICT,
                };
                if let PythonCall::Dict(_) = shape.call {
                    let behind = ["", "'", "': 1", ": 1", "1"];
                    commits.extend(behind.map(|rest| format!("{rest}, {}", &DICT[2..])));
                }
                commits.extend(suffixes(&[&call.replace('\'', "\"")]));
                commits.extend([call.to_owned(), ")".to_owned(), "()".to_owned()]);
                commits.extend(suffixes(&[call]));
            }
            Shape::Named(_) | Shape::Tagged(_) | Shape::Brace(_) | Shape::Tree(_) => {}
        }
    }
    // A whole call behind each opener, in each of its shapes.
    for (opener, shapes) in grammar.openers.iter().map(|opener| opener.shapes.len()).enumerate() {
        for layout in grammar.layouts.iter().chain([&Layout::default()]) {
            for shape in 0..shapes {
                let layout = Layout { opener, shape, ..layout.clone() };
                let call = EncodeCall::new("stop_all", "{\"a\": \"x\"}");
                if let Ok(wire) = encode_as(grammar, &layout, &[call], &Tools::none()) {
                    commits.extend(suffixes(&[&wire]));
                }
            }
        }
    }
    commits.sort();
    commits.dedup();
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
    for opener in &grammar.openers {
        let marker = opener.marker.as_ref();
        let is_part = marker == "{" || marker == "[";
        for unit in ["x", " ", "\n", "[", "{", "[{\"a\":", "\u{1F331}", "x "] {
            add(marker, unit);
        }
        let brace = if is_part { "" } else { "{" };
        for (head, unit) in [
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
        ] {
            add(&format!("{marker}{brace}{head}"), unit);
        }
        for shape in &opener.shapes {
            let Shape::Named(named) = shape else { continue };
            let open = if marker == named.open { "" } else { named.open.as_ref() };
            let stops = named.header.iter().flat_map(|field| &field.stops);
            for stop in stops {
                let stop = stop.text.as_ref();
                add(&format!("{marker}{open}f{stop}"), " ");
                add(&format!("{marker}{open}f{stop}"), "x");
                add(&format!("{marker}{open}f{stop}{{\"a\": \""), "x");
                add(&format!("{marker}{open}f{stop}{{}}"), " ");
                add("", &format!("{marker}{open}f{stop}{{}}"));
                add("", &format!("{marker}{open}f{stop}x"));
            }
        }
    }
    for (start, message) in headers(grammar) {
        for header in [start.to_owned(), format!("{start}a to=functions.f ")] {
            for unit in ["x", " ", "x ", "\u{1F331}", "to="] {
                add(&header, unit);
            }
            let body = format!("{header}{message}");
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
    endless
}

/// Every beginning of a header with every end of one.
fn headers(grammar: &Grammar) -> impl Iterator<Item = (&str, &str)> {
    grammar.envelope.iter().flat_map(|envelope| {
        envelope.starts.iter().flat_map(|start| {
            let messages = envelope.messages.iter();
            messages.map(move |message| (start.marker.as_ref(), message.marker.as_ref()))
        })
    })
}
