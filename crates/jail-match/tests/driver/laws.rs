//! The laws over the matcher, the driver and the jail, with hostile inputs.

use jail_match::{DriverSettings, Jail, Limits, Whitespace};
use stream_laws::{
    CutPlan, RunRecord, StreamMachine, TextForm, Work, check_bounded, check_chunk_invariance,
    check_held, check_idle, check_linear, check_no_leak, check_nothing_lost, check_prompt,
    check_total, continuations,
};

use crate::{
    bodies::Cursor,
    machines::{Jailed, Plain},
    tables::{all, candidate_limit, cursor, think, verbatim},
};

const TEXTS: &[&str] = &[
    "",
    "plain text, nothing else",
    "<think>\nplan\n</think>\n\nanswer <call>a:b</call></call> more",
    "a<call>x!<call>y:z</call>\n<think>r<call>q:</call>s</think>t",
    "```\n<think>\n``` `<think>`\n<think>r</think> <thi",
    "[[TWICE]]!?[[TWICE]]!.</call><|head|>x;r</think>c<|head|>y:s",
    "◁think▷ é <call>é\u{1F600}:</call>\n\n\n",
    "<<<<call>;<call",
];

/// The repeated unit of each endless input.
const ENDLESS: &[&str] = &[
    "<",
    "<cal",
    "<thin",
    "\n",
    " ",
    "`",
    "```\n",
    "<call>",
    "<call>!",
    "<call>x<call>!",
    "a<think>",
    "<think></think>",
    "[[TWICE]]!",
    "[[[TWICE]",
    "<|head|>;",
    "</call>",
    " \n<",
    "é",
];

fn machines() -> Vec<Cursor> {
    let policies = [Whitespace::Verbatim, Whitespace::Framing, Whitespace::Trim];
    let limits = Limits { candidate: 256, whitespace: 128, depth: 4, ..Limits::default() };
    let with_policy = |policy| DriverSettings::default().whitespace(policy).limits(limits);
    policies
        .into_iter()
        .flat_map(|p| [cursor(think(), with_policy(p)), cursor(all(), with_policy(p))])
        .collect()
}

fn plain() -> Plain {
    Plain::new(&["<<".into(), "<a>".into(), "<a>b".into(), "◁think▷".into(), "\n\n".into()])
}

fn jail() -> Jailed {
    let jail = Jail::builder().start("<call>").start("<").end("</call>").end("◁").end("\n");
    Jailed::new(jail.limit(64).build().unwrap())
}

fn everywhere<M: StreamMachine>(machine: &M, text: &str) {
    check_chunk_invariance(machine, text, CutPlan::standard(3)).unwrap();
    check_total(machine, text, CutPlan::standard(4)).unwrap();
}

fn bounded<M: StreamMachine>(machine: &M, limit: usize) {
    for unit in ENDLESS {
        check_bounded(machine, std::iter::repeat_n(*unit, 4 * limit), limit).unwrap();
    }
}

fn linear<M: StreamMachine>(machine: &M, per_byte: u64) {
    for unit in ENDLESS {
        let work = Work { bytes: 4096, per_byte, growth_percent: 230 };
        check_linear(machine, |bytes| unit.repeat(bytes.div_ceil(unit.len())), work).unwrap();
    }
}

#[test]
fn every_input_passes_the_invariance_and_totality_laws() {
    for text in TEXTS {
        machines().iter().for_each(|machine| everywhere(machine, text));
        everywhere(&plain(), text);
        everywhere(&jail(), text);
    }
}

#[test]
fn every_input_byte_is_accounted_for() {
    for text in TEXTS {
        for settings in [verbatim(), verbatim().whitespace(Whitespace::Framing)] {
            let machine = cursor(all(), settings);
            check_nothing_lost(&machine, text, &["cut_opener"], CutPlan::standard(5)).unwrap();
        }
    }
}

#[test]
fn reported_held_bytes_are_exact_and_zero_at_the_end() {
    for text in TEXTS {
        for machine in machines() {
            check_held(&machine, text, TextForm::WireBytes).unwrap();
            check_idle(&machine, text, CutPlan::quick(7)).unwrap();
        }
        check_idle(&plain(), text, CutPlan::quick(7)).unwrap();
        check_idle(&jail(), text, CutPlan::quick(7)).unwrap();
    }
}

#[test]
fn nothing_is_held_without_need() {
    let markers: Vec<String> = all().iter().map(|edge| edge.marker.clone().into_owned()).collect();
    let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
    let tails = ["x", "x</call>", ":", "!", "!.", "!?", "\n</think>", "</think>", "<call>:</call>"];
    let witnesses = continuations(&markers, &tails);
    for text in TEXTS {
        for settings in [verbatim(), verbatim().whitespace(Whitespace::Framing)] {
            check_prompt(&cursor(think(), settings), text, &witnesses).unwrap();
            check_prompt(&cursor(all(), settings), text, &witnesses).unwrap();
        }
    }
}

#[test]
fn memory_is_bounded() {
    // Candidate, whitespace, and the longest marker.
    machines().iter().for_each(|machine| bounded(machine, 256 + 128 + 16));
    bounded(&plain(), 16);
    bounded(&jail(), 64 + 16);
}

#[test]
fn work_is_linear() {
    // A byte is rescanned at most 16 times, and examined for each marker prefix that it extends.
    machines().iter().for_each(|machine| linear(machine, 64));
    linear(&cursor(all(), candidate_limit(16 * 1024)), 64);
    linear(&plain(), 32);
    linear(&jail(), 32);
}

#[test]
fn repeated_marker_prefixes_are_examined_at_most_twice() {
    // A byte that is held from one chunk to the next is counted twice.
    for repeated in ["<", "</", "[", "<|"] {
        let text = repeated.repeat(4096);
        let mut machine = cursor(all(), verbatim());
        for at in (0..text.len()).step_by(4) {
            machine.push(&text[at..at + 4], &mut RunRecord::default());
        }
        let counters = machine.driver.counters();
        let most = 2 * counters.bytes_in + 64;
        assert!(counters.examined <= most, "{repeated:?}: {} of {most}", counters.examined);
    }
}

#[test]
fn leading_mebibyte_of_newlines_is_read_in_linear_time() {
    // Quadratic work here would not be counted, but would take minutes.
    let machine = cursor(all(), verbatim());
    let blanks = "\n".repeat(1 << 20);
    stream_laws::run(&machine, &blanks, stream_laws::Cut::Whole);
}

#[test]
fn no_markup_leaks() {
    let text = "<think>\nr</think>a<call>x:y</call></call>b<|head|>z;c</think>d";
    let markup = ["<think>", "</think>", "<call>", "</call>", "<|head|>"];
    check_no_leak(&cursor(all(), verbatim()), text, &markup, CutPlan::standard(6)).unwrap();
}
