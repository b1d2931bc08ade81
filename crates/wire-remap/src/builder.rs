//! The builder of a table, which collects markers and options and checks and compiles them.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};

use crate::{
    error::{Problem, RemapTableError},
    fnv::{BASIS, hashed},
    pair::{MarkerPair, Mode, Role, Settings, Truncated},
    rules, spelling,
    table::RemapTable,
    words::Compiled,
};

impl RemapTable {
    /// Creates a builder without pairs.
    #[must_use]
    pub fn builder() -> RemapTableBuilder {
        RemapTableBuilder::new()
    }

    /// Creates a builder with the pairs of [`hermes`](Self::hermes).
    #[must_use]
    pub fn hermes_builder() -> RemapTableBuilder {
        Self::builder()
            .block(("<tool_call>", "[[CALL]]"), ("</tool_call>", "[[/CALL]]"))
            .block(("<toolcall>", "[[TOOLCALL]]"), ("</toolcall>", "[[/TOOLCALL]]"))
    }

    /// Returns the table of the Hermes tool format, in exact mode.
    ///
    /// It writes `<tool_call>` and `</tool_call>` as `[[CALL]]` and `[[/CALL]]`. The compact
    /// spelling `<toolcall>` becomes `[[TOOLCALL]]`.
    #[must_use]
    pub fn hermes() -> Self {
        Self::hermes_builder().build_unchecked()
    }

    /// Returns the same pairs in [`Mode::Plain`]: plain replacement without escapes.
    #[must_use]
    pub fn hermes_plain() -> Self {
        Self::hermes_builder().mode(Mode::Plain).build_unchecked()
    }
}

/// A builder of a [`RemapTable`], which collects pairs and options.
///
/// ```
/// use wire_remap::RemapTable;
/// let table = RemapTable::builder()
///     .block(("<tool_call>", "[[CALL]]"), ("</tool_call>", "[[/CALL]]"))
///     .pair("<|separator|>", "[[SEPARATOR]]")
///     .accept_garbled()
///     .build()?;
/// assert_eq!(table.encode("<|separator|>"), "[[SEPARATOR]]");
/// assert_eq!(table.decode("[[ call ]]"), "<tool_call>");
/// # Ok::<(), wire_remap::RemapTableError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RemapTableBuilder {
    pairs: Vec<MarkerPair>,
    settings: Settings,
    nonce: Option<String>,
}

impl RemapTableBuilder {
    pub(crate) fn new() -> Self {
        let settings = Settings {
            mode: Mode::default(),
            escape: '~',
            truncated: Truncated::default(),
            garbled: false,
        };
        Self { pairs: Vec::new(), settings, nonce: None }
    }

    /// Adds a pair with [`Role::Other`].
    #[must_use]
    pub fn pair(self, canonical: &str, wire: &str) -> Self {
        self.add(Role::Other, canonical, wire)
    }

    /// Adds the opener and the closer of a block, each as (canonical, wire).
    #[must_use]
    pub fn block(self, open: (&str, &str), close: (&str, &str)) -> Self {
        self.add(Role::Open, open.0, open.1).add(Role::Close, close.0, close.1)
    }

    fn add(mut self, role: Role, canonical: &str, wire: &str) -> Self {
        self.pairs.push(MarkerPair {
            canonical: canonical.to_owned(),
            wire: wire.to_owned(),
            role,
        });
        self
    }

    /// Sets the mode. The default is [`Mode::Exact`].
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = mode;
        self
    }

    /// Sets the escape character of exact mode. The default is `~`.
    ///
    /// Encoding inserts it into literal wire markers. No marker may contain it.
    #[must_use]
    pub fn escape(mut self, escape: char) -> Self {
        self.settings.escape = escape;
        self
    }

    /// Sets the handling of damaged wire markers. The default is [`Truncated::Diagnose`].
    #[must_use]
    pub fn truncated(mut self, truncated: Truncated) -> Self {
        self.settings.truncated = truncated;
        self
    }

    /// Makes decoding accept spellings that models drift into: `[[call]]`, `[[Call]]`,
    /// `[[ CALL ]]`.
    ///
    /// In exact mode, encoding then escapes literal text of those spellings as well.
    #[must_use]
    pub fn accept_garbled(mut self) -> Self {
        self.settings.garbled = true;
        self
    }

    /// Puts a session token into every wire marker, as in `[[CALL:nonce]]`.
    ///
    /// Text from outside the session can then not forge a marker. A nonce has 1 to 32 ASCII letters
    /// and digits. [`RemapTable::version`] ignores it.
    #[must_use]
    pub fn nonce(mut self, nonce: &str) -> Self {
        self.nonce = Some(nonce.to_owned());
        self
    }

    /// Checks and compiles the table. The cost is quadratic in the number of pairs.
    ///
    /// # Errors
    ///
    /// Returns an error if
    ///
    /// - a marker is empty, occurs twice, contains another, or could overlap another or itself,
    /// - a marker may occur in JSON outside of strings, or contains the escape character,
    /// - the table has no pair or more than [`RemapTable::MAX_ENTRIES`],
    /// - the nonce is malformed.
    ///
    /// The forms that [`accept_garbled`](Self::accept_garbled) and [`truncated`](Self::truncated)
    /// add obey the same rules.
    pub fn build(self) -> Result<RemapTable, RemapTableError> {
        let fail = |entry, marker: &str, problem| {
            Err(RemapTableError { entry, marker: marker.to_owned(), problem })
        };
        if self.pairs.is_empty() {
            return fail(0, "", Problem::NoEntries);
        }
        if self.pairs.len() > RemapTable::MAX_ENTRIES {
            return fail(RemapTable::MAX_ENTRIES, "", Problem::TooManyEntries);
        }
        for (entry, pair) in self.pairs.iter().enumerate() {
            let signs = [&pair.canonical, &pair.wire].into_iter().find(|text| is_json_syntax(text));
            if let Some(marker) = signs {
                return fail(entry, marker, Problem::JsonSyntax);
            }
        }
        let version = version(&self.pairs, &self.settings);
        let Self { mut pairs, settings, nonce } = self;
        if let Some(nonce) = &nonce {
            let fits = (1..=32).contains(&nonce.len());
            if !fits || !nonce.bytes().all(|b| b.is_ascii_alphanumeric()) {
                return fail(0, nonce, Problem::BadNonce);
            }
            for pair in pairs.iter_mut().filter(|pair| !pair.wire.is_empty()) {
                pair.wire = spelling::with_nonce(&pair.wire, nonce);
            }
        }
        rules::check(&pairs, &settings)?;
        Ok(RemapTable { inner: Arc::new(Compiled::new(pairs, settings, version)) })
    }

    /// Compiles one of the tables of this file without checks. A test builds the same tables with
    /// checks.
    fn build_unchecked(self) -> RemapTable {
        let version = version(&self.pairs, &self.settings);
        RemapTable { inner: Arc::new(Compiled::new(self.pairs, self.settings, version)) }
    }
}

/// Returns whether a JSON document may contain the text outside of its strings.
///
/// Such text consists of brackets, numbers and literals like `true`. A literal may be cut by the
/// ends of the text.
fn is_json_syntax(text: &str) -> bool {
    const WORDS: [&str; 3] = ["true", "false", "null"];
    let sign = |scalar: char| "{}[]:, \t\n\r".contains(scalar);
    let is_number = |run: &str| {
        run.contains(|scalar: char| scalar.is_ascii_digit() || "+-.".contains(scalar))
            && run.chars().all(|scalar| scalar.is_ascii_digit() || "+-.eE".contains(scalar))
    };
    let runs: Vec<&str> = text.split(sign).collect();
    let may_be = |(n, run): (usize, &&str)| {
        let (first, last) = (n == 0, Some(n) == runs.len().checked_sub(1));
        let is_word = WORDS.iter().any(|word| match (first, last) {
            (true, true) => word.contains(run),
            (true, false) => word.ends_with(run),
            (false, true) => word.starts_with(run),
            (false, false) => word == run,
        });
        run.is_empty() || is_word || is_number(run)
    };
    !text.is_empty() && runs.iter().enumerate().all(may_be)
}

/// Returns a fingerprint (FNV-1a) of the pairs and settings.
fn version(pairs: &[MarkerPair], settings: &Settings) -> u64 {
    let mut hash = BASIS;
    let mut feed = |bytes: &[u8]| {
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = hashed(hash, byte);
        }
    };
    for pair in pairs {
        feed(pair.canonical.as_bytes());
        feed(pair.wire.as_bytes());
        feed(&[pair.role as u8]);
    }
    feed(&[settings.mode as u8, settings.truncated as u8, u8::from(settings.garbled)]);
    feed(settings.escape.encode_utf8(&mut [0; 4]).as_bytes());
    hash
}
