//! Families that write calls as a JSON array, all calls in one block.

use alloc::{vec, vec::Vec};

use super::{
    family, json,
    json::{block, fenced},
    keys, marked, texts, token, unmarked,
};
use crate::grammar::{
    Arrangement, At, Closer, Closing, Container, Erase, Grammar, Item, JsonShape, Keys, Layout,
    Opener, Role, Shape,
};

fn array(closers: Vec<crate::grammar::Text>) -> Vec<Shape> {
    vec![Shape::Json(json(Container::Array, closers))]
}

/// A bare array at the start of the message: servers strip the marker.
fn bare(closers: Vec<crate::grammar::Text>) -> Opener {
    let calls = JsonShape { closing: Closing::Optional, ..json(Container::Array, closers) };
    unmarked("[", At::Lead, vec![Shape::Json(calls)])
}

/// All calls in one array, with this before and behind it.
fn list(before: &'static str, behind: &'static str) -> Vec<Layout> {
    let inside = (before.into(), behind.into());
    vec![Layout { calls: Arrangement::Together, inside, ..Layout::default() }]
}

/// Granite 3.0 to 3.3: a token or a tag before an array that nothing closes. From the models'
/// chat templates.
pub(super) fn granite() -> Grammar {
    Grammar {
        openers: vec![
            marked("<|tool_call|>", array(vec![])),
            marked("<tool_call>", array(vec![])),
            bare(vec![]),
        ],
        erase: vec![token("<|end_of_text|>")],
        special_tokens: true,
        layouts: list(" ", ""),
        ..family("granite", "Granite 3.0-3.3")
    }
}

/// Jamba 1.5 and later. From the model's chat template.
pub(super) fn jamba() -> Grammar {
    let grammar = family("jamba", "Jamba 1.5 and later");
    Grammar {
        erase: vec![token("<|eom|>")],
        special_tokens: true,
        layouts: list("\n    ", ""),
        ..block(Container::Array, "<tool_calls>", "</tool_calls>", grammar)
    }
}

/// Apriel Thinker. From the model's chat template.
pub(super) fn apriel() -> Grammar {
    let grammar = family("apriel", "Apriel 1.5 and 1.6 Thinker");
    Grammar {
        erase: vec![token("<|end|>")],
        layouts: list("", ""),
        ..block(Container::Array, "<tool_calls>", "</tool_calls>", grammar)
    }
}

/// Hunyuan A13B: the answer has tags too, and a role may be echoed. From the model's chat
/// template.
pub(super) fn hunyuan_a13b() -> Grammar {
    let answer = |marker| Erase { newlines: (1, 1), ..token(marker) };
    let grammar = family("hunyuan_a13b", "Hunyuan-A13B-Instruct");
    Grammar {
        erase: vec![
            Erase { at: At::Lead, once: true, ..token("助手：") },
            answer("<answer>"),
            answer("</answer>"),
            token("<|eos|>"),
        ],
        layouts: list("", ""),
        ..block(Container::Array, "<tool_calls>", "</tool_calls>", grammar)
    }
}

/// Llama-Nemotron and Nemotron Nano v2. From the models' chat templates.
pub(super) fn nemotron_deci() -> Grammar {
    let about = "Llama-3.x-Nemotron Super and Ultra, Nemotron Nano v2";
    let grammar = block(
        Container::ObjectOrArray,
        "<TOOLCALL>",
        "</TOOLCALL>",
        family("nemotron_deci", about),
    );
    let mut openers = grammar.openers;
    openers.push(bare(texts(["</TOOLCALL>"])));
    Grammar { openers, layouts: list("", ""), ..grammar }
}

/// A word of plain text before the array. Glued to the bracket it is markup, else a word.
fn functools(marker: &'static str, glued: &'static str) -> [Opener; 2] {
    let calls = || json(Container::Array, vec![]);
    let part = JsonShape { glue: texts(["functools"]), ..calls() };
    [
        Opener { role: Role::Part, ..marked(glued, vec![Shape::Json(part)]) },
        Opener { role: Role::Before, ..unmarked(marker, At::Anywhere, vec![Shape::Json(calls())]) },
    ]
}

/// Phi-4-mini and Phi-4-multimodal: `functools` and an array, or the template's tokens. From the
/// models' chat templates.
pub(super) fn phi4_mini_json() -> Grammar {
    let wrapped = JsonShape {
        item: Item::Keys(Keys { wrap: texts(["function"]), ..keys() }),
        ..json(Container::Array, texts(["<|/tool_call|>"]))
    };
    let mut openers = functools("functools", "functools[").to_vec();
    openers.push(marked("<|tool_call|>", vec![Shape::Json(wrapped)]));
    Grammar {
        openers,
        erase: vec![token("<|end|>")],
        orphans: texts(["<|/tool_call|>"]),
        ..family("phi4_mini_json", "Phi-4-mini, Phi-4-multimodal")
    }
}

/// Firefunction v2: a blank before `functools` belongs to it. From the model's chat template.
pub(super) fn firefunction_v2() -> Grammar {
    let mut openers = functools(" functools", " functools[").to_vec();
    openers.extend(functools("functools", "functools["));
    Grammar {
        openers,
        erase: vec![token("<|eot_id|>")],
        ..family("firefunction_v2", "Firefunction v2")
    }
}

/// xLAM: an array, alone or in any of the wrappers of other families. From the model cards.
pub(super) fn xlam() -> Grammar {
    Grammar {
        openers: vec![
            marked("<tool_call>", array(texts(["</tool_call>"]))),
            marked("[TOOL_CALLS]", array(vec![])),
            fenced("```json", json(Container::Array, texts(["```"]))),
            fenced("```", json(Container::Array, texts(["```"]))),
            bare(vec![]),
        ],
        erase: vec![token("<|im_end|>")],
        orphans: texts(["</tool_call>"]),
        ..family("xlam", "xLAM 1 and 2")
    }
}

/// Cohere's own keys.
fn action_keys() -> Item {
    Item::Keys(Keys {
        name: texts(["tool_name", "name"]),
        arguments: texts(["parameters", "arguments"]),
        id: texts(["tool_call_id", "id"]),
        ..keys()
    })
}

/// Cohere Command R7B, Command A and later: actions with ids, answers in wrappers. From the
/// models' chat templates.
pub(super) fn cohere() -> Grammar {
    let actions = JsonShape {
        item: action_keys(),
        ..json(Container::ObjectOrArray, texts(["<|END_ACTION|>"]))
    };
    let envelope = [
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
        "<|END_OF_TURN_TOKEN|>",
    ];
    Grammar {
        openers: vec![marked("<|START_ACTION|>", vec![Shape::Json(actions)])],
        erase: envelope.map(token).to_vec(),
        orphans: texts(["<|END_ACTION|>"]),
        special_tokens: true,
        layouts: list("\n", "\n"),
        ..family("cohere", "Command R7B, Command A and later")
    }
}

/// Cohere Command R and R+: a fenced list of actions, one of which means that there is none. From
/// the models' chat templates.
pub(super) fn command_r() -> Grammar {
    let actions = JsonShape {
        glue: texts(["```json"]),
        item: action_keys(),
        ignored_names: texts(["directly-answer", "directly_answer"]),
        ..json(Container::Array, texts(["```"]))
    };
    let unfenced = JsonShape { glue: vec![], closers: vec![], ..actions.clone() };
    let shapes = vec![Shape::Json(actions), Shape::Json(unfenced)];
    let heading =
        |heading| Opener { role: Role::Before, ..unmarked(heading, At::LineStart, shapes.clone()) };
    Grammar {
        openers: vec![heading("Action:"), heading("Action :")],
        erase: vec![token("<|CHATBOT_TOKEN|>"), token("<|END_OF_TURN_TOKEN|>")],
        layouts: list("\n", "\n")
            .into_iter()
            .map(|layout| Layout { glue: "\n".into(), ..layout })
            .collect(),
        ..family("command_r", "Command R and R+ (2024)")
    }
}

/// Apertus: each item's key is the name. From the model's chat template.
pub(super) fn apertus() -> Grammar {
    let calls = JsonShape {
        item: Item::NameIsKey,
        closing: Closing::Optional,
        ..json(Container::ObjectOrArray, texts(["<|tools_suffix|>"]))
    };
    Grammar {
        openers: vec![marked("<|tools_prefix|>", vec![Shape::Json(calls)])],
        erase: vec![token("<|assistant_end|>")],
        orphans: texts(["<|tools_suffix|>"]),
        special_tokens: true,
        layouts: vec![Layout {
            calls: Arrangement::Together,
            closer: Closer::Always,
            ..Layout::default()
        }],
        ..family("apertus", "Apertus 8B and 70B")
    }
}

/// openPangu, in the vocabulary of either generation. From the models' chat templates.
pub(super) fn pangu() -> Grammar {
    let pairs = [("<|tool_call_start|>", "<|tool_call_end|>"), ("[unused11]", "[unused12]")];
    Grammar {
        openers: pairs.map(|(open, close)| marked(open, array(texts([close])))).to_vec(),
        erase: vec![token("[unused10]")],
        orphans: pairs.map(|(_, close)| close.into()).to_vec(),
        special_tokens: true,
        ..family("pangu", "openPangu")
    }
}
