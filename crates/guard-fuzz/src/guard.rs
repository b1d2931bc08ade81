//! Guards of every registered profile under every option, and family files.

use std::sync::LazyLock;

use guard_laws::GuardMachine;
use llm_stream_guard::{
    BadPayload, BrokenBlock, CallOptions, CallsInCode, Collapse, CollapseAction, CollapseLimits,
    Dangling, Delivery, End, Grammar, Guard, GuardBuilder, InReasoning, Jailer, LimitPolicy,
    Limits, Parallel, Profile, ReasoningLimit, ReasoningOptions, Repair, Start, StopAfter,
    StopString, Tolerance, ToolChoice, Tools, Unclosed, UnknownTools, Whitespace,
    jail_match::{Jail, JailPair, OnFail},
    profiles,
    toolcall_parsers::{Family, family::Suffix, grammars},
};
use serde_json::json;
use stream_laws::StreamMachine;
use wire_remap::{MarkerDetection, Regime, RemapTable};

use crate::{
    input::{Input, halved, spelled},
    judge::{self, Nowhere},
};

/// The number of options of a guard.
pub(crate) const OPTIONS: usize = 56;

/// The maximum of every limit on held bytes in these targets.
const HOLD: usize = 256;

/// The maximum heap that a guard may use in addition to its heap when built. Each of its buffers
/// may hold as much as its limit and doubles as it grows. There are fewer than a hundred buffers.
const MEMORY: u64 = 100 * 2 * HOLD as u64;

/// The additional memory of a guard that finds a suffix in the family's tags: a second copy of the
/// tables.
const TABLES: u64 = 100 * 1024;

/// The memory for each stored id of a message's calls, up to a limit.
const ID: u64 = 160;

/// Pieces of calls, names, values, prose.
const PIECES: [&str; 30] = [
    "\"name\": \"f\"",
    "{\"name\": \"f\", \"arguments\": {",
    "\"arguments\": {",
    "\"parameters\": ",
    "{\"a\": \"x\"}",
    "\"a\": ",
    "a=1",
    "stop_all",
    "\"id\": \"call_0\"",
    "null",
    "'",
    "\\\"",
    "\\u00e9",
    "\\ud83d",
    "```\n",
    "\n```\n",
    "é",
    "\u{1F331}",
    "\u{2581}",
    "functions.f:0",
    "get_weather",
    "</",
    "<|",
    "[]",
    "}}",
    "True",
    "a b",
    "[[CALL]]",
    "[[/CALL]]",
    "[[~CALL]]",
];

/// The profiles, each with the pieces of its texts.
pub(crate) static PROFILES: LazyLock<Vec<(Profile, Vec<String>)>> = LazyLock::new(|| {
    profiles().into_iter().map(|profile| (profile.clone(), pieces(&profile))).collect()
});

static GRAMMARS: LazyLock<Vec<(Grammar, Vec<String>)>> = LazyLock::new(|| {
    let pieces = |grammar: &Grammar| with_fillers(literals(grammar));
    grammars().map(|grammar| (grammar.clone(), pieces(&grammar))).collect()
});

/// Returns all markers of a family, and the texts of its templates.
fn literals(grammar: &Grammar) -> Vec<String> {
    let markers = grammar.openers().chain(grammar.removed()).chain(grammar.markers());
    let mut literals: Vec<String> = markers.map(ToString::to_string).collect();
    grammar.family().clone().each_literal(|literal| literals.push(literal.clone()));
    literals
}

fn with_fillers(markers: Vec<String>) -> Vec<String> {
    halved(markers.into_iter().chain(PIECES.map(String::from)))
}

pub(crate) fn pieces(profile: &Profile) -> Vec<String> {
    let mut markers = Vec::new();
    if let Some(name) = &profile.reasoning
        && let Ok(format) = llm_stream_guard::think_filter::format(name)
    {
        markers.extend(format.open.iter().chain(&format.close).map(ToString::to_string));
    }
    markers.extend(profile.grammar().ok().flatten().iter().flat_map(literals));
    with_fillers(markers)
}

/// Returns tools for all names in the pieces.
fn tools(input: &mut Input<'_>) -> Tools {
    let object =
        |properties: serde_json::Value| json!({"type": "object", "properties": properties});
    match input.below(3) {
        0 => Tools::none(),
        1 => Tools::new([
            ("f", object(json!({"a": {"type": "string"}, "n": {"type": "integer"}}))),
            ("get_weather", object(json!({"a": {"type": ["object", "null"]}}))),
        ]),
        _ => Tools::new([("stop_all", json!(null)), ("f", json!({}))]),
    }
}

fn options(input: &mut Input<'_>) -> CallOptions {
    let mut options = CallOptions::default();
    options.repair = *input.pick(&[Repair::Off, Repair::Close]);
    options.parallel = *input.pick(&[Parallel::Any, Parallel::One]);
    options.stop = *input.pick(&[StopAfter::AtEnd, StopAfter::FirstCall]);
    options.unknown_tools =
        *input.pick(&[UnknownTools::Pass, UnknownTools::Report, UnknownTools::Drop]);
    options.tolerance = *input.pick(&[Tolerance::Strict, Tolerance::Lenient]);
    options.in_code = *input.pick(&[CallsInCode::Run, CallsInCode::Text]);
    options.limits.name = 1 + input.below(HOLD / 2);
    options.limits.early_arguments = 1 + input.below(HOLD);
    options.limits.value = 1 + input.below(HOLD);
    options
}

/// Returns a builder with every option that a guard has, from the input.
pub(crate) fn varied(
    profile: &Profile,
    input: &mut Input<'_>,
    pieces: &[String],
) -> Option<GuardBuilder> {
    let policies = [LimitPolicy::Release, LimitPolicy::Drop, LimitPolicy::Error];
    let declared = tools(input);
    let (mut calls, mut reasoning) = (options(input), ReasoningOptions::default());
    let limits = Limits {
        candidate: HOLD - input.below(HOLD - 1),
        whitespace: HOLD - input.below(HOLD - 1),
        depth: 16 - input.below(16),
        policy: *input.pick(&policies),
    };
    let mut profile = profile.clone();
    if input.one_in(2) {
        profile.whitespace = *input.pick(&Whitespace::ALL);
    }
    if input.one_in(6) {
        profile.token_suffix = Some(":6124c78e".to_owned());
    }
    if input.one_in(6) {
        let all = [InReasoning::Literal, InReasoning::Suspend, InReasoning::End];
        profile.tool_in_reasoning = *input.pick(&all);
    }
    let mut guard = Guard::builder(&profile).tools(declared).limits(limits);
    if input.one_in(3) {
        guard = guard.delivery(Delivery::Atomic);
        calls.atomic_limit = 1 + input.below(HOLD);
    }
    if input.one_in(3) {
        let text = |input: &mut Input<'_>| input.pick(pieces).clone();
        let shown = |input: &mut Input<'_>| match input.below(2) {
            0 => StopString::hidden(text(input)),
            _ => StopString::visible(text(input)),
        };
        let strings: Vec<StopString> = (0..=input.below(3)).map(|_| shown(input)).collect();
        guard = guard.stop(strings);
    }
    if input.one_in(4) {
        let limit = ReasoningLimit { bytes: input.below(60), policy: *input.pick(&policies) };
        reasoning.limit = Some(limit);
    }
    if input.one_in(4) {
        guard = guard.tool_choice(match input.below(4) {
            0 => ToolChoice::Required,
            1 => ToolChoice::Named("f".into()),
            2 => ToolChoice::None,
            _ => ToolChoice::Auto,
        });
        calls.bad_payload =
            *input.pick(&[BadPayload::BestEffort, BadPayload::RecoverAsText, BadPayload::Reject]);
    }
    if input.one_in(4) {
        calls.broken_block = BrokenBlock::Text;
    }
    if input.one_in(4) {
        reasoning.nonempty_content = Some(input.below(HOLD));
    }
    if input.one_in(3) {
        reasoning.start = Some(*input.pick(&[Start::Reasoning, Start::Content]));
    }
    if input.one_in(6) {
        let prompt = input.pick(pieces).clone();
        guard = guard.prompt(&prompt);
    }
    reasoning.dangling = *input.pick(&[Dangling::Release, Dangling::Release, Dangling::Drop]);
    if input.one_in(6) {
        let unclosed = *input.pick(&[Unclosed::Content, Unclosed::Split]);
        reasoning.unclosed = Some((unclosed, input.below(HOLD)));
    }
    if input.one_in(5) {
        let mut regime = Regime::on(RemapTable::hermes());
        if input.one_in(2) {
            regime = regime.with_detection(
                *input.pick(&[MarkerDetection::Everywhere, MarkerDetection::Structural]),
            );
        }
        guard = guard.stage(regime);
    }
    if input.one_in(5) {
        let action = *input.pick(&[
            CollapseAction::Observe,
            CollapseAction::EndStream,
            CollapseAction::Error,
        ]);
        let (run, repeats) = (1 + input.below(6) as u32, 1 + input.below(6) as u32);
        guard = guard.stage(CollapseLimits { run, repeats, action });
    }
    if input.one_in(5) {
        let pair = JailPair::new(input.pick(pieces).clone(), input.pick(pieces).clone());
        let on_fail = *input.pick(&[
            OnFail::End,
            OnFail::Release,
            OnFail::Strip,
            OnFail::Drop,
            OnFail::Error,
        ]);
        let jail = Jail::builder().rule(pair.limit(HOLD - input.below(HOLD - 1), on_fail));
        guard = guard.stage(Jailer::new(jail.build().ok()?));
    }
    Some(guard.calls(calls).reasoning(reasoning))
}

/// Checks a guard of any profile with any options and any text.
pub(crate) fn every_option(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let (profile, pieces) = &PROFILES[input.below(PROFILES.len())];
    let end = *input.pick(&[End::Stop, End::Length, End::Aborted]);
    let text = input.text(pieces);
    let Some(Ok(guard)) = varied(profile, &mut input, pieces).map(GuardBuilder::build) else {
        return;
    };
    let grammar = profile.grammar().ok().flatten();
    let learns = grammar.is_some_and(|grammar| grammar.family().suffix == Suffix::Learnt);
    let machine = GuardMachine::new(guard.clone(), end);
    let plan = input.cuts();
    judge::events(&machine, &text, plan);
    judge::cost(&machine, &text, judge::REWRITTEN);
    let _: Option<Collapse> = guard.collapse();
    if input.one_in(8) {
        let mut guard = guard;
        let mut sink = Nowhere::default();
        let spent = judge::heap(&text, |chunk| {
            let _ = guard.push(chunk, &mut sink);
        });
        let most = MEMORY + if learns { TABLES } else { 0 } + ID * sink.calls;
        assert!(spent < most, "{spent} of {most} bytes of heap for {text:?} over and over");
    }
}

/// Checks a guard with any bytes, cut inside scalars.
pub(crate) fn raw_bytes(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let (profile, pieces) = &PROFILES[input.below(PROFILES.len())];
    let plan = input.cuts();
    let Some(Ok(guard)) = varied(profile, &mut input, pieces).map(GuardBuilder::build) else {
        return;
    };
    let machine = GuardMachine::new(guard, End::Stop);
    judge::bytes(&machine, input.rest(), plan);
}

/// Checks a guard with text of one family's markup and pieces of calls.
pub(crate) fn calls(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let (grammar, pieces) = &GRAMMARS[input.below(GRAMMARS.len())];
    let plan = input.cuts();
    let text = input.text(pieces);
    let guard = Guard::builder(&Profile::tools(grammar.name())).tools(tools(&mut input));
    let guard = guard.calls(options(&mut input)).build().expect("registered families build");
    let machine = GuardMachine::new(guard, *input.pick(&[End::Stop, End::Length]));
    judge::events(&machine, &text, plan);
    // A key that is held until it is known to be new is held as JSON, with its escapes.
    judge::cost(&machine, &text, judge::REWRITTEN);
    // A machine that was used and reset must equal a new one.
    let (mut used, mut out) = (machine.clone(), stream_laws::RunRecord::default());
    used.push(&text, &mut out);
    used.finish(&mut out);
    used.reset();
    assert_eq!(used.held().bytes, 0);
    let plan = stream_laws::CutPlan { two_way_up_to: 0, random: 0, ..plan };
    let (again, fresh) = plan
        .text(&text)
        .map(|cut| (stream_laws::run(&used, &text, cut), stream_laws::run(&machine, &text, cut)))
        .next()
        .expect("the whole text");
    assert_eq!(again.events, fresh.events, "behind a reset, {text:?}");
}

/// The separator between a file and the text that is read with it.
pub(crate) const END_OF_FILE: u8 = 0xFF;

/// Checks any text as a family file. A refused file has an error; an accepted one obeys the laws.
pub(crate) fn family_file(data: &[u8]) {
    let mut parts = data.splitn(2, |&byte| byte == END_OF_FILE);
    let file = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let family = match Family::from_toml("fuzzed", &file) {
        Ok(family) => family,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let Ok(grammar) = Grammar::new(family) else { return };
    let mut input = Input::new(parts.next().unwrap_or_default(), 8);
    let plan = input.cuts();
    let literals = literals(&grammar);
    // A marker may be compared with all text that begins like it.
    let longest = literals.iter().map(String::len).max().unwrap_or(0) as u64;
    let text = input.text(&with_fillers(literals));
    let mut profile = Profile::named("fuzzed");
    profile.grammar = Some(grammar);
    let Ok(guard) = Guard::builder(&profile).tools(tools(&mut input)).build() else { return };
    let machine = GuardMachine::new(guard, End::Stop);
    judge::events(&machine, &text, plan);
    let looks = judge::LINEAR.looks + 2 * longest;
    judge::cost(&machine, &text, judge::Most { looks, ..judge::LINEAR });
}

/// Returns seeds of a target: options, the first of which selects an entry of `pieces`, and a text.
fn seeds(
    wires: &[(String, String)],
    position: impl Fn(&str) -> Option<(usize, Vec<String>)>,
) -> Vec<Vec<u8>> {
    let seed = |(family, wire): &(String, String)| {
        let (at, pieces) = position(family)?;
        let mut seed = vec![0; OPTIONS];
        seed[0] = u8::try_from(at).ok()?;
        seed.extend(spelled(wire, &pieces));
        Some(seed)
    };
    wires.iter().filter_map(seed).collect()
}

/// Wires of profiles, as inputs of [`every_option`].
pub(crate) fn profile_seeds(wires: &[(String, String)]) -> Vec<Vec<u8>> {
    seeds(wires, |family| {
        let of = |(profile, _): &&(Profile, Vec<String>)| {
            profile.name == family || profile.tools.as_deref() == Some(family)
        };
        let at = PROFILES.iter().position(|one| of(&one))?;
        Some((at, PROFILES[at].1.clone()))
    })
}

/// Wires of families, as inputs of [`calls`].
pub(crate) fn call_seeds(wires: &[(String, String)]) -> Vec<Vec<u8>> {
    seeds(wires, |family| {
        let at = GRAMMARS.iter().position(|(grammar, _)| grammar.name() == family)?;
        Some((at, GRAMMARS[at].1.clone()))
    })
}

/// Returns the family and the text of a vector for an input of [`every_option`] or [`calls`].
pub(crate) fn wire_of(data: &[u8], target: &str) -> Option<(String, String)> {
    let mut input = Input::new(data, OPTIONS);
    match target {
        "guard" => {
            let (profile, pieces) = &PROFILES[input.below(PROFILES.len())];
            Some((profile.name.clone(), input.text(pieces)))
        }
        "calls" => {
            let (grammar, pieces) = &GRAMMARS[input.below(GRAMMARS.len())];
            Some((grammar.name().to_owned(), input.text(pieces)))
        }
        _ => None,
    }
}

/// Returns every marker of every family and format: words for dictionaries.
pub(crate) fn words() -> Vec<String> {
    let mut words: Vec<String> = PROFILES.iter().flat_map(|(_, pieces)| pieces.clone()).collect();
    words.extend(GRAMMARS.iter().flat_map(|(_, pieces)| pieces.clone()));
    words.sort();
    words.dedup();
    words
}
