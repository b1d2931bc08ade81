//! Assignment of roles to the bytes of tokens.

use std::collections::VecDeque;

use jail_match::{CallPart, Channel, Span, SpanKind, Trace};

use super::{RoleSpan, TokenRole};

/// The part of a stream whose roles have not been reported.
#[derive(Debug, Clone, Default)]
pub(crate) struct RoleLedger {
    /// Tokens with bytes that have no role yet: position, number, bytes left.
    tokens: VecDeque<(u64, u32, usize)>,
    /// Number of tokens that were fed.
    fed: u64,
    /// Text without a role, after a beginning that has one.
    text: String,
    /// Length of the beginning of `text` that has a role.
    done: usize,
    /// Offset of the next byte without a role.
    at: u64,
    /// Roles of ranges that are not text, with their start and end.
    spans: VecDeque<(u64, u64, TokenRole)>,
    /// Role and length of emitted texts, in order.
    passed: VecDeque<(TokenRole, u64)>,
    /// Held whitespace whose role is not known, with its start and end. Text after it may be
    /// emitted before.
    waiting: Vec<(u64, u64)>,
    /// Held whitespace that the next emitted text contains, with its start and end.
    released: VecDeque<(u64, u64)>,
    /// Where parts of calls begin.
    parts: VecDeque<(u64, TokenRole)>,
    /// The role of calls' bytes at the end of the last span.
    part: Option<TokenRole>,
    /// Position of the call that began last, and the latest possible end of its name.
    named: (u32, u64),
    /// The last span, which has not been reported.
    last: Option<RoleSpan>,
}

impl RoleLedger {
    /// Begins the next token.
    pub(crate) fn token(&mut self, id: u32, text: &str) {
        self.tokens.push_back((self.fed, id, text.len()));
        self.fed += 1;
        self.text.push_str(text);
    }

    /// Accounts for emitted text.
    #[inline]
    pub(crate) fn text(&mut self, channel: Channel, len: usize) {
        let role = match channel {
            Channel::CONTENT => TokenRole::Content,
            Channel::REASONING => TokenRole::Reasoning,
            _ => TokenRole::Markup,
        };
        let len = self.place_released(role, len as u64);
        if len == 0 {
            return;
        }
        match self.passed.back_mut() {
            Some((last, bytes)) if *last == role => *bytes += len,
            _ => self.passed.push_back((role, len)),
        }
    }

    /// Gives released whitespace at the start of a text of `len` bytes its role. Returns the length
    /// of the other text.
    fn place_released(&mut self, role: TokenRole, mut len: u64) -> u64 {
        while let Some((from, to)) = self.released.pop_front() {
            let end = to.min(from + len);
            self.decide(from, end);
            self.add(from, end, role);
            len -= end - from;
            if end < to {
                self.released.push_front((end, to));
                break;
            }
        }
        len
    }

    /// Records that the role of a range is known.
    fn decide(&mut self, from: u64, to: u64) {
        self.waiting.retain_mut(|(at, end)| {
            if *at >= from && *at < to {
                *at = to;
            }
            *at < *end
        });
    }

    /// Accounts for a range that is not text.
    #[inline]
    pub(crate) fn span(&mut self, Span { kind, at, len }: Span) {
        if !self.waiting.is_empty() {
            self.decide(at, at + len);
            self.released.retain(|(from, _)| !(at..at + len).contains(from));
        }
        match kind {
            SpanKind::Markup | SpanKind::Framing => self.add(at, at + len, TokenRole::Markup),
            SpanKind::Dropped => self.add(at, at + len, TokenRole::Dropped),
            SpanKind::Body => self.body(at, at + len),
        }
    }

    /// Divides a range of a call by its parts.
    fn body(&mut self, mut from: u64, to: u64) {
        while let Some(&(at, role)) = self.parts.front().filter(|(at, _)| *at < to) {
            self.parts.pop_front();
            if at > from {
                self.add(from, at, self.part.unwrap_or(TokenRole::Markup));
                from = at;
            }
            self.part = Some(role);
        }
        self.add(from, to, self.part.unwrap_or(TokenRole::Markup));
    }

    fn add(&mut self, from: u64, to: u64, role: TokenRole) {
        let last = self.spans.partition_point(|(at, ..)| *at <= from);
        match last.checked_sub(1).and_then(|last| self.spans.get_mut(last)) {
            Some((_, end, known)) if *end == from && *known == role => *end = to,
            _ => self.spans.insert(last, (from, to, role)),
        }
    }

    pub(crate) fn trace(&mut self, trace: Trace) {
        match trace {
            Trace::Part { part, call, at } => {
                let role = match part {
                    CallPart::Named => {
                        self.named = (call, at);
                        return;
                    }
                    CallPart::Arguments => TokenRole::Arguments(call),
                    _ => TokenRole::Markup,
                };
                // The same text may be read again in another way.
                while self.parts.back().is_some_and(|(known, _)| *known >= at) {
                    self.parts.pop_back();
                }
                self.parts.push_back((at, role));
            }
            Trace::Held { at, len } => self.waiting.push((at, at + len)),
            Trace::Released { at, len } => self.released.push_back((at, at + len)),
            Trace::Opened { .. } | Trace::Refuted { .. } => {
                self.parts.clear();
                self.part = None;
            }
            _ => {}
        }
    }

    /// Records the name of the call that began last.
    pub(crate) fn name(&mut self, name: &str) {
        let (call, end) = self.named;
        // Arguments that came before the name end before it.
        let from = self.parts.iter().rev().find(|(_, role)| *role == TokenRole::Markup);
        let from = from.map_or(self.at, |(at, _)| *at).clamp(self.at, end.max(self.at));
        let place = |at: u64| self.done.saturating_add(usize::try_from(at - self.at).unwrap_or(0));
        let Some(text) = self.text.get(place(from)..place(end.max(from))) else { return };
        let Some(at) = text.rfind(name).filter(|_| !name.is_empty()) else { return };
        let at = from + at as u64;
        let behind = self.parts.partition_point(|(known, _)| *known < at);
        self.parts.insert(behind, (at, TokenRole::CallName(call)));
        self.parts.insert(behind + 1, (at + name.len() as u64, TokenRole::Markup));
    }

    /// Reports the spans whose roles are known.
    pub(crate) fn settle(&mut self, on: &mut impl FnMut(RoleSpan)) {
        loop {
            if let Some(&(from, to, role)) = self.spans.front().filter(|(at, ..)| *at <= self.at) {
                self.spans.pop_front();
                self.give(to.saturating_sub(from.max(self.at)), role, on);
                continue;
            }
            let Some((role, left)) = self.passed.front_mut() else { break };
            let (from, ..) =
                self.spans.front().copied().unwrap_or((u64::MAX, 0, TokenRole::Markup));
            let held = self.waiting.iter().map(|(at, _)| *at).min().unwrap_or(u64::MAX);
            let len = (*left).min(from.min(held).saturating_sub(self.at));
            if len == 0 {
                break;
            }
            let role = *role;
            *left -= len;
            if *left == 0 {
                self.passed.pop_front();
            }
            self.give(len, role, on);
        }
        if self.done > self.text.len() / 2 {
            self.text.drain(..self.done);
            self.done = 0;
        }
        // The last span may grow as long as its token has bytes without a role.
        let open = |last: &RoleSpan| self.tokens.front().is_some_and(|token| token.0 == last.token);
        if let Some(last) = self.last.take_if(|last| !open(last)) {
            on(last);
        }
    }

    /// Assigns this role to the next `len` bytes.
    fn give(&mut self, len: u64, role: TokenRole, on: &mut impl FnMut(RoleSpan)) {
        let mut len = usize::try_from(len).unwrap_or(usize::MAX);
        while let Some((token, id, left)) = self.tokens.front_mut() {
            if *left > 0 && len == 0 {
                break;
            }
            let bytes = len.min(*left);
            let span = RoleSpan { token: *token, id: *id, role, bytes };
            (*left, len) = (*left - bytes, len - bytes);
            if *left == 0 {
                self.tokens.pop_front();
            }
            self.at += bytes as u64;
            self.done += bytes;
            match &mut self.last {
                Some(last) if (last.token, last.role) == (span.token, role) => last.bytes += bytes,
                last => {
                    if let Some(last) = last.replace(span) {
                        on(last);
                    }
                }
            }
        }
    }

    /// Reports the remaining spans. Bytes without a role were dropped.
    pub(crate) fn finish(&mut self, on: &mut impl FnMut(RoleSpan)) {
        self.settle(on);
        while let Some((from, to, role)) = self.spans.pop_front() {
            self.give(from.saturating_sub(self.at), TokenRole::Dropped, on);
            self.give(to.saturating_sub(self.at), role, on);
        }
        self.give(u64::MAX, TokenRole::Dropped, on);
        on_last(&mut self.last, on);
    }
}

fn on_last(last: &mut Option<RoleSpan>, on: &mut impl FnMut(RoleSpan)) {
    if let Some(last) = last.take() {
        on(last);
    }
}
