//! Families that write arguments in braces of their own, with bare keys and quoted strings.

use alloc::vec;

use super::{family, marked, texts, token};
use crate::grammar::{BraceShape, BraceTypes, Closing, Grammar, Layout, Shape};

fn shape(quote: &'static str, closer: &'static str) -> BraceShape {
    BraceShape {
        prefix: texts(["call:"]),
        quote: quote.into(),
        types: BraceTypes::Wire,
        null_words: vec![],
        closers: texts([closer]),
        closing: Closing::Expected,
    }
}

fn braces(
    name: &'static str,
    about: &'static str,
    open: &'static str,
    close: &'static str,
    calls: BraceShape,
) -> Grammar {
    Grammar {
        openers: vec![marked(open, vec![Shape::Brace(calls)])],
        orphans: texts([close]),
        special_tokens: true,
        layouts: vec![Layout { blocks: "".into(), ..Layout::default() }],
        ..family(name, about)
    }
}

/// Gemma 4, where the wire tells strings from other values. The turn's end, or the beginning of
/// the tool's answer, may stand in the place of the end marker. From the model's chat template.
pub(super) fn gemma4() -> Grammar {
    let (open, close) = ("<|tool_call>", "<tool_call|>");
    let calls = BraceShape { null_words: texts(["none", "nil"]), ..shape("<|\"|>", close) };
    Grammar {
        erase: ["<turn|>", "<|tool_response>"].map(token).to_vec(),
        ..braces("gemma4", "Gemma 4", open, close, calls)
    }
}

/// FunctionGemma, which quotes values of every type. From the model's chat template.
pub(super) fn functiongemma() -> Grammar {
    let (open, close) = ("<start_function_call>", "<end_function_call>");
    let calls = BraceShape { types: BraceTypes::Schema, ..shape("<escape>", close) };
    Grammar {
        erase: ["<end_of_turn>", "<start_function_response>"].map(token).to_vec(),
        ..braces("functiongemma", "FunctionGemma 270M", open, close, calls)
    }
}
