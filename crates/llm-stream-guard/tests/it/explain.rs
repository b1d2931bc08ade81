//! Explanations of recordings.

use std::time::Duration;

use llm_stream_guard::{
    Delivery, End, Event, Guard, GuardStage, LimitPolicy, Limits, Profile, Whitespace,
    explain::{Delay, Explainer, Explanation, Fate, Happening, RecordedNote},
    jail_match::{Sink, Trace},
    profile,
    wire_remap::RemapTable,
};

/// A closer of reasoning nobody opened, a mention of an opener, a call, another family's opener.
const MIXED: &str = "One.</think>\n\nSay <tool_call> é! <tool_call>\n{\"name\": \"f\", \"arguments\": \
    {\"x\": \"</think>\"}}\n</tool_call>\n[TOOL_CALLS] end";

fn guard(name: &str) -> Guard {
    Guard::builder(&profile(name).unwrap()).stage(GuardStage::Stats).build().unwrap()
}

fn explained(guard: Guard, chunks: &[&str], end: End) -> Explanation {
    let mut explainer = Explainer::new("it", guard);
    chunks.iter().for_each(|chunk| explainer.push(chunk, None));
    explainer.finish(end)
}

fn kinds(explanation: &Explanation) -> Vec<&'static str> {
    explanation.summary.findings.iter().map(|finding| finding.kind).collect()
}

/// The text of a fate.
fn text_of(explanation: &Explanation, fate: Fate) -> String {
    let regions = explanation.regions.iter().filter(|region| region.fate == fate);
    regions.map(|region| &explanation.wire[region.at..region.at + region.len]).collect()
}

#[test]
fn every_byte_has_the_fate_the_guard_gave_it() {
    for policy in [Whitespace::Framing, Whitespace::Verbatim] {
        let guard = Guard::builder(&Profile { whitespace: policy, ..profile("qwen3").unwrap() })
            .stage(GuardStage::Stats);
        let guard = guard.build().unwrap();
        let told = explained(guard.clone(), &[MIXED], End::Stop);
        let mut at = 0;
        for region in &told.regions {
            assert_eq!(region.at, at, "no gaps");
            at += region.len;
        }
        assert_eq!(at, MIXED.len());
        let message = guard.parse(MIXED, End::Stop).unwrap();
        assert_eq!(text_of(&told, Fate::Content), message.content);
        assert_eq!(told.summary.content, message.content.len());
        assert_eq!(text_of(&told, Fate::Reasoning), "");
        assert_eq!(told.summary.calls[0].arguments, message.calls[0].arguments);
        let markers: Vec<_> =
            told.regions.iter().filter(|region| region.marker.is_some()).collect();
        let boxed: Vec<_> =
            markers.iter().map(|region| MIXED[region.at..region.at + region.len].trim()).collect();
        assert_eq!(boxed, ["</think>", "<tool_call>", "</tool_call>"]);
        assert_eq!(kinds(&told), ["prompt_opened_reasoning", "opener_in_prose", "foreign_markup"]);
        let like = &told.summary.looks_like;
        assert!(like.contains(&"mistral".to_owned()), "{like:?}");
    }
}

#[test]
fn regions_and_findings_are_the_same_at_every_cut() {
    let whole = explained(guard("qwen3"), &[MIXED], End::Stop);
    let bounds = (1..MIXED.len()).filter(|&at| MIXED.is_char_boundary(at));
    for at in bounds {
        let (head, tail) = MIXED.split_at(at);
        let cut = explained(guard("qwen3"), &[head, tail], End::Stop);
        assert_eq!(
            (cut.regions, cut.summary.findings),
            (whole.regions.clone(), { whole.summary.findings.clone() }),
            "cut at {at}"
        );
    }
}

#[test]
fn held_text_reports_its_release_condition_and_released_text_its_delay() {
    let mut explainer = Explainer::new("qwen3", guard("qwen3"));
    for (chunk, ms) in [("Hi <", 100), ("tool_", 130), ("box>", 190)] {
        explainer.push(chunk, Some(Duration::from_millis(ms)));
    }
    let told = explainer.finish(End::Stop);
    let held = told.steps[1].held.as_ref().unwrap();
    assert_eq!((held.bytes, held.kind), (6, "marker"));
    assert_eq!(held.why, "may become `<tool_call>`; any other character releases it as text");
    assert_eq!(told.steps[2].held, None);
    let delay = Delay { chunks: 2, bytes: 6, ms: Some(90.0) };
    assert_eq!(told.steps[2].delay, Some(delay));
    assert_eq!(told.summary.delay, delay);
    assert_eq!((told.summary.held_max, told.steps[0].content, told.steps[2].content), (6, 3, 10));
}

#[test]
fn opener_event_lists_the_templates_with_that_opener() {
    let told = explained(guard("mistral"), &["[TOOL_CALLS]f[ARGS]{}"], End::Stop);
    let of = told.steps.iter().flat_map(|step| &step.events).find_map(|event| match event {
        Happening::Opener { templates, .. } => Some(templates),
        _ => None,
    });
    let of = of.expect("an opener");
    assert!(of.len() > 1 && of.iter().all(|text| text.starts_with("[TOOL_CALLS]")), "{of:?}");
}

#[test]
fn truncated_call_reports_its_cause() {
    let wire = ["<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1"];
    for (end, word) in
        [(End::Length, "token limit"), (End::Aborted, "broke off"), (End::Stop, "model stopped")]
    {
        let told = explained(guard("qwen3"), &wire, end);
        assert_eq!(kinds(&told), ["truncated_call"]);
        assert!(told.summary.findings[0].says.contains(word), "{word}");
    }
}

#[test]
fn usage_is_a_finding_inside_a_call_and_not_after_it() {
    let parts = ["<tool_call>{\"name\": \"f\", \"arguments\": {", "}}</tool_call>"];
    let told = |after: usize| {
        let mut explainer = Explainer::new("qwen3", guard("qwen3"));
        for (at, part) in parts.iter().enumerate() {
            explainer.push(part, None);
            if at == after {
                explainer.note(RecordedNote::Usage);
            }
        }
        kinds(&explainer.finish(End::Stop))
    };
    assert_eq!(told(0), ["usage_in_call"]);
    assert_eq!(told(1), [""; 0]);
}

#[test]
fn held_text_reports_its_start() {
    let wire = "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": \"a\\";
    for (delivery, held) in [(Delivery::Streaming, "\\"), (Delivery::Atomic, wire)] {
        let guard =
            Guard::builder(&profile("hermes").unwrap()).delivery(delivery).stage(GuardStage::Stats);
        let told = explained(guard.build().unwrap(), &["so ", wire], End::Length);
        let from = told.steps[1].held.as_ref().unwrap().from;
        assert_eq!(&told.wire[from..], held, "{delivery:?}");
    }
    // Of two calls in one block the second is kept from the first one's end on.
    let first = "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}}";
    let second = ", {\"name\": \"g\", \"arguments\": {\"x\": ";
    let guard = Guard::builder(&profile("mistral").unwrap())
        .delivery(Delivery::Atomic)
        .stage(GuardStage::Stats);
    let told = explained(guard.build().unwrap(), &[first, second], End::Length);
    let from = told.steps[1].held.as_ref().unwrap().from;
    assert_eq!(&told.wire[from..], second);
}

#[test]
fn block_without_calls_is_not_reported_as_opener_in_prose() {
    for (family, wire, text, opener) in [
        ("kimi_k2", "<|tool_calls_section_begin|>nothing<|tool_calls_section_end|>", "nothing", 28),
        ("nemotron_deci", "<TOOLCALL>[]</TOOLCALL>", "", 10),
    ] {
        let guard =
            Guard::builder(&Profile::tools(family)).stage(GuardStage::Stats).build().unwrap();
        let told = explained(guard, &[wire], End::Stop);
        assert_eq!(kinds(&told), ["empty_list"], "{wire}");
        assert_eq!(text_of(&told, Fate::Content), text);
        assert_eq!(text_of(&told, Fate::Markup).len(), wire.len() - text.len());
        let events: Vec<_> = told.steps.iter().flat_map(|step| &step.events).collect();
        let empty = |event: &&&Happening| matches!(event, Happening::Empty { marker, .. } if *marker == wire[..opener]);
        assert_eq!(events.iter().filter(empty).count(), 1, "{events:?}");
    }
}

#[test]
fn limit_that_ends_the_message_is_reported_once() {
    let limits = Limits { candidate: 16, policy: LimitPolicy::Error, ..Limits::default() };
    let guard = Guard::builder(&profile("qwen3").unwrap()).limits(limits).build().unwrap();
    let long = format!("<tool_call>{}", " ".repeat(40));
    let told = explained(guard, &[&long, "more", "and more"], End::Stop);
    let stopped = told.steps.iter().flat_map(|step| &step.events);
    let stopped = stopped.filter(|event| matches!(event, Happening::Stopped { .. }));
    assert_eq!(stopped.count(), 1);
    assert!(kinds(&told).contains(&"limit"), "{:?}", kinds(&told));
}

#[test]
fn remapped_text_has_the_rewritten_fate() {
    let guard = Guard::builder(&profile("qwen3").unwrap()).stage(RemapTable::hermes());
    let wire = "a\n[[CALL]]\n{\"name\": \"f\", \"arguments\": {}}\n[[/CALL]] behind";
    let told = explained(guard.build().unwrap(), &[wire], End::Stop);
    assert!(told.regions.iter().any(|region| region.fate == Fate::Rewritten));
    assert_eq!(told.regions.iter().map(|region| region.len).sum::<usize>(), wire.len());
    assert_eq!(told.summary.calls[0].outcome, Some("complete"));
}

#[test]
fn every_hostile_chunk_is_one_step() {
    for name in ["none", "harmony", "kimi_k2", "llamacpp_generic"] {
        let profile = profile(name).unwrap_or_else(|_| Profile::named("none"));
        let guard = Guard::builder(&profile).stage(GuardStage::Stats).build().unwrap();
        for chunks in [&["", "", ""][..], &["\u{FEFF}<", "é", "<|"], &["{\"", "}", "\\"]] {
            let told = explained(guard.clone(), chunks, End::Aborted);
            assert_eq!(told.steps.len(), chunks.len() + 1);
        }
    }
}

/// Keeps what the cursor says of markers.
#[derive(Default)]
struct Traces(Vec<Trace>);

impl Sink for Traces {
    fn event(&mut self, _: Event<'_>) {}

    fn trace(&mut self, trace: Trace) {
        if !matches!(trace, Trace::Part { .. }) {
            self.0.push(trace);
        }
    }
}

#[test]
fn traces_report_the_same_edges_at_every_cut() {
    let traced = |chunks: &[&str]| {
        let (mut guard, mut sink) = (guard("qwen3"), Traces::default());
        chunks.iter().for_each(|chunk| guard.push(chunk, &mut sink).unwrap());
        guard.finish(End::Stop, &mut sink).unwrap();
        (sink.0, guard.edges().to_vec())
    };
    let (whole, edges) = traced(&[MIXED]);
    let Trace::Matched { edge, at: 4, len: 8 } = whole[0] else { panic!("{whole:?}") };
    assert_eq!(edges[edge].marker, "</think>");
    let opened = |trace: &Trace| matches!(trace, Trace::Opened { len: 11.., .. });
    assert!(opened(&whole[1]) && matches!(whole[2], Trace::Refuted { .. }), "{whole:?}");
    // What a body says comes before what the cursor says of the body.
    let Trace::EndTag { at: tag, len: 12 } = whole[4] else { panic!("{whole:?}") };
    assert!(MIXED[tag as usize..].starts_with("</tool_call>"));
    assert!(opened(&whole[3]) && matches!(whole[5], Trace::Committed { .. }), "{whole:?}");
    assert_eq!(whole.len(), 6);
    for at in (1..MIXED.len()).filter(|&at| MIXED.is_char_boundary(at)) {
        let (head, tail) = MIXED.split_at(at);
        let (cut, _) = traced(&[head, tail]);
        let starts = |traces: &[Trace]| {
            let of = |trace: &Trace| match *trace {
                Trace::Matched { at, .. } | Trace::Opened { at, .. } => at,
                Trace::Committed { at, .. } | Trace::Refuted { at, .. } => at,
                Trace::EndTag { at, .. } => at,
                _ => panic!("{trace:?}"),
            };
            let mut starts: Vec<_> = traces.iter().map(of).collect();
            starts.sort_unstable();
            starts
        };
        assert_eq!(starts(&cut), starts(&whole), "cut at {at}");
    }
}
