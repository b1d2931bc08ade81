//! What the driver and the jail look at, hold and trace, beside what they say: sums over random
//! inputs, as they were when last agreed to.
//!
//! `UPDATE=1 cargo test -p jail-match --test driver kept` writes the file; its difference is what a
//! change costs.

use std::path::Path;

use jail_match::{Driver, End, Event, Sink, Span, Table, Trace};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};
use stream_laws::{
    Cut,
    kept::{Figures, as_kept},
};

use crate::{
    bodies::Tiny,
    machines::{Jailed, Plain},
    oracle::{markers_and_text, table_and_text},
    random::settings,
    random_jail::spec_and_text,
};

/// Inputs that make a line.
const GROUP: usize = 25;

/// How often each kind of trace came, and where, and how long.
#[derive(Default)]
struct Traces([[u64; 3]; 6]);

impl Sink for Traces {
    fn event(&mut self, _: Event<'_>) {}

    fn account(&mut self, _: Span) {}

    fn trace(&mut self, trace: Trace) {
        let (kind, at, len) = match trace {
            Trace::Matched { at, len, .. } => (0, at, len),
            Trace::EndTag { at, len } => (1, at, len),
            Trace::Opened { at, len, .. } => (2, at, len),
            Trace::Committed { at, len } => (3, at, len),
            Trace::Refuted { at, len } => (4, at, len),
            Trace::Empty { at, len } => (5, at, len),
            other => panic!("a trace without a test: {other:?}"),
        };
        self.0[kind] = [self.0[kind][0] + 1, self.0[kind][1] + at, self.0[kind][2] + len];
    }
}

/// What a driver counted: first it gets the text in pieces of `size` scalars, then some as literal.
fn driver(mut driver: Driver, text: &str, size: usize) -> Vec<u64> {
    let (mut bodies, mut traces, mut held) = (Tiny::default(), Traces::default(), 0);
    let scalars: Vec<char> = text.chars().collect();
    for piece in scalars.chunks(size) {
        let piece: String = piece.iter().collect();
        driver.push(&piece, &mut bodies, &mut traces).expect("no error policy");
        held += driver.held().bytes as u64;
    }
    for literal in ["<a>", "b "] {
        driver.push_literal(literal, &mut bodies, &mut traces).expect("no error policy");
        held += driver.held().bytes as u64;
    }
    driver.finish(End::Stop, &mut bodies, &mut traces).expect("no error policy");
    let is = *driver.counters();
    let counted = [is.bytes_in, is.examined, is.candidates, is.committed, is.refuted];
    let all = [is.reasoning_bytes, is.held_max as u64, held];
    counted.into_iter().chain(all).chain(traces.0.into_iter().flatten()).collect()
}

/// `lines` lines, each with sums over its inputs.
fn sums<T>(
    name: &str,
    lines: usize,
    inputs: impl Strategy<Value = T>,
    mut figures: impl FnMut(&mut Figures, T),
) -> String {
    let mut runner = TestRunner::deterministic();
    let line = |_| {
        let mut sums = Figures::default();
        for _ in 0..GROUP {
            let input = inputs.new_tree(&mut runner).expect("an input").current();
            figures(&mut sums, input);
        }
        sums.line(name)
    };
    (0..lines).map(line).collect()
}

#[test]
fn work_held_text_and_traces_are_as_kept() {
    let tables = (table_and_text(), settings());
    let mut told = sums("driver", 40, tables, |sums, ((edges, text), settings)| {
        let table = Table::new(edges).expect("a table");
        for size in [1, 3, usize::MAX] {
            sums.add(&driver(Driver::new(table.clone(), settings), &text, size));
        }
    });
    let cuts = [Cut::EachScalar, Cut::Whole];
    told += &sums("matcher", 20, markers_and_text(), |sums, (markers, text)| {
        let plain = Plain::new(&markers);
        for cut in cuts {
            sums.add_run(&plain, &text, cut);
        }
    });
    told += &sums("jail", 40, spec_and_text(), |sums, (spec, text)| {
        let Ok(jail) = spec.build() else { return };
        let jail = Jailed::new(jail);
        for cut in cuts {
            sums.add_run(&jail, &text, cut);
        }
    });
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/driver/kept.tsv");
    as_kept(&file, &told).unwrap_or_else(|it| panic!("{it}"));
}
