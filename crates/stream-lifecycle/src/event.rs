//! The events that subscribers receive.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    clock::{Stamp, Times},
    ending::{ComponentFault, Ending, ErrorInfo, WithheldInfo},
};

/// The call to a model whose answer is the stream, as the caller describes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct CallInfo {
    /// Id that links everything about one call. Wrappers around the same stream share it.
    pub id: String,
    /// Place of this wrapper in the pipeline, which distinguishes the wrappers of one call.
    pub tap: Cow<'static, str>,
    /// Name of the call, if the caller set one.
    pub name: Option<String>,
    /// The requested model.
    pub model: Option<String>,
    /// Id of the parent that made the call.
    pub parent: Option<String>,
    /// Further attributes. The metadata of the END event is merged over them.
    pub attributes: Map<String, Value>,
}

/// An event in the life of a stream.
///
/// ```text
/// accepted call:   Start, Mark (if enabled) per sampled item, End
/// refused call:    Rejected
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// The call was refused before it started. No other event follows.
    Rejected(RejectedEvent),
    /// The stream started. Its producer does not exist yet.
    Start(StartEvent),
    /// An item arrived and was sampled.
    Mark(MarkEvent),
    /// The stream ended. Exactly one END follows a START.
    End(Box<EndEvent>),
}

impl LifecycleEvent {
    /// Returns the call of the event.
    #[must_use]
    pub fn call(&self) -> &CallInfo {
        match self {
            Self::Rejected(RejectedEvent { call, .. })
            | Self::Start(StartEvent { call, .. })
            | Self::Mark(MarkEvent { call, .. }) => call,
            Self::End(end) => &end.call,
        }
    }

    /// Returns the END event, if this is one.
    #[must_use]
    pub fn end(&self) -> Option<&EndEvent> {
        if let Self::End(end) = self { Some(end) } else { None }
    }
}

/// The event of a call that was refused before it started.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RejectedEvent {
    /// The call that was refused.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// The reason for the refusal.
    pub reason: String,
    /// Time of the refusal.
    pub at: Option<Stamp>,
}

/// The START event of a stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StartEvent {
    /// The call of the stream.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// Time of the start, if there is a clock.
    pub at: Option<Stamp>,
}

/// The event of an item that arrived. It describes the item without its content.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MarkEvent {
    /// The call of the stream.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// Number of the item, from 0.
    pub index: u64,
    /// Description of the item.
    pub item: ItemInfo,
    /// Time of arrival, if there is a clock.
    pub at: Option<Stamp>,
}

/// A description of an item without its content.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ItemInfo {
    /// Bytes of text in the item.
    pub bytes: u64,
    /// Whether some of the item is visible to the user.
    pub visible: bool,
    /// Indices of the choices in the item.
    pub choices: Vec<u32>,
    /// Finish reasons in the item.
    pub finish: Vec<String>,
    /// Usage report in the item.
    pub usage: Option<Value>,
}

impl ItemInfo {
    /// Merges two descriptions of one item. The larger size counts.
    pub(crate) fn and(self, other: Self) -> Self {
        let Self { bytes, visible, mut choices, mut finish, usage } = self;
        let new = |one: &u32| !choices.contains(one);
        choices.extend(other.choices.into_iter().filter(new).collect::<Vec<_>>());
        if finish.is_empty() {
            finish = other.finish;
        }
        Self {
            bytes: bytes.max(other.bytes),
            visible: visible || other.visible,
            choices,
            finish,
            usage: usage.or(other.usage),
        }
    }
}

/// Facts about a response without its content.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ResponseInfo {
    /// Id of the response, if it has one.
    pub id: Option<String>,
    /// The model that answered. [`CallInfo::model`] is the requested one.
    pub model: Option<String>,
    /// Finish reasons, in the order of the choices. Choices without one are left out.
    pub finish_reasons: Vec<String>,
    /// The last usage report, unchanged.
    pub usage: Option<Value>,
}

impl ResponseInfo {
    /// Fills missing facts from `other`.
    pub(crate) fn or(self, other: Self) -> Self {
        let known = !self.finish_reasons.is_empty();
        Self {
            id: self.id.or(other.id),
            model: self.model.or(other.model),
            finish_reasons: if known { self.finish_reasons } else { other.finish_reasons },
            usage: self.usage.or(other.usage),
        }
    }
}

/// The END event of a stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EndEvent {
    /// The call of the stream.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// How the stream ended.
    pub ending: Ending,
    /// The sanitized aggregate. `None` if the producer could not be created, or if the aggregate
    /// was omitted.
    pub data: Option<Value>,
    /// The reason why the aggregate was omitted.
    pub omitted: Option<Omission>,
    /// Whether a collector reached its limit, so that the aggregate is incomplete.
    pub truncated: bool,
    /// Output of the codec for the sanitized aggregate.
    pub annotated: Option<Value>,
    /// Error of the codec, if it failed.
    pub codec_error: Option<String>,
    /// Facts about the response: id, model, finish reasons, usage. Sanitizers do not see them.
    pub response: ResponseInfo,
    /// Attributes, metadata and the ending, merged.
    pub metadata: Map<String, Value>,
    /// Times of the stream.
    pub times: Times,
    /// Time from the start to the first item, if both are known.
    pub time_to_first_item: Option<Duration>,
    /// Number of items that the collectors received.
    pub items: u64,
    /// Data that was received and not delivered.
    pub withheld: WithheldInfo,
    /// Error of the producer's cleanup, if the stream was closed.
    pub close_error: Option<ErrorInfo>,
    /// The first 16 faults of user code that did not end the stream.
    pub faults: Vec<ComponentFault>,
    /// Number of further faults.
    pub more_faults: u64,
}

/// The reason why an aggregate is missing in the END event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Omission {
    /// Name of the sanitizer.
    pub by: Cow<'static, str>,
    /// Action of the sanitizer.
    pub why: OmittedWhy,
}

/// Action of a sanitizer that removed the aggregate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OmittedWhy {
    /// The sanitizer omitted the aggregate.
    Omitted,
    /// The sanitizer failed with this reason.
    Failed(String),
    /// The sanitizer panicked.
    Panicked,
}

fn shared<S: Serializer>(call: &Arc<CallInfo>, serializer: S) -> Result<S::Ok, S::Error> {
    call.serialize(serializer)
}
