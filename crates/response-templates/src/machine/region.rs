//! The region that is open: its text as events, or kept until it closes.

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::{Channel, DiagnosticKind, Outcome, Sink, SpanKind};
use toolcall_parsers::{Calls, Tools};

use super::{
    calls::emit,
    out::Out,
    plan::Plan,
    quotes::Quotes,
    reader::{Body, Reader},
    settings::MalformedPolicy,
    trim::Trim,
};
use crate::{
    cast, content,
    json::Value,
    malformed::Malformed,
    message::Region,
    template::{Field, Inner, Role},
    text::strip,
};

/// The region being read. Outside of regions it is that of the leftover field, which is open from
/// its first character on.
#[derive(Debug, Clone, Default)]
pub(super) struct Current {
    /// `None`: text that no field claims.
    pub(super) field: Option<usize>,
    pub(super) open: bool,
    /// Where its opener begins, and where its text does.
    opened: u64,
    start: u64,
    /// Up to where its text is known to be a call's.
    accounted: u64,
    /// The text, where it is kept.
    body: String,
    /// How long the text is.
    length: u64,
    groups: Vec<(String, String)>,
    /// What of the text's white space is not decided about.
    trim: Trim,
    reader: Option<Box<Reader>>,
    /// Where closers do not count, if strings do.
    quotes: Option<Quotes>,
    /// Whether its call began in the prompt and was not told yet.
    untold: bool,
}

/// What a region needs to know of its machine.
pub(super) struct Around<'a, 's> {
    pub(super) inner: &'a Inner,
    pub(super) tools: &'a Tools,
    pub(super) calls: &'a mut Calls,
    /// Fields of which a region closed.
    pub(super) seen: &'a mut [bool],
    /// Where closed regions go, if they are kept.
    pub(super) record: Option<&'a mut Vec<Region>>,
    pub(super) blanks: usize,
    pub(super) region: usize,
    pub(super) malformed: MalformedPolicy,
    pub(super) string_aware: bool,
    pub(super) out: Out<'s>,
}

impl<'a> Around<'a, '_> {
    /// The text of a region of `field`, which begins at `at`, for those who read calls in it.
    fn body<'r>(&self, field: &'r Field, text: &'r str, at: u64) -> Body<'r>
    where
        'a: 'r,
    {
        Body { content: &field.content, text, at, tools: self.tools, closes: self.string_aware }
    }
}

/// Where and whether trimmed the text of a field streams.
fn streams(field: &Field) -> Option<(Channel, bool)> {
    Some((field.role.channel()?, field.plain()?))
}

impl Current {
    /// The region of `field`, or of none, not open yet.
    pub(super) fn of(field: Option<usize>) -> Self {
        Self { field, ..Self::default() }
    }

    /// Makes it the region of `field`, or of none, not open yet; keeps the buffers' memory.
    pub(super) fn renew(&mut self, field: Option<usize>) {
        let Self { mut body, mut trim, .. } = core::mem::take(self);
        body.clear();
        trim.clear();
        *self = Self { field, body, trim, ..Self::default() };
    }

    /// How many bytes of its text are held.
    pub(super) fn held(&self, inner: &Inner) -> usize {
        match &self.reader {
            Some(reader) => reader.held(&self.body),
            None if self.streams(inner) => self.trim.held(),
            None => self.body.len(),
        }
    }

    /// Bytes of live buffers.
    pub(super) fn buffered(&self) -> usize {
        self.body.len().saturating_add(self.trim.held())
    }

    /// Whether its text so far ends where closers do not count.
    pub(super) fn is_quoted(&self, inner: &Inner) -> bool {
        self.field
            .zip(self.quotes.as_ref())
            .is_some_and(|(field, quotes)| quotes.is_open(&inner.fields[field].content))
    }

    /// Whether its text goes on as it comes.
    pub(super) fn streams(&self, inner: &Inner) -> bool {
        self.field.and_then(|field| inner.fields.get(field)).is_none_or(|it| streams(it).is_some())
    }

    /// The prompt is over: a call that began in it is to be told from its beginning.
    pub(super) fn retell(&mut self) {
        self.untold = self.reader.is_some();
    }

    /// Opens the region: its opener began at `opened` and ended at `at`, its groups are `groups`.
    pub(super) fn begin(
        &mut self,
        opened: u64,
        at: u64,
        groups: Vec<(String, String)>,
        around: &mut Around<'_, '_>,
    ) {
        self.open = true;
        (self.opened, self.start, self.accounted) = (opened, at, at);
        self.groups = groups;
        let Some(number) = self.field else { return };
        let field = &around.inner.fields[number];
        if let (Some(join), Some((channel, _)), true) =
            (&field.join, streams(field), around.seen[number])
        {
            let at = at.max(around.out.from);
            around.out.text(channel, at, join);
        }
        self.quotes = around.string_aware.then(|| Quotes::of(&field.content)).flatten();
        self.tell(field, around);
    }

    /// Tells of calls from the region's beginning on, if they can stream.
    fn tell(&mut self, field: &Field, around: &mut Around<'_, '_>) {
        let reader = |plan| Box::new(Reader::new(plan, &field.content));
        self.reader = Plan::of(field, &self.groups).map(reader);
        if let Some(reader) = &mut self.reader {
            reader.open(self.start, around.calls, &mut around.out);
        }
    }

    fn tell_again(&mut self, around: &mut Around<'_, '_>) {
        if !core::mem::take(&mut self.untold) {
            return;
        }
        let Some(number) = self.field else { return };
        let field = &around.inner.fields[number];
        self.tell(field, around);
        self.read_calls(field, around);
    }

    /// Reads on in the calls of the region.
    fn read_calls(&mut self, field: &Field, around: &mut Around<'_, '_>) {
        if let Some(reader) = &mut self.reader {
            let region = around.body(field, &self.body, self.start);
            reader.read(region, around.calls, &mut around.out);
            let known = self.start + (self.body.len() - reader.held(&self.body)) as u64;
            if reader.begun > 0 && known > self.accounted {
                around.out.span(SpanKind::Body, self.accounted, known);
                self.accounted = known;
            }
        }
    }

    /// The next text, which stands at `at`.
    pub(super) fn text(&mut self, text: &str, at: u64, around: &mut Around<'_, '_>) {
        if text.is_empty() {
            return;
        }
        if !self.open {
            self.begin(at, at, Vec::new(), around);
        }
        self.tell_again(around);
        self.length += text.len() as u64;
        let Some(number) = self.field else {
            return around.out.span(SpanKind::Dropped, at, at + text.len() as u64);
        };
        let field = &around.inner.fields[number];
        let Some((channel, strip)) = streams(field) else {
            if self.length <= around.region as u64 {
                self.body.push_str(text);
                self.read_calls(field, around);
            }
            let Self { quotes, body, .. } = self;
            quotes.take_if(|quotes| !quotes.read(&field.content, text, body));
            return;
        };
        if around.record.is_some() && self.length <= around.region as u64 {
            self.body.push_str(text);
        }
        if strip {
            self.trim.text(text, at, (channel, around.blanks), &mut around.out);
        } else {
            around.out.text(channel, at, text);
        }
    }

    /// Closes the region; `ended`: because the stream is over. It is that of no field then.
    pub(super) fn close(&mut self, ended: bool, around: &mut Around<'_, '_>) {
        let end = self.start + self.length;
        if self.open {
            self.tell_again(around);
        }
        let out = &mut around.out;
        match self.field {
            _ if !self.open => {}
            None => out.counted(DiagnosticKind::Noise, self.start, end),
            Some(number) => {
                let field = &around.inner.fields[number];
                let value = match streams(field) {
                    Some((_, trimmed)) => {
                        out.span(SpanKind::Framing, end - self.trim.held() as u64, end);
                        let text = if trimmed { strip(&self.body) } else { &self.body };
                        Ok(text.into())
                    }
                    None => self.kept(number, ended, end, around),
                };
                around.seen[number] |= value.is_ok();
                let in_prompt = self.opened < around.out.from;
                if let Some(record) = &mut around.record {
                    let (field, raw) = (field.name.clone(), core::mem::take(&mut self.body));
                    record.push(Region { field, raw, value, in_prompt });
                }
            }
        }
        self.renew(None);
    }

    /// Closes a region whose text was kept.
    fn kept(
        &mut self,
        number: usize,
        ended: bool,
        end: u64,
        around: &mut Around<'_, '_>,
    ) -> Result<Value, Malformed> {
        let field = &around.inner.fields[number];
        let value = self.value(field, around);
        let region = around.body(field, &self.body, self.start);
        let told = end > around.out.from || self.start >= around.out.from;
        // What closed in the prompt is in the message, but no event.
        let mut ignored = |_: jail_match::Event<'_>| {};
        let Out { from, origin, .. } = around.out;
        let sink: &mut dyn Sink = if told { &mut *around.out.sink } else { &mut ignored };
        let out = &mut Out { sink, from, origin };
        let broken = if ended { Outcome::Incomplete } else { Outcome::Malformed };
        let mut begun = 0;
        if let Some(reader) = &mut self.reader {
            reader.close(value.as_ref().ok(), broken, region, around.calls, out);
            begun = reader.begun;
        }
        match &value {
            Ok(value) => {
                match field.role.channel() {
                    Some(channel) => show(field, value, channel, around.seen[number], out),
                    None if self.reader.is_none() => {
                        begun = emit(around.calls, value, self.start, out);
                    }
                    None => {}
                }
                if field.role == Role::Calls && begun == 0 {
                    out.dropped(DiagnosticKind::BadPayload, self.start, end);
                } else {
                    out.span(SpanKind::Body, self.accounted, end);
                }
            }
            Err(_) if begun > 0 => {
                out.diagnostic(DiagnosticKind::MalformedRegion, self.start, 0);
                out.span(SpanKind::Body, self.accounted, end);
            }
            Err(_)
                if around.malformed == MalformedPolicy::Text
                    && self.length == self.body.len() as u64 =>
            {
                out.diagnostic(DiagnosticKind::MalformedRegion, self.start, 0);
                out.text(Channel::CONTENT, self.start, &self.body);
            }
            Err(_) => out.dropped(DiagnosticKind::MalformedRegion, self.start, end),
        }
        value
    }

    fn value(&self, field: &Field, around: &Around<'_, '_>) -> Result<Value, Malformed> {
        if self.length > self.body.len() as u64 {
            return Err(Malformed::Limit);
        }
        if matches!(self.quotes, Some(Quotes::Tags(_))) && self.is_quoted(around.inner) {
            return Err(Malformed::TagUnclosed);
        }
        let mut value = content::value(field, &self.groups, &self.body)?;
        if !around.tools.is_empty() {
            cast::cast_calls(&mut value, around.tools);
        }
        if field.join.is_some() && value.as_str().is_none() {
            return Err(Malformed::NotAString);
        }
        Ok(value)
    }
}

/// Emits a value that is no call: a string as it is, anything else as JSON. `seen`: whether the
/// field has a value that this one is joined to.
fn show(field: &Field, value: &Value, channel: Channel, seen: bool, out: &mut Out<'_>) {
    let at = out.from;
    if let (Some(join), true) = (&field.join, seen) {
        out.text(channel, at, join);
    }
    match value {
        Value::String(text) => out.text(channel, at, text),
        value => out.text(channel, at, &alloc::format!("{value}")),
    }
}
