//! The bytes of text that a literal holds.

use super::{
    Brackets, InValue,
    container::Container,
    dialect::Quote,
    prefix::StringPrefix,
    transcoder::{StringMode, Transcoder, TranscoderState},
};

impl Transcoder {
    /// Returns the bytes read that nothing is written of yet, without the text between tokens.
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

    /// Whether what began before the token that is read is not written.
    pub(super) fn is_keeping(&self) -> bool {
        self.is_open_kind() || !self.word.is_empty() || self.lead.ends_with(": ")
    }

    /// Returns the live bytes: of texts, of open brackets, and of the path in the schema.
    pub(super) fn buffered(&self) -> usize {
        let texts = [&self.kept, &self.scalar, &self.blanks, &self.lead];
        texts.iter().fold(self.path.len(), |sum, text| sum.saturating_add(text.len()))
    }

    /// The place that the text so far ends at; none in syntax that JSON does not have.
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
