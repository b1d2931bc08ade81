//! The collector: sees every item, and makes the aggregate at the end.

use std::panic::resume_unwind;

use serde_json::Value;

use crate::{
    ending::{Ending, Withheld},
    event::ItemInfo,
    unwind::catch,
};

/// Sees every item on its way to the consumer, and says at the end what was said.
pub trait Collector<T, E>: Send {
    /// Looks at the next item.
    ///
    /// # Errors
    /// Ends the stream with this error; whether the item is still delivered is the
    /// wrapper's [`Refused`] policy.
    fn observe(&mut self, item: &T) -> Result<(), E>;

    /// Makes the aggregate. Called exactly once, however the stream ends.
    fn finish(self: Box<Self>, finish: Finish<'_>) -> Value;

    /// Whether nothing that matters can follow what was seen. Never, unless overridden.
    fn is_whole(&self) -> bool {
        false
    }

    /// Whether a limit kept a part of what was seen out of the aggregate.
    fn truncated(&self) -> bool {
        false
    }

    /// What may be told of an item without its content. Asked for marks, byte limits, and
    /// until the first visible item; nothing is known unless overridden.
    fn describe(&self, item: &T) -> ItemInfo {
        let _ = item;
        ItemInfo::default()
    }
}

/// What a finalizer may know of the end.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Finish<'a> {
    /// How the stream ended.
    pub ending: &'a Ending,
    /// What was received and never reached the collector.
    pub withheld: Withheld,
    /// How many items the collector was shown.
    pub items: u64,
}

/// What becomes of an item the collector refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Refused {
    /// It is withheld: the consumer gets the error in its place.
    #[default]
    Withhold,
    /// It is delivered, and the error behind it.
    Deliver,
}

type Observe<T, E> = Box<dyn FnMut(&T) -> Result<(), E> + Send>;
type Finalize = Box<dyn FnOnce(Finish<'_>) -> Value + Send>;
type Describe<T> = Box<dyn Fn(&T) -> ItemInfo + Send>;

/// A collector made of closures.
pub(crate) struct Closures<T, E> {
    pub(crate) observe: Option<Observe<T, E>>,
    pub(crate) finalize: Option<Finalize>,
    pub(crate) describe: Option<Describe<T>>,
}

impl<T, E> Default for Closures<T, E> {
    fn default() -> Self {
        Self { observe: None, finalize: None, describe: None }
    }
}

impl<T, E> Collector<T, E> for Closures<T, E> {
    fn observe(&mut self, item: &T) -> Result<(), E> {
        self.observe.as_mut().map_or(Ok(()), |observe| observe(item))
    }

    fn finish(self: Box<Self>, finish: Finish<'_>) -> Value {
        let Self { observe, finalize, describe } = *self;
        let data = catch(|| finalize.map_or(Value::Null, |finalize| finalize(finish)));
        // Two panics at once would abort: each drop stands alone.
        let _ = (catch(|| drop(observe)), catch(|| drop(describe)));
        data.unwrap_or_else(|payload| resume_unwind(payload))
    }

    fn describe(&self, item: &T) -> ItemInfo {
        self.describe.as_ref().map_or_else(ItemInfo::default, |describe| describe(item))
    }
}
