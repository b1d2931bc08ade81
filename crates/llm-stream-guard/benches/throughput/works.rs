//! The works a guard is judged by: what is fed, to which profiles, and what it may cost.

use guard_laws::likely_marker_tokens;
use llm_stream_guard::toolcall_parsers::{self, EncodeCall, Grammar, encode};
use llm_stream_guard::{Guard, Profile, ReasoningOptions, Start, Tools, profiles};
use serde_json::{Value, json};

use crate::text::{near_markers, prose};

/// A guard with its input.
pub(crate) struct Case {
    pub(crate) profile: String,
    pub(crate) wire: String,
    pub(crate) guard: Guard,
}

/// One work: the same task for every profile that can do it.
pub(crate) struct Work {
    pub(crate) name: &'static str,
    /// The greatest ratio to the floor that is aimed at.
    pub(crate) aim: f64,
    pub(crate) cases: Vec<Case>,
    /// How the wire is fed.
    pub(crate) fed: Fed,
}

/// How a wire is fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fed {
    Text,
    Bytes,
    /// Marker tokens whole, and text.
    Tokens,
}

const KIB: usize = 1024;

/// The tools that the calls of the works are of.
pub(crate) fn tools() -> Tools {
    Tools::from_json(&declared_tools()).expect("tools as a request declares them")
}

/// The tools as a request declares them.
pub(crate) fn declared_tools() -> Value {
    let string = json!({"type": "string"});
    let tool = |name: &str, properties: Value| {
        let parameters = json!({"type": "object", "properties": properties});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    json!([
        tool("write_file", json!({"path": string, "text": string})),
        tool(
            "get_tide",
            json!({
                "port": string, "day": {"type": "integer"}, "metric": {"type": "boolean"},
            })
        ),
    ])
}

/// The grammar a profile reads calls by, if it reads any.
pub(crate) fn grammar(profile: &Profile) -> Option<Grammar> {
    let name = profile.tools.as_deref()?;
    match profile.variant {
        Some(variant) => toolcall_parsers::grammar_variant(name, variant).ok(),
        None => toolcall_parsers::grammar(name).ok(),
    }
}

/// A guard that knows the tools, if the profile reads calls.
pub(crate) fn guard(profile: &Profile) -> Guard {
    let tools = if profile.tools.is_some() { tools() } else { Tools::none() };
    Guard::builder(profile).tools(tools).build().expect("registered profiles build")
}

/// The profiles to measure: all, or the one that the environment names.
pub(crate) fn chosen() -> Vec<Profile> {
    let name = std::env::var("GUARD_BENCH_PROFILE").ok();
    profiles().into_iter().filter(|one| name.as_ref().is_none_or(|it| *it == one.name)).collect()
}

/// The text, for every profile.
pub(crate) fn everywhere(wire: &str) -> Vec<Case> {
    let case = |profile: &Profile| Case {
        profile: profile.name.clone(),
        wire: wire.to_owned(),
        guard: guard(profile),
    };
    chosen().iter().map(case).collect()
}

fn reasoning(wire: &str) -> Vec<Case> {
    let case = |profile: &Profile| {
        let mut reasoning = ReasoningOptions::default();
        reasoning.start = Some(Start::Reasoning);
        let guard = Guard::builder(profile).reasoning(reasoning).build().ok()?;
        Some(Case { profile: profile.name.clone(), wire: wire.to_owned(), guard })
    };
    chosen().iter().filter(|one| one.reasoning.is_some()).filter_map(case).collect()
}

/// A call: its name and its arguments.
pub(crate) type Call = (&'static str, String);

/// The call with a string of 64 KiB, poor in escapes.
pub(crate) fn long_call() -> Vec<Call> {
    // No blank at its end: some parsers keep it, some do not.
    let value = format!("say \"so\": {}", prose(64 * KIB).trim_end());
    vec![("write_file", json!({"path": "a.txt", "text": value}).to_string())]
}

/// 200 calls with arguments of several types.
pub(crate) fn small_calls() -> Vec<Call> {
    let arguments = |n| json!({"port": format!("Brest {n}"), "day": n, "metric": n % 2 == 0});
    (0..200).map(|n| ("get_tide", arguments(n).to_string())).collect()
}

/// The profiles that can write the calls, each with what it writes.
pub(crate) fn calling(calls: &[Call]) -> Vec<Case> {
    let calls: Vec<_> =
        calls.iter().map(|(name, arguments)| EncodeCall::new(name, arguments)).collect();
    let case = |profile: &Profile| {
        let wire = encode(&grammar(profile)?, &calls, &tools()).ok()?;
        Some(Case { profile: profile.name.clone(), wire, guard: guard(profile) })
    };
    chosen().iter().filter_map(case).collect()
}

/// Whether the family's values are text between tags, not literals of a language.
pub(crate) fn is_tagged(case: &Case) -> bool {
    // A quote in the value comes as it is only where nothing is quoted.
    !case.wire.contains("\\\"")
}

/// The work with guards that know the marker tokens of their families.
fn of_tokens(mut work: Work) -> Work {
    for case in &mut work.cases {
        let profile = chosen().into_iter().find(|one| one.name == case.profile);
        let Some(profile) = profile else { continue };
        let tools = if profile.tools.is_some() { tools() } else { Tools::none() };
        let markers = likely_marker_tokens(&case.guard);
        let guard = Guard::builder(&profile).tools(tools).marker_tokens(markers);
        case.guard = guard.build().expect("registered profiles build");
    }
    work
}

/// Everything that is compared with the floor in chunks the size of tokens.
pub(crate) fn works() -> Vec<Work> {
    let text = prose(256 * KIB);
    let (tagged, literal) = calling(&long_call()).into_iter().partition(is_tagged);
    let work = |name, aim, cases| Work { name, aim, cases, fed: Fed::Text };
    let as_tokens = |work| Work { fed: Fed::Tokens, ..of_tokens(work) };
    vec![
        work("W1 prose, 256 KiB", 1.05, everywhere(&text)),
        Work { fed: Fed::Bytes, ..work("W1 prose as bytes", 1.4, everywhere(&text)) },
        work("W2 near markers, 256 KiB", 2.0, everywhere(&near_markers(256 * KIB))),
        work("W3 string, 64 KiB: literals", 2.0, literal),
        work("W3 string, 64 KiB: tags", 2.5, tagged),
        as_tokens(work("W1 as tokens", 1.2, everywhere(&text))),
        as_tokens(work("W3 as tokens", 2.5, calling(&long_call()))),
        work("W4 200 calls", 5.0, calling(&small_calls())),
        work("W5 reasoning, 256 KiB", 1.2, reasoning(&text)),
    ]
}
