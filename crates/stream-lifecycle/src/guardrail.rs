//! Guardrails: stages that decide which items reach the consumer.

use std::{
    borrow::Cow,
    collections::VecDeque,
    task::{Context, Poll},
};

use crate::ending::{UpstreamEnd, WithheldInfo};

/// A stage of the live stream, between upstream and the collectors.
///
/// A guardrail may replace items, hold them, or end the stream. Collectors receive released items
/// only, so that the guardrail also protects the record.
///
/// ```
/// use stream_lifecycle::{Decision, Guardrail, Lifecycle, GuardrailOutput, UpstreamEnd};
/// use tokio_stream::StreamExt;
/// /// A guardrail that ends the stream at a word, and replaces other words by their lengths.
/// struct Lengths;
/// impl Guardrail<String> for Lengths {
///     fn push(&mut self, item: String, out: &mut GuardrailOutput<String>) -> Decision {
///         if item == "stop" {
///             return Decision::End("stop word".into());
///         }
///         out.put(item.len().to_string());
///         Decision::Continue
///     }
///
///     fn finish(&mut self, _: UpstreamEnd, _: &mut GuardrailOutput<String>) -> Decision {
///         Decision::Continue
///     }
/// }
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let items = ["one", "three", "stop", "never"].map(|item| Ok::<_, ()>(item.to_owned()));
/// let stream = Lifecycle::new("call-1").enforce(Lengths).wrap(tokio_stream::iter(items));
/// let seen: Result<Vec<String>, ()> = stream.collect().await;
/// assert_eq!(seen, Ok(vec!["3".to_owned(), "5".to_owned()]));
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Guardrail<T>: Send {
    /// Takes the next item, and releases items that may pass.
    fn push(&mut self, item: T, out: &mut GuardrailOutput<T>) -> Decision;

    /// Ends the input. Held items are released now, or later from [`Guardrail::poll_ready`].
    ///
    /// `end` states whether the input was complete.
    fn finish(&mut self, end: UpstreamEnd, out: &mut GuardrailOutput<T>) -> Decision;

    /// Returns whether the guardrail can take the next item or, after [`Guardrail::finish`], is
    /// done. Always ready by default.
    ///
    /// While it is pending, the guardrail receives no item, and upstream is not polled. It is
    /// called whenever the stream is polled. A guardrail that waits must wake `cx` later, and keep
    /// its state in itself, so that an abandoned poll loses nothing. Dropping the stream drops the
    /// guardrail.
    fn poll_ready(&mut self, cx: &mut Context<'_>, out: &mut GuardrailOutput<T>) -> Poll<Decision> {
        let _ = (cx, out);
        Poll::Ready(Decision::Continue)
    }

    /// Returns the size of the held data. Nothing by default.
    fn held(&self) -> WithheldInfo {
        WithheldInfo::NOTHING
    }
}

/// Whether the stream continues after a guardrail.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Decision {
    /// The stream continues.
    Continue,
    /// The stream ends with this reason, after the released items.
    ///
    /// Later guardrails receive [`UpstreamEnd::Refused`].
    End(Cow<'static, str>),
}

/// The items that a guardrail releases.
#[derive(Debug)]
pub struct GuardrailOutput<T>(pub(crate) VecDeque<T>);

impl<T> GuardrailOutput<T> {
    /// Releases an item, after all items released before.
    pub fn put(&mut self, item: T) {
        self.0.push_back(item);
    }
}

impl<T> Default for GuardrailOutput<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}
