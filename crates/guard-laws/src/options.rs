//! Guards with random options, so that a law about guards is checked for all options.

use llm_stream_guard::{
    ArgumentTypes, BadPayload, BrokenBlock, CallOptions, CallsInCode, CollapseLimits, Dangling,
    Delivery, Guard, GuardBuilder, GuardStage, InReasoning, Jailer, LimitPolicy, Limits, Parallel,
    Profile, Reasoning, ReasoningLimit, ReasoningOptions, Repair, Start, StopAfter, StopString,
    Tolerance, ToolChoice, Tools, Unclosed, UnknownTools, Whitespace,
    jail_match::{Jail, JailPair, OnFail},
    reasoning,
    wire_remap::{MarkerDetection, Regime, RemapTable},
};
use stream_laws::Random;

/// Returns the default options of calls with the changes of `set`.
#[must_use]
pub fn call_options(set: impl FnOnce(&mut CallOptions)) -> CallOptions {
    let mut options = CallOptions::default();
    set(&mut options);
    options
}

/// Returns the default options of reasoning with the changes of `set`.
#[must_use]
pub fn reasoning_options(set: impl FnOnce(&mut ReasoningOptions)) -> ReasoningOptions {
    let mut options = ReasoningOptions::default();
    set(&mut options);
    options
}

/// Builds a guard for `profile` with random options. Each option is rare, and some occur together.
/// `tools` are declared in half of the guards, and one of them may be required by name.
///
/// # Panics
/// Panics if the profile does not build with the options.
#[must_use]
pub fn varied(profile: &Profile, tools: &Tools, random: &mut Random) -> Guard {
    let mut calls = varied_calls(random);
    let mut profile = profile.clone();
    let (mut declared, mut choice) = (Tools::none(), ToolChoice::Auto);
    if random.below(2) == 0 {
        declared = tools.clone();
        if let Some(tool) = tools.iter().next().filter(|_| random.below(6) == 0) {
            choice = ToolChoice::Named(tool.name.clone());
        }
    }
    match random.below(8) {
        0 => choice = ToolChoice::None,
        1 => choice = ToolChoice::Required,
        2 => (choice, calls.bad_payload) = (ToolChoice::Required, BadPayload::RecoverAsText),
        3 => (choice, calls.bad_payload) = (ToolChoice::Required, BadPayload::Reject),
        4 | 5 => calls.broken_block = BrokenBlock::Text,
        _ => {}
    }
    if random.below(2) == 0 {
        profile.whitespace = Whitespace::ALL[random.below(Whitespace::ALL.len())];
    }
    let mut stop = Vec::new();
    if random.below(4) == 0 {
        stop = vec![StopString::hidden("x<"), StopString::visible("\n\n\n")];
    }
    let mut limits = Limits::default();
    if random.below(4) == 0 {
        let small = random.below(2) == 0;
        limits = Limits { candidate: if small { 8 } else { 64 }, whitespace: 4, ..limits };
    }
    let (mut delivery, mut stages) = (Delivery::Streaming, Vec::<GuardStage>::new());
    match random.below(8) {
        0 => delivery = Delivery::Atomic,
        1 => (delivery, calls.atomic_limit) = (Delivery::Atomic, 8),
        2 => stages.push(RemapTable::hermes().into()),
        3 => stages.push(CollapseLimits::default().into()),
        _ => {}
    }
    let structural =
        || Regime::on(RemapTable::hermes()).with_detection(MarkerDetection::Structural);
    let mut reasoning = ReasoningOptions::default();
    match random.below(10) {
        0 => profile.tool_in_reasoning = InReasoning::Suspend,
        1 => profile.tool_in_reasoning = InReasoning::End,
        2 => profile.tool_in_reasoning = InReasoning::Literal,
        3 => profile.token_suffix = Some(":6124c78e".to_owned()),
        4 => reasoning.dangling = Dangling::Drop,
        5 => stages.push(jailer(random).into()),
        6 => stages.push(structural().into()),
        _ => {}
    }
    let mut prompt = None;
    match random.below(11) {
        9 => prompt = Some("<|im_start|>assistant\n<think>\n"),
        10 => limits = Limits { depth: 1, policy: LimitPolicy::Drop, ..Limits::default() },
        drawn => of_reasoning(&mut reasoning, &profile, drawn),
    }
    let builder = Guard::builder(&profile).tools(declared).tool_choice(choice).stop(stop);
    let builder = builder.limits(limits).delivery(delivery).calls(calls).reasoning(reasoning);
    let builder = prompt.into_iter().fold(builder, GuardBuilder::prompt);
    let builder = stages.into_iter().fold(builder, GuardBuilder::stage);
    builder.build().expect("options a profile can heed")
}

/// Returns a jail around text in brackets or quotes, with a limit or without.
fn jailer(random: &mut Random) -> Jailer {
    let on_fail = [OnFail::End, OnFail::Release, OnFail::Strip, OnFail::Drop][random.below(4)];
    let (start, end) = [("<", ">"), ("{", "}"), ("\n", "\n")][random.below(3)];
    let limit = [4, 64][random.below(2)];
    let pair = JailPair::new(start, end).limit(limit, on_fail);
    Jailer::new(Jail::builder().rule(pair).build().expect("a jail of two marks"))
}

fn varied_calls(random: &mut Random) -> CallOptions {
    let mut options = CallOptions::default();
    match random.below(12) {
        11 => options.argument_types = ArgumentTypes::Declared,
        10 => options.in_code = CallsInCode::Text,
        0 | 1 => options.repair = Repair::Close,
        2 => options.parallel = Parallel::One,
        3 => options.stop = StopAfter::FirstCall,
        4 => options.unknown_tools = UnknownTools::Drop,
        5 => options.unknown_tools = UnknownTools::Report,
        6 => options.tolerance = Tolerance::Lenient,
        _ => {}
    }
    if random.below(4) == 0 {
        options.limits.name = 16;
        options.limits.early_arguments = 16;
        options.limits.value = 16;
    }
    options
}

fn of_reasoning(options: &mut ReasoningOptions, profile: &Profile, drawn: usize) {
    let format = profile.reasoning.as_deref().and_then(|name| reasoning(name).ok());
    let has_tags = matches!(format, Some(Reasoning::Format(format)) if !format.is_passthrough());
    match drawn {
        0 => options.start = Some(Start::Reasoning),
        1 => options.start = Some(Start::Content),
        2 => options.nonempty_content = Some(6),
        3 => options.limit = Some(ReasoningLimit { bytes: 6, policy: LimitPolicy::Release }),
        4 => options.limit = Some(ReasoningLimit { bytes: 6, policy: LimitPolicy::Drop }),
        5 if has_tags => options.unclosed = Some((Unclosed::Content, 6)),
        6 if has_tags => {
            options.unclosed = Some((Unclosed::Split, 100));
            options.nonempty_content = Some(100);
        }
        _ => {}
    }
}
