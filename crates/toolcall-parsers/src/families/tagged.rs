//! Families that write calls as tags: a header with the name, a tagged value a parameter.

use alloc::{format, vec, vec::Vec};

use super::{family, json, lines, marked, texts, token, unmarked};
use crate::grammar::{
    Arrangement, At, Attributes, Container, Duplicates, Grammar, Head, HeadEnd, Implicit, Layout,
    List, Naming, Opener, OtherCalls, Quotes, Quoting, Role, Section, Shape, TaggedShape, Text,
    Then, Trim, Undeclared,
};

/// A header with these literals before its name, and this end.
pub(super) fn head<const N: usize>(open: [&'static str; N], end: &'static str) -> Head {
    Head {
        open: texts(open),
        quotes: Quotes::Optional,
        attributes: Attributes::None,
        ends: vec![ends(end, Then::Body)],
    }
}

pub(super) fn ends(text: &'static str, then: Then) -> HeadEnd {
    HeadEnd { text: text.into(), then }
}

pub(super) fn section<const N: usize, const M: usize>(
    open: [&'static str; N],
    close: [&'static str; M],
) -> Option<Section> {
    Some(Section { open: texts(open), close: texts(close) })
}

/// Calls and parameters with these headers and ends, and nothing special.
pub(super) fn shape(
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
        doubled_names: false,
        string_attribute: None,
        type_tags: None,
        string_type: None,
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

pub(super) fn tagged(shape: &TaggedShape) -> Vec<Shape> {
    vec![Shape::Tagged(shape.clone())]
}

/// A call whose wrapper was forgotten: ordinary text, unless the name is a tool's.
fn bare(marker: &'static str, calls: &TaggedShape) -> Opener {
    unmarked(marker, At::Anywhere, tagged(calls))
}

/// A token that begins a call rather than a wrapper.
pub(super) fn begins(marker: &'static str, calls: &TaggedShape) -> Opener {
    Opener { role: Role::Part, ..marked(marker, tagged(calls)) }
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
        openers: vec![marked(open, tagged(&calls)), bare("<function=", &calls)],
        erase: vec![token("<|im_end|>")],
        orphans: texts([close]),
        layouts: vec![lines()],
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

/// Nemotron 3. From the models' chat templates.
pub(super) fn nemotron3() -> Grammar {
    functions("<tool_call>", "</tool_call>", "nemotron3", "Nemotron 3 Nano, Super")
}

/// MiMo, which writes most values on the line of their tags. From the model's chat template.
pub(super) fn mimo() -> Grammar {
    let calls = functions("<tool_call>", "</tool_call>", "mimo", "MiMo V2");
    let value = Some(("".into(), "".into()));
    Grammar { layouts: vec![Layout { value, ..lines() }], ..calls }
}

/// Step 3.5. From the model's chat template.
pub(super) fn step3p5() -> Grammar {
    functions("<tool_call>", "</tool_call>", "step3p5", "Step 3.5 Flash")
}

/// Seed-OSS, whose wrapper has a prefix. From the model's chat template.
pub(super) fn seed_oss() -> Grammar {
    let calls = functions("<seed:tool_call>", "</seed:tool_call>", "seed_oss", "Seed-OSS 36B");
    Grammar { erase: vec![token("<seed:eos>")], ..calls }
}

/// `<invoke name="NAME">` and `<parameter name="KEY">`; quotes are optional.
fn invokes(open: &'static str, close: &'static str) -> TaggedShape {
    shape(
        section([open], [close]),
        (head(["<invoke", "name", "="], ">"), texts(["</invoke>"])),
        (head(["<parameter", "name", "="], ">"), "</parameter>"),
    )
}

/// Calls and parameters on lines of their own, names in quotes.
fn invoke_lines() -> Layout {
    Layout { calls: Arrangement::Together, names: Naming::Quoted, ..lines() }
}

/// MiniMax M2: several calls in a block, values as they are. From the model's chat template.
pub(super) fn minimax_m2() -> Grammar {
    let calls = invokes("<minimax:tool_call>", "</minimax:tool_call>");
    Grammar {
        openers: vec![marked("<minimax:tool_call>", tagged(&calls)), bare("<invoke", &calls)],
        erase: vec![token("[e~[")],
        orphans: texts(["</minimax:tool_call>"]),
        layouts: vec![invoke_lines()],
        ..family("minimax_m2", "MiniMax M2, M2.5")
    }
}

/// The prompt format of Claude 2 and 3, which other models were tuned on; all tags may have
/// a name space. From the published prompts.
pub(super) fn claude_invoke() -> Grammar {
    let mut grammar = family("claude_invoke", "models tuned on Claude's function-call prompts");
    for space in ["", "antml:"] {
        let tag = |word: &str| Text::from(format!("<{space}{word}"));
        let end = |word: &str| Text::from(format!("</{space}{word}>"));
        let mut calls = invokes("", "");
        let (open, close) = (Text::from(format!("<{space}function_calls>")), end("function_calls"));
        calls.wrapper = Some(Section { open: vec![open.clone()], close: vec![close.clone()] });
        calls.call.open[0] = tag("invoke");
        calls.parameter.open[0] = tag("parameter");
        calls.call_close = vec![end("invoke")];
        calls.value_close = end("parameter");
        grammar.openers.push(Opener { marker: open, ..marked("", tagged(&calls)) });
        grammar.openers.push(Opener { marker: tag("invoke"), ..bare("", &calls) });
        grammar.orphans.push(close);
    }
    grammar.layouts.push(invoke_lines());
    grammar
}

/// dots: invocations, or a JSON object, in its own wrapper; values are stripped. From the
/// model's chat template.
pub(super) fn dots() -> Grammar {
    let (open, close) = ("<dots_function_call>", "</dots_function_call>");
    let calls = TaggedShape { trim: Trim::Full, ..invokes(open, close) };
    let object = json(Container::ObjectOrArray, texts([close]));
    Grammar {
        openers: vec![marked(open, vec![Shape::Tagged(calls), Shape::Json(object)])],
        orphans: texts([close]),
        layouts: vec![invoke_lines()],
        ..family("dots", "dots.llm")
    }
}

/// `<function name="NAME">` without a wrapper, values perhaps as CDATA. The space before `name`
/// is lost in some detokenizers. From the model's chat template.
pub(super) fn minicpm5() -> Grammar {
    let calls = TaggedShape {
        trim: Trim::Full,
        quoting: Quoting::Cdata,
        ignored: texts(["<arguments>", "</arguments>"]),
        ..shape(
            None,
            (head(["<function", "name", "="], ">"), texts(["</function>"])),
            (head(["<param", "name", "="], ">"), "</param>"),
        )
    };
    Grammar {
        openers: ["<function name=", "<functionname="].map(|m| begins(m, &calls)).to_vec(),
        erase: vec![token("<|im_end|>")],
        orphans: texts(["</function>"]),
        special_tokens: true,
        layouts: vec![Layout { names: Naming::Quoted, ..Layout::default() }],
        ..family("minicpm5", "MiniCPM 5")
    }
}

/// Step 3: tags inside tokens with full-width bars. Entries of another type than `function` are
/// no tool calls. From the model's chat template.
pub(super) fn step3() -> Grammar {
    let (begin, end) = ("<｜tool_calls_begin｜>", "<｜tool_calls_end｜>");
    let open =
        ["<｜tool_call_begin｜>", "function", "<｜tool_sep｜>", "<steptml:invoke", "name", "="];
    let calls = TaggedShape {
        other_calls: OtherCalls::Skip,
        trim: Trim::Full,
        ..shape(
            section([begin], [end]),
            (head(open, ">"), texts(["</steptml:invoke>", "<｜tool_call_end｜>"])),
            (head(["<steptml:parameter", "name", "="], ">"), "</steptml:parameter>"),
        )
    };
    Grammar {
        openers: vec![marked(begin, tagged(&calls)), begins("<｜tool_call_begin｜>", &calls)],
        orphans: texts(["<｜tool_call_end｜>", end]),
        special_tokens: true,
        layouts: vec![Layout { names: Naming::Quoted, ..Layout::default() }],
        ..family("step3", "Step 3")
    }
}
