//! Panics of user code, caught where the contract needs what follows.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// What a panic carried. Dropping it never panics, whatever its value does.
pub(crate) struct Payload(Option<Box<dyn Any + Send>>);

impl Payload {
    pub(crate) fn new(value: impl Any + Send) -> Self {
        Self(Some(Box::new(value)))
    }

    /// Lets the panic go on.
    pub(crate) fn resume(mut self) -> ! {
        resume_unwind(self.0.take().unwrap_or_else(|| Box::new("no payload")))
    }

    /// The panic's message, where it has one.
    pub(crate) fn message(&self) -> String {
        let payload = self.0.as_deref();
        let text = payload.and_then(|payload| payload.downcast_ref::<&str>().copied());
        let text = text.or_else(|| {
            payload.and_then(|payload| payload.downcast_ref::<String>().map(String::as_str))
        });
        text.unwrap_or("no message").to_owned()
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        let value = self.0.take();
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
            // A value whose drop panics with another such value could go on for ever: leak it.
            let _: &mut _ = Box::leak(second);
        }
    }
}

/// Runs user code. Whatever it was working on is dropped, or never used again, if it panics.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|value| Payload(Some(value)))
}
