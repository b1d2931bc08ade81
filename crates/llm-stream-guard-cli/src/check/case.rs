//! Builds a machine for a vector: a guard with its family, policy, tools and options.

use guard_laws::{GuardMachine, TokenMachine};
use jail_match::Whitespace;
use llm_stream_guard::{
    CallOptions, CallsInCode, End, Format, Guard, GuardBuilder, InReasoning, Profile,
    ReasoningOptions, Tools, UnknownName,
};
use stream_laws::{
    json::JsonValue,
    vector::{CaseFinish, CaseKind, CaseStart, CaseTokens, CaseWhitespace, VectorCase},
};
use think_filter::{DupOpen, MarkerCase, Openers, Recur, StrayClose, StripRemarks};
use toolcall_parsers::{Family, Grammar, grammar, same_name};

use crate::lookup;

/// Returns the machine that runs `case`.
///
/// # Errors
/// The family is not registered, an option or its value is not supported, or the tools are
/// malformed. Each error is a failure of the case.
pub fn machine_for(case: &VectorCase) -> Result<GuardMachine, String> {
    machine_with(case, &[])
}

/// Returns the machine that runs `case`, with the families `own` in addition to the registered
/// ones. A family in `own` overrides a registered one of the same name.
///
/// # Errors
/// As [`machine_for`].
pub fn machine_with(case: &VectorCase, own: &[Profile]) -> Result<GuardMachine, String> {
    let guard = builder_with(case, own)?.build().map_err(|error| error.to_string())?;
    Ok(GuardMachine::new(guard, end(case)))
}

/// Returns the machine that reads the wire of `case` as `tokens`.
///
/// # Errors
/// As [`machine_for`].
pub(super) fn token_machine(
    case: &VectorCase,
    tokens: &CaseTokens,
    own: &[Profile],
) -> Result<TokenMachine, String> {
    let guard = builder_with(case, own)?.build().map_err(|error| error.to_string())?;
    Ok(TokenMachine::new(guard, end(case), tokens.markers()))
}

/// Returns how the stream of `case` ends.
pub(super) fn end(case: &VectorCase) -> End {
    match case.finish {
        CaseFinish::Stop => End::Stop,
        CaseFinish::Length => End::Length,
    }
}

/// Returns the builder of the guard of [`machine_with`].
pub(super) fn builder_with(case: &VectorCase, own: &[Profile]) -> Result<GuardBuilder, String> {
    let own = own.iter().find(|own| same_name(&own.name, &case.family));
    // A file without a reasoning section represents its family's calls alone.
    let own_calls = own.filter(|_| case.kind != CaseKind::Reasoning);
    let own_format = own.filter(|own| {
        case.kind != CaseKind::Tools && (own.format.is_some() || own.reasoning.is_some())
    });
    let profile = match (own_calls, own_format) {
        (Some(own), Some(_)) => own.clone(),
        (None, Some(own)) => Profile { tools: None, grammar: None, ..own.clone() },
        (Some(_), None) if case.kind == CaseKind::Both => {
            lookup::family(&case.family).unwrap_or_else(|_| Profile::named(&case.family))
        }
        (Some(_), None) => Profile::named(&case.family),
        (None, None) => profile_for(case).map_err(|error| error.to_string())?,
    };
    // A stream begins in content unless the vector decides otherwise, regardless of the family.
    let start = think_filter::Start::Content;
    let mut profile = Profile { start, switch: Default::default(), ..profile };
    if let Some(own) = own_calls {
        profile.grammar = own.grammar.clone();
    }
    profile.whitespace = whitespace(case)?;
    let mut reasoning = ReasoningOptions::default();
    reasoning.start = self::start(case);
    set_options(&mut profile, &mut reasoning, case)?;
    let mut calls = CallOptions::default();
    calls.in_code = in_code(case)?;
    let mut builder = Guard::builder(&profile).reasoning(reasoning).calls(calls);
    if let Some(tools) = &case.tools {
        builder = builder.tools(tools_of(tools)?);
    }
    if let Some(tokens) = &case.tokens {
        builder = builder.marker_tokens(tokens.marker_tokens.iter().cloned());
    }
    Ok(builder)
}

fn profile_for(case: &VectorCase) -> Result<Profile, UnknownName> {
    match case.kind {
        CaseKind::Tools => {
            grammar(&case.family)?;
            Ok(Profile::tools(&case.family))
        }
        // A missing format is reported when the guard is built.
        CaseKind::Reasoning => Ok(Profile::reasoning(&case.family)),
        CaseKind::Both => lookup::family(&case.family),
    }
}

/// Returns the start of the stream that the vector declares.
fn start(case: &VectorCase) -> Option<think_filter::Start> {
    match case.start {
        CaseStart::Default => None,
        CaseStart::Content => Some(think_filter::Start::Content),
        CaseStart::Reasoning => Some(think_filter::Start::Reasoning),
    }
}

fn whitespace(case: &VectorCase) -> Result<Whitespace, String> {
    let policy = match case.whitespace {
        CaseWhitespace::Verbatim => Whitespace::Verbatim,
        CaseWhitespace::Framing => Whitespace::Framing,
        CaseWhitespace::Trim => Whitespace::Trim,
    };
    let reasoning_end = one_of(case, "trim", &[("reasoning_end", true)])?.unwrap_or(false);
    let before_calls = flag(case, "drop_ws_before_tools")?.unwrap_or(false);
    match (policy, reasoning_end, before_calls) {
        (_, false, false) => Ok(policy),
        (Whitespace::Verbatim, true, false) => Ok(Whitespace::ReasoningEnd),
        (Whitespace::Verbatim, false, true) => Ok(Whitespace::BeforeCalls),
        _ => Err("options `trim` and `drop_ws_before_tools`: expected one of them, \
                  with whitespace `verbatim`"
            .to_owned()),
    }
}

fn tools_of(json: &str) -> Result<Tools, String> {
    let value = serde_json::from_str(json).map_err(|error| format!("tools: {error}"))?;
    Tools::from_json(&value).map_err(|error| format!("tools: {error}"))
}

/// Options that [`whitespace`] reads.
const OF_WHITESPACE: [&str; 2] = ["trim", "drop_ws_before_tools"];
/// The option that [`in_code`] reads.
const IN_CODE: &str = "in_code";

/// Returns the policy for calls in code that the vector declares.
fn in_code(case: &VectorCase) -> Result<CallsInCode, String> {
    if !case.options.contains_key(IN_CODE) {
        return Ok(CallsInCode::default());
    }
    word(case, IN_CODE)?.parse().map_err(|error| format!("option `{IN_CODE}`: {error}"))
}

fn set_options(
    profile: &mut Profile,
    reasoning: &mut ReasoningOptions,
    case: &VectorCase,
) -> Result<(), String> {
    let registered =
        || profile.reasoning.as_deref().and_then(|name| think_filter::format(name).ok());
    let mut format = profile.format.clone().or_else(registered);
    let mut changed = false;
    for name in case.options.keys().map(String::as_str) {
        if OF_WHITESPACE.contains(&name) || name == IN_CODE {
            continue;
        }
        match name {
            "tool_ends_reasoning" => {
                profile.tool_in_reasoning = match flag(case, name)? {
                    Some(true) => InReasoning::End,
                    _ if profile.tool_in_reasoning == InReasoning::End => InReasoning::Literal,
                    _ => profile.tool_in_reasoning,
                };
                continue;
            }
            "token_suffix" => {
                profile.token_suffix = Some(word(case, name)?.to_owned());
                continue;
            }
            "tag_prefix" => {
                check_tag_prefix(word(case, name)?, profile)?;
                continue;
            }
            "force_nonempty_content" => {
                if flag(case, name)? == Some(true) {
                    reasoning.nonempty_content = Some(NONEMPTY_LIMIT);
                }
                continue;
            }
            "tag" => {
                profile.grammar = Some(tagged(word(case, name)?, profile)?);
                continue;
            }
            "variant" => {
                let variant = grammar(word(case, name)?).map_err(|error| error.to_string())?;
                profile.grammar = Some(variant);
                continue;
            }
            "markers" => {
                knows_markers(case, profile)?;
                continue;
            }
            _ => {}
        }
        let Some(format) = &mut format else {
            return Err(match FORMAT_OPTIONS.contains(&name) {
                true => format!("option `{name}`: the family has no reasoning format"),
                false => unsupported(name),
            });
        };
        set(format, case, name)?;
        changed = true;
    }
    if changed {
        profile.format = format;
    }
    Ok(())
}

/// Checks that the grammar has openers of the vocabulary that the option `markers` names. A grammar
/// always reads the openers of all vocabularies.
fn knows_markers(case: &VectorCase, profile: &Profile) -> Result<(), String> {
    let wanted = case.option("markers").and_then(JsonValue::as_str);
    let wanted = wanted.ok_or("option `markers`: expected a string")?;
    let grammar = profile.tools.as_deref().map(grammar);
    let grammar = grammar.transpose().map_err(|error| error.to_string())?;
    let known = grammar.is_some_and(|g| g.openers().any(|opener| opener.contains(wanted)));
    if known {
        Ok(())
    } else {
        Err(format!("option `markers`: no opener of the family holds `{wanted}`"))
    }
}

/// Maximum number of bytes of reasoning that are kept because they may be the answer.
const NONEMPTY_LIMIT: usize = 1 << 20;

/// Returns the grammar of a family whose calls follow a tag of the chat template.
fn tagged(tag: &str, profile: &Profile) -> Result<Grammar, String> {
    let family = Family::from_tag(tag).map_err(|error| error.to_string())?;
    let grammar = Grammar::new(family).map_err(|error| error.to_string())?;
    if profile.tools.as_deref().is_some_and(|name| same_name(name, grammar.name())) {
        Ok(grammar)
    } else {
        Err(format!("option `tag`: only for family `{}`", grammar.name()))
    }
}

/// Checks that tags with `prefix` are openers of the grammar, so that no option is needed.
fn check_tag_prefix(prefix: &str, profile: &Profile) -> Result<(), String> {
    let grammar = profile.tools.as_deref().and_then(|name| grammar(name).ok());
    let takes = |marker: &str| marker.strip_prefix('<').is_some_and(|tag| tag.starts_with(prefix));
    match grammar {
        Some(grammar) if grammar.openers().any(takes) => Ok(()),
        _ => Err(format!("option `tag_prefix`: no tag of the family begins with `<{prefix}`")),
    }
}

/// Options that are fields of a reasoning format.
const FORMAT_OPTIONS: [&str; 8] = [
    "openers",
    "lead_only",
    "case_insensitive",
    "stray_close",
    "recur",
    "dup_open",
    "strip_budget_reflect",
    "thinking",
];

fn set(format: &mut Format, case: &VectorCase, name: &str) -> Result<(), String> {
    let pick = |truth| flag(case, name).map(|value| value == Some(truth));
    match name {
        "lead_only" => {
            format.openers = if pick(true)? { Openers::Lead } else { Openers::default() };
        }
        "openers" => {
            let known =
                [("line", Openers::Line), ("lead", Openers::Lead), ("anywhere", Openers::Anywhere)];
            format.openers = one_of(case, name, &known)?.unwrap_or_default();
        }
        "case_insensitive" => {
            format.case = if pick(true)? { MarkerCase::Insensitive } else { MarkerCase::Exact };
        }
        "recur" => format.recur = if pick(true)? { Recur::Any } else { Recur::Once },
        "strip_budget_reflect" => {
            format.strip_remarks = if pick(true)? { StripRemarks::Yes } else { StripRemarks::No };
        }
        "stray_close" => {
            let known = [
                ("leading", StrayClose::Leading),
                ("first", StrayClose::First),
                ("keep", StrayClose::Keep),
                ("drop", StrayClose::Drop),
            ];
            format.stray_close = one_of(case, name, &known)?.unwrap_or_default();
        }
        "dup_open" => {
            let known = [("absorb", DupOpen::Absorb), ("keep", DupOpen::Keep)];
            format.dup_open = one_of(case, name, &known)?.unwrap_or_default();
        }
        "thinking" => {
            if one_of(case, name, &[("off", true), ("on", false)])? == Some(true) {
                *format = Format::passthrough(format.name.clone());
            }
        }
        _ => return Err(unsupported(name)),
    }
    Ok(())
}

fn unsupported(name: &str) -> String {
    format!("option `{name}` is not supported yet")
}

fn flag(case: &VectorCase, name: &str) -> Result<Option<bool>, String> {
    let Some(value) = case.option(name) else { return Ok(None) };
    match value.as_bool() {
        Some(truth) => Ok(Some(truth)),
        None => Err(format!("option `{name}`: expected true or false, found {value:?}")),
    }
}

fn word<'c>(case: &'c VectorCase, name: &str) -> Result<&'c str, String> {
    case.option(name)
        .and_then(JsonValue::as_str)
        .ok_or_else(|| format!("option `{name}`: expected a string"))
}

fn one_of<T: Copy>(
    case: &VectorCase,
    name: &str,
    known: &[(&str, T)],
) -> Result<Option<T>, String> {
    let Some(value) = case.option(name) else { return Ok(None) };
    let word = value.as_str();
    match known.iter().find(|(one, _)| Some(*one) == word) {
        Some((_, value)) => Ok(Some(*value)),
        None => {
            let names: Vec<_> = known.iter().map(|(one, _)| *one).collect();
            let found: &JsonValue = value;
            Err(format!("option `{name}`: expected one of {names:?}, found {found:?}"))
        }
    }
}
