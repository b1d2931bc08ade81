//! A cache of guards. Compiling a guard takes longer than guarding a short answer.
//!
//! Agents send the same tools with each request. The guard of the last answer is cloned, unless a
//! field changed that decides how an answer is read.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use llm_stream_guard::{Answer, AnswerRules, Guard};
use serde_json::Value;

use crate::families::Family;
use crate::limits::{MAX_KEPT_CALLS, MAX_KEPT_FIELD_BYTES, MAX_KEPT_GUARDS};

/// The guards of recent requests.
#[derive(Debug, Default)]
pub(crate) struct RecentGuards(Mutex<VecDeque<(Arc<Conditions>, Arc<CompiledGuards>)>>);

/// Everything that the guards of an answer depend on.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    pub(crate) family: Arc<Family>,
    pub(crate) answer: Answer,
    /// The fields that decide how the answer is read: [`crate::body::Body::view`].
    pub(crate) view: Value,
}

/// The guards of an answer, without its observer.
#[derive(Debug)]
pub(crate) struct CompiledGuards {
    pub(crate) guard: Guard,
    /// The guard of chunks with token ids.
    pub(crate) by_tokens: Option<Guard>,
    pub(crate) rules: AnswerRules,
}

impl PartialEq for Conditions {
    fn eq(&self, other: &Self) -> bool {
        let Self { family, answer, view } = self;
        Arc::ptr_eq(family, &other.family) && *answer == other.answer && *view == other.view
    }
}

impl Conditions {
    /// Returns whether to keep the guards: the conditions are small, and a later request is likely
    /// to have them too. Texts of prompts and messages are not kept.
    fn are_kept(&self, length: usize) -> bool {
        let message = |at: &str| self.view.pointer(at);
        let calls = message("/messages/0/tool_calls").and_then(Value::as_array).map_or(0, Vec::len);
        let text = self.view.get("prompt").or_else(|| message("/messages/1/content"));
        length <= MAX_KEPT_FIELD_BYTES && calls <= MAX_KEPT_CALLS && text.is_none_or(Value::is_null)
    }
}

impl RecentGuards {
    /// Returns the guards for `conditions`, whose fields are `length` bytes: kept ones, or those
    /// that `compile` makes.
    pub(crate) fn get<E>(
        &self,
        conditions: &Arc<Conditions>,
        length: usize,
        compile: impl FnOnce() -> Result<CompiledGuards, E>,
    ) -> Result<Arc<CompiledGuards>, E> {
        let are_kept = conditions.are_kept(length);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if are_kept && let Some((_, kept)) = lock().iter().find(|(of, _)| of == conditions) {
            return Ok(kept.clone());
        }
        let new = Arc::new(compile()?);
        if are_kept {
            let mut kept = lock();
            kept.truncate(MAX_KEPT_GUARDS - 1);
            kept.push_front((conditions.clone(), new.clone()));
        }
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, sync::Arc};

    use llm_stream_guard::{Answer, Guard, Profile, profile};
    use serde_json::{Value, json};

    use super::{CompiledGuards, Conditions, MAX_KEPT_FIELD_BYTES, MAX_KEPT_GUARDS, RecentGuards};
    use crate::families::Family;

    fn compiled(profile: &Profile) -> CompiledGuards {
        let builder = Guard::builder(profile);
        let rules = builder.rules();
        CompiledGuards { guard: builder.build().unwrap(), by_tokens: None, rules }
    }

    /// Returns whether the guards of a request were compiled.
    fn compiles(recent: &RecentGuards, conditions: &Conditions, length: usize) -> bool {
        let mut called = false;
        let compile = || {
            called = true;
            Ok::<_, Infallible>(compiled(&profile("hermes").unwrap()))
        };
        recent.get(&Arc::new(conditions.clone()), length, compile).unwrap();
        called
    }

    fn conditions(view: Value) -> Conditions {
        let family = Arc::new(Family::from(profile("hermes").unwrap()));
        Conditions { family, answer: Answer::Raw, view }
    }

    #[test]
    fn guards_are_compiled_again_only_if_a_condition_changed() {
        let recent = RecentGuards::default();
        let one = conditions(json!({"model": "m", "tools": [{"name": "f"}]}));
        assert!(compiles(&recent, &one, 1));
        assert!(!compiles(&recent, &one, 1));
        for other in [
            Conditions { family: Arc::new(Family::clone(&one.family)), ..one.clone() },
            Conditions { answer: Answer::Parsed, ..one.clone() },
            Conditions { view: json!({"model": "m", "tools": [{"name": "g"}]}), ..one.clone() },
        ] {
            assert!(compiles(&recent, &other, 1), "{other:?}");
            assert!(!compiles(&recent, &other, 1), "{other:?}");
        }
        assert!(!compiles(&recent, &one, 1));
    }

    #[test]
    fn guards_of_long_requests_and_of_texts_are_not_kept() {
        let recent = RecentGuards::default();
        let calls =
            json!({"messages": [{"tool_calls": vec![Value::Null; 1000]}, {"content": null}]});
        let goes_on = json!({"messages": [{"tool_calls": []}, {"content": "secret"}]});
        for (view, length) in [
            (json!({}), MAX_KEPT_FIELD_BYTES + 1),
            (json!({"prompt": "secret"}), 1),
            (calls, 1),
            (goes_on, 1),
        ] {
            let one = conditions(view);
            assert!(compiles(&recent, &one, length));
            assert!(compiles(&recent, &one, length), "{one:?}");
        }
        assert!(recent.0.lock().unwrap().is_empty());
    }

    #[test]
    fn oldest_guards_make_room_for_new_ones() {
        let recent = RecentGuards::default();
        let some = |n: usize| conditions(json!({"n": n}));
        let all: Vec<_> = (0..=MAX_KEPT_GUARDS).map(some).collect();
        assert!(all.iter().all(|one| compiles(&recent, one, 1)));
        assert_eq!(recent.0.lock().unwrap().len(), MAX_KEPT_GUARDS);
        assert!(!compiles(&recent, &all[MAX_KEPT_GUARDS], 1));
        assert!(!compiles(&recent, &all[1], 1));
        assert!(compiles(&recent, &all[0], 1), "the oldest was dropped");
    }
}
