//! Response sanitizers: what may stand in the END event.

use std::{borrow::Cow, fmt, sync::Arc};

use serde_json::Value;

use crate::{
    ending::{Component, Ending, Faults},
    event::{CallInfo, Omission, OmittedWhy},
    unwind::catch,
};

/// What a sanitizer makes of an aggregate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SanitizerVerdict {
    /// It may stay as it is.
    Keep,
    /// This goes in its place.
    Replace(Value),
    /// It must not be in the END event.
    Omit,
    /// The sanitizer could not tell; the aggregate must not be in the END event.
    Fail(String),
}

/// What a sanitizer may know of the stream.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The call.
    pub call: &'a CallInfo,
    /// How the stream ended.
    pub ending: &'a Ending,
}

type Run = dyn Fn(&Value, Subject<'_>) -> SanitizerVerdict + Send + Sync;

/// Looks at the aggregate before it becomes part of the END event. What the consumer of the
/// stream gets is out of its reach; a [`crate::Guardrail`] sees to that.
#[derive(Clone)]
pub struct Sanitizer {
    name: Cow<'static, str>,
    priority: i32,
    run: Arc<Run>,
}

impl Sanitizer {
    /// A sanitizer. Lower priorities run first, each on the result of the one before; those of
    /// equal priority in the order they were registered, and behind them, in the order they are
    /// listed, those that [`crate::Lifecycle::reread_sanitizers`] adds. The name is what
    /// [`Omission::by`] tells.
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

/// Reads the sanitizers that are registered now.
pub(crate) type Reread = Box<dyn FnOnce() -> Vec<Sanitizer> + Send>;

/// The sanitizers of a stream, fixed at its start.
#[derive(Default)]
pub(crate) struct Sanitizers {
    pub(crate) fixed: Vec<Sanitizer>,
    pub(crate) reread: Option<Reread>,
}

impl Sanitizers {
    /// The aggregate as it may be told, or why it may not.
    pub(crate) fn run(
        self,
        data: Value,
        about: Subject<'_>,
        faults: &mut Faults,
    ) -> Result<Value, Omission> {
        // Reading the registry and letting go of sanitizers is the caller's code, too.
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

/// All of them in order: those of the start, and those that came later.
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
