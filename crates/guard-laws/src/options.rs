//! Guards with random options, so that a law about guards is checked for all options.

use llm_stream_guard::{
    BadPayload, BrokenBlock, CollapseLimits, Dangling, Delivery, Guard, GuardBuilder, InReasoning,
    Jailer, LimitPolicy, Limits, Options, Parallel, Profile, Reasoning, ReasoningLimit, Repair,
    Start, StopString, ToolChoice, Tools, Unclosed, UnknownTools, Wanted, Whitespace,
    jail_match::{Jail, JailPair, OnFail},
    reasoning,
    toolcall_parsers::{StopAfter, Tolerance},
    wire_remap::{MarkerDetection, Regime, RemapTable},
};
use stream_laws::Random;

/// Builds a guard for `profile` with options that `random` picks: each seldom, some together.
/// `tools` are declared in half of the guards, and one of them may be required by name.
///
/// # Panics
/// Panics if the profile does not build with the options.
#[must_use]
pub fn varied(profile: &Profile, tools: &Tools, random: &mut Random) -> Guard {
    let mut builder = Guard::builder(profile).options(call_options(random));
    if random.below(2) == 0 {
        builder = builder.tools(tools.clone());
        if let Some(tool) = tools.iter().next().filter(|_| random.below(6) == 0) {
            builder = builder.tool_choice(ToolChoice::Named(tool.name.clone()));
        }
    }
    builder = match random.below(8) {
        0 => builder.tool_choice(ToolChoice::None),
        1 => builder.tool_choice(ToolChoice::Required),
        2 => builder.tool_choice(ToolChoice::Required).bad_payload(BadPayload::RecoverAsText),
        3 => builder.tool_choice(ToolChoice::Required).bad_payload(BadPayload::Reject),
        4 | 5 => builder.broken_block(BrokenBlock::Text),
        _ => builder,
    };
    builder = match random.below(6) {
        0 => builder.whitespace(Whitespace::Verbatim),
        1 => builder.whitespace(Whitespace::Trim),
        _ => builder,
    };
    if random.below(4) == 0 {
        builder = builder.stop([StopString::hidden("x<"), StopString::visible("\n\n\n")]);
    }
    if random.below(4) == 0 {
        let small = random.below(2) == 0;
        let limits =
            Limits { candidate: if small { 8 } else { 64 }, whitespace: 4, ..Limits::default() };
        builder = builder.limits(limits);
    }
    builder = match random.below(8) {
        0 => builder.delivery(Delivery::Atomic),
        1 => builder.delivery(Delivery::Atomic).atomic_limit(8),
        2 => builder.remap(RemapTable::hermes()),
        3 => builder.collapse(CollapseLimits::default()),
        _ => builder,
    };
    builder = match random.below(10) {
        0 => builder.tool_in_reasoning(InReasoning::Suspend),
        1 => builder.tool_in_reasoning(InReasoning::End),
        2 => builder.tool_in_reasoning(InReasoning::Literal),
        3 => builder.token_suffix(":6124c78e"),
        4 => builder.dangling(Dangling::Drop),
        5 => builder.jail(jailer(random)),
        6 => builder
            .remap(Regime::on(RemapTable::hermes()).with_detection(MarkerDetection::Structural)),
        _ => builder,
    };
    of_reasoning(builder, profile, random).build().expect("options a profile can heed")
}

/// A jail around text in brackets or quotes, with a limit or without.
fn jailer(random: &mut Random) -> Jailer {
    let on_fail = [OnFail::End, OnFail::Release, OnFail::Strip, OnFail::Drop][random.below(4)];
    let (start, end) = [("<", ">"), ("{", "}"), ("\n", "\n")][random.below(3)];
    let limit = [4, 64][random.below(2)];
    let pair = JailPair::new(start, end).limit(limit, on_fail);
    Jailer::new(Jail::builder().rule(pair).build().expect("a jail of two marks"))
}

fn call_options(random: &mut Random) -> Options {
    let mut options = Options::default();
    match random.below(10) {
        0 | 1 => options.repair = Repair::Close,
        2 => options.parallel = Parallel::One,
        3 => options.stop = StopAfter::FirstCall,
        4 => options.unknown_tools = UnknownTools::Drop,
        5 => options.unknown_tools = UnknownTools::Report,
        6 => options.tolerance = Tolerance::Lenient,
        7 => options.wanted = Wanted::None,
        _ => {}
    }
    if random.below(4) == 0 {
        options.limits.name = 16;
        options.limits.early_arguments = 16;
        options.limits.value = 16;
    }
    options
}

fn of_reasoning(builder: GuardBuilder, profile: &Profile, random: &mut Random) -> GuardBuilder {
    let format = profile.reasoning.as_deref().and_then(|name| reasoning(name).ok());
    let has_tags = matches!(format, Some(Reasoning::Format(format)) if !format.is_passthrough());
    match random.below(11) {
        9 => builder.prompt("<|im_start|>assistant\n<think>\n"),
        10 => builder.limits(Limits { depth: 1, policy: LimitPolicy::Drop, ..Limits::default() }),
        0 => builder.start(Start::Reasoning),
        1 => builder.start(Start::Content),
        2 => builder.force_nonempty_content(6),
        3 => builder.reasoning_limit(ReasoningLimit { bytes: 6, policy: LimitPolicy::Release }),
        4 => builder.reasoning_limit(ReasoningLimit { bytes: 6, policy: LimitPolicy::Drop }),
        5 if has_tags => builder.unclosed(Unclosed::Content, 6),
        6 if has_tags => builder.unclosed(Unclosed::Split, 100).force_nonempty_content(100),
        7 if has_tags => builder.max_blocks(1),
        _ => builder,
    }
}
