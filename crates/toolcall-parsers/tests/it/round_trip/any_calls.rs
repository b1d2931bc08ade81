//! The round-trip law for random calls of every family.

use std::{cell::Cell, sync::Arc};

use proptest::{
    collection::vec,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value, json};
use stream_laws::CutPlan;
use toolcall_parsers::{
    EncodeCall, EncodeErrorKind, End, Grammar, LateIds, Options, Parser, Tools, encode, families,
    grammar, parse,
};

use super::reads_back;
use crate::support::families::{sorted, tags, texts};

/// A random call. Its JSON is written here, so that numbers keep their spelling.
#[derive(Debug, Clone)]
struct AnyCall {
    name: String,
    arguments: Vec<(String, AnyValue)>,
}

#[derive(Debug, Clone)]
enum AnyValue {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl AnyValue {
    fn json(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(truth) => truth.to_string(),
            Self::Number(spelling) => spelling.clone(),
            Self::String(text) => json!(text).to_string(),
            Self::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::json).collect();
                format!("[{}]", elements.join(","))
            }
            Self::Object(members) => object(members),
        }
    }

    fn schema(&self) -> Value {
        json!({"type": match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }})
    }
}

fn object(members: &[(String, AnyValue)]) -> String {
    let members: Vec<_> =
        members.iter().map(|(key, value)| format!("{}:{}", json!(key), value.json())).collect();
    format!("{{{}}}", members.join(" , "))
}

/// Generates names: mostly ordinary ones, sometimes any text.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => "[a-z_][a-zA-Z0-9_]{0,8}",
        4 => "[a-z]{1,4}[.-][a-z0-9_]{1,5}",
        1 => "\\PC{0,6}",
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![16 => "[a-z_][a-zA-Z0-9_]{0,8}", 1 => "[ -~é]{0,6}"]
}

/// Generates strings, some of them with markup of the family.
fn text(markup: Arc<[String]>) -> impl Strategy<Value = String> {
    let bits = prop_oneof![
        6 => "[ -~]{0,8}".prop_map(String::from),
        3 => "\\PC{0,4}",
        1 => any::<char>().prop_map(String::from),
        3 => prop::sample::select(vec![
            "\n", "\r\n", "\t", " ", "'", "\"", "\\", "\\n", "\u{0}", "\u{7f}", "\u{85}",
            "\u{2028}", "é", "😀", "{", "}", "[", "]", "(", ")", ",", ":", "null", "true", "1e5",
        ]).prop_map(String::from),
        1 => any::<prop::sample::Index>().prop_map(move |at| {
            if markup.is_empty() { String::new() } else { at.get(&markup).clone() }
        }),
    ];
    vec(bits, 0..4).prop_map(|bits| bits.concat())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        "-?[1-9][0-9]{0,40}",
        "-?(0|[1-9][0-9]{0,4})\\.[0-9]{1,20}",
        "-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,3})?[eE][+-]?[0-9]{1,4}",
        Just("0".to_string()),
        Just("-0".to_string()),
    ]
}

fn value(markup: Arc<[String]>) -> impl Strategy<Value = AnyValue> {
    let leaf = prop_oneof![
        1 => Just(AnyValue::Null),
        1 => any::<bool>().prop_map(AnyValue::Bool),
        3 => number().prop_map(AnyValue::Number),
        5 => text(markup.clone()).prop_map(AnyValue::String),
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(AnyValue::Array),
            vec((text(markup.clone()), inner), 0..4).prop_map(AnyValue::Object),
        ]
    })
}

fn calls(markup: Arc<[String]>) -> impl Strategy<Value = Vec<AnyCall>> {
    let members = vec((key(), value(markup)), 0..4).prop_map(|mut members| {
        // A schema has only one type per key.
        let mut seen = Vec::new();
        members.retain(|(key, _)| {
            !seen.contains(key) && {
                seen.push(key.clone());
                true
            }
        });
        members
    });
    let call = (name(), members).prop_map(|(name, arguments)| AnyCall { name, arguments });
    vec(call, 1..3)
}

/// Returns all markup of a family.
fn markup(grammar: &Grammar) -> Arc<[String]> {
    let mut found = texts(grammar.family());
    found.extend(grammar.openers().map(String::from));
    found.extend(found.clone().iter().flat_map(|text| tags(text)).map(String::from));
    found.retain(|text| text.contains(|c: char| c.is_ascii_punctuation()));
    sorted(found).into()
}

/// Returns declarations for the calls, or `None` if two calls of a tool differ in a type.
fn tools(calls: &[AnyCall]) -> Option<Tools> {
    let mut tools: Vec<(String, Map<String, Value>)> = Vec::new();
    for call in calls {
        let at = tools.iter().position(|(name, _)| *name == call.name).unwrap_or_else(|| {
            tools.push((call.name.clone(), Map::new()));
            tools.len() - 1
        });
        for (key, value) in &call.arguments {
            let schema = value.schema();
            if tools[at].1.insert(key.clone(), schema.clone()).is_some_and(|old| old != schema) {
                return None;
            }
        }
    }
    let schema = |properties| json!({"type": "object", "properties": properties});
    Some(Tools::new(tools.into_iter().map(|(name, properties)| (name, schema(properties)))))
}

/// The number of random inputs per family.
const CASES: u32 = 96;

fn law_holds(grammar: &Grammar) -> Result<f64, String> {
    let (asked, accepted) = (Cell::new(0_u32), Cell::new(0_u32));
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(Default::default()),
    );
    let outcome = runner.run(&(calls(markup(grammar)), any::<bool>()), |(calls, ids)| {
        let Some(tools) = tools(&calls) else { return Ok(()) };
        let arguments: Vec<String> = calls.iter().map(|call| object(&call.arguments)).collect();
        let ids: Vec<Option<String>> =
            (0..calls.len()).map(|n| ids.then(|| format!("id{n}"))).collect();
        let given: Vec<EncodeCall<'_>> = calls
            .iter()
            .zip(&arguments)
            .map(|(call, arguments)| EncodeCall::new(&call.name, arguments))
            .collect();
        asked.set(asked.get() + 1);
        let wire = match encode(grammar, &given, &tools) {
            Ok(wire) => wire,
            // An encoder that refuses only because the text does not read back lacks a rule.
            Err(error) => {
                prop_assert_ne!(error.kind(), EncodeErrorKind::NotReadBack, "{}", error);
                return Ok(());
            }
        };
        accepted.set(accepted.get() + 1);
        reads_back(grammar, &tools, &given, &wire, CutPlan::quick(7))
            .map_err(|violation| TestCaseError::fail(format!("{violation}")))?;
        let with_ids: Vec<EncodeCall<'_>> = given
            .iter()
            .zip(&ids)
            .map(|(call, id)| EncodeCall { id: id.as_deref(), ..*call })
            .collect();
        if let Ok(wire) = encode(grammar, &with_ids, &tools) {
            // Some families write the id after the name, which is a late id.
            let mut options = Options::default();
            options.late_ids = LateIds::Tell;
            let parser = Parser::builder(grammar.clone()).tools(tools.clone()).options(options);
            let message = parse(&parser.build().expect("a sound table"), &wire, End::Stop);
            for (call, back) in with_ids.iter().zip(&message.expect("limits release").calls) {
                prop_assert!(call.id.is_none_or(|id| id == back.id));
            }
        }
        Ok(())
    });
    outcome.map_err(|failed| format!("{}: {failed}", grammar.name()))?;
    Ok(f64::from(accepted.get()) / f64::from(asked.get()))
}

/// Checks the law for the families of a shard.
fn families_of(shard: usize) {
    let mut broken = Vec::new();
    for name in families().map(|summary| summary.name).skip(shard).step_by(SHARDS) {
        match law_holds(&grammar(name).expect("a registered family")) {
            Err(failed) => broken.push(failed),
            Ok(share) => {
                println!("{name}: {:.0} % accepted", share * 100.0);
                if share < 0.5 {
                    broken.push(format!("{name}: only {:.0} % accepted", share * 100.0));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

const SHARDS: usize = 8;

macro_rules! encoded_random_calls_read_back_and_most_are_accepted {
    ($($shard:ident $n:literal),*) => {
        $(
            #[test]
            fn $shard() {
                families_of($n);
            }
        )*
    };
}

mod encoded_random_calls_read_back_and_most_are_accepted {
    use super::families_of;

    encoded_random_calls_read_back_and_most_are_accepted!(
        shard_1 0, shard_2 1, shard_3 2, shard_4 3, shard_5 4, shard_6 5, shard_7 6, shard_8 7
    );
}
