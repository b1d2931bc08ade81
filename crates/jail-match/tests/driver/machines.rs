//! The matcher and the jail as machines of the laws: what they find is reported as calls.

use jail_match::{Found, HeldKind as Kind, Jail, JailEvent, Matcher};
use stream_laws::{CONTENT, Held, HeldKind, Machine, Record};

use crate::bodies::held;

#[derive(Debug, Clone)]
pub(crate) struct Plain {
    matcher: Matcher,
    found: u32,
}

impl Plain {
    pub(crate) fn new(markers: &[String]) -> Self {
        Self { matcher: Matcher::new(markers), found: 0 }
    }
}

fn found(n: &mut u32, found: Found<'_>, out: &mut Record) {
    match found {
        Found::Text(text) => out.text(CONTENT, text),
        Found::Marker { id, text } => {
            out.call_start(*n, format!("{n}: {id}"), text);
            out.call_end(*n, "found");
            *n += 1;
        }
    }
}

impl Machine for Plain {
    fn push(&mut self, chunk: &str, out: &mut Record) {
        self.matcher.push(chunk, |one| found(&mut self.found, one, out));
    }

    fn finish(&mut self, out: &mut Record) {
        self.matcher.finish(|one| found(&mut self.found, one, out));
    }

    fn reset(&mut self) {
        self.matcher.reset();
        self.found = 0;
    }

    fn held(&self) -> Held {
        Held::new(HeldKind::Marker, self.matcher.held().len())
    }

    fn work(&self) -> u64 {
        self.matcher.examined()
    }

    fn state_size(&self) -> usize {
        self.matcher.held().len()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Jailed {
    jail: Jail,
    found: u32,
}

impl Jailed {
    pub(crate) fn new(starts: &[String], ends: &[String], limit: usize) -> Self {
        let mut builder = Jail::builder().limit(limit);
        for start in starts {
            builder = builder.start(start.clone());
        }
        for end in ends {
            builder = builder.end(end.clone());
        }
        Self { jail: builder.build().expect("good sequences"), found: 0 }
    }
}

fn jailed(n: &mut u32, event: JailEvent<'_>, out: &mut Record) {
    match event {
        JailEvent::Text(text) => out.text(CONTENT, text),
        JailEvent::Jailed(block) => {
            let whole = format!("{}|{}|{}", block.start, block.body, block.end.unwrap_or(""));
            out.call_start(*n, format!("{n}"), whole);
            out.call_end(*n, "jailed");
            *n += 1;
        }
    }
}

impl Machine for Jailed {
    fn push(&mut self, chunk: &str, out: &mut Record) {
        self.jail.push(chunk, |event| jailed(&mut self.found, event, out));
    }

    fn finish(&mut self, out: &mut Record) {
        self.jail.finish(|event| jailed(&mut self.found, event, out));
    }

    fn reset(&mut self) {
        self.jail.reset();
        self.found = 0;
    }

    fn held(&self) -> Held {
        let got = self.jail.held();
        assert_eq!(got.bytes == 0, got.kind == Kind::Nothing);
        held(got)
    }

    fn work(&self) -> u64 {
        self.jail.counters().examined
    }

    fn state_size(&self) -> usize {
        self.jail.held().bytes
    }
}
