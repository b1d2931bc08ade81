//! The call machine as body parsers of a [`jail_match::Driver`].

use alloc::{boxed::Box, sync::Arc};

use jail_match::{
    Anchor, AtEnd, BodyId, BodyParsers, Diagnostic, End, Feed, LearntSuffix, Opener, Resume, Sink,
};

use crate::{
    calls::Calls,
    compiled::Grammar,
    decoded::Decoder,
    echo::Echo,
    event::DiagnosticKind,
    ids::Ids,
    limits::MAX_SUFFIXES,
    machine::{
        call::Machine,
        output::Output,
        plan::{Plan, Start},
    },
    options::{Options, Parallel, Wanted},
    tools::Tools,
};

/// The calls of one message, read after the openers of a grammar. Body `n` belongs to the grammar's
/// opener `n`.
#[derive(Debug, Clone)]
pub struct ToolCallParser {
    grammar: Grammar,
    /// The grammar's plan, with the suffix in its tags that the stream's carry.
    plan: Arc<Plan>,
    suffix: LearntSuffix,
    /// How often a suffix was put in.
    suffixes: u8,
    calls: Calls,
    /// Made with the first opener: most messages call nothing, and it is large.
    machine: Option<Box<Machine>>,
    /// Whether blocks may come twice.
    echoes: bool,
    /// The last block, if so; made with the first opener, too.
    echo: Option<Box<Echo>>,
    opener: BodyId,
    attempt: u16,
}

/// A [`ToolCallParser`] as it was before a block.
#[derive(Debug, Clone)]
pub struct Snapshot(ToolCallParser);

impl ToolCallParser {
    /// Body parsers for the openers of `grammar`.
    #[must_use]
    pub fn new(grammar: Grammar, tools: Tools, options: Options) -> Self {
        let ids = options.ids.or_of(grammar.family());
        let calls = Calls::new(tools, Options { ids, ..options });
        Self {
            plan: Arc::clone(grammar.reading_plan()),
            suffix: LearntSuffix::NONE,
            suffixes: 0,
            echoes: grammar.plan().openers.iter().any(|opener| opener.start == Start::Echo),
            grammar,
            calls,
            machine: None,
            echo: None,
            opener: 0,
            attempt: 0,
        }
    }

    /// Returns the grammar of calls.
    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Where ids come from when the wire has none.
    #[must_use]
    pub fn ids(&self) -> &Ids {
        &self.calls.options.ids
    }

    /// Which calls may be emitted.
    #[must_use]
    pub fn wanted(&self) -> &Wanted {
        &self.calls.options.wanted
    }

    /// Returns whether more than one call may be emitted.
    #[must_use]
    pub fn parallel(&self) -> Parallel {
        self.calls.options.parallel
    }

    /// Takes the ids of calls to come from `ids`.
    pub fn set_ids(&mut self, ids: Ids) {
        self.calls.set_ids(ids.or_of(self.grammar.family()));
    }

    /// Takes a copy of the parser for [`ToolCallParser::restore`]. The ids of the message are not
    /// copied: those that are used from here on are noted, in place of those since the last copy.
    pub fn snapshot(&mut self) -> Snapshot {
        let ids = self.calls.take_used_ids();
        let parser = self.clone();
        self.calls.put_used_ids(ids).mark();
        Snapshot(parser)
    }

    /// Makes the parser what it was when `snapshot` was taken, which must be its last.
    pub fn restore(&mut self, snapshot: Snapshot) {
        let ids = self.calls.take_used_ids();
        *self = snapshot.0;
        self.calls.put_used_ids(ids).undo();
    }

    /// Forgets the message.
    pub fn reset(&mut self) {
        self.calls.reset();
        if let Some(machine) = self.machine.as_deref_mut() {
            *machine = Machine::new();
        }
        self.forget_block();
        (self.opener, self.attempt, self.suffixes) = (0, 0, 0);
        self.set_suffix(LearntSuffix::NONE);
    }

    /// Reads tags with `suffix` from here on.
    fn set_suffix(&mut self, suffix: LearntSuffix) {
        if self.suffix == suffix {
            return;
        }
        self.suffix = suffix;
        let learnt = !suffix.is_empty() && self.suffixes < MAX_SUFFIXES;
        self.plan = match learnt.then(|| self.grammar.plan_with(suffix.as_str())).flatten() {
            Some(plan) => {
                self.suffixes = self.suffixes.saturating_add(1);
                Arc::new(plan)
            }
            None => Arc::clone(self.grammar.reading_plan()),
        };
    }

    /// The active body's live bytes beyond what the driver keeps for it.
    #[must_use]
    pub fn buffered(&self) -> usize {
        let read = self.machine.as_ref().map_or(0, |machine| machine.buffered());
        let read = read.saturating_add(self.calls.decoder().map_or(0, Decoder::buffered));
        read.saturating_add(self.echo.as_ref().map_or(0, |echo| echo.kept()))
    }

    /// How many bytes of an open call, or of a block of calls, came in and nothing came of yet,
    /// beyond what the driver keeps.
    #[must_use]
    pub fn held(&self) -> usize {
        self.machine.as_ref().map_or(0, |machine| machine.held(&self.calls))
    }

    /// Stream offset of the character that broke a call of the active body, the first that broke;
    /// 0 if none did.
    #[must_use]
    pub fn broke_at(&self) -> u64 {
        self.calls.broke_at
    }

    fn restart(&mut self) {
        let plan = &self.plan;
        if let Some(opener) = plan.openers.get(usize::from(self.opener)) {
            let machine = self.machine.get_or_insert_with(|| Box::new(Machine::new()));
            machine.begin(plan, opener.start, &opener.marker, self.attempt.into());
        }
        if self.echoes {
            self.echo.get_or_insert_default().clear();
        }
    }

    fn forget_block(&mut self) {
        if let Some(echo) = &mut self.echo {
            echo.clear();
        }
    }

    /// Whether what is read may be the last block once more.
    fn reads_echo(&self) -> bool {
        self.echo.as_ref().is_some_and(|echo| echo.is_read())
    }

    /// In what may be the last block once more.
    fn read_echo(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        let Some(echo) = &mut self.echo else { return Feed::Mismatch { used: 0 } };
        let feed = echo.read(text);
        let (Feed::More { used } | Feed::Markup { used, .. }) = feed else { return feed };
        self.calls.at += used as u64;
        if matches!(feed, Feed::Markup { .. }) {
            let opener = self
                .plan
                .openers
                .get(usize::from(self.opener))
                .map_or(0, |opener| opener.marker.len());
            let from = self.calls.begun_at.saturating_sub(opener as u64);
            let bytes = self.calls.at.saturating_sub(from);
            sink.event(Diagnostic::new(DiagnosticKind::Echo, from, bytes).into());
        }
        feed
    }
}

impl BodyParsers for ToolCallParser {
    fn may_begin(&self, body: BodyId) -> bool {
        let opener = self.plan.openers.get(usize::from(body));
        let echo = opener.filter(|opener| opener.start == Start::Echo);
        let repeats = |marker: &str| self.echo.as_ref().is_some_and(|echo| echo.may_repeat(marker));
        echo.is_none_or(|opener| repeats(&opener.marker))
    }

    fn begin(&mut self, opener: Opener) {
        let body: BodyId = opener.body;
        (self.opener, self.attempt) = (body, 0);
        self.calls.begin(opener.at);
        self.set_suffix(opener.suffix);
        let opener = self.plan.openers.get(usize::from(self.opener));
        self.calls.announced &= opener.is_some_and(|opener| opener.at == Anchor::AfterCall);
        match opener {
            Some(opener) if opener.start == Start::Echo => {
                if let Some(echo) = &mut self.echo {
                    echo.repeat(&opener.marker);
                }
            }
            _ => self.restart(),
        }
    }

    fn feed(&mut self, text: &str, sink: &mut dyn Sink) -> Feed {
        self.calls.begin_feed();
        if self.reads_echo() {
            return self.read_echo(text, sink);
        }
        let Self { plan, calls, machine, echo, .. } = self;
        let Some(machine) = machine else { return Feed::Mismatch { used: 0 } };
        // Almost every chunk of a long call is the inside of a string.
        if calls.committed() && machine.passes(plan, text, calls) {
            calls.arguments(text, sink);
            calls.at += text.len() as u64;
            if let Some(echo) = echo {
                echo.keep(text, calls.options.limits.name);
            }
            return Feed::Committed { used: text.len() };
        }
        let feed = machine.feed(plan, text, &mut Output { calls, sink });
        let place = |then| if calls.stops() { Resume::Halt } else { then };
        let feed = match (feed, calls.committed()) {
            (Feed::More { used }, true) => Feed::Committed { used },
            (Feed::Done { used, then }, true) => Feed::Done { used, then: place(then) },
            (Feed::Done { used, then }, false) => Feed::Markup { used, then: place(then) },
            (Feed::Mismatch { used }, false) if !machine.has_other_readings() => {
                let refuted_by = text[..used].chars().next_back().unwrap_or_default();
                match machine.prose_from(plan, refuted_by) {
                    Some(from) => Feed::Text { used, markup: calls.no_call(from, sink) },
                    None => feed,
                }
            }
            (feed, _) => feed,
        };
        calls.at += match feed {
            Feed::Text { .. } | Feed::Mismatch { .. } | Feed::Literal { .. } => 0,
            Feed::More { used }
            | Feed::Committed { used }
            | Feed::Done { used, .. }
            | Feed::Markup { used, .. } => used as u64,
        };
        if let Some(echo) = echo {
            let most = calls.options.limits.name;
            match feed {
                Feed::More { used } | Feed::Committed { used } => echo.keep(&text[..used], most),
                Feed::Done { used, .. } => {
                    echo.keep(&text[..used], most);
                    echo.end(machine.has_end());
                }
                _ => echo.clear(),
            }
        }
        feed
    }

    fn retry(&mut self) -> bool {
        let reads_echo = self.reads_echo();
        let others = |machine: &&mut Box<Machine>| !reads_echo && machine.has_other_readings();
        let machine = self.machine.as_mut().filter(others);
        let more = machine.is_some();
        if let Some(machine) = machine {
            machine.take_other_reading();
            self.attempt = self.attempt.saturating_add(1);
            self.calls.at = self.calls.begun_at;
            self.restart();
        }
        more
    }

    fn finish(&mut self, tail: &str, end: End, sink: &mut dyn Sink) -> AtEnd {
        let reads_echo = self.reads_echo();
        let Self { plan, calls, machine, .. } = self;
        let Some(machine) = machine.as_mut().filter(|_| !reads_echo) else {
            return AtEnd::Release;
        };
        machine.finish(plan, tail, end, &mut Output { calls, sink })
    }

    fn end(&mut self) {
        if let Some(machine) = &mut self.machine {
            machine.end();
        }
        self.calls.end_body();
        if let Some(echo) = &mut self.echo {
            echo.end_reading();
        }
    }

    fn rest(&mut self) {
        self.forget_block();
    }

    fn held(&self) -> usize {
        Self::held(self)
    }

    fn looked_at(&self, offered: usize) -> usize {
        self.calls.looked_at(offered)
    }
}
