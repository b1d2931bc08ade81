//! Who is told.

use std::sync::Arc;

use serde_json::Value;

use crate::event::LifecycleEvent;

/// Is told what happens, in order, at once, on whatever thread polls or drops the stream.
///
/// Closures over `&Arc<LifecycleEvent>` are subscribers. For one that must not hold the stream
/// up, put a [`crate::Queue`] between.
pub trait Subscriber: Send + Sync {
    /// Takes an event. A panic is caught: it concerns neither the stream nor other subscribers.
    fn receive(&self, event: &Arc<LifecycleEvent>);
}

impl<F: Fn(&Arc<LifecycleEvent>) + Send + Sync> Subscriber for F {
    fn receive(&self, event: &Arc<LifecycleEvent>) {
        self(event);
    }
}

/// Makes another form of the sanitized aggregate, for the END event.
pub trait Codec: Send + Sync {
    /// Decodes the aggregate.
    ///
    /// # Errors
    /// The reason goes into the END event.
    fn decode(&self, data: &Value) -> Result<Value, String>;
}

impl<F: Fn(&Value) -> Result<Value, String> + Send + Sync> Codec for F {
    fn decode(&self, data: &Value) -> Result<Value, String> {
        self(data)
    }
}
