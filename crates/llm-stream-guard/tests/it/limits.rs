//! The table of `docs/limits.md`: each limit at its byte and one past it, and the heap that all of
//! them leave.

use guard_laws::{call_options, reasoning_options};
use llm_stream_guard::{
    CallLimits, CallOptions, Delivery, End, Event, Guard, GuardBuilder, LimitPolicy, Limits,
    Outcome, Profile, ReasoningLimit, Start, StopString, Tools, Whitespace,
    chat::{ChatGuard, ChatNote, ChatOptions, ChatSink, ChatSse, ChatStep},
    profile, profiles, sse,
};
use serde_json::json;

fn qwen3() -> GuardBuilder {
    Guard::builder(&profile("qwen3").expect("a registered profile"))
}

/// Content, `{reasoning}`, `name(arguments)` with an outcome other than complete, and `#diagnostic`.
fn seen(guard: GuardBuilder, text: &str) -> String {
    let mut guard = guard.build().expect("builds");
    let mut seen = String::new();
    let mut on = |event: Event<'_>| match event {
        Event::Content(text) => seen += text,
        Event::Reasoning(text) => seen += &format!("{{{text}}}"),
        Event::CallStart { name, .. } => seen += &format!("{name}("),
        Event::CallArguments { fragment, .. } => seen += fragment,
        Event::CallEnd { outcome: Outcome::Complete, .. } => seen += ")",
        Event::CallEnd { outcome, .. } => seen += &format!(") {}", outcome.name()),
        Event::Diagnostic(it) => seen += &format!("#{}", it.kind.name()),
        _ => {}
    };
    let result = guard.push(text, &mut on).and_then(|()| guard.finish(End::Stop, &mut on));
    seen + result.map_or("!", |()| "")
}

fn limited(limits: Limits) -> GuardBuilder {
    qwen3().limits(limits)
}

fn calls(change: impl FnOnce(&mut CallLimits)) -> GuardBuilder {
    let mut options = CallOptions::default();
    change(&mut options.limits);
    qwen3().calls(options)
}

#[test]
fn candidate_limit_applies_at_its_byte_under_every_policy() {
    // From the opener on, the byte that decides included.
    let candidate = |bytes: usize, policy| {
        let blanks = " ".repeat(20 - "<tool_call>".len());
        let limits = Limits { candidate: bytes, policy, ..Limits::default() };
        seen(limited(limits), &format!("<tool_call>{blanks}x<"))
    };
    let whole = format!("<tool_call>{}x<", " ".repeat(9));
    assert_eq!(candidate(21, LimitPolicy::Release), whole, "it was refuted first");
    assert_eq!(candidate(20, LimitPolicy::Release), "#candidate_limit".to_owned() + &whole);
    assert_eq!(candidate(20, LimitPolicy::Drop), "#candidate_limitx<");
    assert!(candidate(20, LimitPolicy::Error).ends_with('!'));
}

#[test]
fn whitespace_limit_applies_at_its_byte() {
    let run = |bytes: usize| {
        let limits = Limits { whitespace: 4, ..Limits::default() };
        let trimmed = Profile { whitespace: Whitespace::Trim, ..profile("qwen3").unwrap() };
        let guard = Guard::builder(&trimmed).limits(limits);
        seen(guard, &format!("a{}<think>b</think>c", "\n".repeat(bytes)))
    };
    assert!(!run(4).contains("#whitespace_limit"), "{}", run(4));
    assert!(run(5).contains("#whitespace_limit"), "{}", run(5));
}

#[test]
fn reasoning_limit_applies_at_its_byte() {
    let limit = |policy| {
        let limit = ReasoningLimit { bytes: 2, policy };
        move |text: &str| {
            seen(qwen3().reasoning(reasoning_options(|it| it.limit = Some(limit))), text)
        }
    };
    assert_eq!(limit(LimitPolicy::Drop)("<think>ab</think>c"), "{ab}c");
    assert_eq!(limit(LimitPolicy::Drop)("<think>abd</think>c"), "{ab}#reasoning_limitc");
    assert_eq!(limit(LimitPolicy::Release)("<think>abd</think>c"), "{ab}d#reasoning_limitc");
    assert_eq!(limit(LimitPolicy::Error)("<think>abd</think>c"), "{ab}!");
}

#[test]
fn call_limits_apply_at_their_byte() {
    let named = |name: &str| {
        format!("<tool_call>{{\"name\": \"{name}\", \"arguments\": {{}}}}</tool_call>")
    };
    let name = || calls(|limits| limits.name = 16);
    let (fits, long) = ("n".repeat(16), "n".repeat(17));
    assert_eq!(seen(name(), &named(&fits)), format!("{fits}({{}})"));
    let beyond = seen(name(), &named(&long));
    assert!(!beyond.contains("({})"), "no complete call: {beyond}");
    let early = |bytes: usize| {
        let text = r#"<tool_call>{"arguments": {"a": 1}, "name": "f"}</tool_call>"#;
        seen(calls(|limits| limits.early_arguments = bytes), text)
    };
    let arguments = r#"{"a": 1}"#.len();
    assert_eq!(early(arguments), r#"f({"a": 1})"#);
    let beyond = early(arguments - 1);
    assert!(!beyond.ends_with(r#"f({"a": 1})"#), "no complete call: {beyond}");
    let depth = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        let call = format!(
            "<tool_call>{{\"name\": \"f\", \"arguments\": {{\"a\": {open}{close}}}}}</tool_call>"
        );
        seen(qwen3(), &call)
    };
    assert!(depth(100).ends_with(')'), "{}", depth(100));
    assert!(depth(200).contains(") malformed"), "{}", depth(200));
}

#[test]
fn repeated_block_is_recognised_up_to_its_limit() {
    let block = "{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    let echo = |bytes: usize| {
        let text = format!("<tool_call>{block}{block}");
        seen(calls(|limits| limits.name = bytes), &text)
    };
    assert_eq!(echo(block.len()), "f({})#echo");
    assert_eq!(echo(block.len() - 1), format!("f({{}}){block}"));
}

#[test]
fn text_waiting_after_an_inner_end_is_limited() {
    let parameters = json!({"properties": {"a": {"type": "string"}}});
    let waiting = |bytes: usize, text: &str| {
        let mut options = CallOptions::default();
        options.limits.value = bytes;
        let coder = Guard::builder(&profile("qwen3_coder").expect("a registered profile"));
        let tools = Tools::new([("f".to_owned(), parameters.clone())]);
        seen(
            coder.tools(tools).calls(options),
            &format!("<tool_call>\n<function=f>\n<parameter=a>\nx\n{text}"),
        )
    };
    let end = "</tool_call>";
    let text = format!("{end} so.");
    let ended = waiting(text.len() + 1, &text);
    assert!(
        ended.starts_with("f({\"a\": \"x\"#missing_closer}") && ended.ends_with(" so."),
        "{ended}"
    );
    let data = waiting(text.len(), &text);
    assert!(data.contains(end) && data.ends_with(") incomplete"), "{data}");
    // However much a value may be, no more than this waits.
    let long = |more: usize| format!("{end}{}", "s".repeat(16 * 1024 - end.len() - 1 + more));
    let ended = waiting(1 << 20, &long(0));
    assert!(ended.starts_with("f({\"a\": \"x\"#missing_closer}"), "{}", &ended[..40]);
    let data = waiting(1 << 20, &long(1));
    assert!(data.ends_with(") incomplete"), "{}", &data[..40]);
}

/// One for each choice: what an idle one takes is kept in view.
#[test]
fn idle_guard_occupies_at_most_a_kilobyte() {
    for profile in profiles() {
        let guard = Guard::builder(&profile).build().expect("builds");
        let cloned = allocation_counter::measure(|| drop(std::hint::black_box(guard.clone())));
        let bytes = size_of::<Guard>() as u64 + cloned.bytes_max;
        assert!(bytes <= 1024 && cloned.count_total <= 4, "{}: {bytes} bytes", profile.name);
    }
}

#[test]
fn withheld_arguments_and_reasoning_are_limited() {
    let call = r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#;
    let pieces = |limit: usize| {
        let guard = qwen3()
            .delivery(Delivery::Atomic)
            .calls(call_options(|it| it.atomic_limit = limit))
            .build();
        let mut starts = 0;
        let mut guard = guard.expect("builds");
        let cut = call.find("}}").expect("the end");
        guard
            .push(&call[..cut], &mut |event: Event<'_>| {
                starts += usize::from(matches!(event, Event::CallStart { .. }));
            })
            .expect("no error policy");
        starts
    };
    let kept = r#"{"a": 1"#.len();
    assert_eq!((pieces(kept), pieces(kept - 1)), (0, 1), "beyond the limit it streams");
    let nonempty = |limit| {
        seen(
            qwen3().reasoning(reasoning_options(|it| it.nonempty_content = Some(limit))),
            "<think>abc</think>",
        )
    };
    assert_eq!((nonempty(3), nonempty(2)), ("abc".into(), "{abc}".into()));
}

/// Options with every limit small, and every stage that holds something.
fn small(start: Option<Start>) -> GuardBuilder {
    let mut options = CallOptions::default();
    options.limits = CallLimits { name: 256, early_arguments: 256, value: 256 };
    options.atomic_limit = 256;
    let limits = Limits { candidate: 256, whitespace: 256, ..Limits::default() };
    qwen3()
        .limits(limits)
        .calls(options)
        .delivery(Delivery::Atomic)
        .reasoning(reasoning_options(|it| {
            it.start = start;
            it.nonempty_content = Some(256);
        }))
        .stop([StopString::hidden("\n\nUser: stop here")])
}

/// What `docs/limits.md` says a guard with these limits needs: twice the sum of them, as buffers
/// double, and a kilobyte for what is no limit.
const GUARD: u64 = 2 * 7 * 256 + 1024;

/// Streams that never let go of what they made a machine hold.
const HOSTILE: [(&str, &str); 8] = [
    ("", "<tool_call>"),
    ("<tool_call>", " "),
    ("<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"", "x"),
    ("<tool_call>{\"arguments\": {\"a\": \"", "x"),
    ("<tool_call>{\"name\": \"", "x"),
    ("<think>", "x "),
    ("", "\n"),
    ("", "<think></think>"),
];

const HOSTILE_BYTES: usize = 256 * 1024;

#[test]
fn guard_heap_stays_below_the_sum_of_its_limits() {
    for start in [Start::Content, Start::Reasoning] {
        for (head, unit) in HOSTILE {
            let mut guard = small(Some(start)).build().expect("builds");
            let spent = allocation_counter::measure(|| {
                let mut sink = |_: Event<'_>| ();
                let _ = guard.push(head, &mut sink);
                for _ in 0..HOSTILE_BYTES / unit.len() {
                    let _ = guard.push(unit, &mut sink);
                }
            });
            assert!(spent.bytes_max <= GUARD, "{} bytes: {head:?}, {unit:?}", spent.bytes_max);
        }
    }
}

/// What the ids of a message may take, with what a map needs around them.
const IDS: u64 = 2 * 256 * 1024;

#[test]
fn heap_of_the_ids_of_a_message_stays_below_their_limit() {
    let call = format!(
        "<tool_call>{{\"id\": \"{}\", \"name\": \"f\", \"arguments\": {{}}}}</tool_call>",
        "x".repeat(200)
    );
    let mut guard = small(None).build().expect("builds");
    let spent = allocation_counter::measure(|| {
        for _ in 0..4000 {
            let _ = guard.push(&call, &mut |_: Event<'_>| ());
        }
    });
    assert!(spent.bytes_max <= GUARD + IDS, "{} bytes", spent.bytes_max);
}

struct Nowhere;

impl ChatSink for Nowhere {
    fn step(&mut self, step: ChatStep<'_>) {
        step.chunks(|_, _| {});
    }

    fn note(&mut self, _: ChatNote) {}
}

/// What it says of a choice beside its guard, and of the stream.
const CHOICE: u64 = 8 * 1024;
const STREAM: u64 = 64 * 1024;

#[test]
fn chat_guard_heap_stays_below_the_sum_of_its_choices() {
    const CHOICES: u32 = 128;
    let options = ChatOptions::default();
    for (head, unit) in HOSTILE {
        let mut guard = ChatGuard::new(small(None).build().expect("builds"), options.clone());
        let unit = unit.repeat(1024 / unit.len());
        let spent = allocation_counter::measure(|| {
            for round in 0..8 {
                for index in 0..CHOICES {
                    let text = if round == 0 { head } else { &unit };
                    let chunk = json!({"id": "c", "choices": [{"index": index, "delta": {"content": text}}]});
                    let chunk = serde_json::from_value(chunk).expect("a chunk");
                    let _ = guard.push(chunk, &mut Nowhere);
                }
            }
        });
        let most = u64::from(CHOICES) * (GUARD + CHOICE) + STREAM;
        assert!(spent.bytes_max <= most, "{} of {most} bytes: {head:?}", spent.bytes_max);
    }
}

#[test]
fn event_stream_heap_stays_below_its_limits() {
    const EVENT: usize = 4096;
    for unit in
        ["data: x", "data: x\n", ": c\n", "data: {\"choices\": [\n", "\r", "event: x\ndata: y\n"]
    {
        let guard = ChatGuard::new(small(None).build().expect("builds"), ChatOptions::default());
        let limits = sse::SseLimits::default().line(EVENT).event(EVENT);
        let mut machine = ChatSse::new(guard).limits(limits);
        let spent = allocation_counter::measure(|| {
            struct Bytes;
            impl llm_stream_guard::chat::SseSink for Bytes {
                fn bytes(&mut self, _: &[u8]) {}
            }
            for _ in 0..HOSTILE_BYTES / unit.len() {
                let _ = machine.push(unit.as_bytes(), &mut Bytes);
            }
        });
        let most = 4 * EVENT as u64 + STREAM;
        assert!(spent.bytes_max <= most, "{} of {most} bytes: {unit:?}", spent.bytes_max);
    }
}
