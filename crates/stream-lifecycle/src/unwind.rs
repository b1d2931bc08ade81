//! Panics of user code, caught where the contract needs what follows.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// What a panic carried.
pub(crate) type Payload = Box<dyn Any + Send>;

/// Runs user code. Whatever it was working on is dropped, or never used again, if it panics.
pub(crate) fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Payload> {
    catch_unwind(AssertUnwindSafe(f))
}

/// The panic's message, where it has one.
pub(crate) fn message(payload: &Payload) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
