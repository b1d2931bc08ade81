//! Store of tokens that replace redacted text and can be restored.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A store of redacted texts and their tokens, such as `[email_1]`. A model receives a prompt with
/// tokens in place of names and numbers, and the tokens in its answer are replaced by the original
/// texts.
///
/// Clones share their content. Equal matches have one token. Each match takes a lock. If the
/// original text contains text in the form of a token, that text is mistaken for a token when the
/// answer is restored.
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
    /// Number of tokens of each name.
    counts: HashMap<String, usize>,
    left: usize,
}

impl Vault {
    /// Creates a vault of at most `limit` bytes of names and matches. If the vault is full, further
    /// matches cannot be restored.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let kept = Kept { tokens: HashMap::new(), counts: HashMap::new(), left: limit };
        Self { kept: Arc::new(Mutex::new(kept)) }
    }

    /// Returns the tokens created so far, each with the text it replaces.
    pub(super) fn given(&self) -> Vec<(String, String)> {
        let kept = self.lock();
        let given = kept.tokens.iter().map(|((_, text), token)| (token.clone(), text.clone()));
        given.collect()
    }

    /// Returns the token for a match, or `None` if the vault is full.
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
    /// Creates a vault of at most 1 MiB.
    fn default() -> Self {
        Self::with_limit(1 << 20)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The texts are not printed, because they are confidential.
        f.debug_struct("Vault").field("tokens", &self.lock().tokens.len()).finish_non_exhaustive()
    }
}
