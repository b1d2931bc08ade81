//! The builder of a recorded stream.

use std::{borrow::Cow, fmt, future::Future, num::NonZeroU64, sync::Arc};

use futures_core::Stream;
use serde_json::Value;

use crate::{
    clock::Clock,
    collector::{Collector, FinishInfo, Folding, Part, Refused},
    context::{ContextHandle, Within},
    ending::{Ending, ErrorInfo, LateClose},
    event::{CallInfo, ItemInfo, LifecycleEvent},
    guardrail::Guardrail,
    live::Live,
    metadata::members,
    observed::Observed,
    reporter::{Marks, Reporter},
    sanitize::Sanitizer,
    started::Started,
    subscribe::{Codec, Subscriber},
};

/// A builder of the record of one stream of `Result<T, E>`.
///
/// Guardrails, collectors, sanitizers and subscribers accumulate, each kind in the order of the
/// calls. Every other setting has one value, and the last call wins. Starting the record fixes them
/// all.
///
/// ```
/// use stream_lifecycle::{Lifecycle, TextCollector};
/// let items = ["Hello", " world"].map(|item| Ok::<_, std::io::Error>(item.to_owned()));
/// let stream = Lifecycle::new("call-1")
///     .model("some-model")
///     .collect_with(TextCollector::default())
///     .subscriber_fn(|event| {
///         if let Some(end) = event.end() {
///             assert_eq!(end.data, Some("Hello world".into()));
///         }
///     })
///     .wrap(tokio_stream::iter(items));
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use tokio_stream::StreamExt;
/// assert_eq!(stream.collect::<Vec<_>>().await.len(), 2);
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// The README shows sanitizers and a codec.
#[must_use = "nothing is recorded until the stream is started"]
pub struct Lifecycle<T, E> {
    call: CallInfo,
    live: Box<Live<T, E>>,
    context: Option<ContextHandle>,
}

impl<T: 'static, E: 'static> Lifecycle<T, E> {
    /// Creates a builder for the call with this id. All wrappers of one call have the same id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            call: CallInfo { id: id.into(), ..CallInfo::default() },
            live: Box::new(Live::new(Reporter::default())),
            context: None,
        }
    }

    /// Sets the place of this wrapper in the pipeline, such as `raw` or `guarded`.
    pub fn tap(mut self, tap: impl Into<Cow<'static, str>>) -> Self {
        self.call.tap = tap.into();
        self
    }

    /// Sets the name of the call.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.call.name = Some(name.into());
        self
    }

    /// Sets the requested model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.call.model = Some(model.into());
        self
    }

    /// Sets the id of the parent that made the call.
    pub fn parent(mut self, parent: impl Into<String>) -> Self {
        self.call.parent = Some(parent.into());
        self
    }

    /// Sets attributes of the call, which every event carries.
    ///
    /// Metadata of the END event is merged over them. A value that is not an object becomes the
    /// member `attributes`.
    pub fn attributes(mut self, attributes: impl Into<Value>) -> Self {
        self.call.attributes = members("attributes", attributes.into());
        self
    }

    /// Adds a collector that receives a reference to every item.
    ///
    /// An error of the collector ends the stream, and collectors added later do not receive the
    /// item.
    pub fn collector(self, observe: impl FnMut(&T) -> Result<(), E> + Send + 'static) -> Self {
        self.collects(Part::Observe(Box::new(observe)))
    }

    /// Adds a collector that receives a clone of every item.
    pub fn collector_owned(
        self,
        mut observe: impl FnMut(T) -> Result<(), E> + Send + 'static,
    ) -> Self
    where
        T: Clone,
    {
        self.collector(move |item| observe(item.clone()))
    }

    /// Adds a finalizer, which makes an aggregate. Called exactly once, however the stream ends.
    ///
    /// With several finalizers and collectors, the data of the END event is the list of their
    /// aggregates, in the order they were added.
    pub fn finalizer(
        self,
        finalize: impl FnOnce(FinishInfo<'_>) -> Value + Send + 'static,
    ) -> Self {
        self.collects(Part::Finalize(Box::new(finalize)))
    }

    /// Sets a function that describes items without their content, for marks and byte limits.
    ///
    /// The descriptions of collectors are merged in, and the largest size counts.
    pub fn describe(self, describe: impl Fn(&T) -> ItemInfo + Send + 'static) -> Self {
        self.collects(Part::Describe(Box::new(describe)))
    }

    /// Adds a collector made of a state and two closures.
    ///
    /// `observe` updates the state with each item, like [`Lifecycle::collector`]. `finish` makes
    /// the aggregate of the state, like [`Lifecycle::finalizer`].
    ///
    /// ```
    /// # use stream_lifecycle::Lifecycle;
    /// # let lifecycle = Lifecycle::<String, std::io::Error>::new("call-1");
    /// let lifecycle = lifecycle.collect(
    ///     0,
    ///     |words, item| {
    ///         *words += item.split_whitespace().count();
    ///         Ok(())
    ///     },
    ///     |words, _| words.into(),
    /// );
    /// # drop(lifecycle);
    /// ```
    pub fn collect<C: Send + 'static>(
        self,
        init: C,
        observe: impl FnMut(&mut C, &T) -> Result<(), E> + Send + 'static,
        finish: impl FnOnce(C, FinishInfo<'_>) -> Value + Send + 'static,
    ) -> Self {
        self.collect_with(Folding { state: init, observe, finish })
    }

    /// Adds a collector that observes items, describes them and makes an aggregate.
    pub fn collect_with(self, collector: impl Collector<T, E> + 'static) -> Self {
        self.collects(Part::Whole(Box::new(collector)))
    }

    fn collects(mut self, part: Part<T, E>) -> Self {
        self.live.collectors.0.push(part);
        self
    }

    /// Sets whether an item is delivered after a collector refused it.
    pub fn refused(mut self, refused: Refused) -> Self {
        self.live.refused = refused;
        self
    }

    /// Adds a guardrail to the live stream.
    ///
    /// Guardrails run before the collectors, in the order they were added. Each receives the items
    /// that the previous one released.
    pub fn enforce(mut self, guardrail: impl Guardrail<T> + 'static) -> Self {
        self.live.hooks.rails.add(Box::new(guardrail));
        self
    }

    /// Adds a sanitizer of the aggregate.
    pub fn sanitizer(mut self, sanitizer: Sanitizer) -> Self {
        self.live.reporter.sanitizers.fixed.push(sanitizer);
        self
    }

    /// Sets a function that lists the registered sanitizers at the end. New ones run after those of
    /// the start, which run even if the list lacks them.
    pub fn reread_sanitizers(
        mut self,
        registered: impl FnOnce() -> Vec<Sanitizer> + Send + 'static,
    ) -> Self {
        self.live.reporter.sanitizers.reread = Some(Box::new(registered));
        self
    }

    /// Sets a codec, which converts the sanitized aggregate to another form.
    pub fn codec(mut self, codec: Arc<dyn Codec>) -> Self {
        self.live.reporter.codec = Some(codec);
        self
    }

    /// Sets a closure as the codec.
    ///
    /// The README has an example. The output is in
    /// [`EndEvent::annotated`](crate::EndEvent::annotated).
    pub fn codec_fn(
        self,
        decode: impl Fn(&Value) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        self.codec(Arc::new(decode))
    }

    /// Adds a closure as a subscriber.
    pub fn subscriber_fn(
        self,
        receive: impl Fn(&Arc<LifecycleEvent>) + Send + Sync + 'static,
    ) -> Self {
        self.subscriber(Arc::new(receive))
    }

    /// Adds a subscriber, which receives every event.
    pub fn subscriber(mut self, subscriber: Arc<dyn Subscriber>) -> Self {
        self.live.reporter.subscribers.push(subscriber);
        self
    }

    /// Sets the context in which upstream is polled and user code runs.
    pub fn context(mut self, context: ContextHandle) -> Self {
        self.context = Some(context);
        self
    }

    /// Sets the clock. Events have no times without one.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.live.reporter.clock = Some(clock);
        self
    }

    /// Ends the stream as [`Ending::TimedOut`] when this future is ready. The future is polled with
    /// the stream.
    pub fn timeout(mut self, timer: impl Future<Output = ()> + Send + 'static) -> Self {
        self.live.hooks.timer = Some(Box::pin(timer));
        self
    }

    /// Sets the maximum number of items. The first item beyond it ends the stream and is not
    /// delivered.
    pub fn limit_items(mut self, most: NonZeroU64) -> Self {
        self.live.limits.items = Some(most);
        self
    }

    /// Sets the maximum number of bytes. The item that exceeds it ends the stream and is not
    /// delivered.
    ///
    /// [`Lifecycle::describe`] and collectors report the sizes of items. Without a description, an
    /// item has no size.
    pub fn limit_bytes(mut self, most: NonZeroU64) -> Self {
        self.live.limits.bytes = Some(most);
        self
    }

    /// Sets which items are marked.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use stream_lifecycle::{Lifecycle, LifecycleEvent, Marks};
    /// let lifecycle = Lifecycle::<String, std::io::Error>::new("call-1")
    ///     .marks(Marks::Every(NonZeroU64::MIN))
    ///     .subscriber_fn(|event| {
    ///         if let LifecycleEvent::Mark(mark) = &**event {
    ///             println!("item {} of {}", mark.index, mark.call.id);
    ///         }
    ///     });
    /// # drop(lifecycle);
    /// ```
    pub fn marks(mut self, marks: Marks) -> Self {
        self.live.reporter.marks = marks;
        self
    }

    /// Sets metadata of the END event. A value that is not an object becomes the member `metadata`.
    pub fn metadata(mut self, metadata: impl Into<Value>) -> Self {
        self.live.reporter.metadata = members("metadata", metadata.into());
        self
    }

    /// Sets how a stream ends if the consumer leaves after the answer is complete.
    pub fn late_close(mut self, late_close: LateClose) -> Self {
        self.live.late_close = late_close;
        self
    }

    /// Sets a function that describes errors for the record. By default an error is described by
    /// the name of its type.
    ///
    /// ```
    /// use stream_lifecycle::{ErrorInfo, Lifecycle};
    /// let lifecycle = Lifecycle::<String, std::io::Error>::new("call-1")
    ///     .describe_error(|error| ErrorInfo::class("io").text(error.to_string()));
    /// # drop(lifecycle);
    /// ```
    pub fn describe_error(mut self, describe: impl Fn(&E) -> ErrorInfo + Send + 'static) -> Self {
        self.live.hooks.describe_error = Some(Box::new(describe));
        self
    }

    /// Sets a function that makes the consumer's error when the wrapper cuts the stream.
    ///
    /// A limit, a timeout, a guardrail or a panic cuts a stream. Without an error the stream ends
    /// as if it were complete, and a panic continues. Streams that were exhausted, dropped, closed
    /// or failed are not cut.
    pub fn cut_error(mut self, make: impl Fn(&Ending) -> Option<E> + Send + 'static) -> Self {
        self.live.hooks.cut_error = Some(Box::new(make));
        self
    }

    /// Reports to subscribers that the call was refused. START and END are not sent.
    pub fn reject(self, reason: impl Into<String>) {
        self.finish_setup().reject(reason.into());
    }

    /// Sends START. From then on, END is sent however the stream ends.
    ///
    /// ```
    /// use stream_lifecycle::{Lifecycle, Started};
    /// let started: Started<String, std::io::Error> = Lifecycle::new("call-1").start();
    /// // The producer is created between START and the first item.
    /// let stream = started.wrap(tokio_stream::iter([Ok("hello".to_owned())]));
    /// # drop(stream);
    /// ```
    pub fn start(self) -> Started<T, E> {
        self.finish_setup().begun()
    }

    /// Starts the record and wraps an existing stream.
    pub fn wrap<S: Stream<Item = Result<T, E>>>(self, inner: S) -> Observed<S> {
        self.start().wrap(inner)
    }

    /// Starts the record and wraps the stream that `make` creates.
    ///
    /// # Errors
    /// Returns the error of `make`, after END was sent without output.
    ///
    /// # Panics
    /// Panics if `make` does, after END was sent.
    pub fn create<S: Stream<Item = Result<T, E>>>(
        self,
        make: impl FnOnce() -> Result<S, E>,
    ) -> Result<Observed<S>, E> {
        let started = self.start();
        started.make(make)
    }

    /// Starts the record and wraps the stream of a future, like [`Lifecycle::create`].
    ///
    /// If the future is dropped before it is ready, the stream ends as dropped.
    ///
    /// # Errors
    /// See [`Lifecycle::create`].
    ///
    /// # Panics
    /// See [`Lifecycle::create`].
    pub fn create_async<S: Stream<Item = Result<T, E>>>(
        self,
        make: impl Future<Output = Result<S, E>>,
    ) -> impl Future<Output = Result<Observed<S>, E>> {
        let make = Within::new(make, self.context.clone());
        async {
            let started = self.start();
            // `make` is dropped before `started`, so END comes after its drop.
            let made = make.await;
            started.settle(made)
        }
    }

    /// Finishes the configuration without sending START.
    fn finish_setup(self) -> Started<T, E> {
        let Self { call, mut live, context } = self;
        live.reporter.call = Arc::new(call);
        Started::new(live, context)
    }
}

impl<T, E> fmt::Debug for Lifecycle<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lifecycle").field("call", &self.call).finish_non_exhaustive()
    }
}
