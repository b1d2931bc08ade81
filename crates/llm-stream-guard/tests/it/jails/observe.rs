//! What an observer is told, and what is counted.

use std::sync::{Arc, Mutex};

use llm_stream_guard::{
    Diagnostic, End, Event, Guard, GuardStage, Held, Jail, JailedStream, Jailer, Observer, Outcome,
    Profile,
    chat::{ChatGuard, ChatOptions},
    jail_match::{Closed, Dropped, JailPair, OnFail, Release},
    profile,
};

/// Writes down what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }
}

impl Observer for Notes {
    fn chunk(&self, bytes: usize) {
        self.note(format!("chunk of {bytes}"));
    }
    fn held(&self, held: Held) {
        self.note(format!("held {}", held.bytes));
    }
    fn jail_opened(&self, pair: usize, depth: usize) {
        self.note(format!("opened {pair}, depth {depth}"));
    }
    fn jail_closed(&self, pair: usize, bytes: u64, why: Closed) {
        self.note(format!("closed {pair} of {bytes}: {}", why.name()));
    }
    fn jail_partial(&self) {
        self.note("partial");
    }
    fn jail_refuted(&self) {
        self.note("refuted");
    }
    fn candidate_opened(&self) {
        self.note("candidate");
    }
    fn candidate_refuted(&self) {
        self.note("candidate refuted");
    }
    fn dropped(&self, bytes: u64, why: Dropped) {
        self.note(format!("dropped {bytes}: {}", why.name()));
    }
    fn limit(&self, name: &'static str, bytes: u64) {
        self.note(format!("limit {name} at {bytes}"));
    }
    fn call_started(&self, index: u32) {
        self.note(format!("call {index}"));
    }
    fn call_ended(&self, index: u32, outcome: Outcome) {
        self.note(format!("call {index} {}", outcome.name()));
    }
    fn diagnostic(&self, diagnostic: Diagnostic) {
        self.note(format!("diagnostic {}", diagnostic.kind.name()));
    }
    fn finished(&self, end: End) {
        self.note(format!("finished: {end:?}"));
    }
}

fn ignore() -> impl FnMut(Event<'_>) {
    |_: Event<'_>| {}
}

fn jailer() -> Jailer {
    let drops = JailPair::new("<s>", "</s>").release(Release::Drop).limit(4, OnFail::Strip);
    Jailer::new(Jail::builder().rule(drops).build().unwrap())
}

// Contract: S1.52.
#[test]
fn observer_receives_jail_signals_without_text() {
    let notes = Arc::new(Notes::default());
    let guard = Guard::builder(&Profile::named("plain")).stage(jailer());
    let mut guard = guard.stage(GuardStage::Observer(notes.clone())).build().unwrap();
    for chunk in ["a<", "x<s>b", "</s>", "<s>cdefg"] {
        guard.push(chunk, &mut ignore()).unwrap();
    }
    guard.finish(End::Length, &mut ignore()).unwrap();
    assert_eq!(
        *notes.0.lock().unwrap(),
        [
            "chunk of 2",
            "partial",
            "held 1",
            "chunk of 5",
            "opened 0, depth 1",
            "refuted",
            "held 4",
            "chunk of 4",
            "dropped 8: jail_dropped",
            "closed 0 of 8: end",
            "held 0",
            "chunk of 8",
            "opened 0, depth 1",
            "limit jail_bytes at 7",
            "diagnostic jail_bytes",
            "dropped 3: jail_markup",
            "held 0",
            "closed 0 of 8: stream",
            "held 0",
            "finished: Length",
        ]
    );
}

#[test]
fn stats_count_one_message() {
    let guard = Guard::builder(&profile("qwen3").unwrap()).stage(jailer()).stage(GuardStage::Stats);
    let mut guard = guard.build().unwrap();
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for chunk in ["a<s>b</s><s>cdefg</s>", call, "<tool_call>{\"name\": \"f\", \"arguments\": {"] {
        guard.push(chunk, &mut ignore()).unwrap();
    }
    guard.finish(End::Length, &mut ignore()).unwrap();
    let stats = guard.stats().unwrap().clone();
    assert_eq!((stats.chunks, stats.bytes), (3, 21 + call.len() as u64 + 39));
    assert_eq!((stats.jails_opened, stats.dropped), (2, 8 + 3 + 4));
    assert_eq!(Vec::from_iter(stats.jails_closed), [("end", 2)]);
    assert_eq!(stats.calls, 2);
    assert_eq!(Vec::from_iter(stats.calls_ended), [("complete", 1), ("incomplete", 1)]);
    assert_eq!(Vec::from_iter(stats.limits), [("jail_bytes", 1)]);
    assert_eq!(stats.diagnostics["jail_dropped"], 1);
    guard.reset();
    assert_eq!(*guard.stats().unwrap(), Default::default());
}

// Contract: S1.52.
#[test]
fn markup_of_another_family_is_suspected_at_every_cut() {
    let text = "so <|tool_call_begin|>x <tool_call>{ [TOOL_CA is [TOOL_CALLS] <think>no";
    let suspected = |name: &str, cut: usize| {
        let mut guard =
            Guard::builder(&profile(name).unwrap()).stage(GuardStage::Stats).build().unwrap();
        for chunk in [&text[..cut], &text[cut..]] {
            guard.push(chunk, &mut ignore()).unwrap();
        }
        guard.finish(End::Stop, &mut ignore()).unwrap();
        guard.stats().unwrap().foreign.keys().map(|marker| marker.to_string()).collect::<Vec<_>>()
    };
    for cut in 0..=text.len() {
        // Its own opener is not suspicious, be it a call or not.
        let found = ["<think>", "<|tool_call_begin|>", "[TOOL_CALLS]"];
        assert_eq!(suspected("hermes", cut), found, "cut at {cut}");
    }
    let prose = "The <div> of a list[0] is a `think` of 3 < 4.";
    let mut guard =
        Guard::builder(&profile("hermes").unwrap()).stage(GuardStage::Stats).build().unwrap();
    guard.push(prose, &mut ignore()).unwrap();
    guard.finish(End::Stop, &mut ignore()).unwrap();
    assert!(guard.stats().unwrap().foreign.is_empty());
}

// Contract: S1.52.
#[test]
fn guard_without_the_stats_stage_has_no_stats() {
    let mut guard = Guard::builder(&profile("qwen3").unwrap()).build().unwrap();
    guard.push("text", &mut ignore()).unwrap();
    assert!(guard.stats().is_none());
}

#[test]
fn observer_is_dyn_compatible_and_its_methods_are_optional() {
    struct Idle;
    impl Observer for Idle {}
    let observer: Arc<dyn Observer + Send + Sync> = Arc::new(Idle);
    let guard = Guard::builder(&profile("qwen3").unwrap())
        .stage(GuardStage::Observer(observer))
        .build()
        .unwrap();
    assert_eq!(guard.parse("a", End::Stop).unwrap().content, "a");
}

// Contract: S1.52.
#[test]
fn parser_candidates_are_counted_and_reported() {
    let notes = Arc::new(Notes::default());
    let jail = JailedStream::builder()
        .tool_call_parser("hermes")
        .guard(|guard| guard.stage(GuardStage::Observer(notes.clone())));
    let jail = jail.build().unwrap();
    let mut guard = jail.guard().clone();
    let call = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";
    for chunk in ["a<tool_call>b", call] {
        guard.push(chunk, &mut ignore()).unwrap();
    }
    guard.finish(End::Stop, &mut ignore()).unwrap();
    let stats = guard.stats().unwrap();
    assert_eq!((stats.candidates, stats.candidates_refuted, stats.calls), (2, 1, 1));
    let notes = notes.0.lock().unwrap();
    let told = |what: &str| notes.iter().filter(|note| *note == what).count();
    assert_eq!((told("candidate"), told("candidate refuted")), (2, 1));
}

// Contract: S1.52.
#[test]
fn observer_per_choice_receives_its_chunks_and_stats_outlive_the_finish() {
    #[derive(Default)]
    struct PerChoice(Mutex<Vec<(u32, Arc<Notes>)>>);
    impl Observer for PerChoice {
        fn of_choice(&self, choice: u32) -> Option<Arc<dyn Observer + Send + Sync>> {
            let notes = Arc::new(Notes::default());
            self.0.lock().unwrap().push((choice, notes.clone()));
            Some(notes)
        }
    }
    let observer = Arc::new(PerChoice::default());
    let guard =
        Guard::builder(&profile("hermes").unwrap()).stage(GuardStage::Observer(observer.clone()));
    let mut guard = ChatGuard::new(guard.build().unwrap(), ChatOptions::default());
    let mut out = Vec::new();
    for (index, text, finish) in [(0, "abc", None), (4, "de", None), (0, "f", Some("stop"))] {
        let chunk = serde_json::json!({"choices": [
            {"index": index, "delta": {"content": text}, "finish_reason": finish}]});
        guard.push(serde_json::from_value(chunk).unwrap(), &mut out).unwrap();
    }
    let told = observer.0.lock().unwrap();
    let chunks = |notes: &Notes| {
        let notes = notes.0.lock().unwrap();
        notes.iter().filter(|note| note.starts_with("chunk")).cloned().collect::<Vec<_>>()
    };
    let told: Vec<_> = told.iter().map(|(choice, notes)| (*choice, chunks(notes))).collect();
    let chunk = |n: u32| format!("chunk of {n}");
    assert_eq!(told, [(0, vec![chunk(3), chunk(1)]), (4, vec![chunk(2)])]);
    let bytes: Vec<_> = guard.stats().map(|(choice, stats)| (choice, stats.bytes)).collect();
    assert_eq!(bytes, [(0, 4), (4, 2)]);
}

#[test]
fn clones_of_a_guard_report_to_the_observers_they_were_given() {
    let builder = || Guard::builder(&profile("hermes").unwrap());
    let feed = |mut guard: Guard, text: &str| {
        let mut out = |_: Event<'_>| {};
        guard.push(text, &mut out).unwrap();
        guard.finish(End::Stop, &mut out).unwrap();
        guard.stats().cloned()
    };
    let call = r#"<tool_call>{"name": "f", "arguments": {}}</tool_call>"#;
    let texts = [format!("Hi [TOOL_CALLS] {call}"), "plain".to_owned()];
    for kept in [builder(), builder().stage(GuardStage::Stats)] {
        let kept = kept.build().unwrap();
        for text in &texts {
            let [built, given] = [(); 2].map(|()| Arc::new(Notes::default()));
            let guard = builder().stage(GuardStage::Observer(built.clone())).build().unwrap();
            let stats = feed(guard, text);
            assert!(stats.is_some());
            assert_eq!(feed(kept.clone().observed(given.clone()), text), stats);
            assert_eq!(*given.0.lock().unwrap(), *built.0.lock().unwrap(), "{text}");
        }
    }
}
