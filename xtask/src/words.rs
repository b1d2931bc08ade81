//! The lints of how the project writes: doc comments and pages for people who have never seen it.

/// Words that a doc comment must not begin with: each refers to an item the reader cannot see.
const OPENERS: [&str; 9] = ["what", "whose", "whom", "it", "they", "that", "so", "of", "behind"];

/// Phrases with a plainer word, which they hide. Text in backticks may hold them.
const PHRASES: [&str; 17] = [
    "is no",
    "are no",
    "comes out",
    "come out",
    "stand",
    "stands",
    "so many",
    "all the same",
    "whosoever",
    "is told",
    "are told",
    "of its own",
    "let go",
    "lets go",
    "none does",
    "no such",
    "behind",
];

/// The minimum length of a doc comment in characters.
const SHORTEST_DOC: usize = 20;

/// The maximum length of a sentence of a page in words.
const LONGEST_SENTENCE: usize = 40;

/// Returns the faults of the doc comments of a source file, each with its line.
pub(crate) fn of_source(text: &str) -> Vec<(usize, String)> {
    let faults =
        |(line, doc): (usize, String)| of_doc(&doc).into_iter().map(move |one| (line, one));
    docs(text).into_iter().flat_map(faults).collect()
}

/// Returns the doc comments of a source file, each with the line in which it begins.
pub(crate) fn docs(text: &str) -> Vec<(usize, String)> {
    let mut docs = Vec::new();
    let mut doc: Option<(usize, String)> = None;
    for (number, line) in (1..).zip(text.lines().chain([""])) {
        let line = line.trim();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        if let Some(comment) = comment {
            let (_, text) = doc.get_or_insert((number, String::new()));
            text.push_str(comment.trim());
            text.push('\n');
        } else {
            docs.extend(doc.take());
        }
    }
    docs
}

/// Returns the faults of one doc comment.
fn of_doc(text: &str) -> Vec<String> {
    let text = prose(text);
    let mut faults = Vec::new();
    let first = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    if OPENERS.contains(&first.to_lowercase().as_str()) {
        faults.push(format!("a doc comment begins with `{first}`: name the item"));
    }
    let length = text.trim().chars().count();
    if length < SHORTEST_DOC {
        faults.push(format!("a doc comment of {length} characters: expected {SHORTEST_DOC}"));
    }
    faults.extend(phrases(&text));
    faults
}

/// Returns the faults of a page, each with its line.
pub(crate) fn of_page(text: &str) -> Vec<(usize, String)> {
    let mut findings = Vec::new();
    let (mut first, mut paragraph, mut fence) = (1, String::new(), false);
    for (number, line) in (1..).zip(text.lines().chain([""])) {
        let line = line.trim();
        let marks = line.starts_with("```");
        fence ^= marks;
        let outside = fence || marks || line.is_empty() || line.starts_with(['|', '#', '<']);
        let item = line.starts_with("- ") || line.starts_with("* ");
        if outside || item {
            findings.extend(of_paragraph(&paragraph).into_iter().map(|fault| (first, fault)));
            paragraph.clear();
        }
        if !outside {
            if paragraph.is_empty() {
                first = number;
            }
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    findings
}

fn of_paragraph(text: &str) -> Vec<String> {
    let text = prose(text);
    let mut faults = phrases(&text);
    for sentence in text.split_inclusive(['.', '!', '?']).fold(Vec::new(), joined) {
        let words = sentence.split_whitespace().count();
        if words > LONGEST_SENTENCE {
            let start: Vec<_> = sentence.split_whitespace().take(5).collect();
            let start = start.join(" ");
            faults.push(format!(
                "a sentence of {words} words (`{start} ...`): expected at most {LONGEST_SENTENCE}"
            ));
        }
    }
    faults
}

/// Adds a part of a text to its sentences. A full stop without a blank after it ends none.
fn joined(mut sentences: Vec<String>, part: &str) -> Vec<String> {
    match sentences.last_mut() {
        Some(last) if !part.starts_with(char::is_whitespace) => last.push_str(part),
        _ => sentences.push(part.to_owned()),
    }
    sentences
}

/// Returns the text without its code fences. Text in backticks is kept as one word.
fn prose(text: &str) -> String {
    let (mut prose, mut fence) = (String::new(), false);
    for line in text.lines() {
        if line.starts_with("```") {
            fence = !fence;
        } else if !fence && !line.starts_with('|') {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let mut plain = String::new();
    for (n, part) in prose.split('`').enumerate() {
        let code = n % 2 == 1;
        plain.push_str(&if code { part.replace(char::is_whitespace, "_") } else { part.into() });
        plain.push_str(if code { "'" } else { "" });
    }
    plain
}

/// Returns the faults of words of a text.
fn phrases(text: &str) -> Vec<String> {
    let mut words = String::from(" ");
    for c in text.chars() {
        match c {
            c if c.is_alphanumeric() || matches!(c, '_' | '\'') => words.extend(c.to_lowercase()),
            c if c.is_whitespace() => words.push(' '),
            _ => words.push_str(" . "),
        }
    }
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    let used = PHRASES.iter().filter(|phrase| words.contains(&format!(" {phrase} ")));
    used.map(|phrase| format!("`{phrase}`: use a plainer word")).collect()
}

#[cfg(test)]
mod tests {
    use super::{of_page, of_source};

    fn faults(text: &str) -> Vec<String> {
        of_source(text).into_iter().map(|(line, fault)| format!("{line}: {fault}")).collect()
    }

    #[test]
    fn openers_short_docs_and_banned_phrases_are_found() {
        assert_eq!(
            faults("//! What a file says of itself.\n\n/// Which.\nstruct A;\n"),
            [
                "1: a doc comment begins with `What`: name the item",
                "3: a doc comment of 6 characters: expected 20",
            ]
        );
        assert_eq!(
            faults("/// Text that comes out\n/// behind a marker, and is no call.\nfn a() {}\n"),
            [
                "1: `is no`: use a plainer word",
                "1: `comes out`: use a plainer word",
                "1: `behind`: use a plainer word"
            ]
        );
    }

    #[test]
    fn plain_docs_code_and_comments_in_bodies_have_no_findings() {
        let doc =
            ["Returns the text after `is no` marker, is: no.", "", "```text", "behind", "```"];
        let doc = doc.map(|line| format!("/// {line}\n")).concat();
        let text = doc + "fn a() {\n    // What comes out.\n}\n";
        assert_eq!(faults(&text), Vec::<String>::new());
        assert_eq!(faults("/// Outstanding bytes, understandable.\n"), Vec::<String>::new());
    }

    #[test]
    fn long_sentences_and_banned_phrases_of_pages_are_found() {
        let long = "word ".repeat(41) + "end. Next one.";
        let text = format!("# Behind\n\n| behind |\n\n```\nbehind\n```\n\nIt stands.\n\n{long}\n");
        let found: Vec<String> =
            of_page(&text).into_iter().map(|(line, fault)| format!("{line}: {fault}")).collect();
        assert_eq!(
            found,
            [
                "9: `stands`: use a plainer word",
                "11: a sentence of 42 words (`word word word word word ...`): expected at most 40",
            ]
        );
        let short = "word ".repeat(30);
        assert!(of_page(&format!("{short}v1.2 {short}\n")).len() == 1, "v1.2 ends no sentence");
        assert_eq!(of_page(&format!("- {short}\n- {short}\n")), Vec::new());
    }
}
