//! Registered and random reasoning formats under every option of a filter.

use llm_stream_guard::{LimitPolicy, Limits, ReasoningLimit, Start, Whitespace};
use stream_laws::{check_nothing_lost, check_prompt};
use think_filter::{Format, Openers, ThinkFilter, Unclosed, formats};

use crate::{
    input::{Input, halved},
    judge::{self, demand},
    shown_tags::no_closer_of_a_shown_opener_is_removed,
    think_machine::{Accounted, DROPS, SUFFIXED, Spanned, markers, witnesses},
};

const OPTIONS: usize = 20;

const FILLERS: [&str; 12] = [
    "\n\n",
    "```\n",
    "\n```\n",
    "~~~\n",
    "``",
    "é",
    "\u{1F331}",
    "◁",
    ":6124c78e>",
    "</",
    "<|",
    "<tool_call>{\"name\": \"f\"}</tool_call>",
];

const POLICIES: [LimitPolicy; 3] = [LimitPolicy::Release, LimitPolicy::Drop, LimitPolicy::Error];

/// More than twice all limits above.
const MEMORY: u64 = 4096;

/// The maximum length of text for which all continuations are tried.
const SHORT: usize = 24;

pub(crate) fn formats_and_options(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let plan = input.cuts();
    let known = formats();
    let which = input.below(known.len() + 1);
    let format = known.get(which).cloned().unwrap_or_else(|| Format::tags("own", "<a>", "</a>b"));
    let markers = markers(&format);
    let pieces = halved(markers.iter().cloned().chain(FILLERS.map(String::from)));
    let whitespace = *input.pick(&[Whitespace::Verbatim, Whitespace::Framing, Whitespace::Trim]);
    let mut builder = ThinkFilter::builder(format.clone()).whitespace(whitespace);
    if input.one_in(3) {
        builder = builder.start(*input.pick(&[Start::Reasoning, Start::Content]));
    }
    let plain = builder.clone();
    if input.one_in(4) {
        let limit = ReasoningLimit { bytes: input.below(40), policy: *input.pick(&POLICIES) };
        builder = builder.reasoning_limit(limit);
    }
    if input.one_in(4) {
        builder = builder.force_nonempty_content(input.below(60));
    }
    if input.one_in(4) {
        builder = builder.max_blocks(input.below(4) as u32);
    }
    if input.one_in(4) {
        let unclosed = *input.pick(&[Unclosed::Content, Unclosed::Split, Unclosed::Reasoning]);
        builder = builder.unclosed(unclosed, input.below(60));
    }
    if input.one_in(4) {
        builder = builder.openers(*input.pick(&[Openers::Lead, Openers::Anywhere, Openers::Line]));
    }
    let limits = Limits { whitespace: 1 + input.below(64), ..Limits::default() };
    let text = input.text(&pieces);
    let Ok(filter) = builder.limits(limits).build() else { return };
    judge::text(&Spanned(filter.clone()), &text, plan);
    if whitespace != Whitespace::Trim {
        demand(check_nothing_lost(&Accounted::new(&format, whitespace), &text, DROPS, plan));
    }
    if let Ok(filter) = plain.build() {
        no_closer_of_a_shown_opener_is_removed(&format, &filter, &text);
    }
    if text.len() <= SHORT {
        let mut witnesses = witnesses(&markers);
        witnesses.extend(SUFFIXED.map(String::from));
        demand(check_prompt(&Accounted::new(&format, Whitespace::Verbatim), &text, &witnesses));
    }
    if input.one_in(8) {
        let mut filter = filter;
        let spent = judge::heap(&text, |chunk| {
            let _ = filter.push(chunk, |_| ());
        });
        assert!(spent < MEMORY, "{spent} bytes for {text:?} over and over");
    }
}
