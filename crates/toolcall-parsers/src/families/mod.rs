//! The registered families. One file a group, one function a family; each returns its grammar,
//! which is all there is to a family.

mod braces;
mod channels;
mod json;
mod lists;
mod named;
mod pairs;
mod python;
mod sigil;
mod tagged;
mod template;
mod tree;

use alloc::{vec, vec::Vec};

use crate::grammar::{
    Arrangement, At, Certainty, Closing, Container, Erase, Grammar, Item, JsonShape, Keys, Layout,
    Opener, Role, Shape, Text,
};

pub use template::template_grammar;

/// Every family, in the order of the documentation.
pub(crate) static ALL: &[fn() -> Grammar] = &[
    json::hermes,
    json::qwen25_coder,
    json::granite4,
    json::longcat,
    json::ernie45,
    json::internlm2,
    json::granite_20b_fc,
    json::gigachat3,
    json::minimax_m1,
    json::rwkv,
    json::bare_json,
    json::llamacpp_generic,
    json::llama3_json,
    json::llama4_json,
    template::ollama_generic,
    lists::granite,
    lists::jamba,
    lists::apriel,
    lists::hunyuan_a13b,
    lists::nemotron_deci,
    lists::phi4_mini_json,
    lists::firefunction_v2,
    lists::xlam,
    lists::cohere,
    lists::command_r,
    lists::apertus,
    lists::pangu,
    named::mistral,
    named::deepseek_v3,
    named::deepseek_v3_1,
    named::kimi_k2,
    named::functionary_v31,
    named::functionary_v32,
    named::solar_open,
    named::plamo3,
    named::step_audio_2,
    named::cwm,
    python::pythonic,
    python::llama4_pythonic,
    python::olmo3,
    python::lfm2,
    python::sarashina,
    python::granite_pythonic,
    python::harn_text,
    tagged::qwen3_coder,
    tagged::nemotron3,
    tagged::mimo,
    tagged::step3p5,
    tagged::seed_oss,
    tagged::minimax_m2,
    tagged::claude_invoke,
    sigil::deepseek_v3_2,
    sigil::deepseek_v4,
    sigil::deepseek_v4_1,
    sigil::gigachat35,
    tagged::dots,
    tagged::minicpm5,
    tagged::step3,
    pairs::glm45,
    pairs::glm47,
    pairs::ling3,
    pairs::poolside_v1,
    pairs::spark25,
    pairs::iquest_q1,
    pairs::hy_v3,
    pairs::hy_v4,
    pairs::solar_open2,
    pairs::k2_horizon,
    braces::gemma4,
    braces::functiongemma,
    tree::minimax_m3,
    channels::harmony,
    channels::inkling,
    channels::kimi_k3,
    channels::muse_glimmer,
    channels::beam,
];

/// A grammar with nothing in it but a name and a description.
fn family(name: &'static str, about: &'static str) -> Grammar {
    Grammar {
        name: name.into(),
        about: about.into(),
        openers: Vec::new(),
        envelope: None,
        erase: Vec::new(),
        orphans: Vec::new(),
        special_tokens: false,
        layouts: Vec::new(),
    }
}

/// A marker that says "call".
fn marked(marker: &'static str, shapes: Vec<Shape>) -> Opener {
    Opener {
        marker: marker.into(),
        at: At::Anywhere,
        certainty: Certainty::Marked,
        role: Role::Before,
        newlines_before: 0,
        shapes,
    }
}

/// Ordinary text that may begin a call, and is part of it.
fn unmarked(marker: &'static str, at: At, shapes: Vec<Shape>) -> Opener {
    Opener { at, certainty: Certainty::Unmarked, role: Role::Part, ..marked(marker, shapes) }
}

/// An end-of-turn token.
fn token(marker: &'static str) -> Erase {
    Erase { marker: marker.into(), at: At::Anywhere, newlines: (0, 0), once: false }
}

/// A block for each call, on lines of its own.
fn lines() -> Layout {
    Layout {
        calls: Arrangement::Alone,
        inside: ("\n".into(), "\n".into()),
        tags: "\n".into(),
        ..Layout::default()
    }
}

fn texts<const N: usize>(texts: [&'static str; N]) -> Vec<Text> {
    texts.map(Text::from).to_vec()
}

/// The usual keys of a call object: `name`, `arguments` (or `parameters`) and perhaps `id`.
fn keys() -> Keys {
    Keys {
        name: texts(["name"]),
        arguments: texts(["arguments", "parameters"]),
        id: texts(["id"]),
        wrap: vec![],
        list: vec![],
        beside: None,
        answer: vec![],
    }
}

/// Call objects with the usual keys.
fn json(container: Container, closers: Vec<Text>) -> JsonShape {
    JsonShape {
        glue: vec![],
        container,
        item: Item::Keys(keys()),
        closers,
        closing: Closing::Expected,
        ignored_names: vec![],
    }
}
