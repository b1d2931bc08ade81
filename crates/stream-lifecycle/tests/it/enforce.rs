//! Guardrails on the live stream: items of the consumer, and the record.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use stream_lifecycle::{
    Component, Decision, Ending, ErrorInfo, Guardrail, GuardrailOutput, UpstreamEnd, WithheldInfo,
};

use crate::support::{
    Broken, Does, Log, Trace, drain, items, next, poll, record, recorded, upstream,
};

/// Joins pairs, drops `no`, ends at `stop`.
#[derive(Default)]
struct Pairs(Option<String>);

impl Guardrail<String> for Pairs {
    fn push(&mut self, item: String, out: &mut GuardrailOutput<String>) -> Decision {
        match (item.as_str(), self.0.take()) {
            ("stop", held) => {
                held.into_iter().for_each(|held| out.put(held));
                return Decision::End("stop word".into());
            }
            ("no", held) => self.0 = held,
            (_, None) => self.0 = Some(item),
            (_, Some(held)) => out.put(held + &item),
        }
        Decision::Continue
    }

    fn finish(&mut self, end: UpstreamEnd, out: &mut GuardrailOutput<String>) -> Decision {
        if end == UpstreamEnd::Exhausted {
            self.0.take().into_iter().for_each(|held| out.put(held));
        }
        Decision::Continue
    }

    fn held(&self) -> WithheldInfo {
        WithheldInfo::bytes(self.0.as_ref().map_or(0, String::len), "pair")
    }
}

// Contract: S4.13.
#[test]
fn guardrail_replaces_holds_and_drops_items_for_consumer_and_record() {
    let log = Log::default();
    let all = drain(recorded(&log).enforce(Pairs::default()).wrap(items(["a", "no", "b", "c"])));
    assert_eq!(all, [Ok("ab".to_owned()), Ok("c".to_owned())]);
    let end = log.end();
    assert_eq!((end.ending, end.data, end.items), (Ending::Complete, Some("abc".into()), 2));
}

// Contract: S4.13.
#[test]
fn guardrail_ends_the_stream_after_its_released_items() {
    let log = Log::default();
    let inner = items(["a", "b", "c", "stop", "never"]);
    let seen = inner.seen();
    let cut = |ending: &Ending| Some(Broken(ending.name()));
    let all = drain(recorded(&log).enforce(Pairs::default()).cut_error(cut).wrap(inner));
    assert_eq!(all, [Ok("ab".to_owned()), Ok("c".to_owned()), Err(Broken("failed"))]);
    assert_eq!(seen.polls(), 4);
    let error = ErrorInfo::class("stop word");
    assert_eq!(log.end().ending, Ending::Failed { who: Component::Guardrail, error });
}

// Contract: S4.13.
#[test]
fn guardrail_decides_about_held_items_at_an_error() {
    let log = Log::default();
    let inner = upstream([Does::Item("a"), Does::Item("b"), Does::Item("held"), Does::Fail("x")]);
    let all = drain(recorded(&log).enforce(Pairs::default()).wrap(inner));
    assert_eq!(all, [Ok("ab".to_owned()), Err(Broken("x"))]);
    let end = log.end();
    assert_eq!((end.data, end.withheld.bytes), (Some("ab".into()), 4));
}

#[test]
fn released_items_not_fetched_before_a_drop_are_counted() {
    /// Lets each item out three times.
    struct Triple;
    impl Guardrail<String> for Triple {
        fn push(&mut self, item: String, out: &mut GuardrailOutput<String>) -> Decision {
            (0..3).for_each(|_| out.put(item.clone()));
            Decision::Continue
        }

        fn finish(&mut self, _: UpstreamEnd, _: &mut GuardrailOutput<String>) -> Decision {
            Decision::Continue
        }
    }
    let log = Log::default();
    let mut stream = Box::pin(recorded(&log).enforce(Triple).wrap(items(["a", "b"])));
    next(&mut stream);
    drop(stream);
    let end = log.end();
    assert_eq!((end.ending, end.withheld.items), (Ending::Dropped, 2));
    assert_eq!(end.data, Some("a".into()));
}

/// Adds its name to items, `!` at the end; ends the stream at its word.
struct Named(&'static str, Option<&'static str>, Trace);

impl Guardrail<String> for Named {
    fn push(&mut self, item: String, out: &mut GuardrailOutput<String>) -> Decision {
        if self.1.is_some_and(|word| item.starts_with(word)) {
            out.put(format!("[{}]", self.0));
            return Decision::End(self.0.into());
        }
        out.put(item + self.0);
        Decision::Continue
    }

    fn finish(&mut self, end: UpstreamEnd, out: &mut GuardrailOutput<String>) -> Decision {
        self.2.note(format!("{} {end:?}", self.0));
        out.put(format!("{}!", self.0));
        Decision::Continue
    }
}

// Contract: S4.13.
#[test]
fn guardrails_run_in_order_on_released_items() {
    let (log, trace) = (Log::default(), Trace::default());
    let rail = |name| Named(name, None, trace.clone());
    let record = recorded(&log).enforce(rail("1")).enforce(rail("2")).enforce(Pairs::default());
    let seen: String = drain(record.wrap(items(["a", "b"]))).into_iter().flatten().collect();
    // Each guardrail receives the end after the items that the one before released at its end.
    assert_eq!(seen, "a12b121!22!");
    assert_eq!(trace.all(), ["1 Exhausted", "2 Exhausted"]);
    assert_eq!((log.end().ending, log.end().data), (Ending::Complete, Some(seen.into())));
}

// Contract: S4.13.
#[test]
fn later_guardrails_finish_after_one_ends_the_stream() {
    let (log, trace) = (Log::default(), Trace::default());
    let rail = |name, word| Named(name, word, trace.clone());
    let record = recorded(&log)
        .enforce(rail("1", None))
        .enforce(rail("2", Some("b")))
        .enforce(rail("3", None));
    let seen: Vec<_> = drain(record.wrap(items(["a", "b", "c"]))).into_iter().flatten().collect();
    assert_eq!(seen, ["a123", "[2]3", "3!"]);
    assert_eq!(trace.all(), ["3 Refused"]);
    let error = ErrorInfo::class("2");
    assert_eq!(log.end().ending, Ending::Failed { who: Component::Guardrail, error });
}

// Contract: S4.13.
#[test]
fn held_data_of_all_guardrails_is_added() {
    let log = Log::default();
    let inner = upstream([Does::Item("a"), Does::Item("b"), Does::Item("c"), Does::Wait]);
    let record = recorded(&log).enforce(Pairs::default()).enforce(Pairs::default());
    let mut stream = Box::pin(record.wrap(inner));
    assert!(poll(&mut stream).is_pending());
    drop(stream);
    assert_eq!(log.end().withheld, WithheldInfo::bytes(3, "pair"));
}

/// Releases an item on a signal of the test.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(usize, Option<Waker>)>>, Option<String>);

impl Gate {
    fn open(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 += 1;
        state.1.take().into_iter().for_each(Waker::wake);
    }
}

impl Guardrail<String> for Gate {
    fn push(&mut self, item: String, _: &mut GuardrailOutput<String>) -> Decision {
        assert!(self.1.replace(item).is_none(), "pushed before it was ready");
        Decision::Continue
    }

    fn finish(&mut self, _: UpstreamEnd, _: &mut GuardrailOutput<String>) -> Decision {
        self.1 = Some("end".into());
        Decision::Continue
    }

    fn poll_ready(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut GuardrailOutput<String>,
    ) -> Poll<Decision> {
        let Some(item) = self.1.take() else { return Poll::Ready(Decision::Continue) };
        let mut state = self.0.lock().unwrap();
        if state.0 == 0 {
            state.1 = Some(cx.waker().clone());
            self.1 = Some(item);
            return Poll::Pending;
        }
        state.0 -= 1;
        out.put(item);
        Poll::Ready(Decision::Continue)
    }

    fn held(&self) -> WithheldInfo {
        WithheldInfo::bytes(self.1.as_ref().map_or(0, String::len), "gate")
    }
}

// Contract: S4.27.
#[test]
fn upstream_is_not_polled_while_a_guardrail_is_busy() {
    let (log, gate) = (Log::default(), Gate::default());
    let inner = items(["a", "b"]);
    let seen = inner.seen();
    let behind = Named("+", None, Trace::default());
    let record = recorded(&log).enforce(gate.clone()).enforce(behind);
    let mut stream = Box::pin(record.wrap(inner));
    for _ in 0..3 {
        assert!(poll(&mut stream).is_pending());
    }
    assert_eq!(seen.polls(), 1);
    gate.open();
    assert_eq!(poll(&mut stream), Poll::Ready(Some(Ok("a+".into()))));
    assert_eq!(seen.polls(), 1, "not before the item was asked for");
    assert!(poll(&mut stream).is_pending());
    gate.open();
    assert_eq!(next(&mut stream), Some(Ok("b+".into())));
    // The end also waits for the guardrail.
    assert!(poll(&mut stream).is_pending());
    assert!(log.ends().is_empty());
    gate.open();
    assert_eq!(drain(stream), [Ok("end+".to_owned()), Ok("+!".to_owned())]);
    assert_eq!(log.end().ending, Ending::Complete);
}

// Contract: S4.5.
#[test]
fn timer_ends_a_stream_with_a_busy_guardrail_and_keeps_the_upstream_error() {
    for (script, ending) in
        [(vec![Does::Item("a")], "timed_out"), (vec![Does::Fail("x")], "failed")]
    {
        let (log, gate) = (Log::default(), Gate::default());
        let mut waits = 3;
        let timer = std::future::poll_fn(move |cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            waits -= 1;
            if waits > 0 { Poll::Pending } else { Poll::Ready(()) }
        });
        let failed = matches!(script[0], Does::Fail(_));
        let stream = recorded(&log).enforce(gate).timeout(timer).wrap(upstream(script));
        assert_eq!(drain(stream), if failed { vec![Err(Broken("x"))] } else { vec![] });
        let end = log.end();
        assert_eq!((end.ending.name(), end.withheld.kind), (ending, "gate"));
    }
}

// Contract: S4.1.
#[test]
fn collectors_see_each_item_in_order() {
    let (log, trace) = (Log::default(), Trace::default());
    let note = |name: &'static str| {
        let trace = trace.clone();
        move |item: &String| {
            trace.note(format!("{name} {item}"));
            if item == "bad" { Err(Broken(name)) } else { Ok(()) }
        }
    };
    let stream = record(&log)
        .collector(note("one"))
        .collect_with(stream_lifecycle::TextCollector::default())
        .collector(note("two"))
        .finalizer(|finish| finish.items.into())
        .wrap(items(["a", "bad"]));
    assert_eq!(drain(stream), [Ok("a".to_owned()), Err(Broken("one"))]);
    assert_eq!(trace.all(), ["one a", "two a", "one bad"]);
    // Several aggregates form a list, in order.
    assert_eq!(log.end().data, Some(serde_json::json!(["a", 2])));
}

// Contract: S4.20.
#[test]
fn item_descriptions_of_collector_and_closure_are_merged() {
    use stream_lifecycle::{ItemInfo, LifecycleEvent, Marks};
    let log = Log::default();
    let info = |choices: Vec<u32>| {
        let mut info = ItemInfo::default();
        (info.bytes, info.choices) = (1, choices);
        info
    };
    let stream = recorded(&log)
        .describe(move |_| info(vec![2]))
        .describe(move |_| info(vec![2, 3]))
        .marks(Marks::Every(std::num::NonZeroU64::MIN))
        .wrap(items(["abc"]));
    drain(stream);
    let LifecycleEvent::Mark(mark) = &*log.all()[1] else { panic!("{:?}", log.all()) };
    assert_eq!((mark.item.bytes, mark.item.visible), (3, true));
    assert_eq!(mark.item.choices, [2, 3]);
}
