//! Grammars of all families with texts that they admit and refuse, a JSON object a line: for scripts
//! that ask the targets' own packages.
//!
//! ```sh
//! cargo run -p family-export --example grammar_texts -- tools.json 20
//! ```

use family_export::{CallGrammar, call_grammar};
use llm_stream_guard::{
    AnswerRules, Parallel, Profile, ToolChoice, Tools, profile, toolcall_parsers::families,
};
use serde_json::{Value, json};
use stream_laws::Random;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("expected a file of tools")?;
    let texts = arguments.next().map_or(Ok(20), |text| text.parse())?;
    let tools = Tools::from_json(&serde_json::from_str(&std::fs::read_to_string(file)?)?)?;
    let choices = [("required", ToolChoice::Required), ("auto", ToolChoice::Auto)];
    for family in families() {
        let profile = profile(family.name)?;
        for (label, choice) in &choices {
            let parallel = Parallel::Any;
            let request =
                AnswerRules { choice: choice.clone(), parallel, ..AnswerRules::required(&tools) };
            let line = match call_grammar(&profile, &request) {
                Ok(grammar) => line(&profile, label, &grammar, texts),
                Err(error) => {
                    json!({"family": family.name, "choice": label, "error": error.to_string()})
                }
            };
            println!("{line}");
        }
    }
    Ok(())
}

/// The grammar in each target's language, and texts.
fn line(profile: &Profile, choice: &str, grammar: &CallGrammar, texts: usize) -> Value {
    let mut random = Random::new(5);
    let (mut admitted, mut refused) = (Vec::new(), Vec::new());
    for _ in 0..texts {
        let text = grammar.random_text(|bound| random.below(bound));
        let mut damaged: Vec<char> = text.chars().collect();
        let at = random.below(damaged.len());
        match random.below(3) {
            0 if !damaged.is_empty() => drop(damaged.remove(at)),
            1 => damaged.insert(at, '<'),
            _ => damaged.truncate(at),
        }
        let damaged: String = damaged.into_iter().collect();
        if !grammar.admits(&damaged) {
            refused.push(damaged);
        }
        admitted.push(text);
    }
    let special: Vec<&str> = grammar.special_tokens().iter().map(String::as_str).collect();
    json!({
        "family": profile.name, "choice": choice, "special": special,
        "gbnf": grammar.gbnf(), "structural_tag": grammar.structural_tag(),
        "lark": grammar.lark(&[]).ok(), "lark_special": grammar.lark(&special).ok(),
        "regex": grammar.regex().ok(), "admitted": admitted, "refused": refused,
    })
}
