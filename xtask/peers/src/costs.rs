//! The time that each parser takes for a token, for `cargo xtask compare`.
//!
//! Each line of the output is one wire as JSON: its work and profile, its pieces, in which tags are whole, the tools,
//! the expected content and calls, and the nanoseconds for a piece, by parser. A parser with a wrong result has none.

use std::{
    collections::BTreeMap,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde_json::json;

use crate::{
    chosen,
    chunks::whole_tags,
    figure,
    outcome::Says,
    parsers,
    peer::Task,
    says,
    works::{Case, Fed, declared_tools, works},
};

/// Prose, and a call with a long string.
const WORKS: [&str; 2] = ["W1", "W3"];

/// Measures, and writes to the standard output.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run() -> Result<(), String> {
    // A parser that panics has no time.
    std::panic::set_hook(Box::new(|_| {}));
    let mut out = std::io::stdout().lock();
    for work in works().into_iter().filter(|work| work.fed == Fed::Text) {
        let Some(name) = WORKS.into_iter().find(|name| work.name.starts_with(name)) else {
            continue;
        };
        for Case { profile, wire, guard } in chosen(work, Task::Calls, "") {
            let (says, pieces) = (says(name, &wire), whole_tags(&wire));
            let mut times = BTreeMap::new();
            for (who, made) in parsers(Task::Calls, &profile, guard) {
                let Ok(Some(peer)) = made else { continue };
                let measured = || figure(&*peer, &pieces, &says);
                if let Ok(Ok(figure)) = catch_unwind(AssertUnwindSafe(measured)) {
                    times.insert(who, figure.nanoseconds);
                }
            }
            let (content, calls) = match says {
                Says::Content(text) | Says::Reasoning(text) => (text, Vec::new()),
                Says::Calls(calls) => (String::new(), calls),
            };
            let line = json!({
                "id": format!("{name} {profile}"), "work": name, "profile": profile, "kind": "tools",
                "start": null, "declared": declared_tools(), "content": content, "calls": calls,
                "pieces": pieces, "times": times,
            });
            writeln!(out, "{line}").map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}
