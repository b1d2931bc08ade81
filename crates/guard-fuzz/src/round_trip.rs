//! Random calls, written by a family's encoder and read back.

use std::sync::LazyLock;

use guard_laws::GuardMachine;
use llm_stream_guard::{
    End, Grammar, Guard, Profile, Tools, Whitespace,
    toolcall_parsers::{EncodeCall, EncodeErrorKind, encode, grammars},
};
use serde_json::{Map, Value, json};
use stream_laws::{EncodedCall, check_round_trip};

use crate::{input::Input, judge::demand};

static GRAMMARS: LazyLock<Vec<Grammar>> = LazyLock::new(|| grammars().collect());

/// The maximum length of names and keys.
const NAME: usize = 9;

/// The depth from which on values are leaves.
const DEPTH: usize = 4;

/// The types that a schema may declare.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The reader of an input's texts, which contain pieces of markup. A certain byte ends each text.
struct Words<'a> {
    rest: &'a [u8],
    pieces: Vec<String>,
}

impl Words<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.rest.split_first().unwrap_or((&0, &[]));
        self.rest = rest;
        *first
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..24 {
            match self.byte() {
                0 => break,
                byte if byte.is_ascii() => text.push(char::from(byte)),
                byte => text.push_str(&self.pieces[usize::from(byte - 0x80) % self.pieces.len()]),
            }
        }
        text
    }

    fn name(&mut self) -> String {
        let letter = |byte: u8| {
            char::from(b"abcdefghijklmnopqrstuvwxyz_0123456789.-"[usize::from(byte) % 39])
        };
        let len = 1 + usize::from(self.byte()) % NAME;
        std::iter::once('f').chain((1..len).map(|_| letter(self.byte()))).collect()
    }

    fn number(&mut self) -> String {
        let (high, low) = (i32::from(self.byte()), self.byte());
        match low % 4 {
            0 => high.to_string(),
            1 => format!("-{high}.{low}"),
            2 => format!("{high}e{}", low % 100),
            _ => {
                format!("{high}{}", "0".repeat(usize::from(low % 40)))
                    .trim_start_matches('0')
                    .to_owned()
                    + "1"
            }
        }
    }

    /// Returns a value as JSON text, and its type.
    fn value(&mut self, depth: usize) -> (String, &'static str) {
        match self.byte() % if depth < DEPTH { 7 } else { 5 } {
            0 => ("null".into(), "null"),
            1 => (self.byte().is_multiple_of(2).to_string(), "boolean"),
            2 => (self.number(), "number"),
            3 | 4 => (json!(self.text()).to_string(), "string"),
            5 => {
                let many = self.byte() % 4;
                let elements: Vec<String> = (0..many).map(|_| self.value(depth + 1).0).collect();
                (format!("[{}]", elements.join(",")), "array")
            }
            _ => (self.object(depth + 1).0, "object"),
        }
    }

    /// Returns an object as JSON text, and the types of its members.
    fn object(&mut self, depth: usize) -> (String, Map<String, Value>) {
        let (mut members, mut types) = (Vec::new(), Map::new());
        for _ in 0..self.byte() % 4 {
            let key = self.name();
            let (value, kind) = self.value(depth);
            if !types.contains_key(&key) {
                members.push(format!("{}: {value}", json!(key)));
                types.insert(key, json!({"type": kind}));
            }
        }
        (format!("{{{}}}", members.join(", ")), types)
    }
}

/// Checks that calls which an encoder writes are read back, and that it refuses others by a rule.
pub(crate) fn calls(data: &[u8]) {
    let mut input = Input::new(data, 2);
    let grammar = &GRAMMARS[input.below(GRAMMARS.len())];
    let plan = input.cuts();
    let mut pieces: Vec<String> = grammar.markers().map(ToString::to_string).collect();
    pieces.extend(["é", "\u{1F331}", "\u{2028}", "\u{0}"].map(String::from));
    let mut words = Words { rest: input.rest(), pieces };
    let mut calls: Vec<(String, String, Map<String, Value>)> = Vec::new();
    for _ in 0..=words.byte() % 3 {
        let name = words.name();
        let (arguments, types) = words.object(0);
        if calls.iter().all(|(other, ..)| *other != name) {
            calls.push((name, arguments, types));
        }
    }
    // The schema may also declare other types than those of the values.
    let others = words.byte();
    let members = calls.iter_mut().flat_map(|(_, _, types)| types.values_mut());
    for (at, declared) in members.enumerate().filter(|(at, _)| others >> (at % 8) & 1 == 1) {
        *declared = json!({"type": TYPES[(at + usize::from(others)) % TYPES.len()]});
    }
    let tools =
        Tools::new(calls.iter().map(|(name, _, types)| {
            (name.clone(), json!({"type": "object", "properties": types}))
        }));
    let given: Vec<EncodeCall<'_>> =
        calls.iter().map(|(name, arguments, _)| EncodeCall::new(name, arguments)).collect();
    let wire = match encode(grammar, &given, &tools) {
        Ok(wire) => wire,
        Err(error) => {
            // The encoder's last check is for cases without a rule. A refusal by it shows that a
            // rule is missing.
            assert_ne!(error.kind(), EncodeErrorKind::NotReadBack, "{error}, of {calls:?}");
            return;
        }
    };
    let profile = Profile { whitespace: Whitespace::Verbatim, ..Profile::tools(grammar.name()) };
    let guard = Guard::builder(&profile).tools(tools).build().expect("registered families build");
    let expected: Vec<EncodedCall<'_>> = given
        .iter()
        .map(|call| EncodedCall { name: call.name, arguments: call.arguments })
        .collect();
    demand(check_round_trip(&GuardMachine::new(guard, End::Stop), &wire, &expected, plan));
}
