//! What the driver and the jail look at, hold and trace, beside what they say: sums over random
//! inputs, as they were when last agreed to.
//!
//! `UPDATE=1 cargo test -p jail-match --test driver kept` writes the file; its difference is what a
//! change costs.

use std::path::Path;

use jail_match::{
    Dangling, Diagnostic, Driver, End, Event, InlineTags, ReasoningLimit, Settings, Sink, Span,
    Stretch, Table, Trace,
};
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

/// What there is to see of a driver: how often each kind of trace came, where, and how long; sums of
/// its diagnostics, of what it accounts for, and of its state behind each piece.
#[derive(Default)]
struct Seen {
    traces: [[u64; 3]; 6],
    diagnostics: [u64; 4],
    spans: [u64; 3],
    states: [u64; 8],
}

impl Sink for Seen {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Diagnostic(Diagnostic { kind, at, bytes, .. }) = event {
            add(&mut self.diagnostics, [1, u64::from(kind.is_limit()), at, bytes]);
        }
    }

    fn account(&mut self, span: Span) {
        add(&mut self.spans, [1, span.at, span.len]);
    }

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
        add(&mut self.traces[kind], [1, at, len]);
    }
}

fn add<const N: usize>(sums: &mut [u64; N], more: [u64; N]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

impl Seen {
    /// Looks at the driver, all of whose states count.
    fn look(&mut self, driver: &Driver) {
        let held = driver.held();
        add(
            &mut self.states,
            [
                held.bytes as u64,
                held.kind.name().len() as u64,
                driver.channel().index() as u64,
                u64::from(driver.is_unclosed()),
                driver.position(),
                driver.bound_newlines() as u64,
                driver.suffix().as_str().len() as u64,
                u64::from(driver.is_halted()),
            ],
        );
    }

    /// Feeds the text in pieces of `size` scalars, of which `a_message` are one, then some as literal.
    fn run(&mut self, driver: &mut Driver, text: &str, size: usize, a_message: usize, end: End) {
        let (mut bodies, scalars) = (Tiny::default(), Vec::from_iter(text.chars()));
        for (n, piece) in scalars.chunks(size).enumerate() {
            let piece: String = piece.iter().collect();
            // A limit of reasoning may end it.
            let _ = driver.push(&piece, &mut bodies, self);
            self.look(driver);
            if n % a_message + 1 == a_message {
                driver.message_boundary(self);
                self.look(driver);
            }
        }
        for literal in ["<a>", "b "] {
            let _ = driver.push_literal(literal, &mut bodies, self);
            self.look(driver);
        }
        let _ = driver.finish(end, &mut bodies, self);
        self.look(driver);
    }
}

/// What a driver counted and showed: of the text as it stands; of a cut one in messages, with the
/// suffix it learnt and limits of reasoning; and of one of which a stretch is literal.
fn driver(table: &Table, settings: Settings, text: &str, size: usize) -> Vec<u64> {
    let mut seen = Seen::default();
    let mut first = Driver::new(table.clone(), settings);
    seen.run(&mut first, text, size, usize::MAX, End::Stop);
    let limit = ReasoningLimit { bytes: 4, policy: settings.limits.policy };
    let known = settings.suffix(first.suffix()).dangling(Dangling::Drop);
    let limited = known.spans(Some(1)).reasoning(Some(limit));
    let mut second = Driver::new(table.clone(), limited);
    let behind = text.len() as u64;
    let shown = Some("!".to_owned());
    second.mark(Stretch { from: behind, to: behind + 64, literal: false, shown });
    seen.run(&mut second, text, size, 7, End::Length);
    second.reset();
    seen.run(&mut second, text, size, usize::MAX, End::Length);
    let mut third = Driver::new(table.clone(), known.inline_tags(InlineTags::Literal));
    let mut places = text.char_indices().map(|(at, _)| at as u64);
    if let (Some(from), Some(to)) = (places.nth(3), places.nth(4)) {
        third.mark(Stretch { from, to, literal: size == 1, shown: Some("~".to_owned()) });
    }
    seen.run(&mut third, text, size, usize::MAX, End::Length);
    let counted = [first, second, third].map(|driver| {
        let is = *driver.counters();
        let counted = [is.bytes_in, is.examined, is.candidates, is.committed, is.refuted];
        counted.into_iter().chain([is.reasoning_bytes, is.held_max as u64])
    });
    let Seen { traces, diagnostics, spans, states } = seen;
    let sums = diagnostics.into_iter().chain(spans).chain(states);
    counted.into_iter().flatten().chain(traces.into_iter().flatten()).chain(sums).collect()
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
            sums.add(&driver(&table, settings, &text, size));
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
