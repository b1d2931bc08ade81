//! A second implementation of the driver over a whole text, one scalar at a time. Slow and simple
//! on purpose. It shares nothing with the crate but its public types.

use jail_match::{
    Anchor, Bind, Channel, CutMarker, DriverSettings, Edge, InCode, LetterCase, Newlines, OnCommit,
    Resume, SuffixRule, Then, Uses, Whitespace,
};
use stream_laws::{RecordedSpanKind, RunRecord};

use crate::{
    bodies::{self, Sign, sign},
    naive_code,
    naive_space::{Step, apply},
};

/// Returns the coalesced record that the driver must give for `text`.
pub(crate) fn record(edges: &[Edge], settings: DriverSettings, text: &str) -> RunRecord {
    let mut naive = Naive::new(edges, settings, text);
    naive.scan();
    let mut out = naive.out;
    apply(&naive.steps, settings, &mut out);
    out.diagnostics.sort_by_key(|one| one.offset);
    out.coalesced().expect("no empty text")
}

/// Returns the index of a suffix in a marker: before `|>`, or before the last byte.
fn suffix_place(marker: &str) -> usize {
    let head = marker.strip_suffix("｜>").or(marker.strip_suffix("|>"));
    head.filter(|head| !head.is_empty()).map_or(marker.len() - 1, str::len)
}

/// Returns the lengths at which the start of `rest` may be the edge's marker, with the known
/// suffix.
fn lengths<'a>(
    edge: &'a Edge,
    rest: &'a [u8],
    known: Option<&'a [u8]>,
) -> impl Iterator<Item = usize> + use<'a> {
    let same = |head: &[u8], marker: &[u8]| match edge.case {
        LetterCase::Exact => head == marker,
        LetterCase::FoldAscii => head.eq_ignore_ascii_case(marker),
    };
    let marker = edge.marker.as_bytes();
    let (head, last) = marker.split_at(suffix_place(&edge.marker));
    let known = known.filter(|_| edge.suffix == SuffixRule::Optional);
    (marker.len()..=rest.len()).take(2 + SuffixRule::MAX_CHARS).filter(move |&len| {
        let (suffixed, end) = rest[..len].split_at(len - last.len());
        let (start, suffix) = suffixed.split_at(head.len());
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
        let suffix = match (edge.suffix, suffix) {
            _ if known.is_some_and(|known| known != suffix) => false,
            (_, []) => true,
            (SuffixRule::Optional, [b':', ident @ ..]) => {
                !ident.is_empty() && ident.iter().all(word)
            }
            _ => false,
        };
        suffix && same(&[start, end].concat(), &[head, last].concat())
    })
}

/// Returns whether a marker after `text` is in quotes that begin with a marker.
fn is_quoted(edges: &[Edge], text: &str) -> bool {
    let quotes = ["``", "\"\"", "''", "“”", "‘’", "„“", "«»"];
    let scalars: Vec<char> = text.chars().collect();
    let mut open = None;
    for at in 0..=scalars.len() {
        let scalar = scalars.get(at).copied();
        let begins = |edge: &Edge| {
            let first = edge.marker.as_bytes()[0];
            let mut buffer = [0; 4];
            let byte = scalar.map(|it| it.encode_utf8(&mut buffer).as_bytes()[0]);
            let same = byte.is_some_and(|byte| match edge.case {
                LetterCase::Exact => byte == first,
                LetterCase::FoldAscii => byte.eq_ignore_ascii_case(&first),
            });
            edge.anchor == Anchor::Unquoted && same
        };
        if let Some(close) = open {
            if scalar.is_none() {
                return true;
            }
            if scalar == Some(close) || scalar == Some('\n') {
                open = None;
            }
            continue;
        }
        let Some(last) = at.checked_sub(1).map(|at| scalars[at]) else { continue };
        let before = at.checked_sub(2).map(|at| scalars[at]);
        let Some(marks) = quotes.iter().find(|marks| marks.starts_with(last)) else { continue };
        let close = marks.chars().nth(1).expect("two marks");
        let may = close != last || before.is_none_or(|it| it.is_whitespace() || "([{".contains(it));
        if may && scalar.is_none() {
            return true;
        }
        // A newline that begins a marker ends its line.
        if may && edges.iter().any(begins) {
            open = Some(close);
        }
    }
    false
}

struct Naive<'t> {
    edges: &'t [Edge],
    settings: DriverSettings,
    text: &'t str,
    at: usize,
    stack: Vec<(Channel, u8)>,
    lead: bool,
    after_call: bool,
    swallow: usize,
    spent: Vec<bool>,
    /// Whether only whitespace came since the last markup.
    blank: bool,
    ended_by_call: bool,
    block_opened: bool,
    /// The suffix of the first marker that carried one.
    suffix: Option<Vec<u8>>,
    /// Content as read for fences and inline code.
    lines: String,
    /// Content since reasoning was last open, divided where markup was removed.
    shown: Vec<String>,
    /// Text since the last markup, in any channel.
    since_markup: String,
    /// Start and text of a value after an opener that began no call.
    value: Option<(usize, String)>,
    rescan: (usize, u32),
    calls: u32,
    steps: Vec<Step>,
    out: RunRecord,
}

struct Match {
    edge: usize,
    len: usize,
    bound: usize,
}

impl<'t> Naive<'t> {
    fn new(edges: &'t [Edge], settings: DriverSettings, text: &'t str) -> Self {
        let mut naive = Self {
            edges,
            settings,
            text,
            at: 0,
            stack: Vec::new(),
            lead: true,
            after_call: false,
            swallow: 0,
            spent: vec![false; edges.len()],
            blank: true,
            ended_by_call: false,
            block_opened: false,
            suffix: None,
            lines: String::new(),
            shown: vec![String::new()],
            since_markup: String::new(),
            value: None,
            rescan: (0, 0),
            calls: 0,
            steps: Vec::new(),
            out: RunRecord::default(),
        };
        if settings.start != Channel::CONTENT {
            naive.stack.push((settings.start, 0));
            for (spent, edge) in naive.spent.iter_mut().zip(edges) {
                *spent = settings.start == Channel::REASONING
                    && (edge.uses == Uses::BeforeReasoning
                        || edge.uses == Uses::OncePerMessage
                            && edge.then == Then::Enter(Channel::REASONING));
            }
        }
        naive
    }

    fn channel(&self) -> Channel {
        self.stack.last().map_or(Channel::CONTENT, |&(channel, _)| channel)
    }

    fn scan(&mut self) {
        while let Some(scalar) = self.text[self.at..].chars().next() {
            if self.swallow > 0 && scalar == '\n' {
                self.swallow -= 1;
                self.out.span(RecordedSpanKind::Markup, self.at as u64, 1);
                self.interrupt();
                self.see_line("\n");
                self.at += 1;
                continue;
            }
            self.swallow = 0;
            match self.find() {
                Some(found) => self.cross(&found),
                None if self.is_cut() => {
                    let bytes = (self.text.len() - self.at) as u64;
                    self.out.diagnostic("cut_opener", self.at as u64, bytes);
                    self.out.span(RecordedSpanKind::Dropped, self.at as u64, bytes);
                    self.steps.push(Step::Mark);
                    self.interrupt();
                    self.at = self.text.len();
                }
                None => self.emit(self.at + scalar.len_utf8()),
            }
        }
    }

    /// Records that text was removed here.
    fn interrupt(&mut self) {
        self.shown.push(String::new());
        self.since_markup.clear();
    }

    /// Emits the text up to `to`.
    fn emit(&mut self, to: usize) {
        let channel = self.channel();
        for (offset, scalar) in self.text[self.at..to].char_indices() {
            let at = self.at + offset;
            self.see_line(scalar.encode_utf8(&mut [0; 4]));
            self.since_markup.push(scalar);
            if let Some((_, text)) = self.value.as_mut().filter(|(from, _)| *from <= at) {
                text.push(scalar);
            }
            if let (Channel::CONTENT, Some(shown)) = (channel, self.shown.last_mut()) {
                shown.push(scalar);
            }
            if channel == Channel::HIDDEN {
                self.out.span(RecordedSpanKind::Markup, at as u64, scalar.len_utf8() as u64);
                continue;
            }
            self.steps.push(Step::Text(channel, at, scalar));
            if !matches!(scalar, ' ' | '\t' | '\r' | '\n') {
                (self.lead, self.after_call, self.blank) = (false, false, false);
            }
        }
        self.at = to;
    }

    fn see_line(&mut self, text: &str) {
        if self.channel() == Channel::CONTENT {
            self.lines.push_str(text);
        }
    }

    fn find(&self) -> Option<Match> {
        if let Some((edge, len)) = self.longest(self.at, &self.lines) {
            return Some(Match { edge, len, bound: 0 });
        }
        let run = self.text[self.at..].bytes().take_while(|&b| b == b'\n').count();
        if run == 0 {
            return None;
        }
        let lines = format!("{}{}", self.lines, "\n".repeat(run));
        let (edge, len) = self.longest(self.at + run, &lines)?;
        let bound = self.binds(edge).0;
        (bound.min(run) == run).then_some(Match { edge, len: len + run, bound: run })
    }

    /// Returns the longest live marker at `at`, and the first of equal ones.
    fn longest(&self, at: usize, lines: &str) -> Option<(usize, usize)> {
        let rest = &self.text.as_bytes()[at..];
        let mut best: Option<(usize, usize)> = None;
        for (n, edge) in self.edges.iter().enumerate() {
            for len in lengths(edge, rest, self.suffix.as_deref()) {
                let ends = edge.anchor != Anchor::MessageEnd || len == rest.len();
                if ends && self.is_live(n, lines) && best.is_none_or(|(_, most)| len > most) {
                    best = Some((n, len));
                }
            }
        }
        best
    }

    /// Returns the text since the last markup, with the additional newlines of `lines`.
    fn preceding(&self, lines: &str) -> String {
        let newlines = lines.len() - self.lines.len();
        format!("{}{}", self.since_markup, "\n".repeat(newlines))
    }

    /// Returns the number of openers of reasoning that were shown, less the closers shown after
    /// them. Markers with a newline do not count.
    fn mentions(&self) -> u32 {
        let opens = |edge: &Edge| {
            edge.then == Then::Enter(Channel::REASONING) && edge.on.has(Channel::CONTENT)
        };
        let closes = |edge: &Edge| edge.orphan && edge.on.has(Channel::CONTENT);
        let counts = |edge: &Edge| !edge.marker.contains('\n') && (closes(edge) || opens(edge));
        let mut open: u32 = 0;
        for text in &self.shown {
            let mut at = 0;
            while at < text.len() {
                let rest = &text.as_bytes()[at..];
                let tags = self.edges.iter().filter(|edge| counts(edge));
                let found =
                    tags.flat_map(|edge| lengths(edge, rest, None).map(move |len| (edge, len)));
                let longest = found.reduce(|best, next| if next.1 > best.1 { next } else { best });
                match longest {
                    Some((edge, _)) if opens(edge) => open += 1,
                    Some(_) => open = open.saturating_sub(1),
                    None => {}
                }
                at += longest.map_or(1, |(_, len)| len);
            }
        }
        open
    }

    fn is_live(&self, n: usize, lines: &str) -> bool {
        let (edge, channel) = (&self.edges[n], self.channel());
        let content = channel == Channel::CONTENT;
        let tracked = self.edges.iter().any(|e| {
            e.on.has(Channel::CONTENT)
                && (matches!(e.anchor, Anchor::Line | Anchor::LineStart)
                    || e.in_code == InCode::Literal
                        && matches!(e.anchor, Anchor::Anywhere | Anchor::Unquoted))
        });
        let anchored = match edge.anchor {
            Anchor::Anywhere | Anchor::MessageEnd => true,
            Anchor::Unquoted => {
                let preceding = self.preceding(lines);
                let begins = |text: &str| text.is_empty() || text.ends_with(char::is_whitespace);
                let is_word = edge.marker.starts_with(char::is_alphanumeric);
                let may_begin = !is_word || self.blank || begins(&preceding);
                may_begin && !is_quoted(self.edges, &preceding)
            }
            Anchor::Lead => self.lead,
            Anchor::Start => self.steps.iter().all(|step| match step {
                Step::Text(_, _, scalar) => matches!(scalar, ' ' | '\t' | '\r' | '\n'),
                Step::Opener(..) => true,
                _ => false,
            }),
            Anchor::AfterCall => self.after_call,
            Anchor::Ended => self.ended_by_call,
            Anchor::Opened => self.block_opened,
            Anchor::Line => {
                let line = lines.rsplit('\n').next().unwrap_or_default();
                self.blank || content && line.trim_matches([' ', '\t', '\r']).is_empty()
            }
            Anchor::LineStart => content && (lines.is_empty() || lines.ends_with('\n')),
        };
        let hidden =
            edge.in_code == InCode::Literal && content && tracked && naive_code::hides(lines);
        let opened_by = self.stack.last().map_or(0, |&(_, pair)| pair);
        let paired = [0, opened_by].contains(&edge.pair) || opened_by == 0;
        let mentioned = edge.orphan && content && self.mentions() > 0;
        let in_value = matches!(edge.then, Then::Body(..)) && self.in_value();
        edge.on.has(channel)
            && !mentioned
            && !in_value
            && anchored
            && !hidden
            && paired
            && !self.spent[n]
    }

    fn binds(&self, n: usize) -> (usize, usize) {
        let newlines = self.edges[n].newlines;
        let framing = matches!(self.settings.whitespace, Whitespace::Framing | Whitespace::Trim);
        if framing || newlines.bind == Bind::Always {
            let cap = |n: u8| usize::from(n.min(Newlines::MAX));
            (cap(newlines.before), cap(newlines.after))
        } else {
            (0, 0)
        }
    }

    fn cross(&mut self, found: &Match) {
        let edge = &self.edges[found.edge];
        let (start, end) = (self.at, self.at + found.len);
        if matches!(edge.then, Then::Enter(_)) && self.stack.len() >= self.settings.limits.depth {
            self.out.diagnostic("depth_limit", start as u64, found.len as u64);
            return self.emit(end);
        }
        if let Then::Body(body, on_commit) = edge.then {
            self.steps.push(Step::Opener(self.channel(), on_commit));
            return self.candidate(found, body, on_commit);
        }
        self.see_line(&"\n".repeat(found.bound));
        self.spent[found.edge] |= edge.uses != Uses::Unlimited;
        self.blank = true;
        self.learn(found);
        if edge.uses == Uses::BeforeReasoning {
            self.out.diagnostic("orphan_closer", start as u64, found.len as u64);
        }
        self.ended_by_call &= edge.anchor != Anchor::Ended;
        self.block_opened &= edge.anchor != Anchor::Opened;
        self.out.span(RecordedSpanKind::Markup, start as u64, found.len as u64);
        self.at = end;
        self.swallow = self.binds(found.edge).1;
        match edge.then {
            Then::Enter(to) => self.enter(to, edge.pair),
            Then::Leave => self.leave(),
            Then::Switch(to) => self.switch(to, edge.pair),
            Then::Erase | Then::Body(..) => self.steps.push(Step::Mark),
        }
    }

    /// Keeps the suffix of this marker, if it is the first.
    fn learn(&mut self, found: &Match) {
        self.interrupt();
        let marker = &self.edges[found.edge].marker;
        if found.len - found.bound > marker.len() && self.suffix.is_none() {
            let (at, end) = (suffix_place(marker), self.at + found.len);
            let (from, to) = (self.at + found.bound + at, end - (marker.len() - at));
            self.suffix = Some(self.text.as_bytes()[from..to].to_vec());
        }
    }

    /// Returns whether the text ends inside a marker that is markup although it is cut.
    fn is_cut(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        self.edges.iter().enumerate().any(|(n, edge)| {
            let CutMarker::MarkupFrom(least) = edge.cut else { return false };
            let marker = edge.marker.as_bytes();
            let (head, close) = marker.split_at(suffix_place(&edge.marker));
            let starts = |whole: &[u8]| {
                let head = whole.get(..rest.len());
                head.is_some_and(|head| match edge.case {
                    LetterCase::Exact => head == rest,
                    LetterCase::FoldAscii => head.eq_ignore_ascii_case(rest),
                })
            };
            // Every way to continue with a suffix.
            let suffixed = |suffix: &[u8]| starts(&[head, suffix, close].concat());
            let behind = rest.get(head.len()..).unwrap_or_default();
            let word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-".contains(byte);
            let optional = edge.suffix == SuffixRule::Optional;
            let fits = match &self.suffix {
                Some(known) if optional => suffixed(known),
                _ => {
                    let run =
                        behind.iter().skip(1).take(SuffixRule::MAX_CHARS).take_while(word).count();
                    let own = behind.first() == Some(&b':') && optional;
                    let whole = own && run > 0 && suffixed(&behind[..=run]);
                    starts(marker)
                        || whole
                        || own && behind.len() == 1 + run && starts(&[head, behind, b">"].concat())
                }
            };
            rest.len() >= least && fits && self.is_live(n, &self.lines)
        })
    }

    fn enter(&mut self, to: Channel, pair: u8) {
        self.steps.push(Step::Enter(to));
        if to != Channel::HIDDEN {
            (self.lead, self.after_call) = (true, false);
        }
        self.stack.push((to, pair));
        self.value = None;
        for (spent, edge) in self.spent.iter_mut().zip(self.edges) {
            *spent &= !(edge.uses == Uses::OncePerEntry && edge.on.has(to));
        }
        self.blank = true;
        if to == Channel::REASONING {
            self.ended_by_call = false;
            self.shown = vec![String::new()];
            for (spent, edge) in self.spent.iter_mut().zip(self.edges) {
                *spent |= edge.uses == Uses::BeforeReasoning;
            }
        }
    }

    fn leave(&mut self) {
        let from = self.channel();
        self.blank = true;
        self.steps.push(Step::Leave(from));
        if from != Channel::HIDDEN {
            (self.lead, self.after_call) = (true, false);
        }
        self.value = None;
        self.stack.pop();
    }

    fn switch(&mut self, to: Channel, pair: u8) {
        self.leave();
        while !self.stack.is_empty() {
            self.leave();
        }
        self.enter(to, pair);
    }

    fn candidate(&mut self, found: &Match, body: u16, on_commit: OnCommit) {
        let (start, open) = (self.at, self.at + found.len);
        let most = start.saturating_add(self.settings.limits.candidate.max(found.len));
        let limit = (most.min(self.text.len())..).find(|&at| self.text.is_char_boundary(at));
        let limit = limit.expect("the end is a boundary");
        let spend = self.edges[found.edge].uses != Uses::Unlimited;
        let readings = if body == bodies::TWICE { 2 } else { 1 };
        for reading in 0..readings {
            let mut decided = self.text[open..limit].char_indices().find_map(|(at, scalar)| {
                let behind = open + at + scalar.len_utf8();
                sign(body, reading, scalar).map(|sign| (behind, sign))
            });
            if body == bodies::EAGER && open < limit {
                decided = Some((open, Sign::Commit));
            }
            match decided {
                Some((death, Sign::Refute)) => {
                    if reading + 1 == readings {
                        return self.refute(found, death);
                    }
                }
                Some((death, Sign::Text)) => {
                    if !self.may_rescan(death) {
                        return;
                    }
                    self.spent[found.edge] |= spend;
                    self.learn(found);
                    self.see_line(&"\n".repeat(found.bound));
                    self.out.span(RecordedSpanKind::Markup, start as u64, found.len as u64);
                    self.steps.push(Step::Mark);
                    (self.at, self.blank, self.block_opened) = (open, true, true);
                    self.expect_value(open);
                    self.swallow = 0;
                    return;
                }
                Some((to, Sign::Done(then))) => {
                    self.spent[found.edge] |= spend;
                    self.learn(found);
                    self.see_line(&"\n".repeat(found.bound));
                    self.out.span(RecordedSpanKind::Markup, start as u64, (to - start) as u64);
                    self.steps.push(Step::Mark);
                    (self.at, self.blank) = (to, true);
                    match then {
                        Resume::SameChannel => {}
                        Resume::Halt => unreachable!("no body halts before its commit"),
                        Resume::Enter(to) => {
                            if self.stack.len() >= self.settings.limits.depth {
                                self.out.diagnostic("depth_limit", self.at as u64, 0);
                                self.leave();
                            }
                            self.enter(to, 0);
                        }
                        Resume::Switch(to) => self.switch(to, 0),
                    }
                    return;
                }
                Some((behind, Sign::Commit)) => {
                    self.spent[found.edge] |= spend;
                    self.learn(found);
                    self.see_line(&"\n".repeat(found.bound));
                    return self.call(start, behind, body, on_commit);
                }
                None if self.text.len() >= most => {
                    let bytes = (limit - start) as u64;
                    self.out.diagnostic("candidate_limit", start as u64, bytes);
                    return match self.settings.limits.policy {
                        jail_match::LimitPolicy::Drop => self.drop_to(found, limit),
                        _ => self.emit(limit),
                    };
                }
                None if body == bodies::TWICE => return self.refute(found, self.text.len()),
                None => {
                    self.spent[found.edge] |= spend;
                    self.learn(found);
                    let bytes = (self.text.len() - start) as u64;
                    self.out.diagnostic("cut_opener", start as u64, bytes);
                    return self.drop_to(found, self.text.len());
                }
            }
        }
    }

    fn drop_to(&mut self, found: &Match, to: usize) {
        self.see_line(&"\n".repeat(found.bound));
        self.out.span(RecordedSpanKind::Dropped, self.at as u64, (to - self.at) as u64);
        self.steps.push(Step::Mark);
        self.interrupt();
        (self.at, self.blank) = (to, true);
    }

    fn call(&mut self, start: usize, committed: usize, body: u16, on_commit: OnCommit) {
        let closer = if body == bodies::EAGER { "." } else { bodies::CLOSER };
        let rest = &self.text[committed..];
        let to = rest.find(closer).map_or(self.text.len(), |at| committed + at + closer.len());
        self.out.span(RecordedSpanKind::Call, start as u64, (to - start) as u64);
        self.steps.push(Step::Call(self.calls));
        if on_commit == OnCommit::Leave && self.channel() != Channel::CONTENT {
            let ended = self.channel() == Channel::REASONING;
            self.leave();
            self.ended_by_call = ended;
        }
        self.blank = true;
        self.calls += 1;
        self.steps.push(Step::CallEnd(self.calls - 1));
        (self.after_call, self.at, self.swallow) = (true, to, 0);
    }

    /// Returns whether the text up to `death` may be scanned again. If not, it is text.
    fn may_rescan(&mut self, death: usize) -> bool {
        let (until, count) = self.rescan;
        let count = if self.at < until { count + 1 } else { 1 };
        // The deciding byte may begin the next candidate.
        self.rescan = (until.max(death - 1), count);
        if count > 16 {
            self.out.diagnostic("rescan_limit", self.at as u64, (death - self.at) as u64);
            self.emit(death);
        }
        count <= 16
    }

    fn refute(&mut self, found: &Match, death: usize) {
        self.expect_value(self.at + found.len);
        if self.may_rescan(death) {
            let first = self.text[self.at + found.bound..].chars().next();
            self.emit(self.at + found.bound + first.map_or(0, char::len_utf8));
        }
    }

    /// Prepares for a value at `from`, after an opener that began no call.
    fn expect_value(&mut self, from: usize) {
        let is_quotable =
            |edge: &Edge| matches!(edge.anchor, Anchor::Unquoted) || edge.in_code == InCode::Told;
        let quoted =
            self.edges.iter().any(is_quotable) && is_quoted(self.edges, &self.since_markup);
        let rest = self.text[from..].trim_ascii_start();
        if !quoted && rest.starts_with(['{', '[', '"']) {
            self.value = Some((self.text.len() - rest.len(), String::new()));
        }
    }

    /// Returns whether the text so far ends in the value.
    fn in_value(&self) -> bool {
        let Some((_, text)) = &self.value else { return false };
        let (mut open, mut string, mut scalars) = (0_u32, false, text.chars());
        while let Some(scalar) = scalars.next() {
            match scalar {
                '\\' if string => drop(scalars.next()),
                '"' => string = !string,
                '{' | '[' if !string => open += 1,
                '}' | ']' if !string => open = open.saturating_sub(1),
                _ => {}
            }
            if open == 0 && !string {
                return false;
            }
        }
        !text.is_empty()
    }
}
