//! `check`: runs vectors through their guards at every cut.

mod case;
mod explained;
mod read;
mod roles;
mod rules;
mod template;

use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

pub use case::{machine_for, machine_with};

use llm_stream_guard::{Profile, explain::Explanation, response_templates::JsonTree};
pub(crate) use read::{AnyCase, CaseLine, read_lines};
use serde_json::json;
use stream_laws::{
    CutPlan,
    vector::{Failure, Mismatch, run_case_bytes},
};

use crate::{
    args::CheckArgs,
    error::{Error, misuse},
    explain::{Terminal, width},
    lookup::{read_family, read_template},
    parse::Colour,
};

/// Runs `check`, reports to `out`, and returns whether every case passed.
///
/// # Errors
/// A file cannot be read, the files have no case, or the output cannot be written.
pub(crate) fn check(args: &CheckArgs, out: &mut dyn Write) -> Result<bool, Error> {
    let template = args.template.as_deref().map(read_template).transpose()?;
    let template = template.and_then(|profile| profile.response_template);
    let template = template.map(|it| JsonTree::from_json(it.as_json())).transpose();
    let template = template.map_err(|error| misuse(format!("--template: {error}")))?;
    let mut lines = Vec::new();
    for path in &args.files {
        let read = read_lines(path, template.as_ref())
            .map_err(|error| misuse(format!("{}: {error}", path.display())));
        lines.append(&mut read?);
    }
    if let Some(rule) = args.rule {
        if args.files.is_empty() {
            lines = rules::lines();
        }
        rules::retain(&mut lines, rule)?;
    }
    if lines.is_empty() {
        return Err(misuse("no case in the files given"));
    }
    if let Some(pattern) = &args.only {
        lines.retain(|line| pattern.matches(&line.id));
        if lines.is_empty() {
            return Err(misuse(format!("no case has an id like `{pattern}`")));
        }
    }
    let own = args.grammars.iter().map(|path| read_family(path));
    let own = own.collect::<Result<Vec<_>, _>>()?;
    let results = run_all(&lines, &own);
    let failed = results.iter().filter(|result| result.is_err()).count();
    let passed = results.iter().filter(|result| result.is_ok()).count();
    for (line, result) in lines.iter().zip(&results) {
        let failure = result.as_ref().err().filter(|_| !args.brief);
        let why = failure.and_then(|failure| explained::explained(line, failure, &own));
        if args.json {
            writeln!(out, "{}", json_line(line, result, why))?;
        } else if let Err(failure) = result {
            writeln!(out, "{}", FailureReport(line, failure))?;
            if let Some(explanation) = &why {
                let mut terminal = Terminal::new(out, Colour::of_output(), width());
                terminal.whole(explanation, 0)?;
                writeln!(out)?;
            }
        }
    }
    if args.json {
        writeln!(out, "{}", json!({"type": "summary", "passed": passed, "failed": failed}))?;
    } else {
        writeln!(out, "{passed} passed, {failed} failed")?;
    }
    out.flush()?;
    Ok(failed == 0)
}

/// Runs one line at every cut of the standard plan, as text and as bytes. `own` has further
/// families.
///
/// # Errors
/// The failure of the case. A line that is not a case, or uses an unknown name, fails without a
/// cut.
pub(crate) fn run_line(line: &CaseLine, own: &[Profile]) -> Result<(), Failure> {
    let case = line.case.as_ref().map_err(|problem| refused(line, problem))?;
    let run = || match case {
        AnyCase::Template(case) => case.run(CutPlan::standard(0)),
        AnyCase::Family(case) => match &case.tokens {
            Some(tokens) => {
                let machine = case::token_machine(case, tokens, own);
                let machine = machine.map_err(|problem| refused(line, &problem))?;
                run_case_bytes(case, || machine.clone(), CutPlan::standard(0))?;
                let differs = |mismatch| Failure {
                    id: line.id.clone(),
                    cut: None,
                    mismatch: Box::new(mismatch),
                };
                roles::check(case, tokens, own).map_err(differs)
            }
            None => {
                let machine = machine_with(case, own).map_err(|problem| refused(line, &problem))?;
                run_case_bytes(case, || machine.clone(), CutPlan::standard(0))
            }
        },
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(_) => Err(refused(line, "the parser panicked: please report this")),
    }
}

/// Returns a failure without a run, which has only `field`.
fn refused(line: &CaseLine, problem: &str) -> Failure {
    let mismatch =
        Mismatch { field: problem.to_owned(), expected: String::new(), got: String::new() };
    Failure { id: line.id.clone(), cut: None, mismatch: Box::new(mismatch) }
}

fn run_all(lines: &[CaseLine], own: &[Profile]) -> Vec<Result<(), Failure>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(lines.len());
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(lines.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((position, line)) = {
                    let position = next.fetch_add(1, Ordering::Relaxed);
                    lines.get(position).map(|line| (position, line))
                } {
                    let result = run_line(line, own);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    results.push((position, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(position, _)| *position);
    results.into_iter().map(|(_, result)| result).collect()
}

fn json_line(
    line: &CaseLine,
    result: &Result<(), Failure>,
    why: Option<Explanation>,
) -> serde_json::Value {
    let mut object = json!({
        "type": "case", "id": line.id, "file": line.file, "line": line.number,
        "passed": result.is_ok(),
    });
    match result {
        Err(Failure { cut: None, mismatch, .. }) => {
            object["problem"] = mismatch.field.as_str().into();
        }
        Err(Failure { cut: Some(cut), mismatch, .. }) => {
            object["cut"] = cut.to_string().into();
            object["field"] = mismatch.field.as_str().into();
            object["expected"] = mismatch.expected.as_str().into();
            object["got"] = mismatch.got.as_str().into();
        }
        Ok(()) => {}
    }
    if let Some(why) = why {
        object["explanation"] = json!(why);
    }
    object
}

/// A failure, formatted for people.
struct FailureReport<'r>(&'r CaseLine, &'r Failure);

impl std::fmt::Display for FailureReport<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(CaseLine { file, number, id, .. }, Failure { cut, mismatch, .. }) = self;
        let Some(cut) = cut else {
            return write!(f, "FAIL {id} ({file}:{number})\n  {}", mismatch.field);
        };
        let Mismatch { field, expected, got } = &**mismatch;
        write!(f, "FAIL {id} ({file}:{number})\n  cut:      {cut}\n  differs:  {field}\n")?;
        write!(f, "  expected: {expected}\n  got:      {got}")
    }
}
