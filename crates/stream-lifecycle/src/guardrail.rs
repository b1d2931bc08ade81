//! Item guardrails: what the consumer itself may see.

use std::{
    borrow::Cow,
    collections::VecDeque,
    task::{Context, Poll},
};

use crate::ending::{UpstreamEnd, WithheldInfo};

/// A stage in the live stream, between upstream and the collectors: it may replace items, hold
/// them, or end the stream. Collectors see what passed, so the record is guarded, too.
///
/// ```
/// use stream_lifecycle::{Decision, Guardrail, Lifecycle, GuardrailOutput, UpstreamEnd};
/// use tokio_stream::StreamExt;
/// /// Ends the stream at a word, and tells lengths instead of the other words.
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
    /// Takes the next item, and lets out what may pass.
    fn push(&mut self, item: T, out: &mut GuardrailOutput<T>) -> Decision;

    /// Nothing more comes: what is held comes out now, or never. `end` says whether that is
    /// all there was.
    fn finish(&mut self, end: UpstreamEnd, out: &mut GuardrailOutput<T>) -> Decision;

    /// Whether it can take the next item or, behind [`Guardrail::finish`], is done. Until then
    /// neither is it given one, nor is upstream polled for one. At once, unless overridden.
    ///
    /// Asked whenever the stream is polled; a guardrail that waits for something sees to it that
    /// `cx` is woken. What waits is kept in the guardrail, so that a poll that is given up loses
    /// nothing, and dropping the stream drops it.
    fn poll_ready(&mut self, cx: &mut Context<'_>, out: &mut GuardrailOutput<T>) -> Poll<Decision> {
        let _ = (cx, out);
        Poll::Ready(Decision::Continue)
    }

    /// What is held.
    fn held(&self) -> WithheldInfo {
        WithheldInfo::NOTHING
    }
}

/// Whether the stream goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum Decision {
    /// It does.
    Continue,
    /// It ends, for this reason, behind what was let out. Guardrails behind are told
    /// [`UpstreamEnd::Refused`].
    End(Cow<'static, str>),
}

/// Where a guardrail lets items out.
#[derive(Debug)]
pub struct GuardrailOutput<T>(pub(crate) VecDeque<T>);

impl<T> GuardrailOutput<T> {
    /// Lets an item pass, behind those before.
    pub fn put(&mut self, item: T) {
        self.0.push_back(item);
    }
}

impl<T> Default for GuardrailOutput<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}
