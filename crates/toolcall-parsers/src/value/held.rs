//! Accounting: the bytes that a literal holds, and its position.

use super::{
    Brackets, InValue,
    container::Container,
    dialect::Quote,
    prefix::StringPrefix,
    transcoder::{StringMode, Transcoder, TranscoderState},
};

impl Transcoder {
    /// Returns the number of bytes read but not emitted, without white space between tokens.
    pub(super) fn held(&self) -> usize {
        let string = self.mode == StringMode::String;
        match self.state {
            _ if self.is_keeping() => self.since,
            TranscoderState::Text(text) if string => self.held_quote(text),
            TranscoderState::Bare if string => self.scalar.len(),
            TranscoderState::Text(_)
            | TranscoderState::Bare
            | TranscoderState::Number
            | TranscoderState::BareKey => self.since,
            TranscoderState::After
                if !self.scalar.is_empty() || self.key && self.mode == StringMode::Key =>
            {
                self.since
            }
            _ => 0,
        }
    }

    /// Returns whether text before the current token is still held.
    pub(super) fn is_keeping(&self) -> bool {
        self.is_open_kind() || !self.word.is_empty() || self.lead.ends_with(": ")
    }

    /// Returns the number of bytes in buffers.
    pub(super) fn buffered(&self) -> usize {
        let texts = [&self.kept, &self.scalar, &self.blanks, &self.lead];
        texts.iter().fold(self.path.len(), |sum, text| sum.saturating_add(text.len()))
    }

    /// Returns the current position, or `None` inside syntax that JSON does not have.
    pub(super) fn place(&self) -> Option<InValue> {
        let mut brackets = Brackets::none();
        for frame in &self.frames {
            brackets = match frame {
                Container::Dict | Container::Brace => brackets.push(true)?,
                Container::List(_) => brackets.push(false)?,
                _ => return None,
            };
        }
        let quote = match self.state {
            TranscoderState::Text(text)
                if text.triple || text.prefix != StringPrefix::default() =>
            {
                return None;
            }
            TranscoderState::Text(text) => match text.quote {
                Quote::Byte(quote) => Some(quote),
                Quote::Own(_) => return None,
            },
            _ => None,
        };
        Some(InValue { brackets, quote })
    }
}
