//! Tokens that replace redacted text, and the way back.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A store of redacted texts and their tokens, such as `[email_1]`. It serves text that goes to a
/// model without names and numbers, and whose answer returns with them.
///
/// Clones share their content. Equal matches have one token. Each match takes a lock. Text that
/// looked like a token before anything was redacted is mistaken for one afterwards.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use llm_stream_guard::lifecycle::{Recogniser, Redactor, Substitute, Vault};
/// let vault = Vault::default();
/// let name = Recogniser::new("name", "Ann Lee").substitute(Substitute::token(&vault));
/// let mut prompt = String::new();
/// Redactor::of([name])?.redact("Greet Ann Lee.", &mut prompt)?;
/// assert_eq!(prompt, "Greet [name_1].");
/// let (mut answer, mut restorer) = (String::new(), Redactor::restoring(&vault)?);
/// for piece in ["Hello, [na", "me_1]!"] {
///     restorer.push(piece, &mut answer)?;
/// }
/// restorer.finish(&mut answer);
/// assert_eq!(answer, "Hello, Ann Lee!");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Vault {
    kept: Arc<Mutex<Kept>>,
}

struct Kept {
    /// Tokens by name and match.
    tokens: HashMap<(String, String), String>,
    /// How many of each name.
    counts: HashMap<String, usize>,
    left: usize,
}

impl Vault {
    /// A vault of at most `limit` bytes, names and matches counted. What comes when it is full
    /// is redacted for good.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let kept = Kept { tokens: HashMap::new(), counts: HashMap::new(), left: limit };
        Self { kept: Arc::new(Mutex::new(kept)) }
    }

    /// Returns the tokens given out so far, each with the text it replaces.
    pub(super) fn given(&self) -> Vec<(String, String)> {
        let kept = self.lock();
        let given = kept.tokens.iter().map(|((_, text), token)| (token.clone(), text.clone()));
        given.collect()
    }

    /// The token for a match; none if the vault is full.
    pub(super) fn token(&self, name: &str, text: &str) -> Option<String> {
        let mut kept = self.lock();
        let key = (name.to_owned(), text.to_owned());
        if let Some(token) = kept.tokens.get(&key) {
            return Some(token.clone());
        }
        kept.left = kept.left.checked_sub(name.len())?.checked_sub(text.len())?;
        let count = kept.counts.entry(key.0.clone()).or_default();
        *count = count.saturating_add(1);
        let token = format!("[{name}_{count}]");
        kept.tokens.insert(key, token.clone());
        Some(token)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Vault {
    /// Keeps at most 1 MiB.
    fn default() -> Self {
        Self::with_limit(1 << 20)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // No text: it is what must not be seen.
        f.debug_struct("Vault").field("tokens", &self.lock().tokens.len()).finish_non_exhaustive()
    }
}
