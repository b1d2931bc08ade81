//! Families whose header holds the name.

use alloc::{vec, vec::Vec};

use super::{family, json, marked, texts, token};
use crate::grammar::{
    Closing, Container, Field, FieldKind, Grammar, JsonShape, Layout, NamedShape, Next, Section,
    Shape, Stop,
};

fn field<const N: usize>(kind: FieldKind, stops: [(&'static str, Next); N]) -> Field {
    let stops = stops.map(|(text, next)| Stop { text: text.into(), next });
    Field { kind, stops: stops.to_vec() }
}

/// `[TOOL_CALLS]` and an array (tokenizers before v11), or a name and arguments (v11 and later).
/// From the reference tokenizer and the models' templates.
pub(super) fn mistral() -> Grammar {
    let array = JsonShape {
        closing: Closing::Optional,
        ..json(Container::Array, texts(["[/TOOL_CALLS]"]))
    };
    let (arguments, here) = (("[ARGS]", Next::Arguments), ("{", Next::ArgumentsHere));
    let named = NamedShape {
        section: None,
        open: "[TOOL_CALLS]".into(),
        header: vec![
            field(FieldKind::Name, [("[CALL_ID]", Next::Field(1)), arguments, here]),
            field(FieldKind::Id, [arguments, here]),
        ],
        close: Vec::new(),
    };
    Grammar {
        openers: vec![marked("[TOOL_CALLS]", vec![Shape::Json(array), Shape::Named(named)])],
        erase: vec![token("</s>")],
        orphans: texts(["[/TOOL_CALLS]"]),
        special_tokens: true,
        layouts: vec![
            Layout { inside: (" ".into(), "".into()), blocks: "".into(), ..Layout::default() },
            Layout { shape: 1, blocks: "".into(), ..Layout::default() },
        ],
        ..family("mistral", "Mistral 7B v0.3 to Large 3, Devstral, Magistral")
    }
}

/// Sections of calls between markers with full-width bars: DeepSeek V3.1 and V3.2-Exp. From the
/// model's template.
pub(super) fn deepseek_v3_1() -> Grammar {
    let calls = NamedShape {
        section: Some(Section {
            open: texts(["<｜tool▁calls▁begin｜>"]),
            close: texts(["<｜tool▁calls▁end｜>"]),
        }),
        open: "<｜tool▁call▁begin｜>".into(),
        header: vec![field(FieldKind::Name, [("<｜tool▁sep｜>", Next::Arguments)])],
        close: texts(["<｜tool▁call▁end｜>"]),
    };
    let shapes = || vec![Shape::Named(calls.clone())];
    Grammar {
        openers: vec![
            marked("<｜tool▁calls▁begin｜>", shapes()),
            marked("<｜tool▁call▁begin｜>", shapes()),
        ],
        erase: vec![token("<｜end▁of▁sentence｜>")],
        orphans: texts(["<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"]),
        ..family("deepseek_v3_1", "DeepSeek V3.1, V3.2-Exp")
    }
}
