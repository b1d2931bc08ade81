//! Families that write a parameter's name and its value as a pair of tags.

use alloc::{vec, vec::Vec};

use super::{
    family, json, lines, marked,
    tagged::{begins, ends, head, section, shape, tagged},
    texts, token,
};
use crate::grammar::{
    Arrangement, Container, Duplicates, Grammar, Head, HeadEnd, Layout, Opener, Quotes, Role,
    Section, Shape, TaggedShape, Then, TypeTags, Undeclared,
};

/// A name from these literals on, up to a line's end, a tag of its own or the next tag.
fn name(open: &'static str, sep: &'static str, next: [&'static str; 2]) -> Head {
    let here = |text| ends(text, Then::BodyHere);
    let ends: Vec<HeadEnd> = vec![ends(sep, Then::Body), here(next[0]), here(next[1])];
    Head { quotes: Quotes::Literal, ends, ..head([open], "") }
}

/// `<arg_key>KEY</arg_key>` and `<arg_value>VALUE</arg_value>` behind a name.
fn pairs(
    wrapper: Option<Section>,
    open: &'static str,
    sep: &'static str,
    close: &'static str,
) -> TaggedShape {
    let key = Head { quotes: Quotes::Literal, ..head(["<arg_key>"], "</arg_key>") };
    TaggedShape {
        value_open: texts(["<arg_value>"]),
        ..shape(
            wrapper,
            (name(open, sep, ["<arg_key>", close]), texts([close])),
            (key, "</arg_value>"),
        )
    }
}

/// No whitespace: the name ends at the next tag.
fn tight() -> Layout {
    Layout { header_end: 1, ..Layout::default() }
}

/// A block a call, without a wrapper.
fn blocks(
    name: &'static str,
    about: &'static str,
    open: &'static str,
    close: &'static str,
) -> Grammar {
    Grammar {
        openers: vec![begins(open, &pairs(None, open, "\n", close))],
        orphans: texts([close]),
        layouts: vec![Layout { blocks: "".into(), ..tight() }],
        ..family(name, about)
    }
}

fn glm(name: &'static str, about: &'static str) -> Grammar {
    Grammar {
        erase: ["<|user|>", "<|observation|>", "<|endoftext|>"].map(token).to_vec(),
        ..blocks(name, about, "<tool_call>", "</tool_call>")
    }
}

/// GLM 4.5 and 4.6, with newlines between the tags. From the models' chat templates.
pub(super) fn glm45() -> Grammar {
    Grammar { layouts: vec![lines()], ..glm("glm45", "GLM 4.5, 4.6") }
}

/// GLM 4.7 and 5, without newlines. From the models' chat templates.
pub(super) fn glm47() -> Grammar {
    glm("glm47", "GLM 4.7, 5")
}

/// Ling 3 and Ring. From the models' chat templates.
pub(super) fn ling3() -> Grammar {
    Grammar {
        erase: vec![token("<|role_end|>")],
        ..blocks("ling3", "Ling 3, Ring", "<tool_call>", "</tool_call>")
    }
}

/// Laguna: the first of repeated parameters counts, and a JSON object may stand in the block.
/// From the model's chat template.
pub(super) fn poolside_v1() -> Grammar {
    let mut grammar = blocks("poolside_v1", "Laguna", "<tool_call>", "</tool_call>");
    let mut object = json(Container::Object, texts(["</tool_call>"]));
    object.glue = texts(["<tool_call>"]);
    for opener in &mut grammar.openers {
        for shape in &mut opener.shapes {
            if let Shape::Tagged(calls) = shape {
                calls.duplicates = Duplicates::KeepFirst;
            }
        }
        opener.shapes.push(Shape::Json(object.clone()));
    }
    grammar
}

/// Spark 2.5 and 3. From the models' chat templates.
pub(super) fn spark25() -> Grammar {
    blocks("spark25", "Spark 2.5, 3", "<tool_call>", "</tool_call>")
}

/// iQuest-Q1, whose wrapper has its own name. From the model's chat template.
pub(super) fn iquest_q1() -> Grammar {
    let blocks = blocks("iquest_q1", "iQuest-Q1", "<iquest_tool_call>", "</iquest_tool_call>");
    Grammar { special_tokens: true, ..blocks }
}

/// Hunyuan: calls in a wrapper; V3 ends the name with a tag of its own. Checkpoints may add a
/// suffix to every tag: see [`Grammar::with_token_suffix`].
fn hunyuan(name: &'static str, about: &'static str) -> Grammar {
    let (open, close) = ("<tool_calls>", "</tool_calls>");
    let calls = pairs(section([open], [close]), "<tool_call>", "<tool_sep>", "</tool_call>");
    Grammar {
        openers: vec![marked(open, tagged(&calls)), begins("<tool_call>", &calls)],
        orphans: texts(["</tool_call>", close]),
        ..family(name, about)
    }
}

/// Hunyuan 3. From the model's chat template.
pub(super) fn hy_v3() -> Grammar {
    let layouts = vec![Layout { calls: Arrangement::Together, ..lines() }];
    Grammar { layouts, ..hunyuan("hy_v3", "Hunyuan 3") }
}

/// Hunyuan 4. From the model's chat template.
pub(super) fn hy_v4() -> Grammar {
    Grammar { layouts: vec![tight()], ..hunyuan("hy_v4", "Hunyuan 4") }
}

/// Solar Open 2: the first of repeated parameters counts. From the model's chat template.
pub(super) fn solar_open2() -> Grammar {
    let (open, close) = ("<|tool_call:start|>", "<|tool_call:end|>");
    let (key, value, end) = ("<|tool_arg:start|>", "<|tool_arg:value|>", "<|tool_arg:end|>");
    let key_head = Head { quotes: Quotes::Literal, ..head([key], value) };
    let calls = TaggedShape {
        duplicates: Duplicates::KeepFirst,
        ..shape(None, (name(open, "\n", [key, close]), texts([close])), (key_head, end))
    };
    Grammar {
        openers: vec![begins(open, &calls)],
        orphans: texts([close]),
        special_tokens: true,
        layouts: vec![lines()],
        ..family("solar_open2", "Solar Open 2")
    }
}

/// K2 Horizon: a value may say its type, and a block may hold JSON. From the model's chat
/// template.
pub(super) fn k2_horizon() -> Grammar {
    let (open, close) = ("<ifm|tool_calls>", "</ifm|tool_calls>");
    let (call, end) = ("<ifm|tool_call>", "</ifm|tool_call>");
    let key = Head { quotes: Quotes::Literal, ..head(["<ifm|arg_key>"], "</ifm|arg_key>") };
    let types = TypeTags { open: "<ifm|arg_type>".into(), close: "</ifm|arg_type>".into() };
    let calls = TaggedShape {
        type_tags: Some(types),
        value_open: texts(["<ifm|arg_value>"]),
        undeclared: Undeclared::JsonElseText,
        ..shape(
            section([open], [close]),
            (name(call, "\n", ["<ifm|arg_key>", end]), texts([end])),
            (key, "</ifm|arg_value>"),
        )
    };
    let mut object = json(Container::ObjectOrArray, texts([end]));
    object.glue = texts([call]);
    let shapes = vec![Shape::Tagged(calls), Shape::Json(object)];
    Grammar {
        openers: vec![
            marked(open, shapes.clone()),
            Opener { role: Role::Part, ..marked(call, shapes) },
        ],
        orphans: texts([end, close]),
        special_tokens: true,
        layouts: vec![
            Layout { calls: Arrangement::Together, ..lines() },
            Layout { opener: 1, shape: 1, ..Layout::default() },
        ],
        ..family("k2_horizon", "K2 Horizon")
    }
}
