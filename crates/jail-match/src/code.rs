//! Code fences and inline code, tracked incrementally over content text.
//!
//! * A fence follows CommonMark: three or more backticks or tildes at the start of a line, with at
//!   most three blanks before. A line of at least as many of the same character closes it.
//! * Inline code begins with a run of backticks and ends with the next run of that length. Unlike
//!   in CommonMark it ends with its line at the latest, so a stray backtick hides nothing after it.
//! * Unlike in CommonMark, three or more backticks in the middle of a line that are not closed on
//!   it begin a fence, because models write that.
//!
//! | text | state after it |
//! |---|---|
//! | `a ` | `Text` |
//! | `` a `b `` | `Inline(1)`: markers are hidden |
//! | `` a `b` `` | `Text` |
//! | `` ```rust `` | `Info`, up to the end of the line |
//! | `` ```rust⏎code `` | `Fence` |
//! | `` ```rust⏎code⏎``` `` | `Closing`, if nothing else follows on the line |

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeState {
    Text,
    /// Inside inline code that a run of this many backticks opened.
    Inline(u32),
    /// On the opening line of a fence, after its run.
    Info(Ticks),
    Fence(Ticks),
    /// After a run that closes the fence, if nothing else is on its line.
    Closing(Ticks),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    byte: u8,
    count: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Start { indent: u8 },
    Middle,
}

/// A tracker of lines, fences and inline code. `Copy`, so that a caller can look ahead on a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code {
    state: CodeState,
    line: Line,
    /// Whether the line holds only blanks so far.
    blank: bool,
    /// A run of ticks that may continue in the next text, and whether it began its line.
    run: Option<(Ticks, bool)>,
}

impl Default for Code {
    fn default() -> Self {
        Self { state: CodeState::Text, line: Line::Start { indent: 0 }, blank: true, run: None }
    }
}

impl Code {
    /// Returns whether text without newlines and backticks leaves the state unchanged.
    pub(crate) fn is_settled(self) -> bool {
        !self.blank && self.run.is_none() && !matches!(self.state, CodeState::Closing(_))
    }

    /// Returns whether a marker at this place would be inside code.
    pub(crate) fn hides(mut self) -> bool {
        self.close_run();
        self.state != CodeState::Text
    }

    /// Returns whether the next byte is the first of a line.
    pub(crate) fn at_line_start(self) -> bool {
        self.line == Line::Start { indent: 0 } && self.run.is_none()
    }

    /// Returns whether the line holds only blanks so far.
    pub(crate) fn at_blank_line(self) -> bool {
        self.blank
    }

    /// Reads the next piece of text.
    pub(crate) fn advance(&mut self, mut text: &[u8]) {
        let next = |text: &[u8]| match text {
            [b'\n' | b'`', ..] => Some(0),
            text => memchr::memchr2(b'\n', b'`', text),
        };
        while let Some(at) = next(text) {
            let (within, rest) = text.split_at(at);
            self.within(within);
            match rest[0] {
                b'\n' => self.newline(),
                _ => self.backtick(),
            }
            text = &rest[1..];
        }
        self.within(text);
    }

    /// Reads text without newlines and backticks.
    pub(crate) fn within(&mut self, mut text: &[u8]) {
        while let Some(&first) = text.first() {
            if let Some((ticks, _)) = &mut self.run {
                let more = text.iter().take_while(|&&b| b == ticks.byte).count();
                ticks.count = ticks.count.saturating_add(more as u32);
                text = &text[more..];
                if !text.is_empty() {
                    self.close_run();
                }
                continue;
            }
            match (self.line, first) {
                (Line::Start { indent }, b' ') if indent < 3 => {
                    self.line = Line::Start { indent: indent + 1 };
                }
                (Line::Start { .. }, b'~') => self.begin_run(b'~', true),
                _ => {
                    self.line = Line::Middle;
                    let visible = |byte| !matches!(byte, b' ' | b'\t' | b'\r');
                    let closing = matches!(self.state, CodeState::Closing(_));
                    if (self.blank || closing) && text.iter().copied().any(visible) {
                        self.blank = false;
                        self.reopen();
                    }
                    return;
                }
            }
            text = &text[1..];
        }
    }

    fn backtick(&mut self) {
        if let Some((ticks, _)) = &mut self.run
            && ticks.byte == b'`'
        {
            ticks.count = ticks.count.saturating_add(1);
            return;
        }
        self.close_run();
        let begins_line = self.line != Line::Middle;
        self.reopen();
        self.blank = false;
        if begins_line || !matches!(self.state, CodeState::Fence(_)) {
            self.begin_run(b'`', begins_line);
        }
    }

    fn begin_run(&mut self, byte: u8, begins_line: bool) {
        (self.line, self.blank) = (Line::Middle, false);
        self.run = Some((Ticks { byte, count: 1 }, begins_line));
    }

    /// Returns to the fence, because its closing run has more text on its line.
    fn reopen(&mut self) {
        if let CodeState::Closing(ticks) = self.state {
            self.state = CodeState::Fence(ticks);
        }
    }

    fn newline(&mut self) {
        self.close_run();
        (self.line, self.blank) = (Line::Start { indent: 0 }, true);
        self.state = match self.state {
            CodeState::Fence(ticks) | CodeState::Info(ticks) => CodeState::Fence(ticks),
            // Models open fences in the middle of a line.
            CodeState::Inline(count) if count >= 3 => CodeState::Fence(Ticks { byte: b'`', count }),
            CodeState::Text | CodeState::Inline(_) | CodeState::Closing(_) => CodeState::Text,
        };
    }

    fn close_run(&mut self) {
        let Some((run, began_line)) = self.run.take() else { return };
        let tick = run.byte == b'`';
        self.state = match self.state {
            CodeState::Text if began_line && run.count >= 3 => CodeState::Info(run),
            CodeState::Text if tick => CodeState::Inline(run.count),
            CodeState::Inline(n) if tick && n == run.count => CodeState::Text,
            // A backtick on the opening line shows that the run was inline code and not a fence.
            CodeState::Info(open) if tick && open.byte == b'`' => {
                if open.count == run.count {
                    CodeState::Text
                } else {
                    CodeState::Inline(open.count)
                }
            }
            CodeState::Fence(open)
                if began_line && open.byte == run.byte && run.count >= open.count =>
            {
                CodeState::Closing(open)
            }
            other => other,
        };
    }
}

/// The fence or inline code that contains an opener.
///
/// A body reads the text after its end with this, to learn whether the code is closed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCode(Code);

/// The fate of the code that contains a call, as the text after the call shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeEnd {
    /// The code is still open.
    Open,
    /// The code is closed after this many bytes of the text.
    Closed(usize),
    /// The line ended without the end of inline code: the backtick opened none.
    Never,
}

impl OpenCode {
    /// Returns the code that is open after the text that `code` has read.
    pub(crate) fn around(mut code: Code) -> Option<Self> {
        code.close_run();
        (code.state != CodeState::Text).then_some(Self(code))
    }

    /// Reads the text that follows. The answer does not depend on how the text is cut.
    pub fn read(&mut self, text: &str) -> CodeEnd {
        let Self(code) = self;
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                code.close_run();
                if matches!(code.state, CodeState::Inline(..=2)) {
                    return CodeEnd::Never;
                }
            }
            code.advance(&[byte]);
            // A run of ticks is decided by the byte after it.
            if code.run.is_none() && code.state == CodeState::Text {
                return CodeEnd::Closed(at);
            }
        }
        CodeEnd::Open
    }

    /// Returns whether the code is closed if the text ends here.
    #[must_use]
    pub fn is_closed(self) -> bool {
        let Self(mut code) = self;
        code.close_run();
        matches!(code.state, CodeState::Text | CodeState::Closing(_))
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, CodeEnd, OpenCode};

    fn hidden_after(text: &str) -> bool {
        let mut whole = Code::default();
        whole.advance(text.as_bytes());
        let mut bytes = Code::default();
        for b in text.as_bytes() {
            bytes.advance(&[*b]);
        }
        assert_eq!(whole, bytes, "chunking changed the state after {text:?}");
        whole.hides()
    }

    #[test]
    fn fences_and_inline_code_hide_text_as_in_markdown() {
        for (text, hidden) in [
            ("plain", false),
            ("`x", true),
            ("`x`", false),
            ("``x`", true),
            ("`x\n", false),
            ("```\ncode", true),
            ("```rust\ncode\n```", true),
            ("```rust\ncode\n```\n", false),
            ("   ```\ncode", true),
            ("    ```\ncode", true),
            ("~~~\ncode\n```\n", true),
            ("~~~\ncode\n~~~~ \n", false),
            ("   ~~~\ncode", true),
            ("    ~~~\ncode", false),
            ("```\n   ```\n", false),
            ("```\n    ```\n", true),
            ("````\n```\n", true),
            ("```\n``` x\n", true),
            ("a ```html\nb", true),
            ("a ```html\nb\n```\n", false),
            ("a ```b``` c\n", false),
            ("```a`b", true),
            ("```a```b", false),
            ("a ~~~\nb", false),
            ("~~a", false),
            ("~~~ ```a", true),
        ] {
            assert_eq!(hidden_after(text), hidden, "{text:?}");
        }
    }

    #[test]
    fn code_around_a_call_is_closed_by_ticks_and_not_by_a_line() {
        for (before, after, end) in [
            ("`", "` b", Some(1)),
            ("`", "`", Some(1)),
            ("`", "``", None),
            ("`", " b", None),
            ("`", "\n`", None),
            ("``", "` ``", Some(4)),
            ("```\n", "\n``` \nb", Some(5)),
            ("```\n", "\n```", Some(4)),
            ("```\n", "\n``` x\n", None),
            ("a ```xml\n", "\n```\n", Some(4)),
        ] {
            let mut code = Code::default();
            code.advance(before.as_bytes());
            let open = OpenCode::around(code).unwrap();
            for step in [1, 2, 99] {
                let (mut code, mut at, mut seen) = (open, 0, CodeEnd::Open);
                while at < after.len() && seen == CodeEnd::Open {
                    let next = (at + step).min(after.len());
                    seen = match code.read(&after[at..next]) {
                        CodeEnd::Closed(len) => CodeEnd::Closed(at + len),
                        other => other,
                    };
                    at = next;
                }
                let closed = match seen {
                    CodeEnd::Closed(at) => Some(at),
                    CodeEnd::Never => None,
                    CodeEnd::Open => code.is_closed().then_some(after.len()),
                };
                assert_eq!(closed, end, "{before:?} {after:?} by {step}");
            }
        }
        assert_eq!(OpenCode::around(Code::default()), None);
    }
}
