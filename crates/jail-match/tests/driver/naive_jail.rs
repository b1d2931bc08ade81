//! A second implementation of the jail over a whole text, one scalar at a time. Every open block
//! keeps a separate string.

use jail_match::{BlockDelivery, Inner, Nested, OnFail, Release};
use regex::Regex;
use stream_laws::{CONTENT, RecordedSpanKind, RunRecord};

use crate::jail_spec::{Kind, Sequence, Spec};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Keep,
    Tap,
    Follow,
    Strip,
    Swallow,
}

struct Open {
    /// The rule of the block.
    rule: usize,
    quoted: bool,
    at: usize,
    lost: usize,
    gone: usize,
    start: String,
    kept: String,
    until: usize,
    mode: Mode,
}

enum Does {
    Open(usize),
    Quote,
    Close,
    Escape,
}

struct Naive<'t> {
    spec: &'t Spec,
    text: &'t str,
    stack: Vec<Open>,
    outermost: u64,
    blocks: u32,
    out: RunRecord,
}

/// Returns the length of `sequence` at `pos`, if it is there.
fn match_len(sequence: &Sequence, text: &str, pos: usize) -> Option<usize> {
    let placed = match sequence.at {
        jail_match::MarkPosition::Anywhere => true,
        jail_match::MarkPosition::LineStart => pos == 0 || text[..pos].ends_with('\n'),
        jail_match::MarkPosition::StreamStart => pos == 0,
    };
    if !placed {
        return None;
    }
    let (marker, rest) = (&sequence.text, &text[pos..]);
    match sequence.kind {
        Kind::Exact => rest.starts_with(marker.as_str()).then_some(marker.len()),
        Kind::Fold => {
            let head = rest.get(..marker.len())?;
            head.eq_ignore_ascii_case(marker).then_some(marker.len())
        }
        Kind::Pattern(hold) => {
            let expression = Regex::new(marker).expect("a good expression");
            let end = hold.map_or(text.len(), |hold| text.len().min(pos + hold));
            let end = (0..=end).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let found = expression.find_at(&text[..end], pos)?;
            (found.start() == pos).then_some(found.len())
        }
    }
}

pub(crate) fn record(spec: &Spec, text: &str) -> RunRecord {
    let mut naive =
        Naive { spec, text, stack: Vec::new(), outermost: 0, blocks: 0, out: RunRecord::default() };
    if naive.scan().is_some() {
        naive.close_all();
    }
    naive.out.coalesced().expect("no empty text")
}

impl Naive<'_> {
    /// Returns `None` if a limit ended the stream.
    fn scan(&mut self) -> Option<()> {
        let mut pos = 0;
        while pos < self.text.len() {
            let until = self.until();
            let scalar = self.text[pos..].chars().next()?.len_utf8();
            let Some((len, does)) = self.find(pos) else {
                if pos + scalar > until {
                    pos = self.overrun(pos, false)?;
                } else {
                    self.give(self.stack.len(), &self.text[pos..pos + scalar]);
                    pos += scalar;
                }
                continue;
            };
            let mut end = pos + len;
            if matches!(does, Does::Escape) {
                end += self.text[end..].chars().next().map_or(0, char::len_utf8);
            }
            let around = self.stack.iter().rev().skip(1).map(|open| open.until).min();
            let fits = match does {
                Does::Close => pos <= until && end <= around.unwrap_or(usize::MAX),
                _ => end <= until,
            };
            if !fits {
                pos = self.overrun(pos, true)?;
                continue;
            }
            let mark = &self.text[pos..end];
            match does {
                Does::Escape => self.give(self.stack.len(), mark),
                Does::Quote => {
                    let rule = self.stack.last()?.rule;
                    self.stack.push(Open {
                        rule,
                        quoted: true,
                        at: pos,
                        lost: pos,
                        gone: 0,
                        start: String::new(),
                        kept: String::new(),
                        until: usize::MAX,
                        mode: Mode::Follow,
                    });
                    self.give(self.stack.len(), mark);
                }
                Does::Open(_) if self.depth() >= self.spec.depth => {
                    self.out.diagnostic("depth_limit: Release", pos as u64, len as u64);
                    self.give(self.stack.len(), mark);
                }
                Does::Open(rule) => self.open(rule, pos, mark)?,
                Does::Close => self.close(mark, "end", end),
            }
            pos = end;
        }
        Some(())
    }

    fn depth(&self) -> usize {
        self.stack.iter().filter(|open| !open.quoted).count()
    }

    fn until(&self) -> usize {
        self.stack.iter().map(|open| open.until).min().unwrap_or(usize::MAX)
    }

    /// Returns the length and the effect of the mark at `pos` in the innermost block.
    fn find(&self, pos: usize) -> Option<(usize, Does)> {
        let mut listed: Vec<(Option<usize>, Does)> = Vec::new();
        let rules = &self.spec.rules;
        let here = |one: &Sequence| match_len(one, self.text, pos);
        let literal = |one: &str| here(&Sequence::literal(one));
        let starts = |n: usize, listed: &mut Vec<_>| {
            listed.extend(rules[n].starts.iter().map(|one| (here(one), Does::Open(n))));
        };
        match self.stack.last() {
            None => {
                (0..rules.len())
                    .filter(|&n| !rules[n].only_inside)
                    .for_each(|n| starts(n, &mut listed));
            }
            Some(open) if open.quoted => {
                let (_, close, escape) = rules[open.rule].quote.as_ref()?;
                listed.push((literal(close), Does::Close));
                if let Some(escape) = escape {
                    listed.push((literal(&escape.to_string()), Does::Escape));
                }
            }
            Some(open) => {
                let rule = &rules[open.rule];
                listed.extend(rule.ends.iter().map(|one| (here(one), Does::Close)));
                match &rule.inner {
                    Inner::Nothing => {}
                    Inner::Own => starts(open.rule, &mut listed),
                    Inner::Every => (0..rules.len()).for_each(|n| starts(n, &mut listed)),
                    Inner::Only(list) => list.iter().for_each(|&n| starts(n, &mut listed)),
                }
                if let Some((open, ..)) = &rule.quote {
                    listed.push((literal(open), Does::Quote));
                }
            }
        }
        let found = listed.into_iter().filter_map(|(len, does)| len.map(|len| (len, does)));
        found.reduce(|best, one| if one.0 > best.0 { one } else { best })
    }

    /// Sends text to the innermost of the `level` outermost blocks.
    fn give(&mut self, level: usize, text: &str) {
        if text.is_empty() || self.stack[..level].iter().any(|open| open.mode == Mode::Swallow) {
            return;
        }
        for open in self.stack[..level].iter_mut().rev() {
            match open.mode {
                Mode::Keep => return open.kept.push_str(text),
                Mode::Tap => open.kept.push_str(text),
                _ => {}
            }
        }
        self.out.text(CONTENT, text);
    }

    fn open(&mut self, n: usize, at: usize, mark: &str) -> Option<()> {
        let rule = &self.spec.rules[n];
        let has = |mode| self.stack.iter().any(|open| open.mode == mode);
        let mode = if !self.stack.is_empty() && self.spec.nested == Nested::OuterOnly
            || has(Mode::Swallow)
        {
            Mode::Follow
        } else if rule.flow == BlockDelivery::Tap
            || self
                .stack
                .iter()
                .find(|open| matches!(open.mode, Mode::Keep | Mode::Tap))
                .is_some_and(|open| open.mode == Mode::Tap)
        {
            Mode::Tap
        } else {
            Mode::Keep
        };
        let limited = matches!(mode, Mode::Keep | Mode::Tap);
        let until = if limited { at + mark.len() + rule.limit } else { usize::MAX };
        let outermost = self.stack.is_empty();
        self.stack.push(Open {
            rule: n,
            quoted: false,
            at,
            lost: at,
            gone: 0,
            start: mark.to_owned(),
            kept: String::new(),
            until,
            mode,
        });
        self.out.diagnostic(format!("opened {n}, depth {}", self.depth()), at as u64, 0);
        // The start is kept separately.
        match mode {
            Mode::Keep => {}
            Mode::Tap | Mode::Follow => self.give(self.stack.len() - 1, mark),
            Mode::Strip | Mode::Swallow => unreachable!(),
        }
        self.outermost += u64::from(outermost);
        if outermost && self.outermost > self.spec.blocks.0 {
            self.breach(0, "jail_count", self.spec.blocks.1, at + mark.len())?;
        }
        Some(())
    }

    fn hand(&mut self, kind: &str, open: &Open, end: &str) {
        let Open { rule, at, start, kept, .. } = open;
        let n = self.blocks;
        self.out.call_start(n, format!("{n}"), format!("{kind} {rule} {at}|{start}|{kept}|{end}"));
        self.out.call_end(n, "jailed");
        self.blocks += 1;
        if kind == "jailed" {
            let len = start.len() + kept.len() + end.len();
            self.out.span(RecordedSpanKind::Call, *at as u64, len as u64);
        }
    }

    fn dropped(&mut self, kind: &str, at: usize, bytes: usize) {
        if bytes > 0 {
            if let Some(around) = self.stack.last_mut() {
                around.gone += bytes;
            }
            self.out.diagnostic(kind, at as u64, bytes as u64);
            self.out.span(RecordedSpanKind::Dropped, at as u64, bytes as u64);
        }
    }

    fn close(&mut self, end: &str, why: &str, behind: usize) {
        let Some(open) = self.stack.pop() else { return };
        let level = self.stack.len();
        if let Some(around) = self.stack.last_mut() {
            around.gone += open.gone;
        }
        let drop_end = |naive: &mut Self| {
            naive.dropped("jail_markup", behind - end.len(), end.len());
        };
        match open.mode {
            Mode::Follow => self.give(level, end),
            Mode::Strip => drop_end(self),
            Mode::Swallow => {
                let bytes = behind - open.lost - open.gone;
                self.dropped("jail_dropped_limit", open.lost, bytes);
            }
            Mode::Tap => {
                self.give(level, end);
                self.hand("tapped", &open, end);
            }
            Mode::Keep => match self.spec.rules[open.rule].release {
                Release::Hand => self.hand("jailed", &open, end),
                Release::Verbatim => {
                    self.give(level, &[open.start.as_str(), &open.kept, end].concat());
                }
                Release::Strip => {
                    self.dropped("jail_markup", open.at, open.start.len());
                    self.give(level, &open.kept);
                    drop_end(self);
                }
                Release::Drop => {
                    self.dropped("jail_dropped", open.at, behind - open.at - open.gone);
                }
            },
        }
        if !open.quoted {
            let bytes = (behind - open.at) as u64;
            self.out.diagnostic(format!("closed {}: {why}", open.rule), open.at as u64, bytes);
        }
    }

    /// Applies a limit. A mark at `pos` that the limit cuts counts if the block continues.
    fn overrun(&mut self, pos: usize, mark: bool) -> Option<usize> {
        let until = self.until();
        let over = self.stack.iter().position(|open| open.until == until)?;
        let then = self.spec.rules[self.stack[over].rule].over;
        let whole = mark && matches!(then, OnFail::Strip | OnFail::Drop);
        let most = if whole { pos } else { until };
        let cut = (pos..=most).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(pos);
        self.give(self.stack.len(), &self.text[pos..cut]);
        self.breach(over, "jail_bytes", then, cut)?;
        Some(cut)
    }

    fn breach(&mut self, n: usize, kind: &str, then: OnFail, here: usize) -> Option<()> {
        // If the block continues to its end, so do open blocks inside, as a part of its text.
        let goes_on = matches!(then, OnFail::Strip | OnFail::Drop);
        for level in (n + 1..self.stack.len()).rev() {
            let inner = &mut self.stack[level];
            inner.until = usize::MAX;
            let kept = [inner.start.as_str(), &inner.kept].concat();
            match inner.mode {
                Mode::Swallow if then == OnFail::Drop => {
                    let (lost, bytes) = (inner.lost, here - inner.lost - inner.gone);
                    (inner.mode, inner.gone) = (Mode::Follow, inner.gone + bytes);
                    if bytes > 0 {
                        self.out.diagnostic("jail_dropped_limit", lost as u64, bytes as u64);
                        self.out.span(RecordedSpanKind::Dropped, lost as u64, bytes as u64);
                    }
                }
                Mode::Keep => {
                    inner.mode = Mode::Follow;
                    self.give(level, &kept);
                }
                Mode::Swallow => {}
                Mode::Strip if goes_on => {}
                _ => inner.mode = Mode::Follow,
            }
            if !goes_on {
                self.close("", "outer", here);
            } else if then == OnFail::Drop {
                self.stack[level - 1].gone += std::mem::take(&mut self.stack[level].gone);
            }
        }
        let (at, was) = (self.stack[n].at, self.stack[n].mode);
        self.out.diagnostic(format!("{kind}: {then:?}"), at as u64, (here - at) as u64);
        if then == OnFail::Error {
            let mut keepers =
                self.stack.iter().filter(|open| matches!(open.mode, Mode::Keep | Mode::Tap));
            if keepers.next().is_some_and(|first| first.mode == Mode::Keep) {
                let keeps = self.stack.iter().filter(|open| open.mode == Mode::Keep);
                let kept: String =
                    keeps.map(|open| [open.start.as_str(), &open.kept].concat()).collect();
                self.out.text(CONTENT, kept);
            }
            self.out.failure(format!("failed: {kind}"), at as u64, (here - at) as u64);
            return None;
        }
        if then == OnFail::End {
            self.close("", kind, here);
            return Some(());
        }
        if was == Mode::Tap {
            let gone = std::mem::take(&mut self.stack[n].gone);
            if let Some(around) = n.checked_sub(1) {
                self.stack[around].gone += gone;
            }
        }
        let open = &mut self.stack[n];
        open.until = usize::MAX;
        open.lost = if was == Mode::Tap { here } else { at };
        let (start, kept) = (std::mem::take(&mut open.start), std::mem::take(&mut open.kept));
        open.mode = match then {
            OnFail::Strip => Mode::Strip,
            OnFail::Drop => Mode::Swallow,
            _ => Mode::Follow,
        };
        if was == Mode::Keep {
            match then {
                OnFail::Strip => {
                    let inner = self.stack.split_off(n + 1);
                    self.dropped("jail_markup", at, start.len());
                    self.stack.extend(inner);
                    self.give(n, &kept);
                }
                OnFail::Release => self.give(n, &(start + &kept)),
                _ => {}
            }
        }
        if then == OnFail::Release {
            self.close("", kind, here);
        }
        Some(())
    }

    fn close_all(&mut self) -> Option<()> {
        while let Some(open) = self.stack.last() {
            let n = self.stack.len() - 1;
            let then = self.spec.rules[open.rule].unclosed;
            let kept = matches!(open.mode, Mode::Keep | Mode::Tap);
            if !open.quoted && kept && then != OnFail::End {
                self.breach(n, "jail_unclosed", then, self.text.len())?;
            }
            if self.stack.len() > n {
                self.close("", "stream", self.text.len());
            }
        }
        Some(())
    }
}
