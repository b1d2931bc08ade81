//! Grammars for constrained decoding, from a family's templates and the schemas of tools.
//!
//! ```text
//! templates + schemas -> intermediate form -> GBNF, Lark, structural tag, regular expression
//! ```

mod class;
mod dfa;
mod format;
mod integers;
mod ir;
mod markup;
mod matcher;
mod members;
mod message;
mod notes;
mod random;
mod shape;
mod text;
mod thought;
mod values;
mod walk;
mod write;

use llm_stream_guard::{AnswerRules, Profile};

pub(crate) use self::format::format_grammar;
pub use self::write::LazyGbnf;
use self::{ir::Rules, message::Message, notes::Notes};
use crate::ExportError;

/// A grammar of a model's answer, which can be written for each of the targets.
///
/// Every text that it admits parses to complete calls of declared tools.
#[derive(Debug, Clone)]
pub struct CallGrammar {
    rules: Rules,
    markup: Vec<String>,
    special: Vec<String>,
    notes: Notes,
}

impl CallGrammar {
    /// Returns the restrictions of the schemas that the grammar does not check, each as a phrase.
    #[must_use]
    pub fn widened(&self) -> &[String] {
        &self.notes.widened
    }

    /// Returns the valid calls that the grammar does not admit, each as a phrase.
    #[must_use]
    pub fn narrowed(&self) -> &[String] {
        &self.notes.narrowed
    }

    /// Returns the family's markup, which values must not contain where nothing escapes it.
    #[must_use]
    pub fn markup(&self) -> &[String] {
        &self.markup
    }

    /// Returns the markers that are single tokens of the models' vocabulary, written as `<...>`,
    /// for [`CallGrammar::lark`]. Empty if the family's markers are ordinary text.
    #[must_use]
    pub fn special_tokens(&self) -> &[String] {
        &self.special
    }

    /// Returns whether the grammar admits exactly this text.
    #[must_use]
    pub fn admits(&self, text: &str) -> bool {
        matcher::admits(&self.rules, text)
    }

    /// Returns a text that the grammar admits. `next` returns a random number below its argument.
    pub fn random_text(&self, mut next: impl FnMut(usize) -> usize) -> String {
        random::text(&self.rules, &mut next)
    }
}

/// Returns the grammar of the answers of `profile`'s models under `rules`. For a subset of the
/// tools (`allowed_tools`), pass the subset.
///
/// [`GuardBuilder::rules`](llm_stream_guard::GuardBuilder::rules) returns the rules of a request.
/// The guard of the same builder reads the texts that a server generates under the grammar.
///
/// ```
/// use family_export::call_grammar;
/// use llm_stream_guard::{Guard, profile_for_model};
/// use serde_json::json;
///
/// let body = json!({"tool_choice": "required", "tools": [
///     {"type": "function", "function": {"name": "tide", "parameters": {"type": "object"}}}]});
/// let profile = profile_for_model("Qwen/Qwen3-8B")?;
/// let builder = Guard::builder(&profile).request(&body);
/// let grammar = call_grammar(&profile, &builder.rules())?;
/// assert!(grammar.gbnf().contains("<tool_call>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error that names a part of the family or the request which no grammar expresses.
pub fn call_grammar(profile: &Profile, rules: &AnswerRules) -> Result<CallGrammar, ExportError> {
    let mut notes = Notes::default();
    let message = Message::new(profile, rules)?;
    let rules = message.rules(&mut notes)?;
    let (markup, special) = (message.markup(), message.special_tokens());
    Ok(CallGrammar { rules, markup, special, notes })
}
