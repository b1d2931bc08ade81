//! A guardrail with an asynchronous check of text.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    ending::{UpstreamEnd, WithheldInfo},
    guardrail::{Decision, Guardrail, GuardrailOutput},
    limits::MAX_TEXTS,
    passages::{CheckDelivery, Passage, Text, Windows},
    unwind::catch,
};

type Checking = Pin<Box<dyn Future<Output = Decision> + Send>>;
type Read<T> = Box<dyn Fn(&T, &mut dyn FnMut(u64, &str)) + Send>;

/// A guardrail that passes text to an asynchronous check, passage by passage.
///
/// The check may ask a model or a service, on the runtime that polls the stream. If asking fails,
/// the check decides whether the stream continues.
///
/// One check runs at a time and is polled with the stream. Upstream is not polled while a full
/// passage waits for its check. An abandoned poll loses nothing of the check, and dropping the
/// stream drops it.
///
/// ```
/// use std::num::NonZeroUsize;
/// use stream_lifecycle::{Decision, Lifecycle, Passage, Window, Windows};
/// use tokio_stream::StreamExt;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// /// A check that could ask a model.
/// async fn is_kind(passage: Passage) -> Decision {
///     tokio::task::yield_now().await;
///     if passage.text.contains("idiot") {
///         return Decision::End("unkind".into());
///     }
///     Decision::Continue
/// }
/// let size = NonZeroUsize::new(8).ok_or(std::io::Error::other("zero"))?;
/// let rail = Window::over_text(Windows::chars(size).context(8), is_kind);
/// let items = ["You are ", "a true i", "diot, so"].map(|item| Ok::<_, ()>(item.to_owned()));
/// let stream = Lifecycle::new("call-1").enforce(rail).wrap(tokio_stream::iter(items));
/// let seen: Result<Vec<String>, ()> = stream.collect().await;
/// assert_eq!(seen, Ok(vec!["You are ".to_owned(), "a true i".to_owned()]));
/// # Ok(())
/// # })
/// # }
/// ```
pub struct Window<T> {
    windows: Windows,
    read: Read<T>,
    check: Box<dyn FnMut(Passage) -> Checking + Send>,
    texts: BTreeMap<u64, Text>,
    /// Waiting items, each with the offset up to which each of its texts must be checked.
    waiting: VecDeque<(T, Vec<(u64, u64)>)>,
    /// The running check, its text, and the offset of its end.
    checking: Option<(Checking, u64, u64)>,
    finished: bool,
}

impl<T: AsRef<str>> Window<T> {
    /// Creates a guardrail over a stream of text.
    pub fn over_text<F>(windows: Windows, check: impl FnMut(Passage) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        Self::new(windows, |item: &T, on| on(0, item.as_ref()), check)
    }
}

impl<T> Window<T> {
    /// Creates a guardrail over items.
    ///
    /// `read` reports the text that an item adds to each of its texts. Items without text keep
    /// their place.
    pub fn new<F>(
        windows: Windows,
        read: impl Fn(&T, &mut dyn FnMut(u64, &str)) + Send + 'static,
        mut check: impl FnMut(Passage) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        Self {
            windows,
            read: Box::new(read),
            check: Box::new(move |passage| Box::pin(check(passage))),
            texts: BTreeMap::new(),
            waiting: VecDeque::new(),
            checking: None,
            finished: false,
        }
    }

    /// Releases the items whose texts are checked.
    fn release(&mut self, out: &mut GuardrailOutput<T>) {
        let checked =
            |&(id, end): &(u64, u64)| self.texts.get(&id).is_none_or(|text| text.checked >= end);
        while self.waiting.front().is_some_and(|(_, ends)| ends.iter().all(checked)) {
            self.waiting.pop_front().into_iter().for_each(|(item, _)| out.put(item));
        }
    }

    /// Returns the next passage to check: the id of its text, and the length of its new text.
    fn next(&mut self) -> Option<(u64, usize)> {
        let Self { texts, windows, waiting, finished, .. } = self;
        let mut full = texts.iter_mut().filter_map(|(&id, text)| Some((id, text.fill(windows)?)));
        if let Some(full) = full.next() {
            return Some(full);
        }
        let unchecked: usize = texts.values().map(|text| text.new_text().len()).sum();
        if !*finished && unchecked <= windows.limit {
            return None;
        }
        let rest = |id: u64| Some(texts.get(&id)?.new_text().len()).filter(|len| *len > 0);
        let first = waiting.front().into_iter().flat_map(|(_, ends)| ends.iter());
        let mut first = first.map(|(id, _)| *id).chain(texts.keys().copied());
        let rest = first.find_map(|id| Some((id, rest(id)?)));
        rest.or_else(|| {
            let mut texts = texts.iter().filter(|_| *finished);
            texts.find(|(_, text)| text.lacks_last()).map(|(&id, _)| (id, 0))
        })
    }

    /// Begins the next check, if there is one.
    fn begin(&mut self) -> bool {
        let Some((id, len)) = self.next() else { return false };
        let Some(text) = self.texts.get_mut(&id) else { return false };
        let (passage, upto) = text.take(len, self.finished, &self.windows);
        self.checking = Some(((self.check)(passage), id, upto));
        true
    }
}

impl<T: Send> Guardrail<T> for Window<T> {
    fn push(&mut self, item: T, out: &mut GuardrailOutput<T>) -> Decision {
        let Self { read, texts, .. } = self;
        let mut ends = Vec::new();
        read(&item, &mut |id, new| {
            if new.is_empty() {
                return;
            }
            texts.entry(id).or_insert_with(|| Text::new(id)).push(new);
            ends.push((id, 0));
        });
        for (id, end) in &mut ends {
            // The text of a running check is neither new nor checked.
            let running = self.checking.as_ref().filter(|(_, of, _)| of == id);
            if let Some(text) = self.texts.get(id) {
                let from = running.map_or(text.checked, |(_, _, upto)| *upto);
                *end = from + text.new_text().len() as u64;
            }
        }
        if self.texts.len() > MAX_TEXTS {
            return Decision::End("texts_limit".into());
        }
        match self.windows.delivery {
            CheckDelivery::StreamFirst => out.put(item),
            CheckDelivery::Hold => {
                self.waiting.push_back((item, ends));
                self.release(out);
            }
        }
        Decision::Continue
    }

    fn finish(&mut self, _: UpstreamEnd, _: &mut GuardrailOutput<T>) -> Decision {
        self.finished = true;
        Decision::Continue
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>, out: &mut GuardrailOutput<T>) -> Poll<Decision> {
        loop {
            if let Some((checking, id, upto)) = &mut self.checking {
                let Poll::Ready(decision) = checking.as_mut().poll(cx) else { break };
                if let Some(text) = self.texts.get_mut(id) {
                    text.checked = *upto;
                }
                self.checking = None;
                if decision != Decision::Continue {
                    return Poll::Ready(decision);
                }
                self.release(out);
            }
            if !self.begin() {
                return Poll::Ready(Decision::Continue);
            }
        }
        // A check runs. More items may arrive until one would wait for it.
        if self.finished || self.next().is_some() {
            return Poll::Pending;
        }
        Poll::Ready(Decision::Continue)
    }

    fn held(&self) -> WithheldInfo {
        let items = WithheldInfo { items: self.waiting.len(), ..WithheldInfo::NOTHING };
        if self.waiting.is_empty() {
            return items;
        }
        let new: usize = self.texts.values().map(|text| text.new_text().len()).sum();
        let running = self
            .checking
            .as_ref()
            .and_then(|(_, id, upto)| Some(upto - self.texts.get(id)?.checked));
        WithheldInfo::bytes(new.saturating_add(running.unwrap_or(0) as usize), "check").and(items)
    }
}

impl<T> Drop for Window<T> {
    fn drop(&mut self) {
        // Each item is dropped separately, because two panics at once would abort the process.
        for (item, _) in self.waiting.drain(..) {
            let _ = catch(|| drop(item));
        }
    }
}

impl<T> fmt::Debug for Window<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("windows", &self.windows).finish_non_exhaustive()
    }
}
