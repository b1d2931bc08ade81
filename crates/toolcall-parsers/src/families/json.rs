//! Families that write calls as JSON values.

use alloc::vec;

use super::{family, json, keys, lines, marked, texts, token, unmarked};
use crate::grammar::{At, Container, Grammar, Item, JsonShape, Keys, Layout, Opener, Role, Shape};

/// Hermes 2 and 3, Qwen2.5 and Qwen3 (not the coders), QwQ, EXAONE 4. From the models' chat
/// templates.
pub(super) fn hermes() -> Grammar {
    let calls = json(Container::ObjectOrArray, texts(["</tool_call>"]));
    Grammar {
        openers: vec![marked("<tool_call>", vec![Shape::Json(calls)])],
        erase: vec![token("<|im_end|>")],
        orphans: texts(["</tool_call>"]),
        layouts: vec![lines()],
        ..family("hermes", "Hermes 2/3, Qwen2.5, Qwen3, QwQ, EXAONE 4")
    }
}

/// Bare objects, `;` between them, `<|python_tag|>` perhaps before: Llama 3.1 to 3.3. From the
/// models' chat templates.
pub(super) fn llama3_json() -> Grammar {
    let calls = JsonShape {
        item: Item::Keys(Keys { arguments: texts(["parameters", "arguments"]), ..keys() }),
        ..json(Container::ObjectOrArray, vec![])
    };
    let bare = || vec![Shape::Json(calls.clone())];
    // A further object behind a separator is a candidate of its own: prose keeps its braces.
    let next =
        |separator| Opener { role: Role::Before, ..unmarked(separator, At::AfterCall, bare()) };
    Grammar {
        openers: vec![
            marked("<|python_tag|>", bare()),
            unmarked("{", At::Lead, bare()),
            unmarked("{", At::AfterCall, bare()),
            next(";"),
            next(","),
        ],
        erase: vec![token("<|eom_id|>"), token("<|eot_id|>")],
        special_tokens: true,
        // The tag stands before built-in tools only.
        layouts: vec![Layout { opener: 1, blocks: "; ".into(), ..Layout::default() }],
        ..family("llama3_json", "Llama 3.1-3.3 with the JSON template")
    }
}
