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

The project's [vectors](../vectors/README.md) under the parsers that other projects ship. One command installs the
parsers, runs them all, and writes this page and its [charts](results.html):

```console
$ cargo xtask compare
```

The command needs Python 3.11 or later and a network. It builds some 420 crates of other projects first. Engines are
installed without their dependencies, and modules that need a GPU are replaced by stubs, so the code that reads
text is the engines' own. `cargo xtask compare DIRECTORY` reads the [vectors](../vectors/README.md) of a directory, too, such as a
public suite that you wrote as vectors, and writes its pages to `target/compare`.

The vectors were written for this project and follow its rules, and this project is tested with them. A parser with
other rules loses here even where its rules suit its server. Read the figures as the distance from these rules, and look
at the [vectors](../vectors/) of your family.
";

const COUNTED: &str = "
## What is counted

- **Cases.** A parser reads the vectors of the families for which it registers a parser. The `names` tables of the
  [family files](../families/README.md) and `xtask/compare/names.tsv` say which. Vectors for calls alone and for
  reasoning alone are used. openai-harmony has no parser for one of the two, so its cases have both, and count as cases
  of calls. Vectors with options of our library and repeated texts are left out.
- **llama.cpp.** The server reads only what its model wrote. Each case is therefore sent as the beginning of the answer,
  and the model, which is any small one, is made to end it. The chat templates are those that llama.cpp is tested with.
  Its models write calls under a grammar of the declared tools, and the server refuses a text that the grammar excludes.
  Such cases are left out, because they cannot occur there. The answer is not streamed, and the model's work is not a
  cost of the parser, so neither is measured.
- **openai-harmony.** It reads tokens. A stream that cuts tags has other tokens, which it refuses; such a case counts as a
  failure.
- **transformers.** The response templates are those that its server has for models without one.
- **Whole and streamed.** A whole text goes through the parser's own function for whole texts. A streamed text arrives
  one character at a time, except that a tag such as `<tool_call>` is one piece, because most tokenizers have it as one
  token. Parsers that read tokens get a tokenizer in which each tag is one special token.
- **Tools.** A case without tools declares the tools that it calls, with open parameters, because some parsers read
  no others. Our library reads such a case without any tools.
- **Calls right.** All calls in order, with equal names, and arguments that are equal as JSON values. Numbers are compared
  by value, and missing arguments count as an empty object.
- **Text right.** The text outside calls, or the reasoning and the text, equals the expected text up to white space.
- **White space.** The streamed text is right, but white space differs. This is a difference in policy.
- **Our decisions.** Vectors with a `policy` field record a decision of this project. They are counted apart, as
  agreement.
- **Cut answers.** Parsers differ by intent about cut and malformed calls. Such cases count only for equal results and
  for wrong arguments.
- **Same result.** The same calls, and the same text up to white space, however the text is cut. The first column
  compares three streams that keep tags whole: single characters, and random pieces of up to nine characters and tags.
  The second column adds a stream in one piece, single characters, and random pieces that cut tags.
- **Quoted markup.** Cases in which markup is mentioned in prose, shown as code, or part of a value. Calls and text must be
  right in the stream.
- **Wrong arguments.** Cases with a call that a client would run: the name is that of a call of the text, the arguments
  are a JSON object, and they are not the arguments that the model wrote. A cut call that was completed counts.
- **Failures.** Cases in which a run raised an error or took longer than ten seconds.
- **Ours.** The same figure for our library on the same cases.
";

/// Returns the text of the page.
pub(super) fn markdown(rows: &[Row], missing: &[(String, String)]) -> String {
    let mut out = HEAD.to_owned();
    out.push_str("\n## Calls\n\n");
    table(
        &mut out,
        "parser | families | cases | calls right, whole | calls right, streamed | ours | text right, whole | \
         text right, streamed | ours | white space",
        rows.iter().filter(|row| row.calls.cases > 0).map(|row| {
            let Row { title, calls, ours: [ours, _], .. } = row;
            let [families, cases, blanks] = [calls.families.len(), calls.cases, calls.blanks];
            let shares = [calls.calls[0], calls.calls[1], last(ours.calls)];
            let [whole, streamed, same] = shares.map(cell);
            let [text, stream, text_ours] =
                [calls.text[0], calls.text[1], last(ours.text)].map(cell);
            format!(
                "{title} | {families} | {cases} | {whole} | {streamed} | {same} | {text} | {stream} | \
                 {text_ours} | {blanks}"
            )
        }),
    );
    out.push_str("\n## Streams and faults of calls\n\n");
    table(
        &mut out,
        "parser | same result, tags whole | same result, any cut | quoted markup | ours | wrong arguments | ours | \
         our decisions | failures",
        rows.iter().filter(|row| row.calls.cases > 0).map(|row| {
            let Row { title, calls, ours: [ours, _], .. } = row;
            let [steady, any] = calls.steady.map(cell);
            let [quoted, quoted_ours, decided] =
                [calls.quoted, ours.quoted, calls.decided].map(cell);
            let (wrong, wrong_ours) = (calls.wrong_arguments, ours.wrong_arguments);
            format!(
                "{title} | {steady} | {any} | {quoted} | {quoted_ours} | {wrong} | {wrong_ours} | {decided} | {}",
                calls.failures
            )
        }),
    );
    out.push_str("\n## Reasoning\n\n");
    table(
        &mut out,
        "parser | formats | cases | text right, whole | text right, streamed | ours | white space | \
         same result, tags whole | same result, any cut | quoted markup | ours | failures",
        rows.iter().filter(|row| row.reasoning.cases > 0).map(|row| {
            let Row { title, reasoning, ours: [_, ours], .. } = row;
            let [whole, streamed, same] =
                [reasoning.text[0], reasoning.text[1], last(ours.text)].map(cell);
            let [steady, any] = reasoning.steady.map(cell);
            let [quoted, quoted_ours] = [reasoning.quoted, ours.quoted].map(cell);
            let (formats, cases) = (reasoning.families.len(), reasoning.cases);
            let (blanks, failures) = (reasoning.blanks, reasoning.failures);
            format!(
                "{title} | {formats} | {cases} | {whole} | {streamed} | {same} | {blanks} | {steady} | {any} | \
                 {quoted} | {quoted_ours} | {failures}"
            )
        }),
    );
    out.push_str(
        "\n## Cost\n\nMicroseconds for a token of a stream in which tags are whole: the median over the profiles that the parser reads\n\
         right. Crates are called from Rust, packages from Python, one stream at a time in one thread. Prose has 256 KiB, the \
         string\n64 KiB. A stream of more than 10 seconds is stopped; its cell begins with `>`. \
         `cargo xtask bench --peers` has ratios for each\nprofile of the crates; see [performance](performance.md). \
         Times vary up to twofold between runs, and more on a busy machine.\nThe times of a parser are measured by its \
         command [below](#versions-and-commands), with `--costs` and `costs.jsonl`.\n\n",
    );
    table(
        &mut out,
        "parser | prose | a call with a long string",
        rows.iter().map(|row| {
            let [prose, call] = row.cost.map(time);
            format!("{} | {prose} | {call}", row.title)
        }),
    );
    out.push_str("\n## Versions and commands\n\n");
    table(
        &mut out,
        "parser | version | command, after `cargo xtask compare` made the cases",
        rows.iter().map(|row| {
            let place = "target/compare";
            let command = row.reader.as_ref().map_or_else(
                || format!("{} --vectors < {place}/cases.jsonl", super::PEERS),
                |it| {
                    let script = "xtask/compare/run.py";
                    format!("{place}/venv/bin/python {script} {it} {place}/cases.jsonl {place}/{it}.jsonl")
                },
            );
            format!("{} | {} | `{command}`", row.title, row.version)
        }),
    );
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

/// Returns a share in percent, rounded down, and as a fraction.
fn cell(share: Share) -> String {
    match tenths(share) {
        None => "-".to_owned(),
        Some(tenths) => {
            format!("{}.{} % ({}/{})", tenths / 10, tenths % 10, share.good, share.of)
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
        assert_eq!(cell(Share { good: 1999, of: 2000 }), "99.9 % (1999/2000)");
        assert_eq!(cell(Share { good: 3, of: 3 }), "100.0 % (3/3)");
        assert_eq!(cell(Share::default()), "-");
    }

    #[test]
    fn parser_without_a_stream_is_shown_by_the_whole_text() {
        let whole = Share { good: 1, of: 2 };
        assert_eq!(last([whole, Share::default()]), whole);
    }
}
