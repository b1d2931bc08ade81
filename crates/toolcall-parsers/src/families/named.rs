//! Families whose header holds the name.

use alloc::vec;

use super::{family, json, marked, texts, token, unmarked};
use crate::grammar::{
    At, Closing, Container, Erase, Field, FieldKind, Grammar, JsonShape, Layout, List, NamedShape,
    Next, Opener, Raw, Role, Section, Shape, Stop, Text,
};

pub(super) fn field<const N: usize>(kind: FieldKind, stops: [(&'static str, Next); N]) -> Field {
    let stops = stops.map(|(text, next)| Stop { text: text.into(), next });
    Field { kind, stops: stops.to_vec() }
}

/// Calls that `open` begins, with nothing else.
pub(super) fn named(open: &'static str) -> NamedShape {
    NamedShape {
        section: None,
        open: open.into(),
        name: None,
        header: vec![],
        raw: None,
        close: vec![],
    }
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
        header: vec![
            field(FieldKind::Name, [("[CALL_ID]", Next::Field(1)), arguments, here]),
            field(FieldKind::Id, [arguments, here]),
        ],
        ..named("[TOOL_CALLS]")
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
        header: vec![field(FieldKind::Name, [("<｜tool▁sep｜>", Next::Arguments)])],
        close: texts(["<｜tool▁call▁end｜>"]),
        ..named("<｜tool▁call▁begin｜>")
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

/// The same sections; each call names its kind first and fences its arguments: DeepSeek V3-0324,
/// R1 and their distills. From the models' chat templates.
pub(super) fn deepseek_v3() -> Grammar {
    let open = [
        "<｜tool▁calls▁begin｜>",
        // As the distills write it.
        "<｜tool_calls_begin｜>",
        "<｜tool calls begin｜>",
        "<｜tool\\_calls\\_begin｜>",
        "<｜tool▁calls｜>",
    ];
    let calls = NamedShape {
        section: Some(Section { open: texts(open), close: texts(["<｜tool▁calls▁end｜>"]) }),
        header: vec![
            field(FieldKind::Word("function".into()), [("<｜tool▁sep｜>", Next::Field(1))]),
            field(FieldKind::Name, [("```json", Next::Arguments)]),
        ],
        close: texts(["```", "<｜tool▁call▁end｜>"]),
        ..named("<｜tool▁call▁begin｜>")
    };
    let opener = |marker| marked(marker, vec![Shape::Named(calls.clone())]);
    let mut openers = open.map(opener).to_vec();
    openers.push(opener("<｜tool▁call▁begin｜>"));
    Grammar {
        openers,
        erase: vec![token("<｜end▁of▁sentence｜>")],
        orphans: texts(["<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"]),
        layouts: vec![Layout {
            between: Some("\n".into()),
            behind_name: "\n".into(),
            arguments: ("\n".into(), "\n".into()),
            ..Layout::default()
        }],
        ..family("deepseek_v3", "DeepSeek V3-0324, R1 and distills, V2.5")
    }
}

/// Kimi K2: the name stands in the id. From the model's chat template.
pub(super) fn kimi_k2() -> Grammar {
    let open = ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"];
    let close = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];
    let id = FieldKind::IdWithName { prefix: "functions.".into(), separator: ":".into() };
    let calls = NamedShape {
        section: Some(Section { open: texts(open), close: texts(close) }),
        header: vec![field(id, [("<|tool_call_argument_begin|>", Next::Arguments)])],
        close: texts(["<|tool_call_end|>"]),
        ..named("<|tool_call_begin|>")
    };
    let opener = |marker| marked(marker, vec![Shape::Named(calls.clone())]);
    let mut openers = open.map(opener).to_vec();
    openers.push(opener("<|tool_call_begin|>"));
    let mut orphans = texts(close);
    orphans.push("<|tool_call_end|>".into());
    Grammar {
        openers,
        erase: vec![token("<|im_end|>")],
        orphans,
        special_tokens: true,
        ..family("kimi_k2", "Kimi K2, K2-Thinking, K2.5")
    }
}

/// Solar Open: id, name and arguments behind tokens of their own, text in wrappers. From the
/// model's chat template.
pub(super) fn solar_open() -> Grammar {
    let calls = NamedShape {
        header: vec![
            field(FieldKind::Id, [("<|tool_call:name|>", Next::Field(1))]),
            field(FieldKind::Name, [("<|tool_call:args|>", Next::Arguments)]),
        ],
        close: texts(["<|tool_call:end|>"]),
        ..named("<|tool_call:begin|>")
    };
    let envelope = [
        "<|begin|>assistant",
        "<|content|>",
        "<|end|>",
        "<|flush|>",
        "<|tool_calls|>",
        "<|calls|>",
    ];
    Grammar {
        openers: vec![marked("<|tool_call:begin|>", vec![Shape::Named(calls)])],
        erase: envelope.map(token).to_vec(),
        orphans: texts(["<|tool_call:end|>"]),
        special_tokens: true,
        layouts: vec![Layout {
            around: ("<|tool_calls|>".into(), "<|calls|>".into()),
            blocks: "".into(),
            ..Layout::default()
        }],
        ..family("solar_open", "Solar Open")
    }
}

/// PLaMo 3: every part of a call between tokens of its own. From the model's chat template.
pub(super) fn plamo3() -> Grammar {
    let empty = || FieldKind::Word("".into());
    let calls = NamedShape {
        section: Some(Section {
            open: texts(["<|plamo:begin_tool_requests:plamo|>"]),
            close: texts(["<|plamo:end_tool_requests:plamo|>"]),
        }),
        header: vec![
            field(empty(), [("<|plamo:begin_tool_name:plamo|>", Next::Field(1))]),
            field(FieldKind::Name, [("<|plamo:end_tool_name:plamo|>", Next::Field(2))]),
            field(empty(), [("<|plamo:begin_tool_arguments:plamo|>", Next::Field(3))]),
            field(
                empty(),
                [
                    ("<|plamo:constrain:plamo|>", Next::Field(4)),
                    ("<|plamo:constrain|>", Next::Field(4)),
                    ("<|plamo:msg:plamo|>", Next::Arguments),
                    ("{", Next::ArgumentsHere),
                ],
            ),
            field(
                FieldKind::Word("json".into()),
                [("<|plamo:msg:plamo|>", Next::Arguments), ("<|plamo:msg|>", Next::Arguments)],
            ),
        ],
        close: texts(["<|plamo:end_tool_arguments:plamo|>", "<|plamo:end_tool_request:plamo|>"]),
        ..named("<|plamo:begin_tool_request:plamo|>")
    };
    let opener = |marker| marked(marker, vec![Shape::Named(calls.clone())]);
    Grammar {
        openers: vec![
            opener("<|plamo:begin_tool_requests:plamo|>"),
            opener("<|plamo:begin_tool_request:plamo|>"),
        ],
        orphans: texts(["<|plamo:end_tool_request:plamo|>", "<|plamo:end_tool_requests:plamo|>"]),
        special_tokens: true,
        ..family("plamo3", "PLaMo 3")
    }
}

/// Step-Audio 2: a line for the kind, a line for the name. From the model's chat template.
pub(super) fn step_audio_2() -> Grammar {
    let calls = NamedShape {
        header: vec![
            field(FieldKind::Word("function".into()), [("\n", Next::Field(1))]),
            field(FieldKind::Name, [("\n", Next::Arguments), ("{", Next::ArgumentsHere)]),
        ],
        close: texts(["</tool_call>"]),
        ..named("<tool_call>")
    };
    Grammar {
        openers: vec![marked("<tool_call>", vec![Shape::Named(calls)])],
        orphans: texts(["</tool_call>"]),
        ..family("step_audio_2", "Step-Audio 2")
    }
}

/// Code for the tool `python`, up to one of `ends` or to the end of the turn.
fn python(open: &'static str, ends: List<Text>) -> NamedShape {
    NamedShape {
        name: Some("python".into()),
        raw: Some(Raw { key: "code".into(), ends, closing: Closing::Optional }),
        ..named(open)
    }
}

/// Functionary 3.1 and Llama 3.1's custom tools: the name in a tag. From the models' chat
/// templates.
pub(super) fn functionary_v31() -> Grammar {
    let calls = NamedShape {
        header: vec![field(FieldKind::Name, [(">", Next::Arguments)])],
        close: texts(["</function>"]),
        ..named("<function=")
    };
    let code = python("<|python_tag|>", texts(["<|eom_id|>", "<|eot_id|>"]));
    Grammar {
        openers: vec![
            marked("<function=", vec![Shape::Named(calls)]),
            marked("<|python_tag|>", vec![Shape::Named(code)]),
        ],
        erase: vec![token("<|eom_id|>"), token("<|eot_id|>")],
        orphans: texts(["</function>"]),
        special_tokens: true,
        layouts: vec![Layout { blocks: "".into(), ..Layout::default() }],
        ..family("functionary_v31", "Functionary 3.1, Llama 3.1 custom tools")
    }
}

/// CWM: a label, a line with the name and its arguments, which may be a command. From the model's
/// prompt guide.
pub(super) fn cwm() -> Grammar {
    let calls = NamedShape {
        header: vec![
            field(FieldKind::Label, [(">", Next::Field(1))]),
            field(FieldKind::Name, [(" ", Next::Arguments), ("{", Next::ArgumentsHere)]),
        ],
        raw: Some(Raw {
            key: "command".into(),
            ends: texts(["</tool>"]),
            closing: Closing::Expected,
        }),
        close: texts(["</tool>"]),
        ..named("<tool: ")
    };
    Grammar {
        openers: vec![marked("<tool: ", vec![Shape::Named(calls)])],
        erase: vec![token("<|eot_id|>")],
        orphans: texts(["</tool>"]),
        layouts: vec![Layout { arguments: ("".into(), "\n".into()), ..Layout::default() }],
        ..family("cwm", "Code World Model")
    }
}

/// Functionary 3.2: recipients on lines of their own, `>>>` before all but the first. From the
/// model's chat template.
pub(super) fn functionary_v32() -> Grammar {
    let calls = NamedShape {
        header: vec![field(FieldKind::Name, [("\n{", Next::ArgumentsHere)])],
        ..named(">>>")
    };
    let plain = |marker, at, shape| Opener {
        role: Role::Before,
        ..unmarked(marker, at, vec![Shape::Named(shape)])
    };
    // Code may hold the separator, but not at the start of a line.
    let ends = || texts(["\n>>>"]);
    Grammar {
        openers: vec![
            plain(">>>", At::Anywhere, calls.clone()),
            plain(">>>python\n", At::Anywhere, python(">>>python\n", ends())),
            plain("python\n", At::Lead, python("python\n", ends())),
            Opener { role: Role::Name, ..plain("", At::Lead, calls) },
        ],
        erase: vec![
            Erase { at: At::Lead, once: true, ..token("all\n") },
            token(">>>all\n"),
            token("<|eot_id|>"),
        ],
        // The prompt ends with the separator before the first.
        layouts: vec![Layout { opener: 3, blocks: ">>>".into(), ..Layout::default() }],
        ..family("functionary_v32", "Functionary 3.2")
    }
}
