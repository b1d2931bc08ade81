//! Calls as events.

use alloc::string::{String, ToString};

use jail_match::{Event, Outcome};
use toolcall_parsers::Ids;

use super::out::Out;
use crate::json::Value;

/// Numbers the calls of a message.
#[derive(Debug, Clone)]
pub(super) struct Calls {
    pub(super) ids: Ids,
    next: u32,
}

impl Calls {
    pub(super) fn new(ids: Ids) -> Self {
        Self { ids, next: 0 }
    }

    /// Counts from the first call again.
    pub(super) fn restart(&mut self) {
        self.next = 0;
    }

    /// Begins a call and says its number.
    pub(super) fn start(&mut self, name: &str, id: Option<&str>, out: &mut Out<'_>) -> u32 {
        let index = self.next;
        self.next += 1;
        match id {
            Some(id) => out.event(Event::CallStart { index, id, name }),
            None => out.event(Event::CallStart { index, id: &self.ids.id(index), name }),
        }
        index
    }

    /// Emits the calls that `value` is or has; how many.
    pub(super) fn emit(&mut self, value: &Value, out: &mut Out<'_>) -> usize {
        if let Value::Array(items) = value {
            return items.iter().map(|item| self.emit(item, out)).sum();
        }
        let Some((function, name)) = function(value) else { return 0 };
        let id = [value, function].into_iter().find_map(|at| at.get("id")?.as_str());
        let index = self.start(name, id, out);
        finish(index, arguments(function).as_deref(), out);
        1
    }
}

/// Ends a call whose arguments are this object, as JSON; `None`: they are none.
pub(super) fn finish(index: u32, arguments: Option<&str>, out: &mut Out<'_>) {
    let outcome = match arguments {
        Some(fragment) => {
            out.event(Event::CallArguments { index, fragment });
            Outcome::Complete
        }
        None => Outcome::Malformed,
    };
    out.event(Event::CallEnd { index, outcome });
}

/// The function and the name of the call that `value` is, wrapped or bare.
pub(super) fn function(value: &Value) -> Option<(&Value, &str)> {
    let function = value.get("function").unwrap_or(value);
    Some((function, function.get("name")?.as_str()?))
}

/// The arguments of a function as the text of a JSON object. None at all are an empty one, and
/// a string is read once.
pub(super) fn arguments(function: &Value) -> Option<String> {
    match function.get("arguments") {
        None | Some(Value::Null) => Some("{}".to_string()),
        Some(arguments @ Value::Object(_)) => Some(arguments.to_string()),
        Some(Value::String(text)) => object_in(text),
        Some(_) => None,
    }
}

/// The JSON object that `text` is.
pub(super) fn object_in(text: &str) -> Option<String> {
    let value = Value::from_json(text).ok()?;
    value.as_object().is_some().then(|| value.to_string())
}
