//! The registered reasoning formats, one row each, with the rules in which they differ.

use alloc::{vec, vec::Vec};

use crate::{
    format::{Format, Text},
    rules::{
        BoundNewlines, DupOpen, MarkerCase, Openers, Pairing, Recur, StrayClose, TokenSuffix,
        Wrapper,
    },
};

/// Every format, in the order of the documentation.
#[must_use]
pub fn formats() -> Vec<Format> {
    let mut formats = vec![
        think("basic"),
        once("deepseek_r1"),
        think("deepseek_v4"),
        once("qwen3"),
        once("qwen3_coder"),
        think("glm45"),
        think("ling3"),
        Format::tags("kimi", "◁think▷", "◁/think▷"),
        once("kimi_k2"),
        once("minimax_m2"),
        Format { special_tokens: true, ..Format::tags("minimax_m3", "<mm:think>", "</mm:think>") },
        Format { prepend: Some("<think>".into()), ..Format::passthrough("minimax_append_think") },
        Format { special_tokens: true, ..Format::tags("mistral", "[THINK]", "[/THINK]") },
        granite(),
        cohere(),
        gemma4(),
        k2_horizon(),
        seed_oss(),
        ernie45(),
        hunyuan_a13b(),
        Format { suffix: TokenSuffix::Any, ..once("hy_v3") },
        Format { suffix: TokenSuffix::Any, ..once("hy_v4") },
        once("olmo3"),
        once("nemotron_v3"),
        once("step3"),
        Format { newlines: BoundNewlines::CloserDeclared, ..once("step3p5") },
        Format {
            special_tokens: true,
            ..Format::tags("apertus", "<|inner_prefix|>", "<|inner_suffix|>")
        },
        once("holo2"),
        think("poolside_v1"),
        once("exaone4"),
        Format::tags("exaone_deep", "<thought>", "</thought>"),
        once("phi4_reasoning"),
        open_thoughts(),
        solar_open(),
        Format { special_tokens: true, ..Format::tags("pangu", "[unused16]", "[unused17]") },
        any_tags(),
        lead_only(),
        Format::passthrough("passthrough"),
    ];
    for (name, tag) in
        [("thinking", "thinking"), ("reasoning", "reasoning"), ("thought", "thought")]
    {
        let (open, close) = (alloc::format!("<{tag}>"), alloc::format!("</{tag}>"));
        formats.push(Format::tags(name, open, close));
    }
    formats
}

/// `<think>` and `</think>`.
fn think(name: &'static str) -> Format {
    Format::tags(name, "<think>", "</think>")
}

/// The same, one span a message: families whose later tags are text.
fn once(name: &'static str) -> Format {
    Format { recur: Recur::Once, ..think(name) }
}

/// Granite 3.2: phrases at the start of the answer, in two spellings each.
fn granite() -> Format {
    Format {
        open: texts(["Here is my thought process:", "Here's my thought process:"]),
        close: texts(["Here is my response:", "Here's my response:"]),
        openers: Openers::Lead,
        newlines: BoundNewlines::None,
        stray_close: StrayClose::Keep,
        ..Format::passthrough("granite")
    }
}

/// Cohere Command A and R7B: answers stand in wrappers of their own.
fn cohere() -> Format {
    let markers = [
        "<|START_RESPONSE|>",
        "<|END_RESPONSE|>",
        "<|START_TEXT|>",
        "<|END_TEXT|>",
        "<|END_OF_TURN_TOKEN|>",
    ];
    Format {
        answer: markers.map(|marker| wrapper(marker, 0, 0)).to_vec(),
        special_tokens: true,
        ..Format::tags("cohere_command4", "<|START_THINKING|>", "<|END_THINKING|>")
    }
}

/// Gemma 4: a channel with a label, which is not part of the thought.
fn gemma4() -> Format {
    Format {
        label: Some("thought\n".into()),
        special_tokens: true,
        ..Format::tags("gemma4", "<|channel>", "<channel|>")
    }
}

/// K2 Horizon: a tag for each effort.
fn k2_horizon() -> Format {
    Format {
        open: texts(["<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"]),
        close: texts(["</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"]),
        pairing: Pairing::Own,
        special_tokens: true,
        ..Format::passthrough("k2_horizon")
    }
}

/// Seed-OSS: remarks about the budget stand inside the reasoning.
fn seed_oss() -> Format {
    Format {
        remark: Some(("<seed:cot_budget_reflect>".into(), "</seed:cot_budget_reflect>".into())),
        recur: Recur::Once,
        ..Format::tags("seed_oss", "<seed:think>", "</seed:think>")
    }
}

/// ERNIE 4.5: newlines next to its tags are never text.
fn ernie45() -> Format {
    Format {
        newlines: BoundNewlines::All,
        answer: vec![wrapper("<response>", 64, 64), wrapper("</response>", 64, 64)],
        ..think("ernie45")
    }
}

/// Hunyuan A13B: newlines are part of the markers, and the answer is wrapped.
fn hunyuan_a13b() -> Format {
    Format {
        newlines: BoundNewlines::Declared,
        answer: vec![wrapper("<answer>", 1, 1), wrapper("</answer>", 1, 1)],
        recur: Recur::Once,
        ..think("hunyuan_a13b")
    }
}

/// OpenThinker, Sky-T1.
fn open_thoughts() -> Format {
    Format {
        answer: vec![wrapper("<|begin_of_solution|>", 0, 0), wrapper("<|end_of_solution|>", 0, 0)],
        ..Format::tags("open_thoughts", "<|begin_of_thought|>", "<|end_of_thought|>")
    }
}

/// Solar Open: one token ends thoughts and answers alike.
fn solar_open() -> Format {
    Format {
        answer: ["<|begin|>assistant", "<|content|>", "<|end|>", "<|flush|>"]
            .map(|marker| wrapper(marker, 0, 0))
            .to_vec(),
        newlines: BoundNewlines::None,
        stray_close: StrayClose::Keep,
        special_tokens: true,
        ..Format::tags("solar_open", "<|think|>", "<|end|>")
    }
}

/// Every pair of tags in use, for models nobody knows: each opener waits for its own closer.
fn any_tags() -> Format {
    Format {
        open: texts([
            "<think>",
            "<thinking>",
            "<thought>",
            "<reason>",
            "<reasoning>",
            "[THINK]",
            "◁think▷",
            "<|begin_of_thought|>",
        ]),
        close: texts([
            "</think>",
            "</thinking>",
            "</thought>",
            "</reason>",
            "</reasoning>",
            "[/THINK]",
            "◁/think▷",
            "<|end_of_thought|>",
        ]),
        pairing: Pairing::Own,
        case: MarkerCase::Insensitive,
        ..Format::passthrough("any_tags")
    }
}

/// Only leading blocks are reasoning, in any letter case; every other tag is text.
fn lead_only() -> Format {
    Format {
        openers: Openers::Lead,
        case: MarkerCase::Insensitive,
        stray_close: StrayClose::Keep,
        dup_open: DupOpen::Keep,
        newlines: BoundNewlines::None,
        ..think("lead_only")
    }
}

fn wrapper(marker: &'static str, newlines_before: u8, newlines_after: u8) -> Wrapper {
    Wrapper { marker: marker.into(), newlines_before, newlines_after }
}

fn texts<const N: usize>(texts: [&'static str; N]) -> Vec<Text> {
    texts.map(Text::from).to_vec()
}
