//! Marker tokens of every profile: the laws over its wires as tokens; typed and quoted markup.

use guard_laws::{GuardMachine, TokenMachine, likely_marker_tokens, markers_in};
use llm_stream_guard::{
    End, Grammar, Guard, Profile, Tools,
    jail_match::{Anchor, Channel, Then},
    profiles,
    toolcall_parsers::{EncodeCall, encode, families},
};
use serde_json::json;
use stream_laws::{
    Cut, CutPlan, EncodedCall, LawViolation, Random, RecordedEvent, RunRecord, StreamMachine,
    TextForm, check_chunk_invariance, check_held, check_nothing_lost, check_quoted_markup,
    check_total, run,
};

use crate::laws::inputs::{Inputs, of_shard};

const PLAN: CutPlan = CutPlan::quick(23);

/// A guard of the profile, and the texts that act as marker tokens in it.
fn guard_of(profile: &Profile, tools: Tools) -> (Guard, Vec<String>) {
    let builder = || Guard::builder(profile).tools(tools.clone());
    let text = builder().build().expect("a registered profile builds");
    let guard = builder().marker_tokens(likely_marker_tokens(&text));
    let guard = guard.build().expect("a registered profile builds");
    let tokens = guard.marker_tokens().map(String::from).collect();
    (guard, tokens)
}

/// The wire as tokens: of the texts that spell a token, all are marker tokens, or some.
fn machines(guard: &Guard, tokens: &[String], wire: &str) -> [TokenMachine; 2] {
    let markers = markers_in(wire, tokens);
    let mut random = Random::new(wire.len() as u64);
    let some = markers.clone().into_iter().filter(move |_| random.below(3) > 0);
    let some: Vec<_> = some.collect();
    [markers, some].map(|markers| TokenMachine::new(guard.clone(), End::Stop, markers))
}

/// Checks the law on the wires of every profile of a shard, as tokens.
fn as_tokens(shard: usize, law: impl Fn(&TokenMachine, &Inputs, &str) -> Result<(), LawViolation>) {
    let mut broken = Vec::new();
    for inputs in of_shard(shard, 2) {
        let (guard, tokens) = guard_of(&inputs.profile, Tools::none());
        for wire in inputs.all() {
            for machine in machines(&guard, &tokens, wire) {
                if let Err(violation) = law(&machine, &inputs, wire) {
                    broken.push(format!("{}: {violation}", inputs.profile.name));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken\n{}",
        broken.len(),
        broken[..broken.len().min(12)].join("\n")
    );
}

macro_rules! in_shards {
    ($($law:ident => $check:expr;)+) => { $(
        mod $law {
            use super::*;

            #[test]
            fn shard_0() {
                as_tokens(0, $check);
            }

            #[test]
            fn shard_1() {
                as_tokens(1, $check);
            }
        }
    )+ };
}

in_shards! {
    text_tokens_are_chunk_invariant => |machine, _, wire| {
        check_chunk_invariance(machine, wire, PLAN)
    };
    every_token_byte_is_accounted_for => |machine, _, wire| {
        check_nothing_lost(machine, wire, &["cut_opener"], PLAN)
    };
    held_tokens_are_reported => |machine, inputs, wire| {
        let short = wire.len() <= 200 && !inputs.torn.iter().any(|torn| torn == wire);
        if short { check_held(machine, wire, TextForm::WireBytes) } else { Ok(()) }
    };
    complete_calls_of_tokens_have_object_arguments => |machine, _, wire| {
        check_total(machine, wire, CutPlan::random(2, 5))
    };
}

/// Runs `machine` over the whole wire.
fn record(machine: &impl StreamMachine, wire: &str) -> RunRecord {
    run(machine, wire, Cut::Whole).coalesced().expect("no empty event")
}

#[test]
fn without_marker_tokens_every_token_is_read_as_text() {
    for inputs in of_shard(0, 1) {
        let guard = Guard::builder(&inputs.profile).build().expect("a registered profile builds");
        let tokens = likely_marker_tokens(&guard);
        for wire in inputs.all() {
            let text = record(&GuardMachine::new(guard.clone(), End::Stop), wire);
            for machine in machines(&guard, &tokens, wire) {
                assert_eq!(record(&machine, wire), text, "{}: {wire:?}", inputs.profile.name);
            }
        }
    }
}

/// Whether every marker that opens a thought or a call is a marker token.
fn opens_by_tokens(guard: &Guard, tokens: &[String]) -> bool {
    let opens = |then| matches!(then, Then::Body(..) | Then::Enter(Channel::REASONING));
    // What acts at the start of the message alone does not act after a word.
    let anywhere = |anchor| !matches!(anchor, Anchor::Start | Anchor::Lead | Anchor::AfterCall);
    let openers = guard.edges().iter().filter(|edge| opens(edge.then) && anywhere(edge.anchor));
    let mut openers = openers.peekable();
    let by_token =
        |marker: &str| tokens.iter().any(|token| marker.trim_start().starts_with(token.as_str()));
    openers.peek().is_some() && openers.all(|edge| by_token(&edge.marker))
}

/// Checks that the record is `wire` as content, and nothing else.
fn is_content(record: &RunRecord, wire: &str) -> Result<(), String> {
    match record.events.as_slice() {
        [] if wire.is_empty() => Ok(()),
        [RecordedEvent::Text { channel: 0, text }] if text == wire => Ok(()),
        events => Err(format!("{wire:?} gives {events:?}")),
    }
}

#[test]
fn typed_markup_of_marker_tokens_is_content() {
    let (mut broken, mut covered) = (Vec::new(), 0);
    for inputs in of_shard(0, 1) {
        let (guard, tokens) = guard_of(&inputs.profile, Tools::none());
        if !opens_by_tokens(&guard, &tokens) {
            continue;
        }
        covered += 1;
        let text = GuardMachine::new(guard.clone(), End::Stop);
        // Markers that are no tokens are recognised by text: nothing but tokens may be typed.
        let removed = |wire: &&str| {
            let rest = markers_in(wire, &tokens).iter().rev().fold(
                wire.to_string(),
                |mut rest, marker| {
                    rest.replace_range(marker.0..marker.0 + marker.1, "");
                    rest
                },
            );
            !guard.edges().iter().any(|edge| rest.contains(&*edge.marker))
        };
        for wire in inputs.all().filter(removed).filter(|wire| !wire.trim().is_empty()) {
            let wire = format!("It is {wire}.");
            if let Err(why) = is_content(&record(&text, &wire), &wire) {
                broken.push(format!("{}: {why}", inputs.profile.name));
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken\n{}",
        broken.len(),
        broken[..broken.len().min(12)].join("\n")
    );
    assert!(covered > 40, "only {covered} profiles");
}

pub(super) const NAME: &str = "save_page";

pub(super) fn two_tools() -> Tools {
    let object = |key: &str| json!({"type": "object", "properties": {key: {"type": "string"}}});
    Tools::new([(NAME, object("body")), ("drop_table", object("table"))])
}

/// A whole block with a call of another tool, as the family writes it.
fn block(grammar: &Grammar, name: &str) -> Option<String> {
    let object = json!({"type": "object", "properties": {"table": {"type": "string"}}});
    let tools = Tools::new([("drop_table", object.clone()), ("unknown_tool", object)]);
    encode(grammar, &[EncodeCall::new(name, r#"{"table": "users"}"#)], &tools).ok()
}

/// A call whose value is `value`, and where in its wire marker tokens are: those around the value.
pub(super) fn quoting(
    grammar: &Grammar,
    tokens: &[String],
    value: &str,
) -> Option<(String, Vec<(usize, usize)>)> {
    const PLACE: &str = "Q0\"Q0";
    let arguments = json!({"body": PLACE}).to_string();
    let wire = encode(grammar, &[EncodeCall::new(NAME, &arguments)], &two_tools()).ok()?;
    let json = |text: &str| serde_json::to_string(text).unwrap_or_default();
    let inner = |text: &str| json(text).trim_matches('"').to_owned();
    let (at, spelled, value) = match (wire.find(PLACE), wire.find(&inner(PLACE))) {
        (Some(at), _) if wire[..at].ends_with('\'') => {
            (at, PLACE.to_owned(), json(value)[1..].replace("\\\"", "\"").replace('\'', "\\'"))
        }
        (Some(at), _) => (at, PLACE.to_owned(), value.to_owned()),
        (None, Some(at)) => (at, inner(PLACE), json(value)[1..].to_owned()),
        (None, None) => return None,
    };
    let value = if spelled != PLACE || wire[..at].ends_with('\'') {
        value.strip_suffix('"')?.to_owned()
    } else {
        value
    };
    let (before, behind) = (&wire[..at], &wire[at + spelled.len()..]);
    let mut markers = markers_in(before, tokens);
    let shift = at + value.len();
    markers.extend(markers_in(behind, tokens).into_iter().map(|(at, len)| (at + shift, len)));
    Some((format!("{before}{value}{behind}"), markers))
}

/// Values that quote markup of the family.
fn values(grammar: &Grammar, tokens: &[String]) -> Vec<String> {
    let mut values = Vec::new();
    for name in ["drop_table", "unknown_tool"] {
        if let Some(block) = block(grammar, name) {
            values.push(format!("Write this:\n{block}\nThat is all."));
            values.push(format!("as in {block} here"));
        }
    }
    for token in tokens {
        values.push(format!("see {token} there"));
        values.push(format!("one\n{token}\ntwo"));
        values.push(token.clone());
    }
    values.push(format!("x{} y", tokens.concat()));
    values
}

/// Every profile, and one for each tool family without a profile.
fn all_profiles() -> Vec<Profile> {
    let mut all = profiles();
    let used: Vec<_> = all.iter().filter_map(|profile| profile.tools.clone()).collect();
    let alone = families().filter(|family| used.iter().all(|name| name != family.name));
    all.extend(alone.map(|family| Profile::tools(family.name)));
    all
}

/// The profiles whose calls are written between marker tokens.
pub(super) fn marked() -> impl Iterator<Item = (Profile, Grammar, Guard, Vec<String>)> {
    all_profiles().into_iter().filter_map(|profile| {
        let grammar = profile.grammar().expect("a registered family")?;
        let (guard, tokens) = guard_of(&profile, two_tools());
        let block = block(&grammar, "drop_table")?;
        let leads = tokens.iter().any(|token| block.trim_start().starts_with(token.as_str()));
        leads.then_some((profile, grammar, guard, tokens))
    })
}

#[test]
fn typed_block_of_marker_tokens_is_content() {
    let (mut broken, mut checked, mut caught) = (Vec::new(), 0, 0);
    for (profile, grammar, guard, tokens) in marked() {
        for name in ["drop_table", "unknown_tool"] {
            let Some(block) = block(&grammar, name) else { continue };
            let wire = format!("Use {block} here.");
            checked += 1;
            let text = GuardMachine::new(guard.clone(), End::Stop);
            broken.extend(
                is_content(&record(&text, &wire), &wire)
                    .err()
                    .map(|why| format!("{}: {why}", profile.name)),
            );
            // A machine that takes what is typed for marker tokens.
            let faulty = TokenMachine::new(guard.clone(), End::Stop, markers_in(&wire, &tokens));
            caught += usize::from(is_content(&record(&faulty, &wire), &wire).is_err());
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(checked > 100 && caught * 10 > checked * 9, "{checked} checked, {caught} caught");
}

#[test]
fn call_whose_value_quotes_marker_tokens_keeps_the_value() {
    let only = std::env::var("FAMILY").ok();
    let (mut broken, mut checked, mut caught) = (Vec::new(), 0, 0);
    for (profile, grammar, guard, tokens) in marked() {
        if only.as_ref().is_some_and(|only| *only != profile.name) {
            continue;
        }
        for value in values(&grammar, &tokens) {
            let Some((wire, markers)) = quoting(&grammar, &tokens, &value) else { continue };
            let arguments = json!({"body": value}).to_string();
            let call = || EncodedCall { name: NAME, arguments: &arguments };
            let machine = TokenMachine::new(guard.clone(), End::Stop, markers);
            checked += 1;
            if let Err(violation) =
                check_quoted_markup(&machine, &wire, call(), CutPlan::random(2, 3))
            {
                broken.push(format!("{} {value:?}: {violation}", profile.name));
            }
            let faulty = TokenMachine::new(guard.clone(), End::Stop, markers_in(&wire, &tokens));
            caught += usize::from(
                check_quoted_markup(&faulty, &wire, call(), CutPlan::random(0, 3)).is_err(),
            );
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken of {checked}\n{}",
        broken.len(),
        broken[..broken.len().min(40)].join("\n")
    );
    assert!(only.is_some() || checked > 500 && caught > 50, "{checked} checked, {caught} caught");
}

/// The beginning of a block with a call of another tool, up to its arguments, and the block without
/// the ends of its call.
fn half_blocks(grammar: &Grammar) -> Vec<String> {
    let Some(block) = block(grammar, "drop_table") else { return Vec::new() };
    let Some(at) = block.find("drop_table") else { return Vec::new() };
    let ends = block.rfind("</").unwrap_or(block.len());
    let line = block[at..].find('\n').map_or(block.len(), |len| at + len);
    // Families bind a newline at the end of a value to its end tag.
    vec![block[..line].trim_end().to_owned(), block[..ends.max(line)].trim_end().to_owned()]
}

/// Values that quote a block in part.
fn half_quotes(grammar: &Grammar) -> Vec<String> {
    let halves = half_blocks(grammar);
    let all = halves.iter().flat_map(|half| [format!("Say:\n{half}"), format!("see {half} and")]);
    all.collect()
}

#[test]
fn value_ends_by_its_marker_token_whatever_text_it_quotes() {
    let (mut broken, mut checked, mut closed) = (Vec::new(), 0, 0);
    for profile in all_profiles() {
        let Ok(Some(grammar)) = profile.grammar() else { continue };
        let builder = || Guard::builder(&profile).tools(two_tools());
        let text = builder().build().expect("builds");
        // Tokenizers may have the closing tags alone as tokens.
        for closers_alone in [false, true] {
            let mut likely = likely_marker_tokens(&text);
            likely.retain(|token| !closers_alone || token.starts_with("</"));
            let guard = builder().marker_tokens(likely).build().expect("builds");
            let tokens: Vec<String> = guard.marker_tokens().map(String::from).collect();
            let blocks = block(&grammar, "drop_table").into_iter();
            let blocks = blocks.map(|block| format!("Say:\n{block}\nDone."));
            for value in blocks.chain(half_quotes(&grammar)) {
                let Some((wire, markers)) = quoting(&grammar, &tokens, &value) else { continue };
                // What follows the value is a marker token.
                let end = wire.rfind(value.lines().last().unwrap_or_default());
                let end = end.map_or(0, |at| at + value.lines().last().map_or(0, str::len));
                let after = wire[end..].len() - wire[end..].trim_start().len();
                if !markers.iter().any(|(at, _)| *at == end + after) {
                    continue;
                }
                checked += 1;
                closed += usize::from(closers_alone);
                let arguments = json!({"body": value}).to_string();
                let call = EncodedCall { name: NAME, arguments: &arguments };
                let machine = TokenMachine::new(guard.clone(), End::Stop, markers);
                let plan = CutPlan::random(2, 3);
                if let Err(violation) = check_quoted_markup(&machine, &wire, call, plan) {
                    broken.push(format!("{} {value:?}: {violation}", profile.name));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken of {checked}\n{}",
        broken.len(),
        broken[..broken.len().min(40)].join("\n")
    );
    assert!(checked > 100 && closed > 20, "{checked} checked, {closed} with closers alone");
}
