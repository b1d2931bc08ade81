//! The page `docs/results.md`: the tables, with an explanation of each column.

use super::{
    cost::{Cost, Time},
    judge::{Share, Tally},
};

/// A parser with its results.
pub(super) struct Row {
    pub(super) title: String,
    pub(super) version: String,
    pub(super) is_ours: bool,
    /// The reader of a Python package.
    pub(super) reader: Option<String>,
    pub(super) calls: Tally,
    pub(super) reasoning: Tally,
    /// Our own results for the cases that this parser read: calls, then reasoning.
    pub(super) ours: [Tally; 2],
    pub(super) cost: Cost,
}

const HEAD: &str = "# Results beside other parsers

The project's [vectors](../families/vectors/README.md) under the parsers that other projects ship, and the cost of both. `cargo xtask compare` writes
this page and its [charts](results.html), with Python 3.11 or later and a network; `cargo xtask compare DIRECTORY` writes those of other
vectors to `target/compare`. Modules that need a GPU are replaced by stubs.

**Read the figures as the distance from this project's rules.** The vectors were written for this project. A parser with other rules loses
here even where its rules suit its server.

Figures are percent of the cases that count, rounded down; in brackets ours on the same cases. [What is counted](#what-is-counted).
";

const COUNTED: &str = "
## What is counted

- **Cases.** The vectors of the families for which a parser is registered (`names` of the [family files](../families/README.md),
  `xtask/compare/names.tsv`), without those with options of this library.
- **llama.cpp.** Each case is the beginning of an answer that a small model ends. Streams and cost are not measured.
- **openai-harmony.** It reads tokens, and refuses streams that cut tags: such a case is a failure.
- **Streamed.** One character at a time; a tag such as `<tool_call>` is one piece.
- **Tools.** A case without tools declares those that it calls, with open parameters; this library reads it without.
- **Calls right.** All calls in order, names and arguments equal as JSON values. Missing arguments are an empty object.
- **Text right.** Text outside calls, or reasoning and text, is equal up to white space, in which the cases of \"white space\" differ.
- **Our decisions.** Vectors that follow a [rule](semantics.md) of this project (`policy`) are counted apart, as agreement.
- **Cut answers** count only for equal results and for wrong arguments.
- **Same result.** Calls and text do not depend on the cuts: first with whole tags, then with cuts inside tags.
- **Quoted markup.** Markup is mentioned in prose, shown as code, or part of a value.
- **Wrong arguments.** Cases with a call that a client would run with arguments that the model did not write.
- **Failures.** A run raised an error or took longer than ten seconds.
";

const COST: &str = "
## Cost

Microseconds for a token of a stream in which tags are whole: the median over the profiles that the parser reads right. Crates are called
from Rust, packages from Python. Prose has 256 KiB, the string 64 KiB. A stream of more than 10 seconds is stopped (`>`). Times vary up to
twofold between runs.

";

/// Results of other commands: ratios of crates, and the engines' own tests.
const FURTHER: &str = include_str!("../../compare/further.md");

/// Returns the text of the page.
pub(super) fn markdown(rows: &[Row], missing: &[(String, String)]) -> String {
    let mut out = HEAD.to_owned();
    out.push_str("\n## Calls\n\n");
    table(
        &mut out,
        "parser | version | families | cases | calls right: whole, streamed (ours) | \
         text right: whole, streamed (ours) | white space",
        rows.iter().filter(|row| row.calls.cases > 0).map(|row| {
            let Row { title, version, calls, ours: [ours, _], .. } = row;
            let [families, cases, blanks] = [calls.families.len(), calls.cases, calls.blanks];
            let shares = [calls.calls[0], calls.calls[1], last(ours.calls)];
            let [whole, streamed, same] = shares.map(cell);
            let [text, stream, text_ours] =
                [calls.text[0], calls.text[1], last(ours.text)].map(cell);
            format!(
                "{title} | {version} | {families} | {cases} | {whole}, {streamed} ({same}) | \
                 {text}, {stream} ({text_ours}) | {blanks}"
            )
        }),
    );
    out.push_str("\n## Streams and faults of calls\n\n");
    table(
        &mut out,
        "parser | same result: tags whole, any cut | quoted markup (ours) | wrong arguments (ours) | our decisions | \
         failures",
        rows.iter().filter(|row| row.calls.cases > 0).map(|row| {
            let Row { title, calls, ours: [ours, _], .. } = row;
            let [steady, any] = calls.steady.map(cell);
            let [quoted, quoted_ours, decided] =
                [calls.quoted, ours.quoted, calls.decided].map(cell);
            let (wrong, wrong_ours) = (calls.wrong_arguments, ours.wrong_arguments);
            format!(
                "{title} | {steady}, {any} | {quoted} ({quoted_ours}) | {wrong} ({wrong_ours}) | {decided} | {}",
                calls.failures
            )
        }),
    );
    out.push_str("\n## Reasoning\n\n");
    table(
        &mut out,
        "parser | formats | cases | text right: whole, streamed (ours) | white space | \
         same result: tags whole, any cut | quoted markup (ours) | failures",
        rows.iter().filter(|row| row.reasoning.cases > 0).map(|row| {
            let Row { title, reasoning, ours: [_, ours], .. } = row;
            let [whole, streamed, same] =
                [reasoning.text[0], reasoning.text[1], last(ours.text)].map(cell);
            let [steady, any] = reasoning.steady.map(cell);
            let [quoted, quoted_ours] = [reasoning.quoted, ours.quoted].map(cell);
            let (formats, cases) = (reasoning.families.len(), reasoning.cases);
            let (blanks, failures) = (reasoning.blanks, reasoning.failures);
            format!(
                "{title} | {formats} | {cases} | {whole}, {streamed} ({same}) | {blanks} | {steady}, {any} | \
                 {quoted} ({quoted_ours}) | {failures}"
            )
        }),
    );
    out.push_str(COST);
    table(
        &mut out,
        "parser | prose | a call with a long string",
        rows.iter().filter(|row| row.cost.iter().any(Option::is_some)).map(|row| {
            let [prose, call] = row.cost.map(time);
            format!("{} | {prose} | {call}", row.title)
        }),
    );
    out.push_str(FURTHER);
    out.push_str("\n## One parser alone\n\n`cargo xtask compare` makes the cases first. `--costs` and `costs.jsonl` give its times. `READER` is one of:");
    for reader in rows.iter().filter_map(|row| row.reader.as_ref()) {
        out.push_str(&format!(" `{reader}`"));
    }
    out.push_str(".\n\n```sh\n");
    let place = "target/compare";
    out.push_str(&format!("{} --vectors < {place}/cases.jsonl    # crates\n", super::PEERS));
    out.push_str(&format!("{place}/venv/bin/python xtask/compare/run.py READER {place}/cases.jsonl {place}/READER.jsonl\n```\n"));
    out.push_str(COUNTED);
    if !missing.is_empty() {
        out.push_str("\n## Left out of this run\n\n");
        for (title, reason) in missing {
            out.push_str(&format!("- {title}: `{}`\n", reason.replace('`', "'")));
        }
    }
    out
}

/// Returns the share of streamed texts, or of whole texts for a parser that does not stream.
pub(super) fn last([whole, streamed]: [Share; 2]) -> Share {
    if streamed.of > 0 { streamed } else { whole }
}

/// Returns a time in microseconds.
fn time(time: Option<Time>) -> String {
    let Some(Time { nanoseconds, at_least }) = time else { return "-".to_owned() };
    let (more, micros) = (if at_least { "> " } else { "" }, nanoseconds / 1000.0);
    let digits = if micros < 1.0 { 3 } else { usize::from(micros < 100.0) };
    format!("{more}{micros:.digits$}")
}

/// Returns a share in percent, rounded down.
fn cell(share: Share) -> String {
    match tenths(share) {
        None => "-".to_owned(),
        Some(tenths) => {
            format!("{}.{}", tenths / 10, tenths % 10)
        }
    }
}

/// Returns a share in tenths of a percent, rounded down.
pub(super) fn tenths(share: Share) -> Option<usize> {
    (share.good * 1000).checked_div(share.of)
}

fn table(out: &mut String, head: &str, rows: impl Iterator<Item = String>) {
    let columns = head.split('|').count();
    out.push_str(&format!("| {head} |\n|{}\n", "---|".repeat(columns)));
    for row in rows {
        out.push_str(&format!("| {row} |\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::{Share, Time, cell, last, time};

    #[test]
    fn times_are_in_microseconds() {
        let of = |nanoseconds, at_least| time(Some(Time { nanoseconds, at_least }));
        assert_eq!([of(14.2, false), of(5_900.0, false)], ["0.014", "5.9"]);
        assert_eq!([of(690_000.0, true), time(None)], ["> 690", "-"]);
    }

    #[test]
    fn almost_all_is_not_rounded_to_all() {
        assert_eq!(cell(Share { good: 1999, of: 2000 }), "99.9");
        assert_eq!(cell(Share { good: 3, of: 3 }), "100.0");
        assert_eq!(cell(Share::default()), "-");
    }

    #[test]
    fn parser_without_a_stream_is_shown_by_the_whole_text() {
        let whole = Share { good: 1, of: 2 };
        assert_eq!(last([whole, Share::default()]), whole);
    }
}
