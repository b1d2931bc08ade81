//! The table of damaged reasoning in `docs/families.md`.

use stream_laws::check_page_part;
use think_filter::{Format, Start, ThinkFilter, formats};

/// A damage: its name, the start of the stream if known, and the text. `{o}` is the opener and
/// `{c}` the closer.
struct Damage(&'static str, Option<Start>, &'static str);

const DAMAGES: &[Damage] = &[
    Damage("opened in the prompt", Some(Start::Reasoning), "Why.{c}Yes."),
    Damage("the same, start unknown", None, "Why.\n{c}\nYes."),
    Damage("closer in a line", None, "Say {c} to stop."),
    Damage("opener in a line", None, "Say {o} to think."),
    Damage("both in a line", Some(Start::Content), "Say {o}x{c} here."),
    Damage("later line", None, "Yes.\n{o}Why.{c}No."),
    Damage("opener twice", None, "{o}{o}Why.{c}Yes."),
    Damage("closer twice", None, "{o}Why.{c}{c}Yes."),
    Damage("empty", None, "{o}{c}Yes."),
    Damage("no closer", None, "{o}Why."),
    Damage("newline after the prompt's closer", Some(Start::Content), "\nYes."),
];

/// Returns the result: reasoning in brackets, tags that are text as `OPEN` and `CLOSE`.
fn outcome(format: &Format, Damage(_, start, text): &Damage) -> Option<String> {
    let (open, close) = (format.open.first()?, format.close.first()?);
    let label = format.label.as_deref().unwrap_or_default();
    let opener = format!("{open}{label}");
    let text = text.replace("{o}", &opener).replace("{c}", close);
    let builder = ThinkFilter::builder(format.clone());
    let builder = match start {
        Some(start) => builder.start(*start),
        None => builder,
    };
    let split = builder.build().expect("a registered format").split(&text);
    let shown = |text: &str| {
        let text =
            text.replace(&opener, "OPEN").replace(&**open, "OPEN").replace(&**close, "CLOSE");
        text.trim_ascii().replace('\n', "⏎")
    };
    let leads = split.content.starts_with('\n');
    let content =
        if leads { format!("⏎{}", shown(&split.content)) } else { shown(&split.content) };
    Some(match split.reasoning.as_str() {
        "" => content,
        reasoning => format!("[{}] {content}", shown(reasoning)).trim_ascii_end().to_owned(),
    })
}

/// Returns the table. Formats with the same results share a column, and the column with the most
/// formats comes first. The other columns have a cell only where they differ from it.
fn table() -> String {
    let mut ways: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for format in formats() {
        let Some(cells) = DAMAGES.iter().map(|damage| outcome(&format, damage)).collect() else {
            continue;
        };
        match ways.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, names)) => names.push(format!("`{}`", format.name)),
            None => ways.push((cells, vec![format!("`{}`", format.name)])),
        }
    }
    ways.sort_by_key(|(_, names)| core::cmp::Reverse(names.len()));
    let mut table = String::new();
    for (number, (_, names)) in (2..).zip(&ways[1..]) {
        table += &format!("- **{number}**: {}\n", names.join(" "));
    }
    let heads: Vec<String> = (1..=ways.len()).map(|number| number.to_string()).collect();
    table += &format!("\n| | text | {} |\n|---|---", heads.join(" | "));
    table += &format!("{}|\n", "|---".repeat(heads.len()));
    for (n, Damage(name, _, text)) in DAMAGES.iter().enumerate() {
        let text = text.replace("{o}", "OPEN").replace("{c}", "CLOSE").replace('\n', "⏎");
        let first = ways[0].0[n].as_str();
        let cells = ways.iter().map(|(cells, _)| cells[n].as_str()).enumerate();
        let cells: Vec<&str> =
            cells.map(|(n, cell)| if n > 0 && cell == first { "" } else { cell }).collect();
        table += &format!("| {name} | {text} | {} |\n", cells.join(" | "));
    }
    table
}

#[test]
fn page_shows_what_the_filter_makes_of_damage() {
    check_page_part(env!("CARGO_MANIFEST_DIR"), "families.md", "damaged reasoning", &table());
}
