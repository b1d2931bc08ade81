//! Decoding of remapped delimiters before the cursor reads the text.
//!
//! ```text
//! [[CALL]]{}[[/CALL]]   the cursor reads <tool_call>{}</tool_call>
//! [[~CALL]]             a literal marker: text, never markup
//! ```

use jail_match::{Diagnostic, DiagnosticKind, Edge, InCode, LimitError, Sink, Stretch, Then};
use wire_remap::{DecodedPiece, MarkerDetection, Regime, RemapTable, StreamDecoder, Tally};

use super::{
    cursor::Cursor,
    input::TextInput,
    mixed_markers::Forms,
    output::Chain,
    tokens::{Token, TokenKind},
};

/// A decoder of the text of a message.
///
/// The cursor treats a decoded marker as the canonical marker, and a literal one as text.
#[derive(Debug, Clone)]
pub(super) struct RemapStage {
    decoder: StreamDecoder,
    regime: Regime,
    /// Offset of the next byte in the decoded text.
    at: u64,
    /// The limit that ended the text.
    failed: Option<LimitError>,
}

impl RemapStage {
    pub(super) fn new(table: &RemapTable, regime: &Regime) -> Self {
        let (decoder, regime) = (StreamDecoder::new(table), regime.clone());
        Self { decoder, regime, at: 0, failed: None }
    }

    pub(super) fn reset(&mut self) {
        self.decoder.reset();
        (self.at, self.failed) = (0, None);
    }

    pub(super) fn held(&self) -> usize {
        self.decoder.held()
    }

    pub(super) fn regime(&self) -> &Regime {
        &self.regime
    }

    pub(super) fn tally(&self) -> &Tally {
        self.decoder.tally()
    }

    /// This text goes past the decoder.
    pub(super) fn pass(&mut self, text: &str) {
        self.at += text.len() as u64;
    }

    pub(super) fn push(
        &mut self,
        chunk: &str,
        text: &mut TextInput,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        self.decode(|decoder, on| decoder.push(chunk, on), text, cursor, out)
    }

    pub(super) fn finish(
        &mut self,
        text: &mut TextInput,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        self.decode(|decoder, on| decoder.finish(on), text, cursor, out)
    }

    /// Runs a step of the decoder and reads its output.
    fn decode(
        &mut self,
        step: impl FnOnce(&mut StreamDecoder, &mut dyn FnMut(DecodedPiece<'_>)),
        text: &mut TextInput,
        cursor: &mut Cursor,
        out: &mut Chain<'_>,
    ) -> Result<(), LimitError> {
        let Self { decoder, at, failed, .. } = self;
        let mut result = failed.map_or(Ok(()), Err);
        step(decoder, &mut |piece| {
            // After a limit the text still counts, such as that after a stop string.
            let pushed = read((at, result.is_err()), piece, text, cursor, out);
            result = result.and(pushed);
        });
        *failed = result.err();
        result
    }
}

/// Reads a piece of the decoded text. After a failure it is only counted.
fn read(
    (at, failed): (&mut u64, bool),
    piece: DecodedPiece<'_>,
    text: &mut TextInput,
    cursor: &mut Cursor,
    out: &mut Chain<'_>,
) -> Result<(), LimitError> {
    let from = *at;
    *at += piece.text().len() as u64;
    let to = *at;
    if failed || text.ended() {
        // The text is dropped, so its former role does not matter.
        return text.push(Token::of_text(piece.text()), cursor, out);
    }
    match piece {
        // The text looks like a delimiter, but was escaped on the wire or quoted.
        DecodedPiece::Literal(_) => {
            cursor.mark(Stretch { from, to });
        }
        DecodedPiece::Suspect(_) => {
            let kind = DiagnosticKind::DamagedMarker;
            out.event(Diagnostic::new(kind, from, to - from).into());
        }
        _ => {}
    }
    if let Some(forms) = &mut out.stage {
        forms.see(piece, from, cursor.settled());
    }
    let kind = match piece {
        DecodedPiece::Marker(_) => TokenKind::Marker,
        _ => TokenKind::Text,
    };
    text.push(Token { kind, ..Token::of_text(piece.text()) }, cursor, out)
}

/// Restricts remapped openers to the places where a tool format writes them, if the regime asks for
/// it. The cursor knows lines, code fences and the ends of markup.
pub(super) fn detect(edges: &mut [Edge], table: &RemapTable, regime: &Regime) {
    if regime.detection() != Some(MarkerDetection::Structural) {
        return;
    }
    for edge in edges {
        let remapped = table.pairs().iter().any(|pair| edge.marker.starts_with(pair.canonical()));
        if remapped && matches!(edge.then, Then::Body(..)) {
            edge.in_code = InCode::Literal;
            if edge.anchor == jail_match::Anchor::Anywhere {
                edge.anchor = jail_match::Anchor::Line;
            }
        }
    }
}

/// Returns a detector of blocks that begin in one form of the delimiters and end in the other.
pub(super) fn forms(table: &RemapTable) -> Box<Forms> {
    Box::new(Forms::new(table))
}
