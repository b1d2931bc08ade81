//! `docs/results.html`: the same results as charts.

use super::{
    judge::Share,
    report::{Row, last, tenths},
};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}\
svg{width:100%;height:auto;font:13px system-ui,sans-serif}.other{fill:#8aa4c2}.ours{fill:#1f6f54}.back{fill:#eef1f4}";

/// The height of a bar with the gap after it.
const STEP: usize = 24;

/// The place of the bars, and their full length.
const LEFT: usize = 250;
const FULL: usize = 300;

/// A figure of a parser, and the same figure of our library for the same cases.
type Figure = fn(&Row) -> [Share; 2];

const CHARTS: [(&str, Figure); 5] = [
    ("Calls right in a stream", |row| [last(row.calls.calls), last(row.ours[0].calls)]),
    ("Text right in a stream with calls", |row| [last(row.calls.text), last(row.ours[0].text)]),
    ("Same result however the text is cut", |row| [row.calls.steady[1], row.ours[0].steady[1]]),
    ("Quoted markup read right", |row| [row.calls.quoted, row.ours[0].quoted]),
    ("Reasoning and text right in a stream", |row| {
        [last(row.reasoning.text), last(row.ours[1].text)]
    }),
];

/// Returns the text of the page.
pub(super) fn html(rows: &[Row]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Results beside other parsers</title>\n<style>{STYLE}</style>\n\
         <h1>Results beside other parsers</h1>\n\
         <p>Made by <code>cargo xtask compare</code>. <a href=\"results.md\">The tables</a> have all figures, \
         versions, and what each figure counts. The vectors are this project's own.</p>\n\
         <p>Two bars for each parser: the parser, and this project on the same cases. Each parser is judged on the \
         families that it registers.</p>\n"
    );
    for (title, figure) in CHARTS {
        out.push_str(&format!("<h2>{title}</h2>\n{}", chart(title, rows, figure)));
    }
    out.push_str("</html>\n");
    out
}

/// Bars for the parsers that have the figure.
fn chart(title: &str, rows: &[Row], figure: Figure) -> String {
    let (mut bars, mut top) = (String::new(), 0);
    for row in rows.iter().filter(|row| !row.is_ours) {
        let [theirs, ours] = figure(row);
        if theirs.of == 0 {
            continue;
        }
        let name = row.title.replace('`', "");
        bars.push_str(&bar(top, "other", &format!("{name} {}", row.version), theirs));
        bars.push_str(&bar(top + STEP / 2, "ours", "", ours));
        top += STEP + STEP / 2;
    }
    format!(
        "<svg viewBox=\"0 0 {} {top}\" role=\"img\" aria-label=\"{title}\">\n{bars}</svg>\n",
        LEFT + FULL + 150
    )
}

fn bar(top: usize, class: &str, name: &str, share: Share) -> String {
    let tenths = tenths(share).unwrap_or_default();
    let (width, text, height) = (tenths * FULL / 1000, top + STEP / 2 - 1, STEP / 2 - 2);
    format!(
        "<text x=\"0\" y=\"{text}\">{name}</text>\
         <rect class=\"back\" x=\"{LEFT}\" y=\"{top}\" width=\"{FULL}\" height=\"{height}\"/>\
         <rect class=\"{class}\" x=\"{LEFT}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>\
         <text x=\"{}\" y=\"{text}\">{}.{} % of {}</text>\n",
        LEFT + FULL + 8,
        tenths / 10,
        tenths % 10,
        share.of,
    )
}

#[cfg(test)]
mod tests {
    use super::{FULL, Share, bar};

    #[test]
    fn length_of_a_bar_is_its_share() {
        let half = bar(0, "other", "name", Share { good: 1, of: 2 });
        assert!(half.contains(&format!("width=\"{}\"", FULL / 2)), "{half}");
        assert!(half.contains("50.0 % of 2"), "{half}");
    }
}
