//! Collecting, validating and compiling a table.

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
    /// Starts a table without pairs.
    #[must_use]
    pub fn builder() -> RemapTableBuilder {
        RemapTableBuilder::new()
    }

    /// A builder that already has the pairs of [`hermes`](Self::hermes).
    #[must_use]
    pub fn hermes_builder() -> RemapTableBuilder {
        Self::builder()
            .block(("<tool_call>", "[[CALL]]"), ("</tool_call>", "[[/CALL]]"))
            .block(("<toolcall>", "[[TOOLCALL]]"), ("</toolcall>", "[[/TOOLCALL]]"))
    }

    /// The markers of the Hermes tool format, `<tool_call>` and `</tool_call>`, as `[[CALL]]` and
    /// `[[/CALL]]`, and their compact spelling `<toolcall>` as `[[TOOLCALL]]`; exact.
    #[must_use]
    pub fn hermes() -> Self {
        Self::hermes_builder().build_unchecked()
    }

    /// The same pairs swapped as plain substrings, without escapes ([`Mode::Plain`]).
    #[must_use]
    pub fn hermes_plain() -> Self {
        Self::hermes_builder().mode(Mode::Plain).build_unchecked()
    }
}

/// Collects the pairs and options of a [`RemapTable`].
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

    /// Adds a pair that is neither opener nor closer.
    #[must_use]
    pub fn pair(self, canonical: &str, wire: &str) -> Self {
        self.add(Role::Other, canonical, wire)
    }

    /// Adds two pairs, each (canonical, wire): the opener and the closer of a block.
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

    /// Chooses exactness; [`Mode::Exact`] unless set.
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.settings.mode = mode;
        self
    }

    /// The character inserted into literal wire markers in exact mode; `~` unless set. No marker
    /// may contain it.
    #[must_use]
    pub fn escape(mut self, escape: char) -> Self {
        self.settings.escape = escape;
        self
    }

    /// What becomes of damaged wire markers; [`Truncated::Diagnose`] unless set.
    #[must_use]
    pub fn truncated(mut self, truncated: Truncated) -> Self {
        self.settings.truncated = truncated;
        self
    }

    /// Also decodes the spellings models drift into: `[[call]]`, `[[Call]]`, `[[ CALL ]]`.
    ///
    /// In exact mode literal text of those spellings is then escaped too.
    #[must_use]
    pub fn accept_garbled(mut self) -> Self {
        self.settings.garbled = true;
        self
    }

    /// Puts a per-session token into every wire marker (`[[CALL:nonce]]`), so that text from
    /// outside the session cannot forge one: 1 to 32 ASCII letters and digits.
    ///
    /// The nonce is no part of [`RemapTable::version`].
    #[must_use]
    pub fn nonce(mut self, nonce: &str) -> Self {
        self.nonce = Some(nonce.to_owned());
        self
    }

    /// Validates and compiles the table. Cost is quadratic in the number of pairs.
    ///
    /// # Errors
    ///
    /// When a marker is empty, repeated, contains another, could overlap another or itself, may occur
    /// in JSON outside of strings, or contains the escape character; when there is no pair or too many; when the nonce is
    /// malformed. Forms added by [`accept_garbled`](Self::accept_garbled) and
    /// [`truncated`](Self::truncated) obey the same rules.
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

    /// Compiles a table of this file without a check; a test builds the same tables with one.
    fn build_unchecked(self) -> RemapTable {
        let version = version(&self.pairs, &self.settings);
        RemapTable { inner: Arc::new(Compiled::new(self.pairs, self.settings, version)) }
    }
}

/// Whether a document of JSON may hold the text outside of its strings: brackets, numbers, and words
/// that only the ends of the text cut.
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

/// A fingerprint (FNV-1a) of what the table means.
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
