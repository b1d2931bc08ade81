//! Families that write calls in Python syntax.

use alloc::{vec, vec::Vec};

use super::{family, json, keys, lines, marked, texts, token, unmarked};
use crate::grammar::{
    At, Closer, Closing, Container, Grammar, Layout, Opener, PythonCall, PythonContainer,
    PythonQuotes, PythonShape, Role, Shape, Text,
};

fn python(container: PythonContainer, closers: Vec<Text>) -> PythonShape {
    PythonShape {
        glue: vec![],
        container,
        call: PythonCall::Call,
        quotes: PythonQuotes::Strict,
        null_words: vec![],
        closers,
        closing: Closing::Expected,
    }
}

/// A bare list of calls: Llama 3.2, ToolACE, Gemma 3 with the Python template. From the models'
/// chat templates and prompt guides.
pub(super) fn pythonic() -> Grammar {
    let list = python(PythonContainer::List, vec![]);
    Grammar {
        openers: vec![unmarked("[", At::Anywhere, vec![Shape::Python(list)])],
        erase: vec![token("<|eot_id|>"), token("<|eom_id|>")],
        ..family("pythonic", "Llama 3.2, ToolACE, Gemma 3 with the Python template")
    }
}

/// A list of calls, markers around it perhaps: Llama 4. From the model's chat template.
pub(super) fn llama4_pythonic() -> Grammar {
    let bare = python(PythonContainer::List, vec![]);
    let list = PythonShape {
        closing: Closing::Optional,
        ..python(PythonContainer::ListOrCall, texts(["<|python_end|>"]))
    };
    Grammar {
        openers: vec![
            marked("<|python_start|>", vec![Shape::Python(list)]),
            unmarked("[", At::Anywhere, vec![Shape::Python(bare)]),
        ],
        erase: vec![token("<|eot|>"), token("<|eom|>")],
        orphans: texts(["<|python_end|>"]),
        special_tokens: true,
        layouts: vec![Layout { closer: Closer::Always, ..Layout::default() }],
        ..family("llama4_pythonic", "Llama 4 Scout and Maverick")
    }
}

/// Calls on lines of their own between tags: OLMo 3. From the model's chat template.
pub(super) fn olmo3() -> Grammar {
    let shape = |container| {
        let closers = texts(["</function_calls>"]);
        Shape::Python(PythonShape { null_words: texts(["nil"]), ..python(container, closers) })
    };
    let shapes = vec![shape(PythonContainer::Lines), shape(PythonContainer::List)];
    Grammar {
        openers: vec![marked("<function_calls>", shapes)],
        erase: vec![token("<|im_end|>")],
        orphans: texts(["</function_calls>"]),
        ..family("olmo3", "OLMo 3 Instruct and Think")
    }
}

/// A list of calls, one call, or a JSON array between markers: LFM2 and LFM2.5. From the models'
/// chat templates and recorded output.
pub(super) fn lfm2() -> Grammar {
    let closers = || texts(["<|tool_call_end|>"]);
    let calls = PythonShape {
        quotes: PythonQuotes::Nested,
        ..python(PythonContainer::ListOrCall, closers())
    };
    let objects = json(Container::ObjectOrArray, closers());
    Grammar {
        openers: vec![marked(
            "<|tool_call_start|>",
            vec![Shape::Python(calls), Shape::Json(objects)],
        )],
        erase: vec![token("<|im_end|>")],
        orphans: closers(),
        special_tokens: true,
        ..family("lfm2", "LFM2 and LFM2.5")
    }
}

/// A list of Python dicts, a marker before it perhaps: Sarashina 2.2. From the model's chat
/// template.
pub(super) fn sarashina() -> Grammar {
    let shape = |container| {
        let call = PythonCall::Dict(keys());
        Shape::Python(PythonShape { call, ..python(container, vec![]) })
    };
    Grammar {
        openers: vec![
            marked("<|tool_calls|>", vec![shape(PythonContainer::ListOrCall)]),
            unmarked("[", At::Lead, vec![shape(PythonContainer::List)]),
        ],
        erase: vec![token("</s>")],
        special_tokens: true,
        ..family("sarashina", "Sarashina 2.2 Instruct")
    }
}

/// Calls on lines of their own, which nothing announces: Granite with the Python template. From
/// the model card.
pub(super) fn granite_pythonic() -> Grammar {
    let call = Shape::Python(python(PythonContainer::Call, vec![]));
    Grammar {
        openers: vec![Opener { role: Role::Name, ..unmarked("", At::LineStart, vec![call]) }],
        erase: vec![token("<|end_of_text|>")],
        ..family("granite_pythonic", "Granite with the Python template")
    }
}

/// A call with one object as in a script, between tags: prompts for models that learned no
/// syntax of their own. From the harness that uses it.
pub(super) fn harn_text() -> Grammar {
    let call = PythonShape {
        call: PythonCall::Object,
        null_words: texts(["undefined"]),
        ..python(PythonContainer::Lines, texts(["</tool_call>"]))
    };
    Grammar {
        openers: vec![marked("<tool_call>", vec![Shape::Python(call)])],
        orphans: texts(["</tool_call>"]),
        layouts: vec![lines()],
        ..family("harn_text", "any model prompted for calls as a script writes them")
    }
}
