//! Answers of all parsers to the project's vectors, for `cargo xtask compare`.
//!
//! Each line of the input is a case with the pieces of each of its runs; the first run is the whole
//! text. Each line of the output has the answers of one parser to one case, run by run.

use std::{
    io::{BufRead, Write},
    panic::{AssertUnwindSafe, catch_unwind},
};

use llm_stream_guard::{
    End, Guard, Profile, ReasoningOptions, Start, Tools, jail_match::Whitespace, profile,
};
use serde_json::{Value, json};

use crate::{
    PEERS,
    outcome::Outcome,
    peer::{Made, Ours, Peer, Task},
};

/// Reads cases from the standard input and writes answers to the standard output.
///
/// # Errors
/// A line is not a case; the output cannot be written.
pub(crate) fn run() -> Result<(), String> {
    // A parser that panics has that as its answer.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let case: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let id = word(&case, "id");
        let runs = runs(&case);
        for (who, made) in parsers(&case)? {
            let Ok(Some(peer)) = made else { continue };
            let answers = runs.iter().enumerate().map(|(at, chunks)| {
                let answer = || answer(&*peer, chunks, at == 0);
                let answer = catch_unwind(AssertUnwindSafe(answer));
                printed(&answer.unwrap_or_else(|_| Outcome::failed("panic")))
            });
            let line = json!({"parser": who, "id": id, "runs": answers.collect::<Vec<_>>()});
            writeln!(out, "{line}").map_err(|error| error.to_string())?;
        }
    }
    out.flush().map_err(|error| error.to_string())
}

fn answer(peer: &dyn Peer, chunks: &[&str], whole: bool) -> Outcome {
    let text = whole.then(|| chunks.concat());
    text.and_then(|text| peer.whole(&text)).unwrap_or_else(|| {
        let mut out = Outcome::default();
        peer.stream(chunks)(&mut out);
        out
    })
}

fn printed(out: &Outcome) -> Value {
    json!({
        "content": out.content,
        "reasoning": out.reasoning,
        "calls": out.calls(),
        "failure": out.failure,
    })
}

/// Our guard and the peers, each with its parser of the case's family.
fn parsers(case: &Value) -> Result<Vec<(&'static str, Made)>, String> {
    let family = word(case, "family");
    let open = word(case, "start") == "reasoning";
    let (task, profile) = match word(case, "kind") {
        "tools" => (Task::Calls, Profile::tools(family)),
        // The crates read one of the two.
        "both" => {
            let profile = profile(family).map_err(|error| error.to_string())?;
            return Ok(vec![("ours", Ok(Some(ours(case, profile)?)))]);
        }
        _ => (Task::Reasoning { open }, Profile::reasoning(family)),
    };
    let declared = tools(case, "declared")?.unwrap_or_default();
    let peers = PEERS.map(|(who, make)| (who, make(task, &profile, &declared)));
    let ours = ours(case, profile)?;
    Ok([("ours", Ok(Some(ours)))].into_iter().chain(peers).collect())
}

/// The guard with the policy that the case declares.
fn ours(case: &Value, mut profile: Profile) -> Result<Box<dyn Peer>, String> {
    profile.start = Start::Content;
    profile.whitespace = match word(case, "whitespace") {
        "verbatim" => Whitespace::Verbatim,
        "trim" => Whitespace::Trim,
        _ => Whitespace::Framing,
    };
    let mut reasoning = ReasoningOptions::default();
    reasoning.start = match word(case, "start") {
        "reasoning" => Some(Start::Reasoning),
        "content" => Some(Start::Content),
        _ => None,
    };
    let mut guard = Guard::builder(&profile).reasoning(reasoning);
    if let Some(tools) = tools(case, "tools")? {
        guard = guard.tools(tools);
    }
    let end = if word(case, "finish") == "length" { End::Length } else { End::Stop };
    let guard = guard.build().map_err(|error| error.to_string())?;
    Ok(Box::new(Ours(guard, end)))
}

fn tools(case: &Value, field: &str) -> Result<Option<Tools>, String> {
    let tools = case.get(field).filter(|tools| !tools.is_null());
    tools.map(Tools::from_json).transpose().map_err(|error| error.to_string())
}

fn runs(case: &Value) -> Vec<Vec<&str>> {
    let runs = case.get("runs").and_then(Value::as_array);
    runs.into_iter()
        .flatten()
        .map(|run| run.as_array().into_iter().flatten().filter_map(Value::as_str).collect())
        .collect()
}

fn word<'c>(case: &'c Value, field: &str) -> &'c str {
    case.get(field).and_then(Value::as_str).unwrap_or_default()
}
