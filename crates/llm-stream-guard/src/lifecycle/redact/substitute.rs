//! Replacements for matches.

use std::{borrow::Cow, fmt, hash::Hasher, sync::Arc};

use siphasher::sip::SipHasher24;

use super::vault::Vault;

/// A match, as a substitute receives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found<'a> {
    /// Name of the recogniser.
    pub name: &'a str,
    /// The matched text, with its delimiters if it has any.
    pub text: &'a str,
}

/// The replacement for a match.
///
/// The text of a match that exceeded a limit is not kept. Every substitute replaces such a match by
/// a label.
///
/// ```
/// # #[cfg(feature = "regex")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::lifecycle::{Recogniser, Redactor, Substitute};
/// let card = Recogniser::credit_card().substitute(Substitute::mask(4));
/// let mut seen = String::new();
/// Redactor::of([card, Recogniser::email()])?
///     .redact("Card 4111 1111 1111 1111 of ann@example.org", &mut seen)?;
/// assert_eq!(seen, "Card **** **** **** 1111 of [email]");
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "regex"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct Substitute(SubstituteKind);

#[derive(Clone)]
enum SubstituteKind {
    Label(Arc<str>),
    Mask { keep: usize },
    Hash(Box<[u8; 16]>),
    Token(Vault),
    Made(Arc<dyn Fn(Found<'_>) -> String + Send + Sync>),
}

impl Substitute {
    /// Creates a substitute of a fixed text.
    pub fn label(text: impl Into<Arc<str>>) -> Self {
        Self(SubstituteKind::Label(text.into()))
    }

    /// Creates a substitute that replaces every letter and digit but the last `keep` by `*`. Other
    /// characters are kept, so that the kind of text remains visible.
    #[must_use]
    pub const fn mask(keep: usize) -> Self {
        Self(SubstituteKind::Mask { keep })
    }

    /// Creates a substitute of a name and a hash, such as `[email:7a1b...]`. Equal matches have
    /// equal hashes, so that they can be counted and joined. The hash has 64 bits of SipHash-2-4,
    /// and is not reversible without the `key`.
    #[must_use]
    pub fn hash(key: [u8; 16]) -> Self {
        Self(SubstituteKind::Hash(Box::new(key)))
    }

    /// Creates a substitute of a token, such as `[email_1]`, from which `vault` restores the match.
    /// If the vault is full, the substitute is a label.
    #[must_use]
    pub fn token(vault: &Vault) -> Self {
        Self(SubstituteKind::Token(vault.clone()))
    }

    /// Creates a substitute that calls `make`.
    pub fn with(make: impl Fn(Found<'_>) -> String + Send + Sync + 'static) -> Self {
        Self(SubstituteKind::Made(Arc::new(make)))
    }

    /// Returns the replacement for `found`.
    pub(super) fn put<'a>(&'a self, found: Found<'_>) -> Cow<'a, str> {
        let Found { name, text } = found;
        match &self.0 {
            SubstituteKind::Label(label) => Cow::Borrowed(label),
            SubstituteKind::Mask { keep } => mask(text, *keep).into(),
            SubstituteKind::Hash(key) => {
                let mut hasher = SipHasher24::new_with_key(key);
                hasher.write(text.as_bytes());
                format!("[{name}:{:016x}]", hasher.finish()).into()
            }
            SubstituteKind::Token(vault) => {
                vault.token(name, text).map_or_else(|| self.label_of(name), Cow::from)
            }
            SubstituteKind::Made(make) => make(found).into(),
        }
    }

    /// Returns the replacement for a match whose text was not kept.
    pub(super) fn label_of(&self, name: &str) -> Cow<'_, str> {
        match &self.0 {
            SubstituteKind::Label(label) => Cow::Borrowed(label),
            _ => format!("[{name}]").into(),
        }
    }
}

fn mask(text: &str, keep: usize) -> String {
    let hidden = text.chars().filter(|scalar| scalar.is_alphanumeric()).count();
    let mut hidden = hidden.saturating_sub(keep);
    let star = |scalar: char| {
        if !scalar.is_alphanumeric() || hidden == 0 {
            return scalar;
        }
        hidden = hidden.saturating_sub(1);
        '*'
    };
    text.chars().map(star).collect()
}

impl fmt::Debug for Substitute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither keys nor texts are printed.
        f.write_str(match self.0 {
            SubstituteKind::Label(_) => "Substitute::Label",
            SubstituteKind::Mask { .. } => "Substitute::Mask",
            SubstituteKind::Hash(_) => "Substitute::Hash",
            SubstituteKind::Token(_) => "Substitute::Token",
            SubstituteKind::Made(_) => "Substitute::With",
        })
    }
}
