//! Compares the expected view of a message with the observed one.

use response_templates::{FieldRegion, JsonObject, JsonTree, TemplateParser};
use stream_laws::{COMPLETE, RecordedEvent, RunRecord};

/// An expected view of a message.
#[derive(Debug, Clone)]
pub(super) struct View {
    message: Option<JsonObject>,
    content: String,
    reasoning: String,
    calls: Vec<JsonTree>,
    regions: Vec<JsonTree>,
    in_prompt: Option<usize>,
}

/// The observed view of a message.
#[derive(Debug)]
pub(super) struct Seen {
    message: Option<JsonObject>,
    regions: Vec<FieldRegion>,
}

/// A field with its expected and its observed value.
type Difference = [String; 3];

impl View {
    pub(super) fn read(expect: &JsonTree) -> Result<Self, String> {
        let text = |field: &str| match expect.get(field) {
            None => Ok(String::new()),
            Some(JsonTree::String(text)) => Ok(text.clone()),
            Some(_) => Err(format!("`expect.{field}`: expected a string")),
        };
        let list = |field: &str| match expect.get(field) {
            None => Ok(Vec::new()),
            Some(JsonTree::Array(items)) => Ok(items.clone()),
            Some(_) => Err(format!("`expect.{field}`: expected a list")),
        };
        let in_prompt = match expect.get("regions_in_prefix") {
            Some(JsonTree::Int(number)) => number.as_str().parse().ok(),
            _ => None,
        };
        Ok(Self {
            message: expect.get("message").and_then(JsonTree::as_object).cloned(),
            content: text("content")?,
            reasoning: text("reasoning")?,
            calls: list("calls")?,
            regions: list("regions")?,
            in_prompt,
        })
    }

    pub(super) fn check(&self, seen: &Seen) -> Result<(), Difference> {
        let Some(message) = &seen.message else {
            let wanted = self.message.as_ref().map(shown);
            return match wanted {
                None => Ok(()),
                Some(wanted) => Err(differ("message", wanted, "a field is missing".into())),
            };
        };
        if let Some(wanted) = &self.message {
            let order =
                |object: &JsonObject| object.iter().map(|(key, _)| key.to_owned()).collect();
            let (keys, got): (Vec<String>, Vec<String>) = (order(wanted), order(message));
            if wanted != message || keys != got {
                return Err(differ("message", shown(wanted), shown(message)));
            }
        }
        let texts = [
            ("content", &self.content, text_of(message.get("content"))),
            ("reasoning", &self.reasoning, reasoning_of(message)),
        ];
        for (field, wanted, got) in texts {
            if *wanted != got {
                return Err(differ(field, wanted.clone(), got));
            }
        }
        let mut calls = Vec::new();
        message.get("tool_calls").into_iter().for_each(|value| collect(value, &mut calls));
        if calls != self.calls {
            let show = |calls: &[JsonTree]| JsonTree::Array(calls.to_vec()).to_string();
            return Err(differ("calls", show(&self.calls), show(&calls)));
        }
        self.check_regions(seen)
    }

    fn check_regions(&self, seen: &Seen) -> Result<(), Difference> {
        for (number, wanted) in self.regions.iter().enumerate() {
            let got = seen.regions.get(number);
            let same = got.is_some_and(|got| {
                let is = |key: &str, text: &str| {
                    wanted.get(key).and_then(JsonTree::as_str) == Some(text)
                };
                is("field", &got.field)
                    && is("raw", &got.raw)
                    && match (&got.value, wanted.get("value")) {
                        (Ok(value), Some(wanted)) => value == wanted,
                        (Err(_), None) => true,
                        _ => false,
                    }
            });
            if !same {
                let field = format!("regions[{number}]");
                return Err(differ(&field, wanted.to_string(), format!("{got:?}")));
            }
        }
        let counts = (self.regions.len(), seen.regions.len());
        if counts.0 != counts.1 {
            return Err(differ("regions", counts.0.to_string(), counts.1.to_string()));
        }
        let in_prompt = seen.regions.iter().filter(|region| region.in_prompt).count();
        match self.in_prompt {
            Some(wanted) if wanted != in_prompt => {
                Err(differ("regions_in_prefix", wanted.to_string(), in_prompt.to_string()))
            }
            _ => Ok(()),
        }
    }
}

impl Seen {
    pub(super) fn of(parser: &TemplateParser) -> Self {
        Self { message: parser.message().ok(), regions: parser.regions().to_vec() }
    }

    /// Returns whether the message is not complete, or a region is malformed.
    pub(super) fn failed(&self) -> bool {
        self.message.is_none() || self.regions.iter().any(|region| region.value.is_err())
    }

    /// Checks that the events have the calls of the regions. Skipped if a region is malformed or
    /// began in the prompt. Also skipped if a call had its arguments twice, because the first ones
    /// are streamed before the last arrive.
    pub(super) fn check_events(&self, record: &RunRecord) -> Result<(), Difference> {
        let is_other = self.regions.iter().any(|region| region.value.is_err() || region.in_prompt);
        let is_late = record.diagnostics.iter().any(|it| it.kind == "second_arguments");
        if is_other || is_late {
            return Ok(());
        }
        let mut wanted = Vec::new();
        for region in self.regions.iter().filter(|region| region.field == "tool_calls") {
            region.value.iter().for_each(|value| collect(value, &mut wanted));
        }
        let got = complete_calls(record);
        let wanted: Vec<_> = wanted.iter().filter_map(told).collect();
        let same = wanted.len() == got.len()
            && wanted.iter().zip(&got).all(|((name, arguments), (got_name, got))| {
                name == got_name && JsonTree::from_json(got).as_ref() == Ok(arguments)
            });
        if same {
            return Ok(());
        }
        Err(differ("calls of events", format!("{wanted:?}"), format!("{got:?}")))
    }
}

fn differ(field: &str, expected: String, got: String) -> Difference {
    [field.to_owned(), expected, got]
}

fn shown(object: &JsonObject) -> String {
    JsonTree::Object(object.clone()).to_string()
}

/// Returns a text, or the joined texts of a list.
fn text_of(value: Option<&JsonTree>) -> String {
    match value {
        Some(JsonTree::String(text)) => text.clone(),
        Some(JsonTree::Array(items)) => items.iter().filter_map(JsonTree::as_str).collect(),
        _ => String::new(),
    }
}

fn reasoning_of(message: &JsonObject) -> String {
    let fields = ["reasoning_content", "thinking", "reasoning"];
    text_of(fields.into_iter().find_map(|field| message.get(field)))
}

/// Adds the calls in `value`, a call or a list, as objects with a name and arguments.
fn collect(value: &JsonTree, calls: &mut Vec<JsonTree>) {
    if let JsonTree::Array(items) = value {
        return items.iter().for_each(|item| collect(item, calls));
    }
    let function = value.get("function").unwrap_or(value);
    let Some(name @ JsonTree::String(_)) = function.get("name") else { return };
    let mut call = JsonObject::default();
    call.set("name", name.clone());
    call.set("arguments", function.get("arguments").cloned().unwrap_or_default());
    calls.push(JsonTree::Object(call));
}

/// Returns a call in the form that events have. Missing arguments are empty, and a string is
/// decoded once. Returns `None` if the arguments are not an object.
fn told(call: &JsonTree) -> Option<(String, JsonTree)> {
    let arguments = match call.get("arguments") {
        None | Some(JsonTree::Null) => JsonTree::Object(JsonObject::default()),
        Some(JsonTree::String(text)) => JsonTree::from_json(text).ok()?,
        Some(arguments) => arguments.clone(),
    };
    arguments.as_object()?;
    Some((call.get("name")?.as_str()?.to_owned(), arguments))
}

/// Returns names and arguments of the complete calls.
fn complete_calls(record: &RunRecord) -> Vec<(String, String)> {
    let mut calls: Vec<(String, String, bool)> = Vec::new();
    for event in &record.events {
        match event {
            RecordedEvent::CallStart { name, .. } => {
                calls.push((name.clone(), String::new(), false));
            }
            RecordedEvent::CallArguments { index, fragment } => {
                if let Some(call) = calls.get_mut(*index as usize) {
                    call.1.push_str(fragment);
                }
            }
            RecordedEvent::CallEnd { index, outcome } => {
                if let Some(call) = calls.get_mut(*index as usize) {
                    call.2 = outcome == COMPLETE;
                }
            }
            RecordedEvent::Text { .. } => {}
        }
    }
    calls.into_iter().filter(|call| call.2).map(|(name, arguments, _)| (name, arguments)).collect()
}
