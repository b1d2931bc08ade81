//! Families that write calls as JSON values, one call a block.

use alloc::{vec, vec::Vec};

use super::{family, json, keys, lines, marked, texts, token, unmarked};
use crate::grammar::{
    At, Closing, Container, Erase, Grammar, Item, JsonShape, Keys, Layout, Opener, Role, Shape,
};

/// A value between two markers, which may be an object or an array.
pub(super) fn block(
    container: Container,
    open: &'static str,
    close: &'static str,
    grammar: Grammar,
) -> Grammar {
    let calls = json(container, texts([close]));
    Grammar {
        openers: vec![marked(open, vec![Shape::Json(calls)])],
        orphans: texts([close]),
        layouts: vec![lines()],
        ..grammar
    }
}

/// Hermes 2 and 3, Qwen2.5 and Qwen3 (not the coders), QwQ, EXAONE 4. From the models' chat
/// templates.
pub(super) fn hermes() -> Grammar {
    Grammar {
        erase: vec![token("<|im_end|>")],
        ..block(
            Container::ObjectOrArray,
            "<tool_call>",
            "</tool_call>",
            family("hermes", "Hermes 2/3, Qwen2.5, Qwen3, QwQ, EXAONE 4, Trinity, MiMo-VL"),
        )
    }
}

/// The same blocks; arguments may be an object in a string. From the models' chat template.
pub(super) fn granite4() -> Grammar {
    Grammar {
        erase: vec![token("<|end_of_text|>")],
        special_tokens: true,
        ..block(
            Container::ObjectOrArray,
            "<tool_call>",
            "</tool_call>",
            family("granite4", "Granite 4.0"),
        )
    }
}

/// LongCat-Flash: the same with tags of its own. From the model's chat template.
pub(super) fn longcat() -> Grammar {
    Grammar {
        erase: vec![token("</longcat_s>")],
        special_tokens: true,
        ..block(
            Container::ObjectOrArray,
            "<longcat_tool_call>",
            "</longcat_tool_call>",
            family("longcat", "LongCat-Flash-Chat"),
        )
    }
}

/// As many newlines as ERNIE 4.5 was seen to write in a row, and some: held ones are looked at
/// again with every chunk, so that "all" would cost.
const NEWLINES: u8 = 16;

/// ERNIE 4.5: newlines next to its markers are never text. From the model's chat template.
pub(super) fn ernie45() -> Grammar {
    let wrapper = |marker| Erase { newlines: (NEWLINES, NEWLINES), ..token(marker) };
    let calls = json(Container::Object, texts(["</tool_call>"]));
    Grammar {
        openers: vec![Opener {
            newlines_before: NEWLINES,
            ..marked("<tool_call>", vec![Shape::Json(calls)])
        }],
        erase: vec![
            wrapper("<response>"),
            wrapper("</response>"),
            // Newlines behind a call.
            Erase { at: At::AfterCall, ..token("\n") },
        ],
        orphans: texts(["</tool_call>"]),
        layouts: vec![lines()],
        ..family("ernie45", "ERNIE 4.5")
    }
}

/// InternLM 2 and 2.5, Intern-S1: an opener of two tokens. From the models' chat templates.
pub(super) fn internlm2() -> Grammar {
    let calls = JsonShape {
        glue: texts(["<|plugin|>"]),
        item: parameters(),
        ..json(Container::Object, texts(["<|action_end|>"]))
    };
    Grammar {
        openers: vec![marked("<|action_start|>", vec![Shape::Json(calls)])],
        erase: vec![token("<|im_end|>")],
        orphans: texts(["<|action_end|>"]),
        special_tokens: true,
        layouts: vec![Layout { inside: ("\n".into(), "".into()), ..Layout::default() }],
        ..family("internlm2", "InternLM 2 and 2.5, Intern-S1")
    }
}

/// granite-20b-functioncalling: nothing ends a call but its brace. From the model card.
pub(super) fn granite_20b_fc() -> Grammar {
    let calls = json(Container::Object, vec![]);
    Grammar {
        openers: vec![marked("<function_call>", vec![Shape::Json(calls)])],
        erase: vec![token("<|endoftext|>")],
        layouts: vec![Layout {
            inside: (" ".into(), "".into()),
            blocks: " ".into(),
            ..Layout::default()
        }],
        ..family("granite_20b_fc", "granite-20b-functioncalling")
    }
}

/// GigaChat 3 and 3.1: a message of its own, or a token. From the models' chat templates.
pub(super) fn gigachat3() -> Grammar {
    let calls = || json(Container::Object, vec![]);
    let message = JsonShape { glue: texts(["function call", "<|role_sep|>"]), ..calls() };
    Grammar {
        openers: vec![
            marked("<|message_sep|>", vec![Shape::Json(message)]),
            marked("<|function_call|>", vec![Shape::Json(calls())]),
        ],
        erase: vec![token("</s>")],
        special_tokens: true,
        layouts: vec![Layout {
            inside: ("\n".into(), "".into()),
            blocks: "".into(),
            ..Layout::default()
        }],
        ..family("gigachat3", "GigaChat 3 and 3.1")
    }
}

/// MiniMax M1: objects on lines of their own. From the model's chat template.
pub(super) fn minimax_m1() -> Grammar {
    Grammar {
        erase: vec![token("<end_of_sentence>")],
        layouts: vec![Layout { inside: ("\n".into(), "\n".into()), ..Layout::default() }],
        ..block(
            Container::Objects,
            "<tool_calls>",
            "</tool_calls>",
            family("minimax_m1", "MiniMax M1"),
        )
    }
}

/// RWKV: a heading and a fence; older checkpoints write a tag without end. From the models'
/// chat templates.
pub(super) fn rwkv() -> Grammar {
    let fenced = json(Container::Object, texts(["```"]));
    let older = JsonShape {
        closing: Closing::Optional,
        ..json(Container::Object, texts(["</tool_call>"]))
    };
    Grammar {
        openers: vec![
            marked("**Tool Call:**\n```json", vec![Shape::Json(fenced)]),
            marked("<tool_call>", vec![Shape::Json(older)]),
        ],
        orphans: texts(["</tool_call>"]),
        layouts: vec![lines()],
        ..family("rwkv", "RWKV-7 with tools")
    }
}

/// Qwen2.5-Coder: whatever it takes for a tool call without having learned one. From recorded
/// output.
pub(super) fn qwen25_coder() -> Grammar {
    let tagged = |open, close| {
        let calls = json(Container::ObjectOrArray, texts([close]));
        marked(open, vec![Shape::Json(calls)])
    };
    let mut openers = vec![tagged("<tool_call>", "</tool_call>"), tagged("<tools>", "</tools>")];
    openers.extend(
        ["```json", "```xml", "```tool_call", "```"]
            .map(|fence| fenced(fence, json(Container::ObjectOrArray, texts(["```"])))),
    );
    let bare = json(Container::Object, vec![]);
    openers.push(unmarked("{", At::Lead, vec![Shape::Json(bare)]));
    Grammar {
        openers,
        erase: vec![token("<|im_end|>")],
        orphans: texts(["</tool_call>", "</tools>"]),
        layouts: vec![lines()],
        ..family("qwen25_coder", "Qwen2.5-Coder")
    }
}

/// The usual keys, where templates write `parameters`.
fn parameters() -> Item {
    Item::Keys(Keys { arguments: texts(["parameters", "arguments"]), ..keys() })
}

/// A code fence that may hold calls.
pub(super) fn fenced(fence: &'static str, shape: JsonShape) -> Opener {
    Opener { role: Role::Before, ..unmarked(fence, At::Anywhere, vec![Shape::Json(shape)]) }
}

/// Bare objects, `;` or `,` between them: the message's first, and those behind a call.
fn bare(shape: &JsonShape) -> Vec<Opener> {
    let shapes = || vec![Shape::Json(shape.clone())];
    // A further object behind a separator is a candidate of its own: prose keeps its braces.
    let next =
        |separator| Opener { role: Role::Before, ..unmarked(separator, At::AfterCall, shapes()) };
    vec![
        unmarked("{", At::Lead, shapes()),
        unmarked("{", At::AfterCall, shapes()),
        next(";"),
        next(","),
    ]
}

/// Bare objects, `<|python_tag|>` perhaps before.
fn llama(grammar: Grammar) -> Grammar {
    let calls = JsonShape { item: parameters(), ..json(Container::ObjectOrArray, vec![]) };
    let mut openers = vec![marked("<|python_tag|>", vec![Shape::Json(calls.clone())])];
    openers.extend(bare(&calls));
    // The tag stands before built-in tools only.
    let layouts = vec![Layout { opener: 1, blocks: "; ".into(), ..Layout::default() }];
    Grammar { openers, special_tokens: true, layouts, ..grammar }
}

/// Llama 3.1 to 3.3. From the models' chat templates.
pub(super) fn llama3_json() -> Grammar {
    let grammar = family("llama3_json", "Llama 3.1-3.3 with the JSON template");
    Grammar { erase: vec![token("<|eom_id|>"), token("<|eot_id|>")], ..llama(grammar) }
}

/// Llama 4, which also writes a bare array. From the model's JSON chat template.
pub(super) fn llama4_json() -> Grammar {
    let mut grammar = llama(family("llama4_json", "Llama 4 with the JSON template"));
    let list = json(Container::Array, vec![]);
    grammar.openers.push(unmarked("[", At::Lead, vec![Shape::Json(list)]));
    let ends = ["<|eom|>", "<|eot|>", "<|eom_id|>", "<|eot_id|>"];
    Grammar { erase: ends.map(token).to_vec(), ..grammar }
}

/// Whatever was told to answer with JSON: bare calls, lists of them, calls in the wrappers of
/// chat APIs and of constrained decoding. From the engines' documentation.
pub(super) fn bare_json() -> Grammar {
    let keys =
        Keys { wrap: texts(["function", "tool_call"]), list: texts(["tool_calls"]), ..keys() };
    bare_or_list(keys, family("bare_json", "any model told to answer with JSON"))
}

/// The same, where an object that holds no call holds the answer: what llama.cpp makes models
/// write that have no tool syntax of their own.
pub(super) fn llamacpp_generic() -> Grammar {
    let keys = Keys {
        wrap: texts(["tool_call"]),
        list: texts(["tool_calls"]),
        answer: texts(["response"]),
        ..keys()
    };
    let layout = Layout { inside: ("{\"tool_call\": ".into(), "}".into()), ..Layout::default() };
    let grammar = family("llamacpp_generic", "any model under llama.cpp's generic format");
    Grammar { layouts: vec![layout], ..bare_or_list(keys, grammar) }
}

/// Bare objects, and a list of them.
fn bare_or_list(keys: Keys, grammar: Grammar) -> Grammar {
    let item = Item::Keys(keys);
    let calls = JsonShape { item, ..json(Container::ObjectOrArray, vec![]) };
    let mut openers = bare(&calls);
    openers.push(unmarked("[", At::Lead, vec![Shape::Json(calls)]));
    Grammar { openers, ..grammar }
}
