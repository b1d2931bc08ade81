//! The renderings of samples by a chat template.
//!
//! ```text
//! whole   <s>user\nZquestionz asked?<|end|>\n<s>assistant\nZcontentz said.<|end|>\n
//! prompt  <s>user\nZquestionz asked?<|end|>\n<s>assistant\n
//! wire                                                     Zcontentz said.<|end|>\n
//! ```

use serde_json::{Value, json};

use super::{
    DeriveError,
    pieces::common_ends,
    samples::{
        ANSWER, CONTENT, LED, ONE, REASONING, Sample, THOUGHT, TWO_CALLS, samples, spaced, tools,
    },
};
use crate::identify::{
    Checkpoint,
    job::{Job, Render},
    markup::marks,
    turns::{SWITCHES, behind},
};

/// A form of a turn that a template may require.
#[derive(Debug, Clone, Copy, Default)]
struct TurnForm {
    /// Whether arguments are JSON text.
    string: bool,
    /// Whether absent content is `null`.
    null: bool,
    /// Whether ids hold the name and the index of the call.
    named_ids: bool,
    /// Whether content is a list of parts.
    parts: bool,
}

/// The forms that are tried, in this order.
const FORMS: [TurnForm; 7] = {
    const NONE: TurnForm = TurnForm { string: false, null: false, named_ids: false, parts: false };
    [
        NONE,
        TurnForm { null: true, ..NONE },
        TurnForm { string: true, ..NONE },
        TurnForm { string: true, null: true, ..NONE },
        TurnForm { named_ids: true, ..NONE },
        TurnForm { named_ids: true, string: true, ..NONE },
        TurnForm { parts: true, ..NONE },
    ]
};

/// The renderings of the samples by a template.
pub(super) struct Renderings<'r> {
    /// The question, up to where the answer begins.
    pub(super) prompt: String,
    /// The question with each switch off and on, if the template has it.
    pub(super) switched: Vec<(&'static str, [String; 2])>,
    /// The samples with their wires: the text after the prompt.
    pub(super) wires: Vec<(Sample, Result<Wire, String>)>,
    /// Whether arguments are given as JSON text.
    pub(super) string_arguments: bool,
    /// Whether the template writes only the first of several calls, or raises an error.
    pub(super) one_call: bool,
    /// Whether the template leaves out calls next to content.
    pub(super) drops_calls: bool,
    job: JobOf<'r>,
    form: TurnForm,
    /// The beginning of the next turn, which the template always writes.
    next: String,
}

/// The text of a sample after the prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wire {
    pub(super) text: String,
    /// The text before it: the prompt, or as much of it as the whole rendering begins with.
    pub(super) before: String,
}

/// The constant parts of a job.
struct JobOf<'r> {
    checkpoint: &'r Checkpoint,
    template: &'r str,
    render: Render<'r>,
    tools: Value,
}

impl JobOf<'_> {
    fn context(&self, messages: &[Value], prompt: bool, switch: Option<(&str, bool)>) -> String {
        let token = |token: &Option<String>| token.clone().unwrap_or_default();
        let mut context = json!({"messages": messages, "tools": self.tools,
            "add_generation_prompt": prompt, "datetime": "2024-01-01", "functions": "",
            "bos_token": token(&self.checkpoint.bos_token),
            "eos_token": token(&self.checkpoint.eos_token)});
        if let Some((name, on)) = switch {
            context[name] = on.into();
        }
        context.to_string()
    }

    fn rendered(&self, contexts: Vec<String>) -> Vec<Result<String, String>> {
        (self.render)(&Job { template: self.template.to_owned(), contexts })
    }

    fn turn(&self, sample: &Sample, form: TurnForm) -> String {
        self.context(&[question(), message(sample, form)], false, None)
    }
}

fn question() -> Value {
    json!({"role": "user", "content": "Zquestionz asked?"})
}

impl Renderings<'_> {
    /// Returns the text of the chat template.
    pub(super) fn template(&self) -> &str {
        self.job.template
    }

    /// Returns the token that ends texts, as the tokenizer names it.
    pub(super) fn eos(&self) -> Option<&str> {
        self.job.checkpoint.eos_token.as_deref()
    }

    /// Returns the text of a sample.
    pub(super) fn wire(&self, n: usize) -> Result<&str, DeriveError> {
        match self.wires.get(n) {
            Some((_, Ok(wire))) => Ok(&wire.text),
            Some((_, Err(problem))) => {
                Err(DeriveError::new(format!("rendering it fails: {problem}")))
            }
            None => Err(DeriveError::new("it was not rendered")),
        }
    }

    /// Returns how a family's file says where the answer begins, by a function that tells whether a
    /// prompt `opens` a thought. Nothing if no prompt does.
    pub(super) fn starts(&self, opens: impl Fn(&str) -> bool) -> Option<String> {
        let default = opens(&self.prompt);
        let switch = self.switched.iter().find(|(_, [off, on])| opens(off) != opens(on));
        match switch {
            Some((name, _)) => {
                Some(format!("starts = \"switch\", switch = {{ {name} = {default} }}"))
            }
            None => default.then(|| "starts = \"open\"".to_owned()),
        }
    }

    /// Returns the text before content next to calls, if it is the text before a thought.
    pub(super) fn content_as_thought(&self) -> Option<String> {
        let (before, _) = self.wire(THOUGHT).ok()?.split_once(REASONING)?;
        let (led, _) = self.wire(LED).ok()?.split_once(CONTENT)?;
        let (answer, _) = self.wire(ANSWER).ok()?.split_once(CONTENT)?;
        (before == led && answer != led).then(|| before.to_owned())
    }

    /// Renders more samples in the same form.
    pub(super) fn more(&self, samples: Vec<Sample>) -> Vec<(Sample, Result<Wire, String>)> {
        let contexts = samples.iter().map(|sample| self.job.turn(sample, self.form)).collect();
        let all = self.job.rendered(contexts);
        let wires = all.into_iter().map(|it| {
            it.map(|whole| wire(&self.prompt, whole.strip_suffix(&self.next).unwrap_or(&whole)))
        });
        samples.into_iter().zip(wires).collect()
    }
}

/// Cuts the prompt from a whole rendering.
fn wire(prompt: &str, whole: &str) -> Wire {
    let text = whole
        .strip_prefix(prompt)
        .or_else(|| after_blanks(prompt, whole))
        .unwrap_or_else(|| behind(prompt, whole));
    let before = &whole[..whole.len() - text.len()];
    Wire { text: text.to_owned(), before: before.to_owned() }
}

/// Returns the text after the prompt if the rendering differs from it only in blanks.
fn after_blanks<'w>(prompt: &str, whole: &'w str) -> Option<&'w str> {
    let (mut rest, mut prompt) = (whole, prompt);
    loop {
        (prompt, rest) = (prompt.trim_start(), rest.trim_start());
        let Some(scalar) = prompt.chars().next() else { return Some(rest) };
        rest = rest.strip_prefix(scalar)?;
        prompt = &prompt[scalar.len_utf8()..];
    }
}

/// Returns the part of an answer's wire that begins the assistant's next turn, which some templates
/// always write.
fn next_turn<'p>(prompt: &'p str, unprompted: &str, answer: &str) -> &'p str {
    if let Some(header) = prompt.strip_prefix(unprompted).filter(|it| !it.is_empty()) {
        return if answer.ends_with(header) { header } else { "" };
    }
    let len = common_ends(prompt, answer).first().copied().unwrap_or_default();
    let common = &prompt[prompt.len() - len..];
    let end = marks(common)
        .next()
        .map_or(0, |mark| common.find(mark.text).unwrap_or(0) + mark.text.len());
    let header = &common[end..];
    // Another token of the turn's end has no words beside it.
    let tokens: usize = marks(header).map(|mark| mark.text.len()).sum();
    if tokens > 0 && tokens < header.trim().len() { header } else { "" }
}

/// Renders all samples, in the first form that the template accepts.
pub(super) fn rendered<'r>(
    checkpoint: &'r Checkpoint,
    template: &'r str,
    render: Render<'r>,
) -> Result<Renderings<'r>, DeriveError> {
    let mut samples = samples();
    let job = JobOf { checkpoint, template, render, tools: tools(&samples) };
    let asked = [true, false].map(|prompt| job.context(&[question()], prompt, None));
    let mut contexts = asked.to_vec();
    for name in SWITCHES {
        for on in [false, true] {
            contexts.push(job.context(&[question()], true, Some((name, on))));
        }
    }
    // The form is found out with one sample: each rendering takes time.
    let one_call = samples.get(ONE).cloned().unwrap_or_default();
    contexts.extend(FORMS.map(|form| job.turn(&one_call, form)));
    let mut all = job.rendered(contexts).into_iter();
    let prompt = all.next().unwrap_or_else(|| Err("it was not rendered".to_owned()));
    let prompt =
        prompt.map_err(|problem| DeriveError::new(format!("rendering it fails: {problem}")))?;
    let unprompted = all.next().and_then(Result::ok).unwrap_or_default();
    let mut switched = Vec::new();
    for name in SWITCHES {
        if let (Some(Ok(off)), Some(Ok(on))) = (all.next(), all.next())
            && off != on
        {
            switched.push((name, [off, on]));
        }
    }
    let ones: Vec<_> = all.collect();
    // The first form in which the sample with one call shows its value.
    let one = |form: usize| {
        let one = ones.get(form)?.as_ref().ok();
        one.filter(|text| text.contains("zfuncaz") && text.contains("Zvalaz"))
    };
    let forms = 0..FORMS.len();
    let best = forms.clone().find(|form| one(*form).is_some_and(|it| !it.contains("\\\"Zvalaz")));
    let chosen = best.or_else(|| forms.clone().find(|form| one(*form).is_some())).unwrap_or(0);
    let form = FORMS.get(chosen).copied().unwrap_or_default();
    for sample in samples.iter_mut().filter(|_| form.named_ids) {
        for (n, call) in sample.calls.iter_mut().enumerate() {
            call.id = named_id(call.name, n);
        }
    }
    let mine = job.rendered(samples.iter().map(|sample| job.turn(sample, form)).collect());
    let cut = |it: Result<String, String>| it.map(|whole| wire(&prompt, &whole));
    let mut wires: Vec<_> = samples.into_iter().zip(mine.into_iter().map(cut)).collect();
    let answer = wires.get(ANSWER).and_then(|(_, wire)| wire.as_ref().ok());
    let next = answer.map_or("", |answer| next_turn(&prompt, &unprompted, &answer.text)).to_owned();
    for (_, wire) in &mut wires {
        if let Ok(wire) = wire
            && let Some(text) = wire.text.strip_suffix(&next)
        {
            wire.text.truncate(text.len());
        }
    }
    let shows = |(sample, wire): &(Sample, Result<Wire, String>)| {
        let shown = |wire: &Wire| sample.calls.iter().all(|call| wire.text.contains(call.name));
        wire.as_ref().is_ok_and(shown)
    };
    let one_call = !wires.get(TWO_CALLS).is_some_and(shows);
    let mut drops_calls = false;
    for (sample, wire) in &mut wires {
        if one_call && sample.calls.len() > 1 {
            *wire = Err("it writes one call of a turn".to_owned());
        }
        let Ok(text) = wire else { continue };
        let drops = sample.calls.iter().any(|call| !text.text.contains(call.name));
        if drops && !sample.content.is_empty() {
            drops_calls = true;
            *wire = Err("it writes no calls next to content".to_owned());
        }
    }
    let string_arguments = form.string;
    Ok(Renderings {
        wires,
        switched,
        prompt,
        string_arguments,
        one_call,
        drops_calls,
        job,
        form,
        next,
    })
}

fn named_id(name: &str, index: usize) -> String {
    format!("functions.{name}:{index}")
}

/// Returns the message of a sample.
fn message(sample: &Sample, form: TurnForm) -> Value {
    let mut message = json!({"role": "assistant", "content": sample.content});
    if sample.content.is_empty() && form.null {
        message["content"] = Value::Null;
    } else if form.parts {
        message["content"] = json!([{"type": "text", "text": sample.content}]);
    }
    if !sample.reasoning.is_empty() {
        // Templates differ in the name of the field.
        message["reasoning_content"] = sample.reasoning.into();
        message["reasoning"] = sample.reasoning.into();
        message["thinking"] = sample.reasoning.into();
    }
    let calls = sample.calls.iter().enumerate().map(|(n, call)| {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
        let arguments = if form.string { spaced(&arguments).into() } else { arguments };
        let id = if form.named_ids { named_id(call.name, n) } else { call.id.clone() };
        json!({"id": id, "type": "function",
            "function": {"name": call.name, "arguments": arguments}})
    });
    if !sample.calls.is_empty() {
        message["tool_calls"] = calls.collect();
    }
    message
}
