//! Conversion of literals to JSON while they arrive, for every syntax except strict JSON.
//!
//! Held text: numbers; in [`Syntax::Literal`] keys, and values that may not be strings. In Python
//! also the first item after `{` or `(`: the next token shows the kind of bracket.

use alloc::string::String;

use smallvec::SmallVec;

use super::{
    Note, Scanned, Syntax, ValueFault,
    container::Container,
    dialect::{Between, BlanksBefore, Tolerated, ValueDialect},
    escape::Batch,
    number,
    own_end::OwnString,
    prefix::StringPrefix,
    scalar,
    string::Text,
};
use crate::typing::{Path, TypeSet};

/// The text being read, the position in it, and the output.
pub(super) struct Cx<'a, 'o> {
    pub(super) dialect: &'a ValueDialect<'a>,
    pub(super) text: &'a str,
    pub(super) i: usize,
    pub(super) out: Batch<'o>,
}

impl<'a> Cx<'a, '_> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.i..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.i).copied()
    }

    /// Moves forward by `len` bytes.
    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the result is an index of the fed text or its length"
    )]
    pub(super) fn advance(&mut self, len: usize) {
        self.i += len;
    }

    pub(super) fn more(&self) -> Flow {
        Err(Scanned::More { used: self.i })
    }

    /// Returns a fault at the character `ahead` bytes from here.
    pub(super) fn bad(&self, ahead: usize) -> Flow {
        Err(Scanned::Bad { at: self.i, fault: ValueFault::Syntax }.after(ahead))
    }

    pub(super) fn inexpressible(&self, ahead: usize) -> Flow {
        Err(Scanned::Bad { at: self.i, fault: ValueFault::Inexpressible }.after(ahead))
    }
}

/// The result of a step: continue, or return this to the caller.
pub(super) type Flow = Result<(), Scanned>;

/// The position in a literal. For `{'a'}`: `Value`, `Element`, `Text`, `After`, `Done`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TranscoderState {
    /// Before a value of any type.
    Value,
    /// Before a key, an element or a closing bracket.
    Element,
    Number,
    /// Inside a key without quotes.
    BareKey,
    Text(Text),
    /// Inside a value without quotes.
    Bare,
    /// After a value or a key.
    After,
    Done,
}

/// The kind of text to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Top {
    Value,
    /// An object. A null is an empty one.
    Object,
    /// Keyword arguments after `(`, or one object in their place.
    Keywords,
    /// A string as plain text.
    Text,
    Key,
}

/// The conversion of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StringMode {
    /// The text is emitted as a JSON string.
    String,
    /// The text is emitted as plain text.
    Plain,
    /// The text is a key, which is held until its value begins.
    Key,
    /// The text is converted to a declared type when it is complete.
    Typed(TypeSet),
    /// The complete text is JSON if it is valid JSON, and a string otherwise.
    Guess,
}

/// A reader of one literal.
#[derive(Debug, Clone)]
pub(super) struct Transcoder {
    pub(super) top: Top,
    pub(super) state: TranscoderState,
    pub(super) frames: SmallVec<[Container; 8]>,
    /// Whether the text is certainly a literal, so that JSON may be emitted.
    pub(super) certain: bool,
    /// Whether the next or last string is a key.
    pub(super) key: bool,
    /// JSON that is emitted before the next output.
    pub(super) lead: String,
    /// JSON of the first item in a bracket of undecided kind.
    pub(super) kept: String,
    /// A number, a held key, or a value whose type is undecided.
    pub(super) scalar: String,
    /// JSON of a word whose end is not certain yet.
    pub(super) word: &'static str,
    /// White space after a quote that may belong to the string.
    pub(super) blanks: String,
    pub(super) mode: StringMode,
    /// Whether only white space of the value was read.
    pub(super) blank: bool,
    pub(super) overlong: bool,
    pub(super) path: Path,
    /// First bytes of texts that may end the string.
    pub(super) stops: [u8; 3],
    /// The search for the end of a string in the family's own quotes.
    pub(super) own: OwnString,
    /// Number of bytes that plain text may still have.
    pub(super) room: usize,
    /// Number of bytes since the start of the held token. During [`Self::feed`] the offset in the
    /// fed text is subtracted.
    pub(super) since: usize,
    between: Between,
    /// A bit for each tolerance that was reported.
    tolerated: u8,
}

impl Transcoder {
    pub(super) fn new(top: Top) -> Self {
        let mut new = Self {
            top,
            state: TranscoderState::Value,
            frames: SmallVec::new(),
            certain: false,
            key: false,
            lead: String::new(),
            kept: String::new(),
            scalar: String::new(),
            word: "",
            blanks: String::new(),
            mode: StringMode::String,
            blank: true,
            overlong: false,
            path: Path::default(),
            stops: [0; 3],
            own: OwnString::default(),
            room: usize::MAX,
            since: 0,
            between: Between::Blanks,
            tolerated: 0,
        };
        new.restart(top);
        new
    }

    /// Restores the state of a new reader. The buffers' memory is reused.
    pub(super) fn restart(&mut self, top: Top) {
        self.frames.clear();
        for text in [&mut self.lead, &mut self.kept, &mut self.scalar, &mut self.blanks] {
            text.clear();
        }
        self.path.clear();
        (self.top, self.state, self.word, self.mode) =
            (top, TranscoderState::Value, "", StringMode::String);
        (self.certain, self.key, self.between) = (false, false, Between::Blanks);
        (self.tolerated, self.own.looked, self.room, self.overlong) = (0, 0, usize::MAX, false);
        if top == Top::Keywords {
            self.frames.push(Container::Keywords);
            self.lead.push('{');
            (self.state, self.key) = (TranscoderState::Element, true);
        }
    }

    /// Reads more text of the literal.
    pub(super) fn feed(&mut self, cx: &mut Cx<'_, '_>) -> Scanned {
        let stop = loop {
            let step = match self.state {
                TranscoderState::Text(text) => self.text(text, cx),
                TranscoderState::Number => self.number(cx),
                TranscoderState::BareKey => self.bare_key(cx),
                TranscoderState::Bare => self.bare(cx),
                TranscoderState::Value | TranscoderState::Element => self.value(cx),
                TranscoderState::After => self.after(cx),
                TranscoderState::Done => Err(Scanned::End { used: cx.i }),
            };
            if let Err(stop) = step {
                break stop;
            }
        };
        cx.out.flush();
        self.since = self.since.wrapping_add(cx.i);
        stop
    }

    /// Skips to the next token.
    pub(super) fn skip_blanks(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        let from = cx.i;
        let step = self.skip(cx);
        self.since = self.since.wrapping_sub(cx.i.wrapping_sub(from));
        step
    }

    fn skip(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        if !cx.dialect.is(Syntax::Lenient) {
            cx.advance(crate::cursor::blanks(cx.rest()));
            return if cx.peek().is_none() { cx.more() } else { Ok(()) };
        }
        let said = self.tolerated & bit(Tolerated::Comment) != 0;
        match self.between.skip(cx.text, &mut cx.i, said) {
            BlanksBefore::Token => Ok(()),
            BlanksBefore::Comment => self.tolerate(Tolerated::Comment, cx),
            BlanksBefore::More => cx.more(),
        }
    }

    /// Reports once that the text is certainly a literal. Must precede other changes: the step is
    /// repeated.
    pub(super) fn certain(&mut self, cx: &Cx<'_, '_>) -> Flow {
        if core::mem::replace(&mut self.certain, true) || self.is_plain() {
            return Ok(());
        }
        Err(Scanned::Noted { used: cx.i, note: Note::Begun })
    }

    /// Reports once that `tolerance` is used, like [`Self::certain`].
    pub(super) fn tolerate(&mut self, tolerance: Tolerated, cx: &Cx<'_, '_>) -> Flow {
        let said = self.tolerated & bit(tolerance) != 0;
        if said || !cx.dialect.is(Syntax::Lenient) {
            return Ok(());
        }
        self.tolerated |= bit(tolerance);
        // Readers of plain text do not handle notes.
        let note = Note::Tolerated(tolerance);
        if self.is_plain() { Ok(()) } else { Err(Scanned::Noted { used: cx.i, note }) }
    }

    pub(super) fn is_plain(&self) -> bool {
        matches!(self.top, Top::Text | Top::Key)
    }

    fn value(&mut self, cx: &mut Cx<'_, '_>) -> Flow {
        self.skip_blanks(cx)?;
        let Some(byte) = cx.peek() else { return cx.more() };
        if !self.is_keeping() {
            self.since = 0_usize.wrapping_sub(cx.i);
        }
        let python = cx.dialect.is(Syntax::Python);
        let outermost = self.frames.is_empty();
        let Ok(quote) = cx.dialect.quote(cx.rest()) else { return cx.more() };
        let fits = match self.top {
            _ if !outermost => true,
            Top::Value | Top::Keywords => true,
            Top::Object => matches!(byte, b'{' | b'N' | b'n' | b'u'),
            Top::Key if cx.dialect.bare_keys() => true,
            Top::Text | Top::Key => quote.is_some() || python && byte.is_ascii_alphabetic(),
        };
        if !fits {
            return cx.bad(0);
        }
        let keywords = self.frames.last() == Some(&Container::Keywords);
        let bare_key = self.top == Top::Key || self.key && !outermost;
        match byte {
            b']' | b'}' | b')'
                if self.state == TranscoderState::Element && self.may_close(byte) =>
            {
                return self.close_empty(byte, cx);
            }
            _ if keywords && self.key => return self.keyword(byte, cx),
            _ if self.close_at_call_end(cx)? => return Ok(()),
            _ if quote.is_some() => return self.begin_quoted(StringPrefix::default(), quote, cx),
            b'[' | b'{' => return self.open(byte, cx),
            b'(' if python => return self.open(byte, cx),
            _ if bare_key && cx.dialect.bare_keys() => {
                if cx.dialect.is(Syntax::Lenient) && !scalar::begins_key(cx.rest()) {
                    return cx.bad(0);
                }
                self.tolerate(Tolerated::BareKey, cx)?;
                self.scalar.clear();
                self.state = TranscoderState::BareKey;
            }
            _ if cx.dialect.is(Syntax::Literal) && !(outermost && self.top == Top::Object) => {
                self.certain(cx)?;
                self.begin_bare(cx);
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => {
                self.scalar.clear();
                self.state = TranscoderState::Number;
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => return self.word(cx),
            _ => return cx.bad(0),
        }
        Ok(())
    }

    /// Starts a keyword, or the object in place of all keywords.
    fn keyword(&mut self, byte: u8, cx: &mut Cx<'_, '_>) -> Flow {
        if byte == b'{' && self.lead == "{" {
            self.lead.clear();
            self.retake(Container::Group);
            self.key = false;
            return self.open(byte, cx);
        }
        if !cx.rest().starts_with(|c: char| c == '_' || c.is_alphabetic()) {
            return cx.bad(0);
        }
        self.scalar.clear();
        self.state = TranscoderState::BareKey;
        Ok(())
    }

    /// Emits JSON, or holds it while the innermost bracket's kind is undecided.
    pub(super) fn put(&mut self, piece: &str, cx: &mut Cx<'_, '_>) {
        if self.is_open_kind() { self.kept.push_str(piece) } else { cx.out.put(piece) }
    }

    /// Decides the kind of a bracket whose first item is too long for a key.
    pub(super) fn bound(&mut self, cx: &mut Cx<'_, '_>) {
        if self.kept.len() > cx.dialect.limits.name {
            let brace = self.frames.last() == Some(&Container::Brace);
            self.decide(if brace { Container::Set } else { Container::Group });
            self.lead_in(cx);
            cx.out.put(&self.kept);
            self.kept.clear();
        }
    }

    /// Returns the text that completes the emitted JSON, if one exists. `tail` is the unread text.
    pub(super) fn closing(&self, tail: &str) -> Option<String> {
        if !self.certain {
            let arguments = matches!(self.top, Top::Object | Top::Keywords);
            return arguments.then(|| String::from("{}"));
        }
        // The opening brace of keywords is emitted with the first value.
        let mut text = String::from(if self.lead.starts_with('{') { "{" } else { "" });
        let cut = !tail.trim_ascii().is_empty();
        if self.is_open_kind() {
            return None;
        }
        match self.state {
            TranscoderState::Text(_) | TranscoderState::Bare if self.mode != StringMode::String => {
            }
            TranscoderState::Text(_) if self.key => text.push_str("\": null"),
            TranscoderState::Text(_) | TranscoderState::Bare => text.push('"'),
            // A cut key is omitted. A cut word is omitted unless a value must follow.
            TranscoderState::Value if cut && self.lead.is_empty() => return None,
            TranscoderState::Element | TranscoderState::BareKey | TranscoderState::Done => {}
            // Output that was not emitted yet is omitted.
            TranscoderState::Value if !self.lead.is_empty() => {}
            TranscoderState::Value => text.push_str("null"),
            TranscoderState::Number if self.key => return None,
            TranscoderState::Number => text.push_str(&number::to_json(&self.scalar).ok()?),
            TranscoderState::After
                if self.key && (self.mode == StringMode::Key || !self.scalar.is_empty()) => {}
            TranscoderState::After if self.key => text.push_str(": null"),
            TranscoderState::After => {
                text.clone_from(&self.lead);
                text.push_str(&self.scalar);
                text.push_str(self.word);
            }
        }
        for frame in self.frames.iter().rev() {
            text.push_str(frame.json().1);
        }
        Some(text)
    }
}

fn bit(tolerance: Tolerated) -> u8 {
    1 << tolerance as u8
}
