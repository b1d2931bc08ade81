//! What stands between a guard and the caller's sink: jails around content, and the tally of what happens.

use jail_match::{Held, HeldKind, LimitError};
use toolcall_parsers::CallSink;

use super::Guard;
use crate::{
    jailer::{Jailer, Jailing},
    observe::{Stats, Tallied, Tally},
};

/// Nothing of this exists unless it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Outlet {
    jailer: Option<Jailer>,
    tally: Option<Tally>,
    failed: Option<LimitError>,
}

impl Outlet {
    pub(super) fn new(jailer: Option<Jailer>, tally: Option<Tally>) -> Option<Box<Self>> {
        let needed = jailer.is_some() || tally.is_some();
        needed.then(|| Box::new(Self { jailer, tally, failed: None }))
    }

    pub(super) fn reset(&mut self) {
        self.failed = None;
        if let Some(jailer) = &mut self.jailer {
            jailer.reset();
        }
        if let Some(tally) = &mut self.tally {
            tally.reset();
        }
    }

    pub(super) fn buffered(&self) -> usize {
        self.jailer.as_ref().map_or(0, Jailer::buffered)
    }

    /// What is held, the jail's share added.
    pub(super) fn held(&self, held: Held) -> Held {
        match self.jailer.as_ref().map(Jailer::held) {
            Some(jailed) if jailed.kind != HeldKind::Nothing => {
                Held { bytes: held.bytes + jailed.bytes, kind: jailed.kind }
            }
            _ => held,
        }
    }

    fn run<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut S,
        then: Then,
        step: impl FnOnce(&mut dyn CallSink) -> Result<(), LimitError>,
    ) -> Result<(), LimitError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let tallied = &mut Tallied { tally: self.tally.as_mut(), sink };
        let Some(jailer) = &mut self.jailer else { return step(tallied) };
        let mut jailing = Jailing { result: jailer.tick(tallied), jailer, sink: tallied };
        let result = step(&mut jailing);
        let Jailing { jailer, sink, result: jailed } = jailing;
        let jailed = jailed.and_then(|()| match then {
            Then::Go => jailer.chunk_ended(sink),
            Then::Settle => jailer.settle(sink),
            Then::Finish => jailer.finish(sink),
        });
        self.failed = jailed.err();
        result.and(jailed)
    }
}

/// What follows for the jail.
#[derive(Clone, Copy)]
pub(super) enum Then {
    Go,
    /// Another message begins.
    Settle,
    Finish,
}

impl Guard {
    /// Runs `step` with a sink behind which content is jailed and everything is tallied.
    pub(super) fn outward<S: CallSink + ?Sized>(
        &mut self,
        sink: &mut S,
        then: Then,
        step: impl FnOnce(&mut Self, &mut dyn CallSink) -> Result<(), LimitError>,
    ) -> Result<(), LimitError> {
        let Some(mut outlet) = self.outlet.take() else { return Ok(()) };
        let result = outlet.run(sink, then, |sink| step(self, sink));
        self.outlet = Some(outlet);
        let held = self.held();
        self.tally(|tally| tally.held(held));
        result
    }

    pub(super) fn tally(&mut self, what: impl FnOnce(&mut Tally)) {
        if let Some(tally) = self.outlet.as_mut().and_then(|outlet| outlet.tally.as_mut()) {
            what(tally);
        }
    }

    /// Time has passed and nothing came: a jail may have been open for too long. Only needed
    /// where [`Jailer::time_limit`] must hold while a stream stands still.
    ///
    /// # Errors
    /// As [`Guard::push`].
    pub fn tick<S: CallSink + ?Sized>(&mut self, sink: &mut S) -> Result<(), LimitError> {
        let Some(outlet) = &mut self.outlet else { return Ok(()) };
        if let Some(error) = outlet.failed {
            return Err(error);
        }
        let Some(jailer) = &mut outlet.jailer else { return Ok(()) };
        let ticked = jailer.tick(&mut Tallied { tally: outlet.tally.as_mut(), sink });
        outlet.failed = ticked.err();
        ticked
    }

    /// The counts since the start, if [`GuardBuilder::stats`](super::GuardBuilder::stats) or an
    /// observer asked for them.
    #[must_use]
    pub fn stats(&self) -> Option<&Stats> {
        self.outlet.as_ref().and_then(|outlet| outlet.tally.as_ref()).map(Tally::stats)
    }

    /// The jail around content, if there is one.
    #[must_use]
    pub fn jailer(&self) -> Option<&Jailer> {
        self.outlet.as_ref().and_then(|outlet| outlet.jailer.as_ref())
    }
}
