//! Texts whose special tokens a server left out: the words that stood between the tokens remain.
//!
//! ```text
//! <|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Hi
//! analysishmassistantfinalHi        the same without special tokens: `harmony`
//! ```

use toolcall_parsers::grammars;

/// The role that message headers name.
const ROLE: &str = "assistant";

/// Returns the names of the families that may have written one of `texts`, if their special tokens
/// were left out. The words that show it come from the families' files.
pub(crate) fn stripped(texts: &[&str]) -> Vec<String> {
    let any = |shows: &dyn Fn(&str) -> bool| texts.iter().any(|text| shows(text.trim_start()));
    let mut names: Vec<String> = Vec::new();
    for grammar in grammars() {
        let Some(messages) = &grammar.family().messages else { continue };
        let channels = &messages.channels;
        let shows = |text: &str| {
            channels.iter().any(|channel| text.starts_with(channel.as_str()))
                && channels.iter().any(|channel| text.contains(&format!("{ROLE}{channel}")))
        };
        if grammar.family().special_tokens && any(&shows) {
            names.push(grammar.name().to_owned());
        }
    }
    for format in think_filter::formats() {
        let label = format.label.as_deref().filter(|label| label.ends_with('\n'));
        if format.special_tokens && label.is_some_and(|label| any(&|text| text.starts_with(label)))
        {
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
            let found = stripped(&[text]);
            match family {
                Some(family) => assert!(found.iter().any(|name| name == family), "{found:?}"),
                None => assert_eq!(found, [""; 0], "{text:?}"),
            }
        }
        let text = "analysishmassistantfinalHi";
        assert_eq!(stripped(&[text, "plain", text]), stripped(&[text]));
    }
}
