//! The text of a turn besides calls: its end, the tags around content, and reasoning.
//!
//! ```text
//! <think>\nREASONING\n</think>\n\n<text>CONTENT</text><|end|>
//! reasoning block                 erased     erased  end of turn
//! ```

use std::fmt::Write as _;

use super::{
    super::markup::marks,
    bodies::Bodies,
    pieces::{common_ends, literal},
    renderings::Renderings,
    samples::{ANSWER, CONTENT, ONE, REASONING, THOUGHT, THOUGHT_CALL},
    templates::{Draft, quoted},
};
use crate::profile::DERIVED;

/// The text of a turn besides calls.
pub(super) struct TurnText {
    source: String,
    end_of_turn: Vec<String>,
    special_tokens: bool,
    /// The ways to read content and reasoning, the simplest first.
    pub(super) ways: Vec<Way>,
    /// Facts that the template cannot show.
    pub(super) notes: Vec<String>,
}

/// A way to read the text around content and reasoning.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Way {
    /// The section on reasoning, in TOML.
    pub(super) reasoning: Option<String>,
    /// Texts that are removed from content.
    erase: Vec<String>,
}

/// The options of the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) json: &'static str,
    pub(super) words: &'static str,
    pub(super) escapes: &'static str,
    pub(super) keys: &'static str,
}

impl Default for Write {
    fn default() -> Self {
        Self { json: "spaced", words: "json", escapes: "needed", keys: "given" }
    }
}

/// Returns the text that ends every turn: the end of an answer that is also the end of a call.
pub(super) fn end_of(renderings: &Renderings<'_>) -> String {
    let wire = |n| renderings.wire(n).unwrap_or_default();
    let tail = wire(ANSWER).split_once(CONTENT).map_or("", |(_, tail)| tail);
    let one = wire(ONE);
    let whole = one.ends_with(tail.trim_end()) || one.trim_end().ends_with(tail.trim());
    let common = common_ends(tail, one).first().copied().unwrap_or_default();
    match whole {
        true => tail.to_owned(),
        false => tail[tail.len() - common..].to_owned(),
    }
}

impl TurnText {
    pub(super) fn new(renderings: &Renderings<'_>, bodies: &Bodies, end: &str) -> Self {
        let eos = renderings.eos();
        let tokens = |text: &str| -> Vec<String> {
            let alone = text.trim();
            let ends = |text: &str| Some(text) == eos || text == alone;
            let marks = marks(text).filter(|mark| mark.special || ends(mark.text));
            marks.map(|mark| mark.text.to_owned()).collect()
        };
        let answer = renderings.wire(ANSWER).unwrap_or_default();
        let (preamble, tail) = answer.split_once(CONTENT).unwrap_or_default();
        let close = tail.strip_suffix(end).unwrap_or_default();
        let mut end_of_turn = tokens(end);
        if end_of_turn.is_empty() {
            end_of_turn = tokens(close);
        }
        // An end in no known notation.
        let alone = end.trim();
        if end_of_turn.is_empty() && !alone.is_empty() && !alone.contains(char::is_whitespace) {
            end_of_turn.push(alone.to_owned());
        }
        let mut notes =
            vec!["Whether the model writes a thought without being asked is not known.".to_owned()];
        if renderings.string_arguments {
            let note =
                "The template takes arguments as JSON text: the model's spacing is not known.";
            notes.push(note.to_owned());
        }
        if renderings.one_call {
            notes.push("The template writes one call of a turn: several are not shown.".to_owned());
        }
        if renderings.content_as_thought().is_some() {
            notes.push("The template writes content next to calls as a thought.".to_owned());
        }
        if renderings.drops_calls {
            notes.push("The template leaves out calls next to content.".to_owned());
        }
        let wire = renderings.wire(ONE).unwrap_or_default();
        let (head, _) = wire.split_once("zfuncaz").unwrap_or_default();
        let special_tokens = marks(head).any(|mark| mark.special && !end.contains(mark.text));
        let template = renderings.template();
        let hash = fnv(template.as_bytes());
        let source = format!("{DERIVED} of {} bytes, FNV-1a hash {hash:016x}", template.len());
        let mut erase: Vec<String> = Vec::new();
        let close =
            if end_of_turn.iter().any(|end| close.contains(end.as_str())) { "" } else { close };
        let gap = bodies.gap(head).unwrap_or_default();
        let thoughts = thoughts(renderings, bodies, preamble, &mut notes);
        // A preamble may hold an empty thought.
        let closes = thoughts.iter().map(|thought| thought.close.trim());
        let after =
            closes.filter_map(|close| preamble.rfind(close).map(|at| at + close.len())).max();
        let preamble = preamble.get(after.unwrap_or(0)..).unwrap_or_default();
        for text in [preamble.trim(), close.trim(), gap] {
            if !text.is_empty() && !erase.iter().any(|it| it == text) {
                erase.push(text.to_owned());
            }
        }
        let mut ways = Vec::new();
        for thought in &thoughts {
            let mut erase = erase.clone();
            erase.extend(thought.rest.clone());
            let reasoning = Some(thought.written(renderings));
            ways.push(Way { reasoning: reasoning.clone(), erase: Vec::new() });
            ways.push(Way { reasoning, erase });
        }
        ways.push(Way { reasoning: None, erase: Vec::new() });
        ways.push(Way { reasoning: None, erase });
        ways.dedup();
        Self { source, end_of_turn, special_tokens, ways, notes }
    }

    /// Returns the head of a file: what it is, where it comes from, and what is not known.
    pub(super) fn head(&self, differences: &[String]) -> String {
        let mut file = String::from("about = \"a family derived from a chat template\"\n");
        // Writing to a string cannot fail.
        let _ = writeln!(file, "source = {}", quoted(&self.source));
        for note in self.notes.iter().chain(differences) {
            let _ = writeln!(file, "# {note}");
        }
        file
    }

    /// Returns the line with the ends of turns, if there are any.
    pub(super) fn ends(&self, more: &str) -> String {
        let mut all: Vec<&str> = self.end_of_turn.iter().map(String::as_str).collect();
        all.extend(
            marks(more)
                .map(|mark| mark.text)
                .filter(|mark| !self.end_of_turn.iter().any(|end| end == mark)),
        );
        let all: Vec<String> = all.into_iter().map(quoted).collect();
        if all.is_empty() { String::new() } else { format!("end_of_turn = [{}]\n", all.join(", ")) }
    }

    /// Returns the file of a draft.
    pub(super) fn file(
        &self,
        draft: &Draft,
        (way, write): (&Way, Write),
        differences: &[String],
    ) -> String {
        let mut file = self.head(differences);
        file += &self.ends(&draft.ends);
        let mut line = |text: String| {
            let _ = writeln!(file, "{text}");
        };
        if !way.erase.is_empty() {
            let erase: Vec<String> = way.erase.iter().map(|text| quoted(text)).collect();
            line(format!("erase = [{}]", erase.join(", ")));
        }
        if self.special_tokens {
            line("special_tokens = true".to_owned());
        }
        let ids = if draft.counted_ids { "counted" } else { "given" };
        let options = [
            ("json", write.json, "spaced"),
            ("words", write.words, "json"),
            ("escapes", write.escapes, "needed"),
            ("keys", write.keys, "given"),
            ("ids", ids, "given"),
        ];
        for (key, word, default) in options {
            if word != default {
                line(format!("write.{key} = \"{word}\""));
            }
        }
        if let Some(reasoning) = &way.reasoning {
            line(format!("reasoning = {reasoning}"));
        }
        line("[calls]".to_owned());
        let texts = [
            ("section", &*draft.section),
            ("call", &*draft.call),
            ("parameter", &*draft.parameter),
            ("element", &*draft.element),
            ("at", draft.at),
            ("quote", &*draft.quote),
        ];
        for (key, text) in texts {
            if !text.is_empty() {
                line(format!("{key} = {}", quoted(text)));
            }
        }
        if draft.between != "\n" {
            line(format!("between = {}", quoted(&draft.between)));
        }
        if !draft.keys.is_empty() {
            line(format!("keys = {}", draft.keys));
        }
        if draft.wire_types {
            line("types = \"wire\"".to_owned());
        }
        file
    }
}

/// Returns the 64-bit FNV-1a hash of a text.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The tags of reasoning.
#[derive(Debug, Clone, PartialEq)]
struct Thought {
    open: String,
    close: String,
    /// Text after the closing tag that belongs to the turn.
    rest: Option<String>,
}

impl Thought {
    /// Returns the section on reasoning, in TOML.
    fn written(&self, renderings: &Renderings<'_>) -> String {
        let block = format!("{}{{text}}{}", literal(&self.open), literal(&self.close));
        let opens = |prompt: &str| prompt.trim_end().ends_with(self.open.trim());
        let starts = renderings.starts(opens).map_or_else(String::new, |it| format!(", {it}"));
        format!("{{ block = {}{starts} }}", quoted(&block))
    }
}

/// Returns the tags of reasoning that the template may show.
fn thoughts(
    renderings: &Renderings<'_>,
    bodies: &Bodies,
    preamble: &str,
    notes: &mut Vec<String>,
) -> Vec<Thought> {
    let (head, _) =
        renderings.wire(ONE).unwrap_or_default().split_once("zfunc").unwrap_or_default();
    // Some templates write thoughts next to calls only.
    let shown = [(THOUGHT, CONTENT), (THOUGHT_CALL, bodies.opener(head).trim())].into_iter();
    let shown = shown.filter_map(|(n, ends)| {
        let (_, wire) = renderings.wires.get(n)?;
        let wire = wire.as_ref().ok()?;
        let (open, after) = wire.text.split_once(REASONING)?;
        let (close, _) = after.split_once(ends).filter(|_| !ends.is_empty())?;
        Some((wire.before.as_str(), open, close))
    });
    let Some((before, open, close)) = shown.into_iter().next() else {
        if renderings.template().contains("</think>") {
            notes.push("The tags of reasoning are from the template's text.".to_owned());
            let (open, close) = ("<think>\n".to_owned(), "\n</think>\n\n".to_owned());
            return vec![Thought { open, close, rest: None }];
        }
        return Vec::new();
    };
    // The prompt opens the thought: with its last tag, or with words on a line of their own.
    let in_prompt = || {
        let last = marks(before).last()?.text;
        let open = before.get(before.rfind(last)?..)?;
        let line = open.trim_end().rfind('\n').and_then(|at| open.get(at + 1..));
        Some(line.unwrap_or(open).to_owned())
    };
    let open = match open.trim() {
        "" => in_prompt(),
        _ => Some(open.to_owned()),
    };
    let Some(open) = open else { return Vec::new() };
    let own = close.strip_suffix(preamble).filter(|own| !own.trim().is_empty()).unwrap_or(close);
    let newlines = |text: &str, from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.len() - rest.trim_start_matches('\n').len()
    };
    let mut all =
        vec![Thought { open: open.trim_start().to_owned(), close: own.to_owned(), rest: None }];
    if let Some(first) = marks(own).next() {
        let end = own.find(first.text).map_or(0, |at| newlines(own, at + first.text.len()));
        let (close, rest) = own.split_at(end);
        if !rest.is_empty() {
            let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
            all.push(Thought { open: open.trim_start().to_owned(), close: close.to_owned(), rest });
        }
    }
    all
}
