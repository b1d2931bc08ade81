//! Subscribers of events, and codecs of the aggregate.

use std::sync::Arc;

use serde_json::Value;

use crate::event::LifecycleEvent;

/// A receiver of a stream's events, in order, on the thread that polls or drops the stream.
///
/// Closures over `&Arc<LifecycleEvent>` are subscribers. Put a [`crate::Queue`] between the stream
/// and a slow subscriber.
pub trait Subscriber: Send + Sync {
    /// Receives an event. A panic is caught and affects neither the stream nor other subscribers.
    fn receive(&self, event: &Arc<LifecycleEvent>);
}

impl<F: Fn(&Arc<LifecycleEvent>) + Send + Sync> Subscriber for F {
    fn receive(&self, event: &Arc<LifecycleEvent>) {
        self(event);
    }
}

/// A converter of the sanitized aggregate to another form, for the END event.
pub trait Codec: Send + Sync {
    /// Converts the aggregate.
    ///
    /// # Errors
    /// The END event contains the error.
    fn decode(&self, data: &Value) -> Result<Value, String>;
}

impl<F: Fn(&Value) -> Result<Value, String> + Send + Sync> Codec for F {
    fn decode(&self, data: &Value) -> Result<Value, String> {
        self(data)
    }
}
