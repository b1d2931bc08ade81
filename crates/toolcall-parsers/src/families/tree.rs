//! Families that write arguments as trees of elements.

use alloc::{format, vec};

use super::{family, lines, marked, token};
use crate::grammar::{Arrangement, Grammar, Layout, Opener, Role, Shape, Text, TreeShape};

/// MiniMax M3, where a token stands before every tag. From the model's chat template.
pub(super) fn minimax_m3() -> Grammar {
    let calls = TreeShape {
        namespace: "]<]minimax[>[".into(),
        wrapper: "tool_call".into(),
        call: "invoke".into(),
        name: "name".into(),
        item: "item".into(),
        text: "$text".into(),
    };
    let tag = |tag: &str| Text::from(format!("{}<{tag}", calls.namespace));
    let opener = |marker, role| {
        let shapes = vec![Shape::Tree(calls.clone())];
        Opener { marker, role, ..marked("", shapes) }
    };
    Grammar {
        // The wrapper may be missing.
        openers: vec![opener(tag("tool_call>"), Role::Before), opener(tag("invoke"), Role::Part)],
        orphans: ["/invoke>", "/tool_call>"].map(tag).to_vec(),
        erase: vec![token("[e~[")],
        special_tokens: true,
        layouts: vec![Layout { calls: Arrangement::Together, ..lines() }],
        ..family("minimax_m3", "MiniMax M3")
    }
}
