//! A parser of a template as a machine.

use guard_laws::Recorder;
use llm_stream_guard::End;
use response_templates::Parser;
use stream_laws::{Held, HeldKind, Machine, Record};

/// A parser whose events are recorded.
#[derive(Debug, Clone)]
pub(super) struct TemplateMachine(pub(super) Parser);

impl Machine for TemplateMachine {
    fn push(&mut self, chunk: &str, out: &mut Record) {
        self.0.push(chunk, &mut Recorder(out));
    }

    fn finish(&mut self, out: &mut Record) {
        self.0.finish(End::Stop, &mut Recorder(out));
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn held(&self) -> Held {
        Held::new(HeldKind::Candidate, self.0.held().bytes)
    }

    fn work(&self) -> u64 {
        self.0.work()
    }

    fn state_size(&self) -> usize {
        self.0.buffered()
    }
}
