//! A guardrail that asks somebody else, who takes their time.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    future::Future,
    num::NonZeroUsize,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{
    ending::{UpstreamEnd, Withheld},
    guardrail::{Decision, Guardrail, Output},
};

/// What a check is shown: the next piece of a text, and what came before it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// Which text, as the items were read: a choice's number, for one.
    pub text_id: u64,
    /// The context, and behind it what is new.
    pub text: String,
    /// How many bytes of it are context, which was checked before.
    pub context: usize,
    /// Whether this is the text's last passage.
    pub last: bool,
}

/// How texts are cut into passages. None depends on how the text was cut into items, but where
/// the stream's end, or the limit on what is held, leaves a shorter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Windows {
    /// How much new text a passage has.
    pub size: NonZeroUsize,
    /// How much of what came before it is shown again.
    pub context: usize,
    /// What the two count.
    pub unit: Unit,
    /// Whether items wait for their check.
    pub delivery: CheckDelivery,
    /// How many bytes of text may wait for a check. If there is more, as when one of several
    /// texts pauses, what there is of the text that holds the others up is checked.
    pub limit: usize,
}

/// What windows are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Unit {
    /// Unicode scalars.
    #[default]
    Chars,
    /// Bytes; a passage ends before the scalar that would exceed it, and has at least one.
    Bytes,
}

/// Whether items wait for their check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CheckDelivery {
    /// They do: nothing unchecked is seen.
    #[default]
    Hold,
    /// They pass at once, and a check that refuses ends the stream behind them.
    StreamFirst,
}

impl Windows {
    /// Passages of `size` characters without context, held until they are checked; at most 1 MiB.
    #[must_use]
    pub const fn chars(size: NonZeroUsize) -> Self {
        let (unit, delivery) = (Unit::Chars, CheckDelivery::Hold);
        Self { size, context: 0, unit, delivery, limit: 1 << 20 }
    }

    /// The same in bytes.
    #[must_use]
    pub const fn bytes(size: NonZeroUsize) -> Self {
        Self { unit: Unit::Bytes, ..Self::chars(size) }
    }

    /// The same with so much of what came before in each passage.
    #[must_use]
    pub const fn context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    /// The same with items held, or not.
    #[must_use]
    pub const fn delivery(self, delivery: CheckDelivery) -> Self {
        Self { delivery, ..self }
    }

    /// The same with another limit on what waits.
    #[must_use]
    pub const fn limit(self, bytes: usize) -> Self {
        Self { limit: bytes, ..self }
    }

    /// Where `size` units of `text` end, if there are as many.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`at` is the start of a character in `text`, and its end lies in there, too; \
                  `size` is not zero"
    )]
    fn fill(&self, text: &str) -> Option<usize> {
        let size = self.size.get();
        if text.len() < size {
            return None;
        }
        match self.unit {
            Unit::Chars => {
                let mut ends = text.char_indices().map(|(at, scalar)| at + scalar.len_utf8());
                ends.nth(size - 1)
            }
            Unit::Bytes => {
                let least = text.chars().next()?.len_utf8();
                let most = size.max(least);
                (text.len() >= most)
                    .then(|| (0..=most).rev().find(|&at| text.is_char_boundary(at)))?
            }
        }
    }

    /// Where the context of what follows `text` begins.
    fn context_of(&self, text: &str) -> usize {
        let least = match self.unit {
            Unit::Bytes => text.len().saturating_sub(self.context),
            Unit::Chars => {
                let mut starts = text.char_indices().rev().map(|(at, _)| at);
                match self.context.checked_sub(1) {
                    Some(last) => starts.nth(last).unwrap_or(0),
                    None => text.len(),
                }
            }
        };
        (least..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
    }
}

type Checking = Pin<Box<dyn Future<Output = Decision> + Send>>;
type Read<T> = Box<dyn Fn(&T, &mut dyn FnMut(u64, &str)) + Send>;

/// A guardrail that gives text to an asynchronous check, passage by passage: to a model, a
/// service, anything that can be awaited, on whatever runtime polls the stream.
///
/// One check runs at a time, polled with the stream. Upstream is not polled while a full passage
/// waits for another; a poll of the stream that is given up gives nothing up of the check; a
/// stream that is dropped drops it. What a check that fails is to mean is the check's own to say.
///
/// ```
/// use std::num::NonZeroUsize;
/// use stream_lifecycle::{Decision, Lifecycle, Passage, Window, Windows};
/// use tokio_stream::StreamExt;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// /// Would ask a model.
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
    /// Items that wait, each with the offsets up to which its texts must be checked.
    waiting: VecDeque<(T, Vec<(u64, u64)>)>,
    /// The check under way, and how far it reaches in its text.
    checking: Option<(Checking, u64, u64)>,
    finished: bool,
}

/// A text that is not checked to its end.
#[derive(Default)]
struct Text {
    /// Context, then what is new.
    kept: String,
    /// How much of it is context.
    context: usize,
    /// Offset up to which it is checked.
    checked: u64,
}

impl Text {
    fn new_text(&self) -> &str {
        self.kept.get(self.context..).unwrap_or("")
    }
}

impl<T: AsRef<str>> Window<T> {
    /// A guardrail over a stream of text.
    pub fn over_text<F>(windows: Windows, check: impl FnMut(Passage) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Decision> + Send + 'static,
    {
        Self::new(windows, |item: &T, on| on(0, item.as_ref()), check)
    }
}

impl<T> Window<T> {
    /// The most texts of a stream; one with more is ended.
    const TEXTS: usize = 1024;

    /// A guardrail over items: `read` hands over what each adds to which text, as often as
    /// it likes. Items without text pass in their place.
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

    /// Lets out the items whose texts are checked.
    fn let_out(&mut self, out: &mut Output<T>) {
        let checked =
            |&(id, end): &(u64, u64)| self.texts.get(&id).is_none_or(|text| text.checked >= end);
        while self.waiting.front().is_some_and(|(_, ends)| ends.iter().all(checked)) {
            self.waiting.pop_front().into_iter().for_each(|(item, _)| out.put(item));
        }
    }

    /// The next passage to be checked: its text's id, and the length of what is new.
    fn next(&self) -> Option<(u64, usize)> {
        let full = |(&id, text): (&u64, &Text)| Some((id, self.windows.fill(text.new_text())?));
        self.texts.iter().find_map(full).or_else(|| {
            let unchecked: usize = self.texts.values().map(|text| text.new_text().len()).sum();
            if !self.finished && unchecked <= self.windows.limit {
                return None;
            }
            let rest = |id: u64| Some(self.texts.get(&id)?.new_text().len()).filter(|len| *len > 0);
            let first = self.waiting.front().into_iter().flat_map(|(_, ends)| ends.iter());
            let first = first.map(|(id, _)| *id).chain(self.texts.keys().copied());
            first.filter_map(|id| Some((id, rest(id)?))).next()
        })
    }

    /// Begins the next check, if there is one to begin.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "`len` bytes are new behind the context in `kept`, and the next context is a \
                  suffix of both; the u64 counts bytes of one text"
    )]
    fn begin(&mut self) -> bool {
        let Some((id, len)) = self.next() else { return false };
        let Some(text) = self.texts.get_mut(&id) else { return false };
        let end = text.context + len;
        let passage = Passage {
            text_id: id,
            text: text.kept[..end].to_owned(),
            context: text.context,
            last: self.finished && end == text.kept.len(),
        };
        let upto = text.checked + len as u64;
        // What was checked is the context of what follows.
        let from = self.windows.context_of(&text.kept[..end]);
        text.kept.drain(..from);
        text.context = end - from;
        self.checking = Some(((self.check)(passage), id, upto));
        true
    }
}

impl<T: Send> Guardrail<T> for Window<T> {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "offsets in one text, which has fewer than 2^64 bytes"
    )]
    fn push(&mut self, item: T, out: &mut Output<T>) -> Decision {
        let Self { read, texts, .. } = self;
        let mut ends = Vec::new();
        read(&item, &mut |id, new| {
            if new.is_empty() {
                return;
            }
            let text = texts.entry(id).or_default();
            text.kept.push_str(new);
            ends.push((id, 0));
        });
        for (id, end) in &mut ends {
            // What a running check reaches is not new any more, and not checked yet.
            let running = self.checking.as_ref().filter(|(_, of, _)| of == id);
            if let Some(text) = self.texts.get(id) {
                let from = running.map_or(text.checked, |(_, _, upto)| *upto);
                *end = from + text.new_text().len() as u64;
            }
        }
        if self.texts.len() > Self::TEXTS {
            return Decision::End("texts_limit".into());
        }
        match self.windows.delivery {
            CheckDelivery::StreamFirst => out.put(item),
            CheckDelivery::Hold => {
                self.waiting.push_back((item, ends));
                self.let_out(out);
            }
        }
        Decision::Continue
    }

    fn finish(&mut self, _: UpstreamEnd, _: &mut Output<T>) -> Decision {
        self.finished = true;
        Decision::Continue
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>, out: &mut Output<T>) -> Poll<Decision> {
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
                self.let_out(out);
            }
            if !self.begin() {
                return Poll::Ready(Decision::Continue);
            }
        }
        // One runs. More may come as long as none would have to wait for it.
        if self.finished || self.next().is_some() {
            return Poll::Pending;
        }
        Poll::Ready(Decision::Continue)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a running check reaches further than its text was checked when it began, and \
                  only its end moves that"
    )]
    fn held(&self) -> Withheld {
        let items = Withheld { items: self.waiting.len(), ..Withheld::NOTHING };
        if self.waiting.is_empty() {
            return items;
        }
        let new: usize = self.texts.values().map(|text| text.new_text().len()).sum();
        let running = self
            .checking
            .as_ref()
            .and_then(|(_, id, upto)| Some(upto - self.texts.get(id)?.checked));
        Withheld::bytes(new.saturating_add(running.unwrap_or(0) as usize), "check").and(items)
    }
}

impl<T> fmt::Debug for Window<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("windows", &self.windows).finish_non_exhaustive()
    }
}
