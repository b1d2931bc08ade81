//! The current region. Its text is emitted as it arrives, or kept until the region closes.
//!
//! ```text
//! <think>why</think>   reasoning, emitted as it arrives
//! <call>{...}</call>   kept; a reader emits the parts of the call that are certain
//! ```

use alloc::{boxed::Box, string::String, vec::Vec};

use jail_match::{Channel, DiagnosticKind, Outcome, Sink, SpanKind};
use toolcall_parsers::Tools;

use super::{
    emitter::Emitter,
    plan::Plan,
    quotes::Quotes,
    reader::{Body, Reader, RegionEnd},
    settings::MalformedPolicy,
    trim::{Piece, Trim},
};
use crate::{
    cast, content,
    json::JsonTree,
    malformed::Malformed,
    message::FieldRegion,
    template::{Field, Inner, Role},
    text::strip,
};

/// The region being read. Between the regions of other fields, this is a region of the leftover
/// field, which opens with its first character.
#[derive(Debug, Clone, Default)]
pub(super) struct Current {
    /// The number of the field, or `None` for text that belongs to no field.
    pub(super) field: Option<usize>,
    pub(super) open: bool,
    opener: Opener,
    /// The end of the text that is known to belong to a call.
    accounted: u64,
    /// The text, if it is kept.
    body: String,
    /// The length of the text.
    length: u64,
    trim: Trim,
    reader: Option<Box<Reader>>,
    /// The strings in which closers do not count.
    quotes: Option<Quotes>,
    /// Whether the region's call began in the prompt and was not emitted yet.
    unannounced: bool,
}

/// The opener of a region.
#[derive(Debug, Clone, Default)]
pub(super) struct Opener {
    pub(super) start: u64,
    /// The end of the opener, where the region's text begins.
    pub(super) end: u64,
    /// The groups of the opener that took part, and at the end those of the closer.
    pub(super) groups: Vec<(String, String)>,
}

/// The parts of the machine that a region needs.
pub(super) struct RegionContext<'a> {
    pub(super) inner: &'a Inner,
    pub(super) tools: &'a Tools,
    /// For each field, whether a region of it closed.
    pub(super) seen: &'a mut [bool],
    /// The regions that closed, if they are kept.
    pub(super) record: Option<&'a mut Vec<FieldRegion>>,
    pub(super) blanks: usize,
    pub(super) region: usize,
    pub(super) malformed: MalformedPolicy,
    pub(super) string_aware: bool,
    pub(super) out: Emitter<'a>,
}

impl<'a> RegionContext<'a> {
    /// Returns the text of a region of `field` that begins at `at`, for readers of calls.
    fn body<'r>(&self, field: &'r Field, text: &'r str, at: u64) -> Body<'r>
    where
        'a: 'r,
    {
        Body { content: &field.content, text, at, tools: self.tools, closes: self.string_aware }
    }
}

/// Returns the channel of a field whose text streams, and whether the text is trimmed.
fn stream_of(field: &Field) -> Option<(Channel, bool)> {
    Some((field.role.channel()?, field.plain()?))
}

impl Current {
    /// Creates a region of `field`, or of no field, that is not open yet.
    pub(super) fn for_field(field: Option<usize>) -> Self {
        Self { field, ..Self::default() }
    }

    /// Makes this a region of `field`, or of no field, that is not open yet. Buffers stay
    /// allocated.
    pub(super) fn renew(&mut self, field: Option<usize>) {
        let Self { mut body, mut trim, .. } = core::mem::take(self);
        body.clear();
        trim.clear();
        *self = Self { field, body, trim, ..Self::default() };
    }

    /// Returns how many bytes of the text are held.
    pub(super) fn held(&self, inner: &Inner) -> usize {
        match &self.reader {
            Some(reader) => reader.held(&self.body),
            None if self.streams(inner) => self.trim.held(),
            None => self.body.len(),
        }
    }

    /// Returns the number of bytes in buffers.
    pub(super) fn buffered(&self) -> usize {
        self.body.len().saturating_add(self.trim.held())
    }

    /// Returns whether the text ends in a string, where closers do not count.
    pub(super) fn is_quoted(&self, inner: &Inner) -> bool {
        self.field
            .zip(self.quotes.as_ref())
            .is_some_and(|(field, quotes)| quotes.is_open(&inner.fields[field].content))
    }

    /// Returns whether the text is emitted as it arrives.
    pub(super) fn streams(&self, inner: &Inner) -> bool {
        let field = self.field.and_then(|field| inner.fields.get(field));
        field.is_none_or(|field| stream_of(field).is_some())
    }

    /// Ends the prompt. A call that began in it will be emitted from its start.
    pub(super) fn end_prompt(&mut self) {
        self.unannounced = self.reader.is_some();
    }

    /// Opens the region after its opener.
    pub(super) fn begin(&mut self, opener: Opener, cx: &mut RegionContext<'_>) {
        self.open = true;
        self.accounted = opener.end;
        self.opener = opener;
        let Some(number) = self.field else { return };
        let field = &cx.inner.fields[number];
        if let (Some(join), Some((channel, _)), true) =
            (&field.join, stream_of(field), cx.seen[number])
        {
            cx.out.text(channel, self.opener.end.max(cx.out.from), join);
        }
        self.quotes = cx.string_aware.then(|| Quotes::for_content(&field.content)).flatten();
        self.start_reader(field, cx);
    }

    /// Starts a reader of calls, if the calls of the field can be emitted early.
    fn start_reader(&mut self, field: &Field, cx: &mut RegionContext<'_>) {
        let reader = |plan| Box::new(Reader::new(plan, &field.content));
        self.reader = Plan::for_field(field, &self.opener.groups).map(reader);
        if let Some(reader) = &mut self.reader {
            reader.open(self.opener.end, &mut cx.out);
        }
    }

    fn announce(&mut self, cx: &mut RegionContext<'_>) {
        if !core::mem::take(&mut self.unannounced) {
            return;
        }
        let Some(number) = self.field else { return };
        let field = &cx.inner.fields[number];
        self.start_reader(field, cx);
        self.read_calls(field, cx);
    }

    /// Reads the new text of the region for calls.
    fn read_calls(&mut self, field: &Field, cx: &mut RegionContext<'_>) {
        if let Some(reader) = &mut self.reader {
            let region = cx.body(field, &self.body, self.opener.end);
            reader.advance(region, &mut cx.out);
            let known = self.opener.end + (self.body.len() - reader.held(&self.body)) as u64;
            if reader.begun > 0 && known > self.accounted {
                cx.out.span(SpanKind::Body, self.accounted, known);
                self.accounted = known;
            }
        }
    }

    /// Reads the next text, which begins at `at`.
    pub(super) fn text(&mut self, text: &str, at: u64, cx: &mut RegionContext<'_>) {
        if text.is_empty() {
            return;
        }
        if !self.open {
            self.begin(Opener { start: at, end: at, groups: Vec::new() }, cx);
        }
        self.announce(cx);
        self.length += text.len() as u64;
        let Some(number) = self.field else {
            return cx.out.span(SpanKind::Dropped, at, at + text.len() as u64);
        };
        let field = &cx.inner.fields[number];
        let Some((channel, strip)) = stream_of(field) else {
            if self.length <= cx.region as u64 {
                self.body.push_str(text);
                self.read_calls(field, cx);
            }
            let Self { quotes, body, .. } = self;
            quotes.take_if(|quotes| !quotes.advance(&field.content, text, body));
            return;
        };
        if cx.record.is_some() && self.length <= cx.region as u64 {
            self.body.push_str(text);
        }
        if strip {
            self.trim.text(Piece { channel, at, text }, cx.blanks, &mut cx.out);
        } else {
            cx.out.text(channel, at, text);
        }
    }

    /// Adds the groups of the closer. They replace groups of the opener with the same names.
    pub(super) fn add_groups(&mut self, groups: Vec<(String, String)>) {
        let known = &mut self.opener.groups;
        known.retain(|(name, _)| groups.iter().all(|(other, _)| other != name));
        known.extend(groups);
    }

    /// Closes the region. `ended` states whether the stream ended. No field is open afterwards.
    pub(super) fn close(&mut self, ended: bool, cx: &mut RegionContext<'_>) {
        let end = self.end();
        if self.open {
            self.announce(cx);
        }
        let out = &mut cx.out;
        match self.field {
            _ if !self.open => {}
            None => out.counted(DiagnosticKind::Noise, self.opener.end, end),
            Some(number) => {
                let field = &cx.inner.fields[number];
                let value = match stream_of(field) {
                    Some((_, trimmed)) => {
                        out.span(SpanKind::Framing, end - self.trim.held() as u64, end);
                        let text = if trimmed { strip(&self.body) } else { &self.body };
                        Ok(text.into())
                    }
                    None => self.close_kept(number, ended, cx),
                };
                cx.seen[number] |= value.is_ok();
                let in_prompt = self.opener.start < cx.out.from;
                if let Some(record) = &mut cx.record {
                    let (field, raw) = (field.name.clone(), core::mem::take(&mut self.body));
                    record.push(FieldRegion { field, raw, value, in_prompt });
                }
            }
        }
        self.renew(None);
    }

    fn end(&self) -> u64 {
        self.opener.end + self.length
    }

    /// Closes a region of the field with this number whose text was kept.
    fn close_kept(
        &mut self,
        number: usize,
        ended: bool,
        cx: &mut RegionContext<'_>,
    ) -> Result<JsonTree, Malformed> {
        let field = &cx.inner.fields[number];
        let (start, end) = (self.opener.end, self.end());
        let value = self.value(field, cx);
        let region = cx.body(field, &self.body, start);
        // A region that closed in the prompt is in the message, but has no events.
        let is_shown = end > cx.out.from || start >= cx.out.from;
        let mut ignored = |_: jail_match::Event<'_>| {};
        let Emitter { from, origin, .. } = cx.out;
        let sink: &mut dyn Sink = if is_shown { &mut *cx.out.sink } else { &mut ignored };
        let out = &mut Emitter { sink, calls: &mut *cx.out.calls, from, origin };
        let mut begun = 0;
        if let Some(reader) = &mut self.reader {
            let broken = if ended { Outcome::Incomplete } else { Outcome::Malformed };
            reader.close(RegionEnd { value: value.as_ref().ok(), broken }, region, out);
            begun = reader.begun;
        }
        match &value {
            Ok(value) => {
                match field.role.channel() {
                    Some(channel) => {
                        let join = field.join.as_deref().filter(|_| cx.seen[number]);
                        show(value, channel, join, out);
                    }
                    None if self.reader.is_none() => begun = out.all_calls(value, start),
                    None => {}
                }
                if field.role == Role::Calls && begun == 0 {
                    out.dropped(DiagnosticKind::BadPayload, start, end);
                } else {
                    out.span(SpanKind::Body, self.accounted, end);
                }
            }
            Err(_) if begun > 0 => {
                out.diagnostic(DiagnosticKind::MalformedRegion, start, 0);
                out.span(SpanKind::Body, self.accounted, end);
            }
            Err(_)
                if cx.malformed == MalformedPolicy::Text
                    && self.length == self.body.len() as u64 =>
            {
                out.diagnostic(DiagnosticKind::MalformedRegion, start, 0);
                out.text(Channel::CONTENT, start, &self.body);
            }
            Err(_) => out.dropped(DiagnosticKind::MalformedRegion, start, end),
        }
        value
    }

    fn value(&self, field: &Field, cx: &RegionContext<'_>) -> Result<JsonTree, Malformed> {
        if self.length > self.body.len() as u64 {
            return Err(Malformed::Limit);
        }
        if matches!(self.quotes, Some(Quotes::Tags(_))) && self.is_quoted(cx.inner) {
            return Err(Malformed::TagUnclosed);
        }
        let mut value = content::value(field, &self.opener.groups, &self.body)?;
        if !cx.tools.is_empty() {
            cast::cast_calls(&mut value, cx.tools);
        }
        if field.join.is_some() && value.as_str().is_none() {
            return Err(Malformed::NotAString);
        }
        Ok(value)
    }
}

/// Emits a value as text: a string unchanged, any other value as JSON. `join` is emitted before it.
fn show(value: &JsonTree, channel: Channel, join: Option<&str>, out: &mut Emitter<'_>) {
    let at = out.from;
    if let Some(join) = join {
        out.text(channel, at, join);
    }
    match value {
        JsonTree::String(text) => out.text(channel, at, text),
        value => out.text(channel, at, &alloc::format!("{value}")),
    }
}
