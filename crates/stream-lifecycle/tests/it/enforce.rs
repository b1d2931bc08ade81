//! Guardrails on the live stream: what the consumer sees, and the record of it.

use stream_lifecycle::{
    Component, Decision, Ending, ErrorInfo, Guardrail, Output, UpstreamEnd, Withheld,
};

use crate::support::{Broken, Does, Log, drain, items, next, recorded, upstream};

/// Joins pairs, drops `no`, ends at `stop`.
#[derive(Default)]
struct Pairs(Option<String>);

impl Guardrail<String> for Pairs {
    fn push(&mut self, item: String, out: &mut Output<String>) -> Decision {
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

    fn finish(&mut self, end: UpstreamEnd, out: &mut Output<String>) -> Decision {
        if end == UpstreamEnd::Exhausted {
            self.0.take().into_iter().for_each(|held| out.put(held));
        }
        Decision::Continue
    }

    fn held(&self) -> Withheld {
        Withheld::bytes(self.0.as_ref().map_or(0, String::len), "pair")
    }
}

#[test]
fn s4_13_a_guardrail_replaces_holds_and_drops_for_consumer_and_record() {
    let log = Log::default();
    let all = drain(recorded(&log).enforce(Pairs::default()).wrap(items(["a", "no", "b", "c"])));
    assert_eq!(all, [Ok("ab".to_owned()), Ok("c".to_owned())]);
    let end = log.end();
    assert_eq!((end.ending, end.data, end.items), (Ending::Complete, Some("abc".into()), 2));
}

#[test]
fn s4_13_a_guardrail_ends_the_stream_behind_what_it_let_out() {
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

#[test]
fn s4_13_what_a_guardrail_holds_at_an_error_is_its_own_business() {
    let log = Log::default();
    let inner = upstream([Does::Item("a"), Does::Item("b"), Does::Item("held"), Does::Fail("x")]);
    let all = drain(recorded(&log).enforce(Pairs::default()).wrap(inner));
    assert_eq!(all, [Ok("ab".to_owned()), Err(Broken("x"))]);
    let end = log.end();
    assert_eq!((end.data, end.withheld.bytes), (Some("ab".into()), 4));
}

#[test]
fn a_drop_with_items_let_out_and_not_fetched_counts_them() {
    /// Lets each item out three times.
    struct Triple;
    impl Guardrail<String> for Triple {
        fn push(&mut self, item: String, out: &mut Output<String>) -> Decision {
            (0..3).for_each(|_| out.put(item.clone()));
            Decision::Continue
        }

        fn finish(&mut self, _: UpstreamEnd, _: &mut Output<String>) -> Decision {
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
