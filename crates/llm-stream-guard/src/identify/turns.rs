//! The turns that a template renders for the probe, and their renderings.

use serde_json::json;

use super::{
    Checkpoint,
    job::{Job, Render, Rendered},
};
use crate::limits::MAX_TURN_BYTES;

/// A call of the probe: name, arguments, id.
pub(super) type Probe = (&'static str, &'static str, &'static str);

pub(super) const CALLS: [Probe; 2] = [
    ("probe_tide", r#"{"port": "Årø & co", "day": 3, "spring": true}"#, "aB3dE5gH7"),
    ("probe_bell", r#"{"times": 2, "tone": {"low": false}}"#, "kL9mN1pQ3"),
];

/// Definitions of the tools that the probe's calls use.
pub(super) const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "probe_tide", "description": "A probe.",
        "parameters": {"type": "object", "properties": {
            "port": {"type": "string", "description": "A part."},
            "day": {"type": "integer", "description": "A part."},
            "spring": {"type": "boolean", "description": "A part."}},
        "required": ["port", "day"], "additionalProperties": false}}},
    {"type": "function", "function": {"name": "probe_bell", "description": "A probe.",
        "parameters": {"type": "object", "properties": {
            "times": {"type": "integer", "description": "A part."},
            "tone": {"type": "object", "description": "A part.",
                "properties": {"low": {"type": "boolean", "description": "A part."}}}},
        "required": ["times"], "additionalProperties": false}}}
]"#;

const QUESTION: &str = r#"{"role": "user", "content": "Is it high tide?"}"#;

/// Content of the probe's answer, in turns that have one.
pub(super) const ANSWER: &str = "Probe answered.";

/// Arguments of templates that turn thinking on or off.
pub(super) const SWITCHES: [&str; 3] = ["enable_thinking", "thinking", "reasoning"];

/// One form of the probe's turn: templates differ in the forms they accept.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) calls: usize,
    /// Whether arguments are a string of JSON.
    pub(super) string: bool,
    /// The answer next to the calls, as JSON.
    content: &'static str,
    /// Whether ids consist of a name and a number, which some models write in place of a name.
    named_ids: bool,
}

pub(super) const TURNS: [Turn; 9] = {
    const fn turn(calls: usize, string: bool, content: &'static str) -> Turn {
        Turn { calls, string, content, named_ids: false }
    }
    [
        turn(2, false, "\"\""),
        turn(2, false, "null"),
        Turn { named_ids: true, ..turn(2, false, "\"\"") },
        turn(2, true, "\"\""),
        turn(2, true, "null"),
        turn(1, false, "\"\""),
        turn(1, false, "null"),
        turn(1, true, "\"\""),
        turn(1, true, "null"),
    ]
};

impl Turn {
    /// Returns a question and the turn that answers it, as JSON.
    fn messages(self) -> String {
        let calls = CALLS[..self.calls].iter().enumerate().map(|(n, &(name, arguments, id))| {
            let id = if self.named_ids { format!("functions.{name}:{n}") } else { id.to_owned() };
            let arguments =
                if self.string { json!(arguments).to_string() } else { arguments.into() };
            format!(
                "{{\"id\": \"{id}\", \"type\": \"function\", \"function\": \
                 {{\"name\": \"{name}\", \"arguments\": {arguments}}}}}"
            )
        });
        let calls = calls.collect::<Vec<_>>().join(", ");
        let content = self.content;
        format!(
            "{QUESTION}, {{\"role\": \"assistant\", \"content\": {content}, \"tool_calls\": [{calls}]}}"
        )
    }
}

/// A variable of templates that switches thinking, and its value.
type Switch<'a> = (&'a str, bool);

/// Returns the variables of a rendering, as JSON.
fn context(
    checkpoint: &Checkpoint,
    messages: &str,
    prompt: bool,
    switch: Option<Switch<'_>>,
) -> String {
    let token = |token: &Option<String>| json!(token.as_deref().unwrap_or_default());
    let (bos, eos) = (token(&checkpoint.bos_token), token(&checkpoint.eos_token));
    let switch = switch.map_or(String::new(), |(name, on)| format!(", \"{name}\": {on}"));
    format!(
        "{{\"datetime\": \"2024-01-01\", \"messages\": [{messages}], \"tools\": {TOOLS}, \"add_generation_prompt\": {prompt}, \
         \"bos_token\": {bos}, \"eos_token\": {eos}{switch}}}"
    )
}

/// The renderings of a template: a question, the same with each switch on and off, an answer, and
/// each turn.
pub(super) struct Prompter<'c> {
    pub(super) checkpoint: &'c Checkpoint,
    rendered: Vec<Rendered>,
}

/// Index of the question's rendering in every job.
pub(super) const PROMPT: usize = 0;
const SWITCHED: usize = 1;
pub(super) const ANSWERED: usize = SWITCHED + 2 * SWITCHES.len();
const TURNED: usize = ANSWERED + 1;

impl<'c> Prompter<'c> {
    pub(super) fn new(checkpoint: &'c Checkpoint, text: &str, render: Render<'_>) -> Self {
        let of = |messages: &str, prompt, switch| context(checkpoint, messages, prompt, switch);
        let mut contexts = vec![of(QUESTION, true, None)];
        for name in SWITCHES {
            contexts.extend([false, true].map(|on| of(QUESTION, true, Some((name, on)))));
        }
        let answer = format!("{QUESTION}, {{\"role\": \"assistant\", \"content\": \"{ANSWER}\"}}");
        contexts.push(of(&answer, false, None));
        contexts.extend(TURNS.map(|turn| of(&turn.messages(), false, None)));
        let job = Job { template: text.to_owned(), contexts };
        Self { checkpoint, rendered: render(&job) }
    }

    pub(super) fn rendering(&self, place: usize) -> Result<&str, String> {
        match self.rendered.get(place) {
            Some(Ok(text)) => Ok(text),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err("it was not rendered".to_owned()),
        }
    }

    /// Returns the prompt with the switch at this index of [`SWITCHES`] off or on.
    pub(super) fn switched(&self, switch: usize, on: bool) -> Option<&str> {
        self.rendering(SWITCHED + 2 * switch + usize::from(on)).ok()
    }

    /// Returns the text that the model would have written for the calls of a turn.
    pub(super) fn wire(&self, turn: usize) -> Result<String, String> {
        let whole = self.rendering(TURNED + turn)?;
        match behind(self.rendering(PROMPT)?, whole) {
            wire if wire.len() > MAX_TURN_BYTES => {
                Err(format!("it renders more than {MAX_TURN_BYTES} bytes for two calls"))
            }
            wire => Ok(wire.to_owned()),
        }
    }
}

/// Returns the part of `whole` after its common prefix with the prompt, cut before a mark rather
/// than inside it.
pub(super) fn behind<'w>(prompt: &str, whole: &'w str) -> &'w str {
    let common = prompt.chars().zip(whole.chars()).take_while(|(a, b)| a == b);
    let common: usize = common.map(|(scalar, _)| scalar.len_utf8()).sum();
    let open = whole[..common].rfind(['<', '[']);
    let cut = open.filter(|&at| !whole[at..common].contains(['>', ']']));
    &whole[cut.unwrap_or(common)..]
}
