//! A trait that names the types of a stream of results.

use futures_core::Stream;

/// A stream of results, with names for the types of its items.
pub trait TryItem: Stream {
    /// Type of a successful item.
    type Ok;
    /// Error type of the items.
    type Error;
}

impl<S, T, E> TryItem for S
where
    S: Stream<Item = Result<T, E>>,
{
    type Ok = T;
    type Error = E;
}
