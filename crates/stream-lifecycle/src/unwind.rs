//! Panics of user code, which are caught where the stream must continue or send its END.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

/// The value of a panic. Its drop never panics.
pub(crate) struct Payload(Option<Box<dyn Any + Send>>);

impl Payload {
    pub(crate) fn new(value: impl Any + Send) -> Self {
        Self(Some(Box::new(value)))
    }

    /// Continues the panic.
    pub(crate) fn resume(mut self) -> ! {
        resume_unwind(self.0.take().unwrap_or_else(|| Box::new("no payload")))
    }

    /// Returns the panic's message, if it has one.
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
            // A drop that panics with another such value could repeat forever, so the value is
            // leaked.
            let _: &mut _ = Box::leak(second);
        }
    }
}

/// Runs user code and catches its panic. After a panic, the data that `f` worked on must not be
/// used.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|value| Payload(Some(value)))
}
