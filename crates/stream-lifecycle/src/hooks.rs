//! Code of the caller that works on the live stream: guardrails, timer, and hooks for errors.

use std::{future::Future, pin::Pin};

use crate::{
    ending::{Component, Ending, ErrorInfo, Faults},
    rails::Rails,
};

pub(crate) type Timer = Pin<Box<dyn Future<Output = ()> + Send>>;
pub(crate) type DescribeError<E> = Box<dyn Fn(&E) -> ErrorInfo + Send>;
pub(crate) type CutError<E> = Box<dyn Fn(&Ending) -> Option<E> + Send>;

/// Code of the caller whose drop may panic.
pub(crate) struct Hooks<T, E> {
    pub(crate) rails: Rails<T>,
    pub(crate) timer: Option<Timer>,
    pub(crate) describe_error: Option<DescribeError<E>>,
    pub(crate) cut_error: Option<CutError<E>>,
}

impl<T, E> Default for Hooks<T, E> {
    fn default() -> Self {
        Self { rails: Rails::default(), timer: None, describe_error: None, cut_error: None }
    }
}

impl<T, E> Hooks<T, E> {
    /// Drops each part separately, because two panics at once would abort the process.
    pub(crate) fn drop_caught(self, faults: &mut Faults) {
        faults.drop_caught(Component::ErrorHook, self.cut_error);
        faults.drop_caught(Component::ErrorHook, self.describe_error);
        faults.drop_caught(Component::Timer, self.timer);
        let (rails, items) = self.rails.into_parts();
        items.into_iter().for_each(|item| faults.drop_caught(Component::Upstream, item));
        rails.into_iter().for_each(|rail| faults.drop_caught(Component::Guardrail, rail));
    }
}
