//! Reading a recording from a file or a pipe.

use std::io::{self, Read};

use llm_stream_guard::{
    End, Profile,
    explain::{Patience, Recording},
};

use crate::{
    args::ReadingArgs,
    error::{Error, misuse},
    limits::{MAX_FIRST_LINE, MAX_TOKEN_FILE_BYTES},
    lookup,
    parse::{self, InputFeed, Intake},
};

/// Maximum number of bytes per read.
const PIECE: usize = 64 * 1024;

/// A recording, and the first bytes of its input.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedInput {
    pub(crate) recording: Recording,
    /// The first bytes, which may name the family.
    head: Vec<u8>,
}

impl RecordedInput {
    /// Reads all of `input`, and calls `progress` with the number of bytes read.
    ///
    /// # Errors
    /// The input cannot be read.
    pub(crate) fn read(
        args: &ReadingArgs,
        input: &mut dyn Read,
        patience: Patience,
        mut progress: impl FnMut(u64),
    ) -> Result<Self, Error> {
        let recording = match args.chunk {
            Some(bytes) => Recording::in_pieces(bytes as usize),
            None => Recording::default(),
        };
        let kind = args.input_kind();
        let mut feed = InputFeed::new(kind, patience, Self { recording, head: Vec::new() });
        let (mut piece, mut read) = (vec![0; PIECE], 0);
        let mut head = Vec::new();
        loop {
            match input.read(&mut piece) {
                Ok(0) => break,
                Ok(len) => {
                    let came = piece.get(..len).unwrap_or(&piece);
                    // Markers are found among all tokens, so keep the whole recording.
                    let most =
                        if args.tokens.is_some() { MAX_TOKEN_FILE_BYTES } else { MAX_FIRST_LINE };
                    let room =
                        usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(head.len());
                    head.extend(came.iter().take(room));
                    feed.push(came);
                    read += len as u64;
                    progress(read);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(misuse(format!("{}: {error}", args.path().display()))),
            }
        }
        feed.finish(None, false);
        Ok(Self { head, ..feed.into_intake() })
    }

    /// Returns all bytes of a recording of tokens, or the first bytes of any other recording.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.head
    }

    /// Returns the profile that the first line names, if any.
    #[must_use]
    pub(crate) fn named(&self) -> Option<Profile> {
        lookup::recorded(&self.head)
    }
}

impl Intake for RecordedInput {
    fn bytes(&mut self, bytes: &[u8]) {
        self.recording.bytes(bytes);
    }

    fn json(&mut self, name: &str, data: &[u8]) {
        self.recording.json(name, data);
    }

    fn note(&mut self, note: parse::Remark<'_>) {
        self.recording.fault(match note.bytes {
            Some(bytes) => format!("{}: {bytes} bytes of the recording were left out", note.kind),
            None => format!("{}: {}", note.kind, note.message.unwrap_or_default()),
        });
    }

    fn finish(&mut self, _: Option<End>, broken: bool) {
        self.recording.finish(broken);
    }
}
