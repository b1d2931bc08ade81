//! The laws over every format with random sequences of tags, and faulty filters that they detect.

use proptest::prelude::*;
use stream_laws::{
    CutPlan, HeldBytes, HeldReason, LawViolation, RunRecord, StreamMachine, Work, check_bounded,
    check_chunk_invariance, check_linear, check_no_leak, check_nothing_lost, check_prompt,
    suffixes,
};
use think_filter::{
    DupOpen, Format, LimitPolicy, ReasoningLimit, Start, ThinkFilter, Whitespace, formats,
};

use crate::{
    laws::POLICIES,
    machine::{Accounted, DROPS, SUFFIXED, Spanned, Think, markers, witnesses},
};

/// Texts between the tags.
const FILLERS: &[&str] = &[
    "x",
    "text ",
    " ",
    "\n",
    "\n\n",
    "`",
    "``",
    "```\n",
    "\n```\n",
    "~~~\n",
    "é",
    "◁",
    "<",
    "</",
    "[",
    "<|",
    ">",
    ":6124c78e>",
    "<tool_call>{\"name\": \"f\"}</tool_call>",
];

/// Generates a format and a text of its markers, pieces of them, and fillers.
fn soup(parts: usize) -> impl Strategy<Value = (Format, String)> {
    let formats = formats();
    (0..formats.len(), prop::collection::vec((0usize..1000, 1usize..14, 0u8..4), 0..parts))
        .prop_map(move |(which, parts)| {
            let format = formats[which].clone();
            let markers = markers(&format);
            let part = |&(n, scalars, kind): &(usize, usize, u8)| match kind {
                0 | 1 if !markers.is_empty() => markers[n % markers.len()].clone(),
                2 if !markers.is_empty() => {
                    markers[n % markers.len()].chars().take(scalars).collect()
                }
                _ => FILLERS[n % FILLERS.len()].to_owned(),
            };
            let text = parts.iter().map(part).collect();
            (format, text)
        })
}

/// Generates a format and a text in which every complete marker acts: spans of reasoning with
/// answers between them, and pieces of markers. There is one span if the format allows only one.
fn well_formed() -> impl Strategy<Value = (Format, String)> {
    let tagged = formats().into_iter().filter(|format| !format.open.is_empty());
    let formats: Vec<Format> = tagged.collect();
    let span = (0usize..8, "[a-z ]{1,6}", "[a-z ]{1,6}");
    (0..formats.len(), prop::collection::vec(span, 1..5)).prop_map(move |(which, spans)| {
        let format = formats[which].clone();
        let lead = format.openers == think_filter::Openers::Lead;
        let once = lead || format.recur == think_filter::Recur::Once;
        let most = if once { 1 } else { spans.len() };
        let span = |(n, thought, answer): &(usize, String, String)| {
            let n = n % format.open.len().min(format.close.len());
            let (open, close) = (&format.open[n], &format.close[n]);
            let piece: String = close.chars().take(3).collect();
            format!("{open}{thought}{piece} {close}{answer}é\n")
        };
        let text = spans[..most].iter().map(span).collect();
        (format, text)
    })
}

fn fail(format: &Format) -> impl Fn(LawViolation) -> TestCaseError + '_ {
    |broken| TestCaseError::fail(format!("{}: {broken}", format.name))
}

fn cases(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked.unwrap_or(cases))
    }
}

proptest! {
    #![proptest_config(cases(600))]

    // Contract: S3.2.
    #[test]
    fn spans_are_chunk_invariant(
        (format, text) in soup(16),
        policy in 0usize..3,
        opened in any::<bool>(),
        limit in prop::option::of((0usize..12, 0u8..3)),
        withheld in prop::option::of(0usize..20),
    ) {
        let start = if opened { Start::Reasoning } else { Start::Content };
        let mut builder =
            ThinkFilter::builder(format.clone()).whitespace(POLICIES[policy]).start(start);
        if let Some((bytes, policy)) = limit {
            let policies = [LimitPolicy::Release, LimitPolicy::Drop, LimitPolicy::Error];
            let policy = policies[usize::from(policy)];
            builder = builder.reasoning_limit(ReasoningLimit { bytes, policy });
        }
        if let Some(limit) = withheld {
            builder = builder.force_nonempty_content(limit);
        }
        let filter = Spanned(builder.build().expect("a good format"));
        check_chunk_invariance(&filter, &text, CutPlan::quick(3)).map_err(fail(&format))?;
    }

    // Contract: S3.1.
    #[test]
    fn no_input_byte_is_dropped_or_duplicated((format, text) in soup(16), framing in any::<bool>()) {
        let policy = if framing { Whitespace::Framing } else { Whitespace::Verbatim };
        check_nothing_lost(&Accounted::new(&format, policy), &text, DROPS, CutPlan::quick(4))
            .map_err(fail(&format))?;
    }

    #[test]
    fn markup_of_spans_is_never_emitted((format, text) in well_formed(), policy in 0usize..3) {
        let all = markers(&format);
        let markup: Vec<&str> = all.iter().map(String::as_str).collect();
        let builder = ThinkFilter::builder(format.clone()).whitespace(POLICIES[policy]);
        let think = Think::from(builder.build().expect("a good format"));
        check_no_leak(&think, &text, &markup, CutPlan::quick(5)).map_err(fail(&format))?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    // Contract: S3.3.
    #[test]
    fn nothing_is_held_without_need((format, text) in soup(7)) {
        let mut witnesses = witnesses(&markers(&format));
        witnesses.extend(SUFFIXED.map(String::from));
        check_prompt(&Accounted::new(&format, Whitespace::Verbatim), &text, &witnesses)
            .map_err(fail(&format))?;
    }

    #[test]
    fn memory_and_work_are_bounded((format, unit) in soup(6), policy in 0usize..3) {
        prop_assume!(!unit.is_empty());
        let builder = ThinkFilter::builder(format.clone()).whitespace(POLICIES[policy]);
        let limits = think_filter::Limits { whitespace: 256, ..Default::default() };
        let think = Think::from(builder.limits(limits).build().expect("a good format"));
        let limit = 256 + 256;
        let times = 3 * limit / unit.len() + 2;
        check_bounded(&think, std::iter::repeat_n(unit.as_str(), times), limit)
            .map_err(fail(&format))?;
        // The bound is wide, because the sizes of random pieces of a short input vary.
        let work = Work { bytes: 2048, per_byte: 200, growth_percent: 500 };
        check_linear(&think, |bytes| unit.repeat(bytes.div_ceil(unit.len())), work)
            .map_err(fail(&format))?;
    }
}

/// A fault of a filter that does not show when a text arrives whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// A prefix of a tag is held only if the chunk contains nothing else.
    HoldsWholeChunksOnly,
    /// The filter always holds as many characters as the longest tag has.
    HoldsAlways,
    /// Text held at the end is dropped.
    ForgetsTheTail,
    /// Reasoning is also emitted as content.
    Twice,
    /// The closer is emitted with the reasoning.
    Leaks,
    /// Text is emitted only at the end.
    KeepsAll,
    /// The whole text is examined again for each chunk.
    StartsOver,
}

/// A filter of `[THINK]` tags with one fault.
#[derive(Debug, Clone)]
struct Broken {
    fault: Fault,
    inner: Accounted,
    kept: String,
    work: u64,
}

impl Broken {
    fn new(fault: Fault) -> Self {
        let format =
            Format { dup_open: DupOpen::Keep, ..Format::tags("pair", "[THINK]", "[/THINK]") };
        Self {
            fault,
            inner: Accounted::new(&format, Whitespace::Verbatim),
            kept: String::new(),
            work: 0,
        }
    }
}

impl StreamMachine for Broken {
    fn push(&mut self, chunk: &str, out: &mut RunRecord) {
        match self.fault {
            Fault::HoldsWholeChunksOnly => {
                // Ends the text inside the chunk: a prefix of a tag at its end is not held.
                self.inner.push(chunk, out);
                let held = self.inner.held().bytes;
                if held > 0 && held < chunk.len() {
                    self.inner.flush(out);
                }
            }
            Fault::HoldsAlways | Fault::KeepsAll => {
                self.kept.push_str(chunk);
                let keep = if self.fault == Fault::KeepsAll { usize::MAX } else { 7 };
                let cut = self.kept.len().saturating_sub(keep);
                let cut = (0..=cut).rev().find(|&at| self.kept.is_char_boundary(at)).unwrap_or(0);
                let rest = self.kept.split_off(cut);
                self.inner.push(&std::mem::replace(&mut self.kept, rest), out);
            }
            Fault::Twice | Fault::Leaks => {
                let (before, spans) = (out.events.len(), out.spans.len());
                self.inner.push(chunk, out);
                let reasoned = out.events[before..].iter().find_map(|event| match event {
                    stream_laws::RecordedEvent::Text { channel: 1, text } => Some(text.clone()),
                    _ => None,
                });
                match reasoned {
                    Some(text) if self.fault == Fault::Twice => out.text(0, text),
                    _ if self.fault == Fault::Leaks && out.spans.len() > spans => {
                        out.text(1, "[/THINK]");
                    }
                    _ => {}
                }
            }
            Fault::StartsOver => {
                self.kept.push_str(chunk);
                self.work += self.kept.len() as u64;
                self.inner.push(chunk, out);
            }
            Fault::ForgetsTheTail => self.inner.push(chunk, out),
        }
    }

    fn finish(&mut self, out: &mut RunRecord) {
        if self.fault != Fault::ForgetsTheTail {
            let kept = std::mem::take(&mut self.kept);
            if matches!(self.fault, Fault::HoldsAlways | Fault::KeepsAll) {
                self.inner.push(&kept, out);
            }
            self.inner.finish(out);
        }
    }

    fn reset(&mut self) {
        self.inner.reset();
        self.kept.clear();
    }

    fn held(&self) -> HeldBytes {
        let held = self.inner.held();
        match self.fault {
            Fault::HoldsAlways | Fault::KeepsAll => {
                HeldBytes::new(HeldReason::Marker, held.bytes + self.kept.len())
            }
            _ => held,
        }
    }

    fn work(&self) -> u64 {
        self.inner.work() + self.work
    }

    fn state_size(&self) -> usize {
        self.inner.state_size() + self.kept.len()
    }
}

#[test]
fn each_law_detects_a_filter_that_violates_it() {
    let text = "a[THINK]plan it[/THINK]answer[THI";
    let plan = CutPlan::standard(1);
    let l1 = |fault| check_chunk_invariance(&Broken::new(fault), text, plan);
    assert!(l1(Fault::HoldsWholeChunksOnly).is_err());
    let l2 = |fault| check_nothing_lost(&Broken::new(fault), text, &[], plan);
    assert!(l2(Fault::ForgetsTheTail).is_err() && l2(Fault::Twice).is_err());
    let witnesses = suffixes(&["[THINK]", "[/THINK]"]);
    let l3 = |fault| check_prompt(&Broken::new(fault), text, &witnesses);
    assert!(l3(Fault::HoldsAlways).is_err() && l3(Fault::KeepsAll).is_err());
    let endless = std::iter::repeat_n("text [", 1000);
    assert!(check_bounded(&Broken::new(Fault::KeepsAll), endless, 64).is_err());
    let work = Work { bytes: 2048, per_byte: 96, growth_percent: 230 };
    let linear = check_linear(&Broken::new(Fault::StartsOver), |bytes| "x".repeat(bytes), work);
    assert!(linear.is_err());
    let l8 = check_no_leak(&Broken::new(Fault::Leaks), "a[THINK]b[/THINK]c", &["[/THINK]"], plan);
    assert!(l8.is_err());
}
