//! The sender of a stream's events: START, marks, and one END.

use std::{num::NonZeroU64, sync::Arc};

use serde_json::{Map, Value};

use crate::{
    clock::{Clock, Stamp, Times},
    ending::{Component, Ending, ErrorInfo, Faults, WithheldInfo},
    event::{
        CallInfo, EndEvent, ItemInfo, LifecycleEvent, MarkEvent, Omission, RejectedEvent,
        ResponseInfo, StartEvent,
    },
    metadata,
    sanitize::{Sanitizers, Subject},
    subscribe::{Codec, Subscriber},
    unwind::catch,
};

/// The selection of items that are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Marks {
    /// Items are not marked.
    #[default]
    Off,
    /// The first item is marked, and then every `n`th.
    Every(NonZeroU64),
}

/// State of a stream that does not depend on the type of its items.
#[derive(Default)]
pub(crate) struct Reporter {
    pub(crate) call: Arc<CallInfo>,
    pub(crate) subscribers: Vec<Arc<dyn Subscriber>>,
    pub(crate) sanitizers: Sanitizers,
    pub(crate) codec: Option<Arc<dyn Codec>>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) marks: Marks,
    pub(crate) times: Times,
    pub(crate) faults: Faults,
    /// Number of items so far.
    pub(crate) items: u64,
}

/// Facts about the end that the wrapper provides.
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// The aggregate, if there was a stream.
    pub(crate) data: Option<Value>,
    pub(crate) truncated: bool,
    pub(crate) response: ResponseInfo,
    pub(crate) withheld: WithheldInfo,
    pub(crate) close_error: Option<ErrorInfo>,
}

impl Reporter {
    /// Returns the present moment, if there is a clock.
    pub(crate) fn now(&mut self) -> Option<Stamp> {
        let clock = self.clock.as_ref()?;
        self.faults.take(Component::Clock, catch(|| Stamp::now(&**clock)))
    }

    pub(crate) fn reject(mut self, reason: String) {
        let (call, at) = (Arc::clone(&self.call), self.now());
        self.publish(LifecycleEvent::Rejected(RejectedEvent { call, reason, at }));
        self.drop_hooks();
    }

    pub(crate) fn start(&mut self) {
        self.times.start = self.now();
        let (call, at) = (Arc::clone(&self.call), self.times.start);
        self.publish(LifecycleEvent::Start(StartEvent { call, at }));
    }

    /// Returns whether the next item is marked.
    pub(crate) fn marks_next(&self) -> bool {
        match self.marks {
            Marks::Off => false,
            Marks::Every(n) => !self.subscribers.is_empty() && self.items % n == 0,
        }
    }

    /// Returns whether the time of the first visible item is still to be recorded.
    pub(crate) fn awaits_visible(&self) -> bool {
        self.clock.is_some() && self.times.first_visible.is_none()
    }

    /// Records an item. `item` describes it if a description is needed.
    pub(crate) fn item(&mut self, item: Option<ItemInfo>) {
        let marked = self.marks_next();
        let visible = self.awaits_visible() && item.as_ref().is_some_and(|item| item.visible);
        let mut at = None;
        if marked || visible || self.items == 0 {
            at = self.now();
        }
        if self.items == 0 {
            self.times.first_item = at;
        }
        if visible {
            self.times.first_visible = at;
        }
        if marked {
            let (call, index) = (Arc::clone(&self.call), self.items);
            let item = item.unwrap_or_default();
            self.publish(LifecycleEvent::Mark(MarkEvent { call, index, item, at }));
        }
        self.items = self.items.saturating_add(1);
    }

    /// Sends the END event.
    pub(crate) fn end(mut self, outcome: Outcome) {
        let Outcome { ending, data, truncated, response, withheld, close_error } = outcome;
        let (mut omitted, mut annotated, mut codec_error) = (None, None, None);
        let mut sanitized = None;
        if let Some(aggregate) = data {
            match self.sanitized(aggregate, &ending) {
                Ok(data) => {
                    (annotated, codec_error) = self.annotated(&data);
                    sanitized = Some(data);
                }
                Err(omission) => omitted = Some(omission),
            }
        }
        let own = std::mem::take(&mut self.metadata);
        let metadata = metadata::at_end(&self.call.attributes, own, &ending);
        let Faults { kept: faults, more: more_faults } = std::mem::take(&mut self.faults);
        let (call, times, items) = (Arc::clone(&self.call), self.times, self.items);
        self.publish(LifecycleEvent::End(Box::new(EndEvent {
            call,
            ending,
            data: sanitized,
            omitted,
            truncated,
            annotated,
            codec_error,
            response,
            metadata,
            times,
            time_to_first_item: times.to_first_item(),
            items,
            withheld,
            close_error,
            faults,
            more_faults,
        })));
        self.drop_hooks();
    }

    /// Drops the caller's code, each part separately. A panic can no longer be reported.
    fn drop_hooks(self) {
        let Self { subscribers, codec, clock, mut faults, .. } = self;
        subscribers.into_iter().for_each(|one| faults.drop_caught(Component::Subscriber, one));
        faults.drop_caught(Component::Codec, codec);
        faults.drop_caught(Component::Clock, clock);
    }

    fn sanitized(&mut self, data: Value, ending: &Ending) -> Result<Value, Omission> {
        let sanitizers = std::mem::take(&mut self.sanitizers);
        sanitizers.run(data, Subject { call: &self.call, ending }, &mut self.faults)
    }

    fn annotated(&mut self, data: &Value) -> (Option<Value>, Option<String>) {
        let Some(codec) = &self.codec else { return (None, None) };
        match self.faults.take(Component::Codec, catch(|| codec.decode(data))) {
            Some(Ok(annotated)) => (Some(annotated), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, Some("the codec panicked".into())),
        }
    }

    fn publish(&mut self, event: LifecycleEvent) {
        let event = Arc::new(event);
        for subscriber in &self.subscribers {
            let received = catch(|| subscriber.receive(&event));
            let _ = self.faults.take(Component::Subscriber, received);
        }
    }
}
