//! Setting a wrapper up, and starting it.

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

/// What happens around one stream of `Result<T, E>`: set up first, then started.
///
/// All of it is fixed when the stream starts. Guardrails, collectors, sanitizers and subscribers
/// add up, each kind in the order it was added; of everything else a stream has one, and what was
/// set last counts. The README has an example.
#[must_use = "nothing is recorded until the stream is started"]
pub struct Lifecycle<T, E> {
    call: CallInfo,
    live: Box<Live<T, E>>,
    context: Option<ContextHandle>,
}

impl<T: 'static, E: 'static> Lifecycle<T, E> {
    /// A record for the call with this id. Wrappers of one call share the id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            call: CallInfo { id: id.into(), ..CallInfo::default() },
            live: Box::new(Live::new(Reporter::default())),
            context: None,
        }
    }

    /// Where in the pipeline this wrapper stands: `raw`, `guarded`.
    pub fn tap(mut self, tap: impl Into<Cow<'static, str>>) -> Self {
        self.call.tap = tap.into();
        self
    }

    /// A name for the call.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.call.name = Some(name.into());
        self
    }

    /// The model.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.call.model = Some(model.into());
        self
    }

    /// The id of what made the call.
    pub fn parent(mut self, parent: impl Into<String>) -> Self {
        self.call.parent = Some(parent.into());
        self
    }

    /// Attributes of the call, in every event; END metadata is merged over them. An object, as of
    /// [`serde_json::json!`]; another value is the one member `attributes`.
    pub fn attributes(mut self, attributes: impl Into<Value>) -> Self {
        self.call.attributes = members("attributes", attributes.into());
        self
    }

    /// Looks at every item; its error ends the stream, and collectors that were added later do
    /// not see that item.
    pub fn collector(self, observe: impl FnMut(&T) -> Result<(), E> + Send + 'static) -> Self {
        self.collects(Part::Observe(Box::new(observe)))
    }

    /// As [`Lifecycle::collector`], for a collector that keeps items: each is cloned for it.
    pub fn collector_owned(
        self,
        mut observe: impl FnMut(T) -> Result<(), E> + Send + 'static,
    ) -> Self
    where
        T: Clone,
    {
        self.collector(move |item| observe(item.clone()))
    }

    /// Makes the aggregate, exactly once, however the stream ends. Where several finalizers and
    /// collectors make one each, the END event's data is the list of them, in the order they
    /// were added.
    pub fn finalizer(
        self,
        finalize: impl FnOnce(FinishInfo<'_>) -> Value + Send + 'static,
    ) -> Self {
        self.collects(Part::Finalize(Box::new(finalize)))
    }

    /// Says what may be told of an item: for marks, byte limits, and the first visible item.
    /// What collectors know of it besides counts, too; of several sizes the largest.
    pub fn describe(self, describe: impl Fn(&T) -> ItemInfo + Send + 'static) -> Self {
        self.collects(Part::Describe(Box::new(describe)))
    }

    /// A collector with a state: `observe` sees the state and each item, as a
    /// [`Lifecycle::collector`] does, and `finish` makes the aggregate of the state, as a
    /// [`Lifecycle::finalizer`] does.
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

    /// A collector that does all of it. It makes an aggregate, as [`Lifecycle::finalizer`] does.
    pub fn collect_with(self, collector: impl Collector<T, E> + 'static) -> Self {
        self.collects(Part::Whole(Box::new(collector)))
    }

    fn collects(mut self, part: Part<T, E>) -> Self {
        self.live.collectors.0.push(part);
        self
    }

    /// What becomes of an item the collector refused.
    pub fn refused(mut self, refused: Refused) -> Self {
        self.live.refused = refused;
        self
    }

    /// Puts a guardrail into the live stream, in front of the collectors and behind the
    /// guardrails there are: it is shown what they let out.
    pub fn enforce(mut self, guardrail: impl Guardrail<T> + 'static) -> Self {
        self.live.hooks.rails.add(Box::new(guardrail));
        self
    }

    /// Adds a response sanitizer.
    pub fn sanitizer(mut self, sanitizer: Sanitizer) -> Self {
        self.live.reporter.sanitizers.fixed.push(sanitizer);
        self
    }

    /// Reads the registered sanitizers again at the end. Those that are new run, too; those of
    /// the start run whether or not they are still registered.
    pub fn reread_sanitizers(
        mut self,
        registered: impl FnOnce() -> Vec<Sanitizer> + Send + 'static,
    ) -> Self {
        self.live.reporter.sanitizers.reread = Some(Box::new(registered));
        self
    }

    /// Makes another form of the sanitized aggregate.
    pub fn codec(mut self, codec: Arc<dyn Codec>) -> Self {
        self.live.reporter.codec = Some(codec);
        self
    }

    /// Makes another form of the sanitized aggregate with a closure.
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

    /// Adds a subscriber.
    pub fn subscriber(mut self, subscriber: Arc<dyn Subscriber>) -> Self {
        self.live.reporter.subscribers.push(subscriber);
        self
    }

    /// The surroundings that upstream's polls and all user code run in.
    pub fn context(mut self, context: ContextHandle) -> Self {
        self.context = Some(context);
        self
    }

    /// Tells the time. Without it there are no times.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.live.reporter.clock = Some(clock);
        self
    }

    /// Ends the stream as [`Ending::TimedOut`] when this future is ready. It is polled with the
    /// stream.
    pub fn timeout(mut self, timer: impl Future<Output = ()> + Send + 'static) -> Self {
        self.live.hooks.timer = Some(Box::pin(timer));
        self
    }

    /// The most items; one more ends the stream in its place.
    pub fn limit_items(mut self, most: NonZeroU64) -> Self {
        self.live.limits.items = Some(most);
        self
    }

    /// The most bytes; the item that exceeds them ends the stream in its place. Sizes are those
    /// that [`Lifecycle::describe`] or a collector tells: where neither does, nothing has a size.
    pub fn limit_bytes(mut self, most: NonZeroU64) -> Self {
        self.live.limits.bytes = Some(most);
        self
    }

    /// Which items are marked.
    pub fn marks(mut self, marks: Marks) -> Self {
        self.live.reporter.marks = marks;
        self
    }

    /// Metadata for the END event. An object, as of [`serde_json::json!`]; another value is the
    /// one member `metadata`.
    pub fn metadata(mut self, metadata: impl Into<Value>) -> Self {
        self.live.reporter.metadata = members("metadata", metadata.into());
        self
    }

    /// What it means that the consumer leaves when the answer is whole.
    pub fn late_close(mut self, late_close: LateClose) -> Self {
        self.live.late_close = late_close;
        self
    }

    /// Says what may be told of an error. Without it, its type's name.
    pub fn describe_error(mut self, describe: impl Fn(&E) -> ErrorInfo + Send + 'static) -> Self {
        self.live.hooks.describe_error = Some(Box::new(describe));
        self
    }

    /// Makes the error the consumer gets where the wrapper itself cuts the stream: limit,
    /// timeout, guardrail, panic. Without one the stream just ends, and a panic goes on. Streams
    /// that were exhausted, dropped, closed or failed are not cut.
    pub fn cut_error(mut self, make: impl Fn(&Ending) -> Option<E> + Send + 'static) -> Self {
        self.live.hooks.cut_error = Some(Box::new(make));
        self
    }

    /// Tells subscribers that the call was refused. There is no START and no END.
    pub fn reject(self, reason: impl Into<String>) {
        self.finish_setup().reject(reason.into());
    }

    /// Sends START. From here on END is certain.
    pub fn start(self) -> Started<T, E> {
        self.finish_setup().begun()
    }

    /// Starts, and wraps a stream that exists.
    pub fn wrap<S: Stream<Item = Result<T, E>>>(self, inner: S) -> Observed<S> {
        self.start().wrap(inner)
    }

    /// Starts, and wraps the stream that `make` creates.
    ///
    /// # Errors
    /// That of `make`; END has been sent, without output.
    ///
    /// # Panics
    /// If `make` does, behind END.
    pub fn create<S: Stream<Item = Result<T, E>>>(
        self,
        make: impl FnOnce() -> Result<S, E>,
    ) -> Result<Observed<S>, E> {
        let started = self.start();
        started.make(make)
    }

    /// As [`Lifecycle::create`], for a stream that has to be waited for. If the future is
    /// dropped before it is ready, the stream ends as dropped.
    ///
    /// # Errors
    /// As [`Lifecycle::create`].
    ///
    /// # Panics
    /// As [`Lifecycle::create`].
    pub fn create_async<S: Stream<Item = Result<T, E>>>(
        self,
        make: impl Future<Output = Result<S, E>>,
    ) -> impl Future<Output = Result<Observed<S>, E>> {
        let make = Within::new(make, self.context.clone());
        async {
            let started = self.start();
            // Dropped before `started`, so that END is the last of it.
            let made = make.await;
            started.settle(made)
        }
    }

    /// Everything in its place.
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
