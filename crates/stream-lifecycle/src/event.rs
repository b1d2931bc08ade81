//! What subscribers are told.

use std::{borrow::Cow, sync::Arc, time::Duration};

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{
    clock::{Stamp, Times},
    ending::{ComponentFault, Ending, ErrorInfo, WithheldInfo},
};

/// Which call to a model a stream belongs to, in the caller's words.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct CallInfo {
    /// The id that links everything about one call: wrappers around the same stream share it.
    pub id: String,
    /// Where in the pipeline this wrapper stands, to tell wrappers of one call apart.
    pub tap: Cow<'static, str>,
    /// A name for the call.
    pub name: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The id of what made the call.
    pub parent: Option<String>,
    /// Anything else; the base that end metadata is merged over.
    pub attributes: Map<String, Value>,
}

/// One thing that happened in a stream's life.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LifecycleEvent {
    /// The call was refused before anything started; nothing follows.
    Rejected(RejectedEvent),
    /// The stream started; its producer does not exist yet.
    Start(StartEvent),
    /// An item arrived.
    Mark(MarkEvent),
    /// The stream ended.
    End(Box<EndEvent>),
}

impl LifecycleEvent {
    /// The call it is about.
    #[must_use]
    pub fn call(&self) -> &CallInfo {
        match self {
            Self::Rejected(RejectedEvent { call, .. })
            | Self::Start(StartEvent { call, .. })
            | Self::Mark(MarkEvent { call, .. }) => call,
            Self::End(end) => &end.call,
        }
    }

    /// The END event, if it is that.
    #[must_use]
    pub fn end(&self) -> Option<&EndEvent> {
        if let Self::End(end) = self { Some(end) } else { None }
    }
}

/// A call was refused before it started.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RejectedEvent {
    /// The call.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Option<Stamp>,
}

/// A stream started.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StartEvent {
    /// The call.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// When.
    pub at: Option<Stamp>,
}

/// An item arrived. Says what kind of item, never what stands in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MarkEvent {
    /// The call.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// The item's number, from 0.
    pub index: u64,
    /// What is known of it.
    pub item: ItemInfo,
    /// When.
    pub at: Option<Stamp>,
}

/// What is known of an item without its content.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ItemInfo {
    /// Bytes of text in it.
    pub bytes: u64,
    /// Whether the user sees some of it.
    pub visible: bool,
    /// The choices it is about.
    pub choices: Vec<u32>,
    /// The finish reasons in it.
    pub finish: Vec<String>,
    /// The usage report in it.
    pub usage: Option<Value>,
}

impl ItemInfo {
    /// What both know of one item: the larger size, everything else that either says.
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

/// What a response said of itself, beside its content.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct ResponseInfo {
    /// The response's id.
    pub id: Option<String>,
    /// The model that answered; [`CallInfo::model`] is the one that was asked.
    pub model: Option<String>,
    /// Why each choice ended, in the order of the choices; those that did not end are left out.
    pub finish_reasons: Vec<String>,
    /// The last usage report, as it came.
    pub usage: Option<Value>,
}

impl ResponseInfo {
    /// What `self` knows, and what only `other` does.
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

/// A stream ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EndEvent {
    /// The call.
    #[serde(serialize_with = "shared")]
    pub call: Arc<CallInfo>,
    /// How it ended.
    pub ending: Ending,
    /// The aggregate, sanitized. `None` if there never was one (the producer could not be
    /// created), or if it was omitted.
    pub data: Option<Value>,
    /// Why the aggregate was omitted.
    pub omitted: Option<Omission>,
    /// Whether the collector hit its limit, so that the aggregate is a part of what was said.
    pub truncated: bool,
    /// What the codec made of the sanitized aggregate.
    pub annotated: Option<Value>,
    /// Why the codec made nothing.
    pub codec_error: Option<String>,
    /// What the response said of itself: id, model, finish reasons, usage. Sanitizers do not see
    /// it; there is no content in it.
    pub response: ResponseInfo,
    /// Attributes, metadata and the ending, merged.
    pub metadata: Map<String, Value>,
    /// When what happened.
    pub times: Times,
    /// How long the first item took, from the start, if there were one and a clock.
    pub time_to_first_item: Option<Duration>,
    /// How many items the collector saw.
    pub items: u64,
    /// What was received and never delivered.
    pub withheld: WithheldInfo,
    /// What the producer's cleanup said, if the stream was closed and it failed.
    pub close_error: Option<ErrorInfo>,
    /// Faults of user code that did not end the stream, the first 16.
    pub faults: Vec<ComponentFault>,
    /// How many more faults there were.
    pub more_faults: u64,
}

/// Why an aggregate was left out of the END event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Omission {
    /// The sanitizer's name.
    pub by: Cow<'static, str>,
    /// What it did.
    pub why: OmittedWhy,
}

/// What a sanitizer did to have the aggregate left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OmittedWhy {
    /// It asked for it.
    Omitted,
    /// It failed, with this reason.
    Failed(String),
    /// It panicked.
    Panicked,
}

fn shared<S: Serializer>(call: &Arc<CallInfo>, serializer: S) -> Result<S::Ok, S::Error> {
    call.serialize(serializer)
}
