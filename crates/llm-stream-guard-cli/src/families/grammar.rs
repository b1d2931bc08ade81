//! `families --grammar`: a family as a grammar for constrained decoding.

use std::io::{self, Write};

use family_export::call_grammar;
use llm_stream_guard::{AnswerRules, Parallel, ToolChoice, profile_for_model};

use crate::{
    args::{GrammarArgs, GrammarLanguage},
    error::{Error, misuse},
    lookup,
    parse::read_tools,
};

/// Writes the grammar in `language`. Reports its differences from the schemas on standard error.
///
/// # Errors
/// The family is unknown, the tools cannot be read, or the language cannot express the family or a
/// schema.
pub(super) fn write(
    args: &GrammarArgs,
    language: GrammarLanguage,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let name = args.name.as_deref().unwrap_or_default();
    let fault = |error: &dyn std::fmt::Display| misuse(format!("--grammar {name}: {error}"));
    let profile = lookup::family(name).or_else(|unknown| match profile_for_model(name) {
        Ok(profile) => Ok(profile),
        Err(_) => Err(fault(&unknown)),
    })?;
    let path = args.tools.as_deref().ok_or_else(|| fault(&"--tools is missing"))?;
    let tools = read_tools(path)?;
    let rules = AnswerRules {
        choice: match args.choice.as_str() {
            "required" => ToolChoice::Required,
            "auto" => ToolChoice::Auto,
            "none" => ToolChoice::None,
            tool => ToolChoice::Named(tool.to_owned()),
        },
        parallel: if args.single { Parallel::One } else { Parallel::Any },
        start: args.start.unwrap_or(profile.start),
        ..AnswerRules::required(&tools)
    };
    let grammar = call_grammar(&profile, &rules).map_err(|error| fault(&error))?;
    let text = match language {
        GrammarLanguage::Gbnf => Ok(grammar.gbnf()),
        GrammarLanguage::LazyGbnf => {
            grammar.lazy_gbnf().map(|lazy| format!("{:#}\n", lazy.request_fields()))
        }
        GrammarLanguage::StructuralTag => Ok(format!("{:#}\n", grammar.structural_tag())),
        GrammarLanguage::Lark => {
            let special: Vec<&str> = grammar.special_tokens().iter().map(String::as_str).collect();
            grammar.lark(&special)
        }
        GrammarLanguage::Regex => grammar.regex().map(|regex| format!("{regex}\n")),
    };
    out.write_all(text.map_err(|error| fault(&error))?.as_bytes())?;
    let widened = grammar.widened().iter().map(|what| ("not checked", what));
    let narrowed = grammar.narrowed().iter().map(|what| ("not admitted", what));
    for (kind, what) in widened.chain(narrowed) {
        // A failure of standard error cannot be reported anywhere.
        let _ = writeln!(io::stderr(), "note: {kind}: {what}");
    }
    Ok(())
}
