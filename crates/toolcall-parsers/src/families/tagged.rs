//! Families that write calls as tags: a header with the name, a tagged value a parameter.

use alloc::{vec, vec::Vec};

use super::{family, marked, texts, token, unmarked};
use crate::grammar::{
    At, Duplicates, Grammar, Head, HeadEnd, Implicit, List, OtherCalls, Quotes, Quoting, Section,
    Shape, TaggedShape, Text, Then, Trim, Undeclared,
};

/// A header with these literals before its name, and this end.
fn head<const N: usize>(open: [&'static str; N], end: &'static str) -> Head {
    Head { open: texts(open), quotes: Quotes::Optional, ends: vec![ends(end, Then::Body)] }
}

fn ends(text: &'static str, then: Then) -> HeadEnd {
    HeadEnd { text: text.into(), then }
}

fn section<const N: usize, const M: usize>(
    open: [&'static str; N],
    close: [&'static str; M],
) -> Option<Section> {
    Some(Section { open: texts(open), close: texts(close) })
}

/// Calls and parameters with these headers and ends, and nothing special.
fn shape(
    wrapper: Option<Section>,
    call: (Head, List<Text>),
    parameter: (Head, &'static str),
) -> TaggedShape {
    TaggedShape {
        wrapper,
        call: call.0,
        other_calls: OtherCalls::Refute,
        call_close: call.1,
        parameter: parameter.0,
        string_attribute: None,
        value_open: Vec::new(),
        value_close: parameter.1.into(),
        trim: Trim::None,
        quoting: Quoting::None,
        undeclared: Undeclared::Text,
        duplicates: Duplicates::WriteAll,
        implicit: Implicit::default(),
        ignored: Vec::new(),
        json_body: false,
    }
}

fn tagged(shape: &TaggedShape) -> Vec<Shape> {
    vec![Shape::Tagged(shape.clone())]
}

/// `<function=NAME>` and `<parameter=KEY>` in blocks.
fn functions(
    open: &'static str,
    close: &'static str,
    name: &'static str,
    about: &'static str,
) -> Grammar {
    let calls = TaggedShape {
        trim: Trim::OneNewline,
        implicit: Implicit { next_parameter: true, call_close: true },
        ..shape(
            section([open], [close]),
            (head(["<function="], ">"), texts(["</function>"])),
            (head(["<parameter="], ">"), "</parameter>"),
        )
    };
    Grammar {
        openers: vec![
            marked(open, tagged(&calls)),
            unmarked("<function=", At::Anywhere, tagged(&calls)),
        ],
        erase: vec![token("<|im_end|>")],
        orphans: texts([close]),
        ..family(name, about)
    }
}

/// Qwen3-Coder and the Qwen3.5 line. From the models' chat templates.
pub(super) fn qwen3_coder() -> Grammar {
    functions(
        "<tool_call>",
        "</tool_call>",
        "qwen3_coder",
        "Qwen3-Coder, Qwen3.5 and later, Nanbeige, iQuest-Coder",
    )
}
