//! A view of arguments that are still arriving.
//!
//! JavaScript holds the value, and this module reports edits:
//!
//! ```text
//! {"city": "Par      [-1,null,{}] [0,"city",""] [1,"Par"]
//! is"                [1,"is"]
//! ```
//!
//! The edit of a new value has the length of its parent's path, its last step and the value. For
//! the top value, the length is -1. An edit that appends to a string has the length of the string's
//! path and the text.

use std::fmt::Write as _;

use llm_stream_guard::{ArgumentsChange, ArgumentsStep, ArgumentsView};
use wasm_bindgen::prelude::*;

use crate::events::escape_to;

/// Reports what each fragment changes.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct NativeArguments {
    view: ArgumentsView,
}

#[wasm_bindgen]
impl NativeArguments {
    /// Creates a view of empty arguments.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a fragment and returns the edits it makes.
    pub fn push(&mut self, fragment: &str) -> String {
        let mut edits = String::from("[");
        self.view.push(fragment, |change| edit(change, &mut edits));
        edits.push(']');
        edits
    }

    /// Returns whether a fragment without quotes and backslashes would only be appended to a
    /// string. Such a fragment need not be pushed.
    pub fn is_in_text(&self) -> bool {
        self.view.is_in_text()
    }

    /// Returns `0` while more text is expected, `1` if the value is whole, `2` if the text is
    /// malformed.
    pub fn state(&self) -> u8 {
        u8::from(self.view.is_complete()) + 2 * u8::from(self.view.is_malformed())
    }
}

/// Writes a change as an edit.
fn edit(ArgumentsChange { path, value, appended }: ArgumentsChange<'_>, edits: &mut String) {
    if edits.len() > 1 {
        edits.push(',');
    }
    match (appended, path.split_last()) {
        (Some(text), _) => {
            let _ = write!(edits, "[{},\"", path.len());
            escape_to(edits, text);
            edits.push('"');
        }
        (None, None) => {
            let _ = write!(edits, "[-1,null,{value}");
        }
        (None, Some((step, parents))) => {
            let _ = write!(edits, "[{},", parents.len());
            match step {
                ArgumentsStep::Key(key) => {
                    edits.push('"');
                    escape_to(edits, key);
                    edits.push('"');
                }
                ArgumentsStep::Index(index) => {
                    let _ = write!(edits, "{index}");
                }
            }
            let _ = write!(edits, ",{value}");
        }
    }
    edits.push(']');
}
