//! Sanitizers, which decide which data the END event contains.

use std::{borrow::Cow, fmt, sync::Arc};

use serde_json::Value;

use crate::{
    ending::{Component, Ending, Faults},
    event::{CallInfo, Omission, OmittedWhy},
    unwind::catch,
};

/// Result of a sanitizer for an aggregate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SanitizerVerdict {
    /// The aggregate is unchanged.
    Keep,
    /// This value replaces the aggregate.
    Replace(Value),
    /// The END event must not contain the aggregate.
    Omit,
    /// The sanitizer failed with this reason, so the END event must not contain the aggregate.
    Fail(String),
}

/// Facts about the stream, for sanitizers.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The call of the stream.
    pub call: &'a CallInfo,
    /// How the stream ended.
    pub ending: &'a Ending,
}

type Run = dyn Fn(&Value, Subject<'_>) -> SanitizerVerdict + Send + Sync;

/// A check of the aggregate before it becomes a part of the END event.
///
/// The consumer of the stream is not affected. To change its items, use a [`crate::Guardrail`].
///
/// ```
/// use stream_lifecycle::{Sanitizer, SanitizerVerdict};
/// let phone = Sanitizer::new("phone", 0, |data, _| match data.as_str() {
///     Some(text) => SanitizerVerdict::Replace(text.replace("555-0100", "***").into()),
///     None => SanitizerVerdict::Omit,
/// });
/// # drop(phone);
/// ```
#[derive(Clone)]
pub struct Sanitizer {
    name: Cow<'static, str>,
    priority: i32,
    run: Arc<Run>,
}

impl Sanitizer {
    /// Creates a sanitizer. Its name appears in [`Omission::by`].
    ///
    /// Sanitizers of lower priority run first. Each receives the result of the previous one.
    /// Sanitizers of equal priority run in the order they were added, and then those of
    /// [`crate::Lifecycle::reread_sanitizers`].
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        priority: i32,
        run: impl Fn(&Value, Subject<'_>) -> SanitizerVerdict + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), priority, run: Arc::new(run) }
    }
}

impl fmt::Debug for Sanitizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, priority, .. } = self;
        f.debug_struct("Sanitizer")
            .field("name", name)
            .field("priority", priority)
            .finish_non_exhaustive()
    }
}

/// A function that lists the sanitizers registered now.
pub(crate) type Reread = Box<dyn FnOnce() -> Vec<Sanitizer> + Send>;

/// The sanitizers of a stream, fixed at its start.
#[derive(Default)]
pub(crate) struct Sanitizers {
    pub(crate) fixed: Vec<Sanitizer>,
    pub(crate) reread: Option<Reread>,
}

impl Sanitizers {
    /// Returns the sanitized aggregate, or the reason why it is omitted.
    pub(crate) fn run(
        self,
        data: Value,
        about: Subject<'_>,
        faults: &mut Faults,
    ) -> Result<Value, Omission> {
        // Listing and dropping sanitizers runs the caller's code.
        let Self { fixed, reread } = self;
        let now = reread.map_or_else(|| Ok(Vec::new()), catch);
        let Some(now) = faults.take(Component::Sanitizer, now) else {
            fixed.into_iter().for_each(|one| faults.drop_caught(Component::Sanitizer, one));
            return Err(Omission { by: "registry".into(), why: OmittedWhy::Panicked });
        };
        let all = chain(fixed, now);
        let ran = all.iter().try_fold(data, |data, Sanitizer { name, run, .. }| {
            let verdict = faults.take(Component::Sanitizer, catch(|| run(&data, about)));
            let why = match verdict {
                Some(SanitizerVerdict::Keep) => return Ok(data),
                Some(SanitizerVerdict::Replace(new)) => return Ok(new),
                Some(SanitizerVerdict::Omit) => OmittedWhy::Omitted,
                Some(SanitizerVerdict::Fail(reason)) => OmittedWhy::Failed(reason),
                None => OmittedWhy::Panicked,
            };
            Err(Omission { by: name.clone(), why })
        });
        all.into_iter().for_each(|one| faults.drop_caught(Component::Sanitizer, one));
        ran
    }
}

/// Returns all sanitizers in order: those of the start, and those registered later.
fn chain(fixed: Vec<Sanitizer>, now: Vec<Sanitizer>) -> Vec<Sanitizer> {
    let mut all = fixed;
    for one in now {
        if !all.iter().any(|old| Arc::ptr_eq(&old.run, &one.run)) {
            all.push(one);
        }
    }
    all.sort_by_key(|one| one.priority);
    all
}
