//! Streams of results.

use futures_core::Stream;

/// A stream whose items are results; names their types.
pub trait TryItem: Stream {
    /// The type of the items.
    type Ok;
    /// The error type of the items.
    type Error;
}

impl<S, T, E> TryItem for S
where
    S: Stream<Item = Result<T, E>>,
{
    type Ok = T;
    type Error = E;
}
