//! Collectors, which receive every item and make the aggregate at the end.

use serde_json::Value;

use crate::{
    ending::{Component, Ending, Faults, WithheldInfo},
    event::{ItemInfo, ResponseInfo},
    unwind::catch,
};

/// A receiver of every item on its way to the consumer, which makes an aggregate at the end.
///
/// ```
/// use serde_json::Value;
/// use stream_lifecycle::{Collector, FinishInfo, Lifecycle, LifecycleEvent};
/// use tokio_stream::StreamExt;
/// /// Adds up numbers.
/// #[derive(Default)]
/// struct Sum(u64);
/// impl<E> Collector<u64, E> for Sum {
///     fn observe(&mut self, item: &u64) -> Result<(), E> {
///         self.0 += item;
///         Ok(())
///     }
///
///     fn finish(self: Box<Self>, _: FinishInfo<'_>) -> Value {
///         self.0.into()
///     }
/// }
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let (send, ends) = std::sync::mpsc::channel();
/// let stream = Lifecycle::new("call-1")
///     .collect_with(Sum::default())
///     .subscriber(std::sync::Arc::new(move |event: &std::sync::Arc<LifecycleEvent>| {
///         if let Some(end) = event.end() {
///             let _ = send.send(end.data.clone());
///         }
///     }))
///     .wrap(tokio_stream::iter([1, 2, 4].map(Ok::<u64, ()>)));
/// assert_eq!(stream.collect::<Vec<_>>().await.len(), 3);
/// assert_eq!(ends.recv(), Ok(Some(7.into())));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Collector<T, E>: Send {
    /// Observes the next item.
    ///
    /// # Errors
    /// An error ends the stream. The policy [`Refused`] decides whether the item is delivered.
    fn observe(&mut self, item: &T) -> Result<(), E>;

    /// Makes the aggregate. Called exactly once, however the stream ends.
    fn finish(self: Box<Self>, finish: FinishInfo<'_>) -> Value;

    /// Returns whether the answer is complete, so that later items do not matter. `false` by
    /// default.
    fn is_whole(&self) -> bool {
        false
    }

    /// Returns whether the aggregate lacks items because of a limit. `false` by default.
    fn truncated(&self) -> bool {
        false
    }

    /// Returns facts about the response without its content. Called once, at the end. Empty by
    /// default.
    fn response(&self) -> ResponseInfo {
        ResponseInfo::default()
    }

    /// Describes an item without its content. Empty by default.
    ///
    /// Called for marks and byte limits, and until the first visible item.
    fn describe(&self, item: &T) -> ItemInfo {
        let _ = item;
        ItemInfo::default()
    }
}

/// Facts about the end of a stream, for finalizers.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FinishInfo<'a> {
    /// How the stream ended.
    pub ending: &'a Ending,
    /// Data that was received and did not reach the collector.
    pub withheld: WithheldInfo,
    /// Number of items that the collector received.
    pub items: u64,
}

/// Treatment of an item that a collector refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Refused {
    /// The item is withheld, and the consumer gets the error instead.
    #[default]
    Withhold,
    /// The item is delivered, then the error.
    Deliver,
}

/// A collector made of a state and two closures.
pub(crate) struct Folding<C, O, F> {
    pub(crate) state: C,
    pub(crate) observe: O,
    pub(crate) finish: F,
}

impl<T, E, C, O, F> Collector<T, E> for Folding<C, O, F>
where
    C: Send,
    O: FnMut(&mut C, &T) -> Result<(), E> + Send,
    F: FnOnce(C, FinishInfo<'_>) -> Value + Send,
{
    fn observe(&mut self, item: &T) -> Result<(), E> {
        (self.observe)(&mut self.state, item)
    }

    fn finish(self: Box<Self>, finish: FinishInfo<'_>) -> Value {
        let Self { state, finish: make, .. } = *self;
        make(state, finish)
    }
}

type Observe<T, E> = Box<dyn FnMut(&T) -> Result<(), E> + Send>;
type Finalize = Box<dyn FnOnce(FinishInfo<'_>) -> Value + Send>;
type Describe<T> = Box<dyn Fn(&T) -> ItemInfo + Send>;

/// A configured function that observes items or makes an aggregate of them.
pub(crate) enum Part<T, E> {
    Observe(Observe<T, E>),
    Describe(Describe<T>),
    Finalize(Finalize),
    Whole(Box<dyn Collector<T, E>>),
}

/// All configured parts, in order.
pub(crate) struct Collectors<T, E>(pub(crate) Vec<Part<T, E>>);

impl<T, E> Collectors<T, E> {
    pub(crate) fn observe(&mut self, item: &T) -> Result<(), E> {
        self.0.iter_mut().try_for_each(|part| match part {
            Part::Observe(observe) => observe(item),
            Part::Whole(collector) => collector.observe(item),
            Part::Describe(_) | Part::Finalize(_) => Ok(()),
        })
    }

    /// Merges the descriptions of all parts.
    pub(crate) fn describe(&self, item: &T) -> ItemInfo {
        let known = self.0.iter().filter_map(|part| match part {
            Part::Describe(describe) => Some(describe(item)),
            Part::Whole(collector) => Some(collector.describe(item)),
            Part::Observe(_) | Part::Finalize(_) => None,
        });
        known.reduce(ItemInfo::and).unwrap_or_default()
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.whole().any(Collector::is_whole)
    }

    pub(crate) fn truncated(&self) -> bool {
        self.whole().any(Collector::truncated)
    }

    pub(crate) fn response(&self) -> ResponseInfo {
        self.whole().map(Collector::response).reduce(ResponseInfo::or).unwrap_or_default()
    }

    fn whole(&self) -> impl Iterator<Item = &dyn Collector<T, E>> {
        self.0.iter().filter_map(|part| match part {
            Part::Whole(collector) => Some(&**collector),
            _ => None,
        })
    }

    /// Makes the aggregate, or a list of several.
    ///
    /// Each part is used or dropped separately, because two panics at once would abort the process.
    pub(crate) fn finish(self, finish: FinishInfo<'_>, faults: &mut Faults) -> Value {
        let mut made = Vec::new();
        for part in self.0 {
            let aggregate = match part {
                Part::Finalize(finalize) => catch(|| finalize(finish)),
                Part::Whole(collector) => catch(|| collector.finish(finish)),
                other => {
                    faults.drop_caught(Component::Collector, other);
                    continue;
                }
            };
            made.push(faults.take(Component::Finalizer, aggregate).unwrap_or_default());
        }
        match made.len() {
            0 | 1 => made.pop().unwrap_or_default(),
            _ => Value::Array(made),
        }
    }
}
