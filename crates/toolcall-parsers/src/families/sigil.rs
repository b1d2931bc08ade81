//! Families whose tags carry a sigil, and whose parameters say on the wire whether they are
//! strings: DSML and its kin.

use alloc::{format, vec, vec::Vec};

use super::{
    family, lines, marked,
    tagged::{ends, head, shape, tagged},
    token,
};
use crate::grammar::{
    Arrangement, Grammar, Layout, Opener, Quotes, Role, Section, TaggedShape, Text, Then,
    Undeclared,
};

/// Calls whose tags all begin with `sigil`, in blocks of one of these names (the usual one
/// first).
fn sigil(
    name: &'static str,
    about: &'static str,
    sigil: &'static str,
    blocks: &[&'static str],
) -> Grammar {
    let tag = |word: &str| Text::from(format!("<{sigil}{word}"));
    let end = |word: &str| Text::from(format!("</{sigil}{word}>"));
    let opens: Vec<Text> = blocks.iter().map(|block| format!("<{sigil}{block}>").into()).collect();
    let closes: Vec<Text> = blocks.iter().map(|block| end(block)).collect();
    let mut calls = TaggedShape {
        string_attribute: Some("string".into()),
        undeclared: Undeclared::JsonElseText,
        json_body: true,
        ..shape(
            Some(Section { open: opens.clone(), close: closes.clone() }),
            (head(["", "name", "="], ">"), vec![end("invoke")]),
            (head(["", "name", "="], ">"), ""),
        )
    };
    calls.call.open[0] = tag("invoke");
    calls.call.ends.push(ends("/>", Then::Closed));
    calls.parameter.open[0] = tag("parameter");
    (calls.call.quotes, calls.parameter.quotes) = (Quotes::Required, Quotes::Required);
    calls.value_close = end("parameter");
    let opener = |marker, role| Opener { marker, role, ..marked("", tagged(&calls)) };
    let mut openers: Vec<Opener> =
        opens.into_iter().map(|open| opener(open, Role::Before)).collect();
    // The wrapper may be missing.
    openers.push(opener(tag("invoke"), Role::Part));
    let layouts = vec![Layout { calls: Arrangement::Together, ..lines() }];
    Grammar { openers, orphans: closes, special_tokens: true, layouts, ..family(name, about) }
}

/// DeepSeek V3.2. From the model's published encoder.
pub(super) fn deepseek_v3_2() -> Grammar {
    let calls = sigil("deepseek_v3_2", "DeepSeek V3.2", "｜DSML｜", &["function_calls"]);
    Grammar { erase: vec![token("<｜end▁of▁sentence｜>")], ..calls }
}

/// DeepSeek V4, which now and then writes V3.2's block name. From the model's published encoder.
pub(super) fn deepseek_v4() -> Grammar {
    let blocks = ["tool_calls", "function_calls"];
    let calls = sigil("deepseek_v4", "DeepSeek V4", "｜DSML｜", &blocks);
    Grammar { erase: vec![token("<｜end▁of▁sentence｜>")], ..calls }
}

/// DeepSeek V4.1, with a space behind the sigil. From the model's published encoder.
pub(super) fn deepseek_v4_1() -> Grammar {
    let calls = sigil("deepseek_v4_1", "DeepSeek V4.1", "｜DSML｜ ", &["calls"]);
    Grammar { erase: vec![token("<｜end▁of▁sentence｜>")], ..calls }
}

/// GigaChat 3.5. From the model's chat template.
pub(super) fn gigachat35() -> Grammar {
    let calls = sigil("gigachat35", "GigaChat 3.5", "｜GCML｜", &["tool_calls"]);
    Grammar { erase: vec![token("</s>"), token("<|message_sep|>")], ..calls }
}
