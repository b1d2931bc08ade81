//! Random wires of several calls of one family, with faults in some of them.

use llm_stream_guard::{
    Grammar, Tools,
    toolcall_parsers::{EncodeCall, encode, encode_form},
};
use stream_laws::Random;

/// Text between calls, and in place of damaged parts.
const FILLERS: [&str; 19] = [
    "x", " ", "\n", "\n\n", "  \n", "é", "{", "}", "[", "]", ",", "\"", ":", "<", "a b", "?", "\0",
    "\u{FFFD}", "\r\n",
];

/// Argument objects that the families write in different ways.
const ARGUMENTS: [&str; 4] = [
    "{}",
    r#"{"port": "Brest"}"#,
    r#"{"port": "a, b", "day": 12}"#,
    r#"{"day": 1, "list": [1, {"k": "v"}]}"#,
];

/// A generator of wires of one family: whole and damaged calls in one block or in several.
///
/// ```text
/// <tool_call>{"name": "f", ?}</tool_call>\n<tool_call>{"name": "g", "arguments": {}}</tool_call>
/// ```
#[derive(Debug, Clone)]
pub struct Damage {
    /// Blocks of one to three calls, as the family writes them.
    blocks: Vec<String>,
    /// The family's literals, whole and without their ends.
    literals: Vec<String>,
}

impl Damage {
    /// Creates a generator for `grammar`. The calls name the tools of [`Damage::tools`].
    #[must_use]
    pub fn new(grammar: &Grammar) -> Self {
        let tools = Self::tools();
        let mut blocks = Vec::new();
        for (n, arguments) in ARGUMENTS.iter().enumerate() {
            let calls = [("f", *arguments), ("get_tide", "{}"), ("f", ARGUMENTS[(n + 1) % 4])];
            let calls = calls.map(|(name, arguments)| EncodeCall::new(name, arguments));
            for many in 1..=calls.len() {
                blocks.extend(encode(grammar, &calls[..many], &tools));
                let forms = 0..grammar.family().forms.len();
                blocks
                    .extend(forms.filter_map(|form| {
                        encode_form(grammar, form, &calls[..many], &tools).ok()
                    }));
            }
        }
        let markers = grammar.openers().chain(grammar.removed()).chain(grammar.markers());
        let mut literals: Vec<String> = markers.map(ToString::to_string).collect();
        grammar.family().clone().each_literal(|literal| literals.push(literal.clone()));
        let halves: Vec<String> = literals.iter().map(|literal| half(literal)).collect();
        literals.extend(halves);
        literals.retain(|literal| !literal.is_empty());
        literals.sort();
        literals.dedup();
        blocks.sort();
        blocks.dedup();
        Self { blocks, literals }
    }

    /// Returns the tools that the calls name.
    #[must_use]
    pub fn tools() -> Tools {
        let schema = r#"{"properties": {"port": {"type": "string"}, "day": {"type": "integer"},
            "list": {"type": "array"}}}"#;
        let tools = format!(
            r#"[{{"type": "function", "function": {{"name": "f", "parameters": {schema}}}}},
                {{"type": "function", "function": {{"name": "get_tide"}}}}]"#
        );
        Tools::from_json(&tools.parse().expect("JSON")).expect("tools")
    }

    /// Generates a wire of one to four blocks, of which about half are damaged.
    #[must_use]
    pub fn wire(&self, random: &mut Random) -> String {
        let mut wire = String::new();
        for _ in 0..=random.below(4) {
            let Some(block) = self.blocks.get(random.below(self.blocks.len())) else { break };
            let mut block = block.clone();
            for _ in 0..random.below(4).saturating_sub(1) {
                block = self.damaged(&block, random);
            }
            wire += &block;
            if random.below(3) == 0 {
                wire += self.piece(random);
            }
        }
        wire
    }

    /// Adds one fault: characters are missing, repeated or replaced, or the end is cut off.
    fn damaged(&self, text: &str, random: &mut Random) -> String {
        let boundaries: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let from = random.below(boundaries.len());
        let short = random.below(2) == 0;
        let to = from + random.below(if short { 3 } else { boundaries.len() - from });
        let (from, to) = (boundaries[from], boundaries[to.min(boundaries.len() - 1)]);
        let (head, middle, tail) = (&text[..from], &text[from..to], &text[to..]);
        match random.below(6) {
            0 => format!("{head}{tail}"),
            1 => format!("{head}{middle}{middle}{tail}"),
            2 => format!("{head}{}{tail}", self.piece(random)),
            3 => head.to_owned(),
            _ => format!("{head}{}{middle}{tail}", self.piece(random)),
        }
    }

    fn piece(&self, random: &mut Random) -> &str {
        match random.below(2) {
            0 if !self.literals.is_empty() => &self.literals[random.below(self.literals.len())],
            _ => FILLERS[random.below(FILLERS.len())],
        }
    }
}

/// Returns the first half of a marker.
fn half(literal: &str) -> String {
    literal.chars().take(literal.chars().count() / 2).collect()
}
