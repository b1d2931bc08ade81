//! Texts whose special tokens a server left out: the words that stood between the tokens remain.
//!
//! ```text
//! <|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi
//! analysishmassistantfinalHi        the same without special tokens: `harmony`
//! ```

use toolcall_parsers::grammars;

/// The role that message headers name.
const ROLE: &str = "assistant";

/// Returns the names of the families that may have written `text`, if their special tokens were
/// left out. The words that show it come from the families' files.
pub(crate) fn stripped(text: &str) -> Vec<String> {
    let text = text.trim_start();
    let mut names: Vec<String> = Vec::new();
    for grammar in grammars() {
        let Some(messages) = &grammar.family().messages else { continue };
        let begins = messages.channels.iter().any(|channel| text.starts_with(channel.as_str()));
        let next = |channel: &String| text.contains(&format!("{ROLE}{channel}"));
        if grammar.family().special_tokens && begins && messages.channels.iter().any(next) {
            names.push(grammar.name().to_owned());
        }
    }
    for format in think_filter::formats() {
        let label = format.label.as_deref().filter(|label| label.ends_with('\n'));
        if label.is_some_and(|label| format.special_tokens && text.starts_with(label)) {
            names.push(format.name.to_string());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::stripped;

    #[test]
    fn words_between_special_tokens_show_the_family() {
        for (text, family) in [
            ("analysisNeed it.assistantcommentary to=functions.f json{}", Some("harmony")),
            ("analysishmassistantfinalHi", Some("harmony")),
            ("thought\nI think.\nHi", Some("gemma4")),
            ("analysis of the text", None),
            ("thoughtful words\nand more", None),
            ("", None),
        ] {
            let found = stripped(text);
            match family {
                Some(family) => assert!(found.iter().any(|name| name == family), "{found:?}"),
                None => assert_eq!(found, [""; 0], "{text:?}"),
            }
        }
    }
}
