//! Calls in sequence, however upstream interleaves their pieces.

use std::collections::VecDeque;

use llm_stream_guard::chat::Balance;

use super::parts::Part;

/// The most bytes of arguments that wait for their turn.
const MOST: usize = 1 << 20;

/// Gives a call its turn when the arguments of the one before it are whole, or nothing else can
/// come of them: so every piece of arguments belongs to the call that began last.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: Option<(u32, Balance)>,
    waiting: VecDeque<Waiting>,
    /// Bytes of arguments in there.
    held: usize,
}

/// A call that waits for its turn.
#[derive(Debug)]
struct Waiting {
    index: u32,
    id: String,
    name: String,
    arguments: String,
}

impl Turns {
    /// Takes the next part, and calls `on` with the parts whose turn it is.
    pub(super) fn take(&mut self, part: Part<'_>, on: &mut impl FnMut(Part<'_>)) {
        match part {
            Part::Call { index, .. } if self.open.as_ref().is_none_or(|it| it.1.is_closed()) => {
                self.open = Some((index, Balance::default()));
                on(part);
            }
            Part::Call { index, id, name } => {
                let (id, name) = (id.to_owned(), name.to_owned());
                self.waiting.push_back(Waiting { index, id, name, arguments: String::new() });
            }
            Part::Arguments { index, text } => self.arguments(index, text, on),
            part => {
                self.rest(on);
                self.open = None;
                on(part);
            }
        }
    }

    fn arguments(&mut self, index: u32, text: &str, on: &mut impl FnMut(Part<'_>)) {
        if let Some((open, balance)) = &mut self.open
            && *open == index
        {
            balance.feed(text);
            on(Part::Arguments { index, text });
            while self.open.as_ref().is_some_and(|it| it.1.is_closed()) && self.next(on) {}
        } else if let Some(call) = self.waiting.iter_mut().find(|call| call.index == index) {
            call.arguments.push_str(text);
            self.held += text.len();
            if self.held > MOST {
                self.rest(on);
            }
        } else {
            tracing::warn!("a piece of a call that is over was dropped");
        }
    }

    /// The calls that wait: nothing more is to be waited for.
    pub(super) fn rest(&mut self, on: &mut impl FnMut(Part<'_>)) {
        while self.next(on) {}
    }

    /// Whether a call waited, whose turn it is now.
    fn next(&mut self, on: &mut impl FnMut(Part<'_>)) -> bool {
        let Some(Waiting { index, id, name, arguments }) = self.waiting.pop_front() else {
            return false;
        };
        self.held -= arguments.len();
        let mut balance = Balance::default();
        balance.feed(&arguments);
        self.open = Some((index, balance));
        on(Part::Call { index, id: &id, name: &name });
        if !arguments.is_empty() {
            on(Part::Arguments { index, text: &arguments });
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Part, Turns};

    /// Returns the output for pieces, each with a call's index and its name or arguments.
    fn told(pieces: &[(u32, &str)]) -> Vec<String> {
        let mut told = Vec::new();
        let mut on = |part: Part<'_>| match part {
            Part::Call { index, name, .. } => told.push(format!("{index}:{name}")),
            Part::Arguments { text, .. } => {
                if let Some(last) = told.last_mut() {
                    last.push_str(text);
                }
            }
            Part::Text(text) => told.push(text.to_owned()),
            _ => {}
        };
        let mut turns = Turns::default();
        for &(index, text) in pieces {
            let part = match text.strip_prefix('=') {
                Some(name) => Part::Call { index, id: "c", name },
                None if index == 9 => Part::Text(text),
                None => Part::Arguments { index, text },
            };
            turns.take(part, &mut on);
        }
        turns.rest(&mut on);
        told
    }

    #[test]
    fn interleaved_call_fragments_are_emitted_call_by_call() {
        let mixed = [
            (0, "=f"),
            (1, "=g"),
            (0, "{\"a\":"),
            (1, "{\"b\": \"}\\\""),
            (2, "=h"),
            (0, "1}"),
            (2, "{}"),
            (1, "\"}"),
        ];
        assert_eq!(told(&mixed), ["0:f{\"a\":1}", "1:g{\"b\": \"}\\\"\"}", "2:h{}"]);
    }

    #[test]
    fn unfinished_call_ends_before_text_or_at_the_end() {
        let cut = [(0, "=f"), (0, "{\"a\":"), (1, "=g"), (1, "{}"), (9, "So."), (0, "late")];
        assert_eq!(told(&cut), ["0:f{\"a\":", "1:g{}", "So."]);
        assert_eq!(told(&cut[..4]), ["0:f{\"a\":", "1:g{}"]);
    }

    #[test]
    fn waiting_fragments_are_limited() {
        let much = "x".repeat(MOST + 1);
        let told = told(&[(0, "=f"), (1, "=g"), (1, &much), (0, "{}"), (1, "y")]);
        assert_eq!(told[0], "0:f");
        assert_eq!(told[1].len(), "1:g".len() + MOST + 2);
    }
}
