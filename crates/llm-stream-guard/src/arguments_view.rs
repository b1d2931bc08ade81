//! A view of a call's arguments as a value while they arrive.
//!
//! ```text
//! fragment           value                          changes
//! {"city": "Par      {"city": "Par"}                the top and city are new; city + "Par"
//! is", "days": 1     {"city": "Paris"}              city + "is"
//! 2}                 {"city": "Paris", "days": 12}  days new
//! ```

mod escapes;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcall_parsers::{JsonPlace, JsonScan};

use self::escapes::unescape_to;

/// A step from a container to one of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentsStep {
    /// The key of an object's member.
    Key(Arc<str>),
    /// The index of a list's element.
    Index(usize),
}

/// A change of a value that is still arriving.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArgumentsChange<'v> {
    /// Steps from the top to the changed value; empty for the top.
    pub path: &'v [ArgumentsStep],
    /// The received part of the changed value.
    pub value: &'v Value,
    /// Text that was added to the end of a string. `None` if the value is new.
    pub appended: Option<&'v str>,
}

/// The arguments of a call so far as a value, for showing them while they arrive.
///
/// Feed the view with the fragments of [`crate::Event::CallArguments`] of one call. The work is
/// proportional to the text, however small the fragments are. The value contains the received part
/// of a string. A key without a value, an unfinished number or word, and half an escape are left
/// out. Of members with the same key, the last one counts.
///
/// ```
/// use llm_stream_guard::{ArgumentsView, ArgumentsStep};
/// use serde_json::json;
/// let mut view = ArgumentsView::new();
/// let mut paths = Vec::new();
/// for fragment in ["{\"city\": \"Par", "is\", \"days\": 1", "2}"] {
///     view.push(fragment, |change| paths.push(change.path.to_vec()));
/// }
/// assert_eq!(view.value(), &json!({"city": "Paris", "days": 12}));
/// assert_eq!(paths.last(), Some(&vec![ArgumentsStep::Key("days".into())]));
/// ```
///
/// Brackets nest at most 128 deep. Malformed text and later text do not change the value.
#[derive(Debug, Clone)]
pub struct ArgumentsView {
    top: Value,
    scan: JsonScan,
    /// Steps to the value that is arriving.
    path: Vec<ArgumentsStep>,
    /// The key before its value.
    key: String,
    /// A number or a word that is not complete, or an escape that was cut.
    pending: String,
    state: ViewState,
}

/// Whether text can still change the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewState {
    Empty,
    Open,
    Complete,
    Malformed,
}

impl Default for ArgumentsView {
    fn default() -> Self {
        Self {
            top: Value::Object(Map::new()),
            scan: JsonScan::new(),
            path: Vec::new(),
            key: String::new(),
            pending: String::new(),
            state: ViewState::Empty,
        }
    }
}

impl ArgumentsView {
    /// Creates a view of empty arguments.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value so far; `{}` at the beginning.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.top
    }

    /// Whether the value is whole. Text after it is ignored.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.state == ViewState::Complete
    }

    /// Whether the text was not JSON, or nested too deep.
    #[must_use]
    pub fn is_malformed(&self) -> bool {
        self.state == ViewState::Malformed
    }

    /// Whether a fragment without quotes and backslashes would only be added to a string.
    #[must_use]
    pub fn is_in_text(&self) -> bool {
        self.state == ViewState::Open
            && self.scan.place() == JsonPlace::String
            && self.pending.is_empty()
    }

    /// Adds the next fragment, and reports each change in the order of the text.
    pub fn push(&mut self, fragment: &str, mut changed: impl FnMut(ArgumentsChange<'_>)) {
        let joined;
        let mut rest = fragment;
        if self.in_string() && !self.pending.is_empty() {
            self.pending.push_str(fragment);
            joined = std::mem::take(&mut self.pending);
            rest = &joined;
        }
        while matches!(self.state, ViewState::Empty | ViewState::Open) && !rest.is_empty() {
            if self.scan.number_ends_before(rest) {
                self.end_scalar(&mut changed);
                if self.is_malformed() {
                    break;
                }
            }
            let before = self.scan.place();
            let Ok(used) = self.scan.step(rest) else {
                self.state = ViewState::Malformed;
                break;
            };
            let (read, more) = rest.split_at(used);
            if used == 0 {
                self.pending.push_str(more);
                break;
            }
            match before {
                JsonPlace::Key | JsonPlace::String => self.text(read, before, &mut changed),
                _ => self.structure(read, before, &mut changed),
            }
            rest = more;
        }
    }

    fn in_string(&self) -> bool {
        matches!(self.scan.place(), JsonPlace::Key | JsonPlace::String)
    }

    /// Reads a piece of a key or of a string, including its closing quote.
    fn text(
        &mut self,
        piece: &str,
        before: JsonPlace,
        changed: &mut impl FnMut(ArgumentsChange<'_>),
    ) {
        let ended = !self.in_string();
        let inside = if ended { piece.strip_suffix('"').unwrap_or(piece) } else { piece };
        if before == JsonPlace::Key {
            unescape_to(inside, &mut self.key);
            return;
        }
        let depth = self.path.len();
        if !inside.is_empty()
            && let Some(Value::String(string)) = latest(&mut self.top, depth)
        {
            let from = string.len();
            unescape_to(inside, string);
            if let Some(value) = latest(&mut self.top, depth) {
                let appended = value.as_str().and_then(|text| text.get(from..));
                changed(ArgumentsChange { path: &self.path, value, appended });
            }
        }
        if ended {
            self.end();
        }
    }

    /// Reads a byte outside of strings.
    fn structure(
        &mut self,
        byte: &str,
        before: JsonPlace,
        changed: &mut impl FnMut(ArgumentsChange<'_>),
    ) {
        match byte {
            "{" => self.begin(Value::Object(Map::new()), changed),
            "[" => self.begin(Value::Array(Vec::new()), changed),
            "}" | "]" => self.end(),
            "\"" if self.scan.place() == JsonPlace::Key => self.key.clear(),
            "\"" => self.begin(Value::String(String::new()), changed),
            part => {
                let place = self.scan.place();
                let arriving = matches!(place, JsonPlace::Number | JsonPlace::Word);
                if arriving || before == JsonPlace::Word {
                    self.pending.push_str(part);
                }
                if before == JsonPlace::Word && place != JsonPlace::Word {
                    self.end_scalar(changed);
                }
            }
        }
    }

    /// Adds the number or word that is complete now.
    fn end_scalar(&mut self, changed: &mut impl FnMut(ArgumentsChange<'_>)) {
        match serde_json::from_str(&self.pending) {
            Ok(value) => {
                self.begin(value, changed);
                self.end();
            }
            // A number that no JSON reader represents.
            Err(_) => self.state = ViewState::Malformed,
        }
        self.pending.clear();
    }

    /// Adds a value to the container that is open.
    fn begin(&mut self, value: Value, changed: &mut impl FnMut(ArgumentsChange<'_>)) {
        let first = std::mem::replace(&mut self.state, ViewState::Open) == ViewState::Empty;
        match latest(&mut self.top, self.path.len()) {
            Some(Value::Object(members)) if !first => {
                let key: Arc<str> = self.key.as_str().into();
                // A repeated key is moved to the end, because text is added to the last member.
                members.swap_remove(&*key);
                members.insert(self.key.clone(), value);
                self.path.push(ArgumentsStep::Key(key));
            }
            Some(Value::Array(elements)) if !first => {
                self.path.push(ArgumentsStep::Index(elements.len()));
                elements.push(value);
            }
            _ => self.top = value,
        }
        if let Some(value) = latest(&mut self.top, self.path.len()) {
            changed(ArgumentsChange { path: &self.path, value, appended: None });
        }
    }

    /// Ends the value that is arriving.
    fn end(&mut self) {
        if self.path.pop().is_none() {
            self.state = ViewState::Complete;
        }
    }
}

/// Returns the last value, `depth` containers below `top`.
fn latest(top: &mut Value, depth: usize) -> Option<&mut Value> {
    (0..depth).try_fold(top, |value, _| match value {
        Value::Object(members) => members.values_mut().next_back(),
        Value::Array(elements) => elements.last_mut(),
        _ => None,
    })
}
