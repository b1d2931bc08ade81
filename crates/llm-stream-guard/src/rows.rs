//! Rows of whole texts: many messages, each of which may have its own settings.
//!
//! ```text
//! text                    finish    family
//! <think>abc              length             reasoning "abc", length, reasoning open
//! <tool_call>{"name": ..  stop      hermes   a call
//! ff fe                   stop               an error: the bytes are not UTF-8
//! ```

mod counts;
mod settings;

use std::{fmt, sync::Arc};

use toolcall_parsers::{Ids, Sink};

pub use self::{
    counts::RowCounts,
    settings::{RowSetting, RowSettings},
};
use crate::{End, Guard, LimitError, MessageEnd, chat::end_of, limits::MAX_ROW_GUARDS};

/// The reason why a row has no message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowError {
    /// The text is not UTF-8 from this offset on.
    Utf8(usize),
    /// A setting of the row is unknown or malformed.
    Settings(String),
    /// The message exceeds a limit of the guard.
    Limit(LimitError),
}

impl fmt::Display for RowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8(at) => write!(f, "the text is not UTF-8 at byte {at}"),
            Self::Settings(error) => f.write_str(error),
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RowError {}

/// A function that compiles the guard for a row's `family`, `model`, `tools` and `prompt`.
pub type CompileRow = Arc<dyn Fn(&RowSettings<'_>) -> Result<Guard, String> + Send + Sync>;

/// A reader of rows. Rows with the same settings share a guard.
#[derive(Clone)]
pub struct RowReader {
    compile: CompileRow,
    end: End,
    kept: Vec<KeptGuard>,
}

impl fmt::Debug for RowReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowReader").field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}

/// A guard, or the reason why it cannot be compiled, with the settings it was compiled for.
#[derive(Clone)]
struct KeptGuard {
    /// Family, model, tools and prompt.
    of: [Option<String>; 4],
    made: Result<(Guard, Ids), String>,
    /// Whether the guard has the ids of a row's key.
    is_keyed: bool,
}

impl KeptGuard {
    fn is_of(&self, row: &RowSettings<'_>) -> bool {
        let of = self.of.each_ref().map(Option::as_deref);
        of == [row.family, row.model, row.tools, row.prompt]
    }
}

impl RowReader {
    /// Creates a reader. `end` is how answers ended whose row does not say so.
    pub fn new(end: End, compile: CompileRow) -> Self {
        Self { compile, end, kept: Vec::new() }
    }

    /// Reads a text. `sink` receives the events of its message.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::Arc;
    /// use llm_stream_guard::{End, Guard, Message, RowReader, RowSettings, profile};
    /// let guard = Guard::builder(&profile("qwen3")?).build()?;
    /// let mut reader = RowReader::new(End::Stop, Arc::new(move |_| Ok(guard.clone())));
    /// let mut message = Message::default();
    /// let row = RowSettings { finish: Some("length"), ..RowSettings::default() };
    /// let end = reader.read(b"<think>abc", &row, &mut |event: llm_stream_guard::Event<'_>| message.collect(event))?;
    /// assert_eq!((message.reasoning.as_str(), end.finish(), end.open.name()), ("abc", "length", "reasoning"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The text is not UTF-8, a setting is refused, or the message exceeds a limit. Only events
    /// before a limit may have been emitted. The reader can read the next row.
    pub fn read<S: Sink + ?Sized>(
        &mut self,
        text: &[u8],
        row: &RowSettings<'_>,
        sink: &mut S,
    ) -> Result<MessageEnd, RowError> {
        let text =
            std::str::from_utf8(text).map_err(|error| RowError::Utf8(error.valid_up_to()))?;
        let end = self.end_of(row);
        let guard = self.guard(row)?;
        let read = guard.push(text, sink).and_then(|()| guard.finish(end, sink));
        let message_end = guard.message_end();
        guard.reset();
        read.map_err(RowError::Limit)?;
        Ok(message_end.unwrap_or(MessageEnd { end, open: crate::OpenAtEnd::Nothing }))
    }

    /// Returns a new guard for a row whose text is read as tokens.
    ///
    /// # Errors
    /// A setting of the row is refused.
    pub fn guard_of(&mut self, row: &RowSettings<'_>) -> Result<Guard, RowError> {
        self.guard(row).map(|guard| guard.clone())
    }

    /// Returns how the answer of a row ended.
    #[must_use]
    pub fn end_of(&self, row: &RowSettings<'_>) -> End {
        row.finish.map_or(self.end, end_of)
    }

    /// Returns the guard for a row, with the row's ids.
    fn guard(&mut self, row: &RowSettings<'_>) -> Result<&mut Guard, RowError> {
        let at = match self.kept.iter().position(|kept| kept.is_of(row)) {
            Some(at) => at,
            None => self.keep(row),
        };
        // Most rows have the settings of the row before them.
        self.kept.swap(0, at);
        let Some(KeptGuard { made, is_keyed, .. }) = self.kept.first_mut() else {
            return Err(RowError::Settings(String::new()));
        };
        let (guard, ids) = made.as_mut().map_err(|error| RowError::Settings(error.clone()))?;
        match row.key {
            Some(key) => guard.set_ids(ids_of(key.as_bytes()).after(ids.earlier())),
            None if *is_keyed => guard.set_ids(ids.clone()),
            None => {}
        }
        *is_keyed = row.key.is_some();
        Ok(guard)
    }

    /// Compiles the guard of a row and returns its place.
    fn keep(&mut self, row: &RowSettings<'_>) -> usize {
        if self.kept.len() >= MAX_ROW_GUARDS {
            self.kept.clear();
        }
        let made = (self.compile)(row).map(|guard| {
            let ids = guard.calls().options().ids.clone();
            (guard, ids)
        });
        let of = [row.family, row.model, row.tools, row.prompt];
        self.kept.push(KeptGuard {
            of: of.map(|text| text.map(str::to_owned)),
            made,
            is_keyed: false,
        });
        self.kept.len() - 1
    }
}

/// Returns ids that depend on the row's key and on the number of the call alone.
fn ids_of(key: &[u8]) -> Ids {
    let hash = key
        .iter()
        .fold(FNV_OFFSET, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(FNV_PRIME));
    Ids::new(move |_: &str, n: u32| {
        let mut rest = (hash ^ u128::from(n)).wrapping_mul(FNV_PRIME);
        rest ^= rest >> 64;
        let digits = (0..24).map(|_| {
            let digit = char::from_digit((rest % 36) as u32, 36);
            rest /= 36;
            digit.unwrap_or('0')
        });
        format!("call_{}", digits.collect::<String>())
    })
}

/// The parameters of the hash FNV-1a with 128 bits.
const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
