//! How things are measured: interleaved repetitions in one process, medians of ratios.

use std::{hint::black_box, time::Instant};

use llm_stream_guard::{Event, Guard, Sink, Token, TokenKind};

/// Collects what comes out, as a caller would.
#[derive(Default)]
pub(crate) struct Collect {
    pub(crate) content: String,
    pub(crate) arguments: String,
}

impl Collect {
    /// Room for all that a text of `len` bytes can give, so that collecting does not allocate.
    pub(crate) fn room(len: usize) -> Self {
        let room = || String::with_capacity(len * 2 + 64);
        Self { content: room(), arguments: room() }
    }

    pub(crate) fn clear(&mut self) {
        self.content.clear();
        self.arguments.clear();
    }
}

impl Sink for Collect {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Content(text) | Event::Reasoning(text) => self.content.push_str(text),
            Event::CallArguments { fragment, .. } => self.arguments.push_str(fragment),
            _ => {}
        }
    }
}

/// The least that anyone can do: look for a few bytes in every chunk, and copy it.
pub(crate) fn floor(chunks: &[&str], out: &mut Collect) {
    for chunk in chunks {
        if memchr::memchr3(b'<', b'`', b'\n', black_box(chunk.as_bytes())).is_some() {
            black_box(());
        }
        out.content.push_str(chunk);
    }
}

/// Feeds text.
pub(crate) fn feed(guard: &mut Guard, chunks: &[&str], out: &mut impl Sink) {
    for chunk in chunks {
        let pushed = guard.push(black_box(chunk), out);
        debug_assert!(pushed.is_ok());
    }
}

/// The chunks as tokens: those in `markers` are marker tokens.
pub(crate) fn as_tokens<'w>(chunks: &[&'w str], markers: &[String]) -> Vec<Token<'w>> {
    let token = |text: &&'w str| {
        let is_marker = markers.iter().any(|marker| marker == text);
        let kind = if is_marker { TokenKind::Marker } else { TokenKind::Text };
        Token { id: 0, text, kind }
    };
    chunks.iter().map(token).collect()
}

/// Feeds tokens.
pub(crate) fn feed_tokens(guard: &mut Guard, tokens: &[Token<'_>], out: &mut impl Sink) {
    for token in tokens {
        let pushed = guard.push_token(Token { text: black_box(token.text), ..*token }, out);
        debug_assert!(pushed.is_ok());
    }
}

/// Feeds the same as bytes.
pub(crate) fn feed_bytes(guard: &mut Guard, chunks: &[&str], out: &mut Collect) {
    for chunk in chunks {
        let pushed = guard.push_bytes(black_box(chunk.as_bytes()), out);
        debug_assert!(pushed.is_ok());
    }
}

/// Seconds that `run` takes.
pub(crate) fn seconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}

/// The median of a list that is not empty; 0 for one that is.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The median ratio of what `run` takes to what `base` takes, `repeats` times one after the other,
/// and the median seconds of `run`.
pub(crate) fn ratio(repeats: usize, mut base: impl FnMut(), mut run: impl FnMut()) -> (f64, f64) {
    let (mut ratios, mut times) = (Vec::new(), Vec::new());
    for _ in 0..repeats {
        let (base, run) = (seconds(&mut base), seconds(&mut run));
        ratios.push(run / base);
        times.push(run);
    }
    (median(ratios), median(times))
}
