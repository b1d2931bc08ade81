//! Arguments in tags or lines. Each is written as a member of a JSON object once it is certain.
//!
//! ```text
//! <call f><city>Oban</city><day>1</day></call>
//!                          {"city": "Oban"      , "day": "1"}
//! ```

use alloc::string::String;
use core::{fmt::Write, mem};

use toolcall_parsers::Tools;

use super::{lines::Lines, reader::Body};
use crate::{
    cast,
    chars::is_blank,
    content::{self, Member},
    json::{Scanner, escaped, quoted},
    malformed::Malformed,
    pattern::Scan,
    template::{Content, Dialect},
    text,
};

/// A reader of the members of one region, which writes them as JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    scan: Scan,
    lines: Lines,
    growing: Growing,
    written: usize,
    /// Whether a member has no value, so that the region is malformed.
    broken: bool,
    /// The JSON of the current read.
    json: String,
}

/// The value of the member that is being read.
///
/// In `<a>[1, x</a>`, where values may be JSON or text: `Unknown` up to `<a>`, then `Json`, and
/// from `x` on `Text`. `Waits` if the argument must be cast.
#[derive(Debug, Clone, Default)]
enum Growing {
    #[default]
    Unknown,
    /// The value is written when it is complete, because its type is unknown before.
    Waits,
    /// The value is JSON up to `seen`. If it turns out not to be JSON, it becomes a string, which
    /// is trimmed if `strip` is set.
    Json { scanner: Scanner, seen: usize, strip: bool },
    /// The value is a string that begins at `begin`, was written up to `sent` and was read up to
    /// `seen`. It is trimmed if `strip` is set.
    Text { strip: bool, begin: usize, sent: usize, seen: usize },
}

/// The region of the members, and the tool whose arguments they are.
#[derive(Clone, Copy)]
pub(super) struct MemberContext<'r> {
    pub(super) region: Body<'r>,
    pub(super) name: &'r str,
    /// The declared tools, if values are cast.
    pub(super) tools: Option<&'r Tools>,
}

impl<'r> MemberContext<'r> {
    fn types(&self, key: &str) -> cast::Types {
        self.tools.map_or_else(cast::Types::new, |tools| cast::types(tools, self.name, key))
    }

    /// Returns the parser of values, and whether values are trimmed first.
    fn parser(&self) -> (Option<&'r Content>, bool) {
        match self.region.content {
            Content::Tags { value, .. } => (value.as_deref(), false),
            Content::Lines { value, pairs, .. } => (value.as_deref(), pairs.strip),
            _ => (None, false),
        }
    }
}

impl Members {
    /// Returns the number of bytes of `body` that no member contains yet.
    pub(super) fn held(&self, body: &str) -> usize {
        let sent = if let Growing::Text { sent, .. } = self.growing { sent } else { 0 };
        body.len().saturating_sub(self.scan.pending().max(self.lines.start).max(sent))
    }

    /// Reads the new text of the region and returns the JSON that is certain. `ended` states
    /// whether the text is complete.
    pub(super) fn advance(&mut self, cx: MemberContext<'_>, ended: bool) -> &str {
        self.json.clear();
        while !self.broken {
            match self.next_member(cx.region, ended) {
                Ok(Some(member)) => self.broken = self.write(cx, member).is_err(),
                Ok(None) if ended => {
                    self.json.push('}');
                    break;
                }
                Ok(None) => {
                    self.grow(cx);
                    break;
                }
                Err(_) => self.broken = true,
            }
        }
        &self.json
    }

    /// Writes a complete member.
    fn write(&mut self, cx: MemberContext<'_>, (key, text): Member<'_>) -> Result<(), Malformed> {
        let growing = match mem::take(&mut self.growing) {
            Growing::Unknown if text.is_some() => self.begin(key, 0, cx),
            known => known,
        };
        if let (Growing::Text { strip, begin, sent, .. }, Some(text)) = (growing, text) {
            let text = if strip { text::strip(text) } else { text };
            self.write_escaped(&text[sent - begin..]);
            self.json.push('"');
            return Ok(());
        }
        let mut value = content::member_value(cx.parser().0, text)?;
        cast::cast(&mut value, &cx.types(key));
        self.write_key(key);
        // Writing to a string cannot fail.
        let _ = write!(self.json, "{value}");
        Ok(())
    }

    fn write_key(&mut self, key: &str) {
        if self.written > 0 {
            self.json.push_str(", ");
        }
        self.written += 1;
        let _ = quoted(key, &mut self.json);
        self.json.push_str(": ");
    }

    fn write_escaped(&mut self, text: &str) {
        let _ = escaped(text, &mut self.json);
    }

    /// Returns the next complete member.
    fn next_member<'b>(
        &mut self,
        region: Body<'b>,
        ended: bool,
    ) -> Result<Option<Member<'b>>, Malformed> {
        let body = region.text;
        match region.content {
            Content::Tags { pattern, .. } => {
                let found = self.scan.next(pattern, body, ended);
                found.map(|found| content::tag(pattern, body, &found)).transpose()
            }
            Content::Lines { line, pairs, .. } => {
                while let Some(text) = self.lines.next(line.as_deref(), body, ended) {
                    let member = content::line(text, pairs);
                    if member.is_some() {
                        return Ok(member);
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// Writes the certain part of the member that is being read.
    fn grow(&mut self, cx: MemberContext<'_>) {
        if matches!(self.growing, Growing::Waits) {
            return;
        }
        let Body { content, text: body, closes, .. } = cx.region;
        let member = match content {
            Content::Tags { pattern, .. } => self.scan.growing(pattern, body, closes),
            Content::Lines { pairs, .. } => self.lines.growing(pairs, body),
            _ => None,
        };
        let Some((key, start, end)) = member else { return };
        if let Growing::Unknown = self.growing {
            self.growing = self.begin(key, start, cx);
        }
        if let Growing::Json { scanner, seen, strip } = &mut self.growing
            && scanner.feed(&body[mem::replace(seen, end)..end], &mut |_| {}).is_err()
        {
            let strip = *strip;
            self.growing = self.begin_text(key, start, strip);
        }
        let Growing::Text { strip, begin, sent, seen } = &mut self.growing else { return };
        let new = &body[mem::replace(seen, end)..end];
        let is_edge = |c: char| *strip && is_blank(c);
        if sent == begin {
            *begin = end - new.trim_start_matches(is_edge).len();
            *sent = *begin;
        }
        // White space is not emitted if it may end the text.
        let visible = new.trim_end_matches(is_edge);
        if !visible.is_empty() {
            let certain = end - new.len() + visible.len();
            let text = &body[mem::replace(sent, certain)..certain];
            self.write_escaped(text);
        }
    }

    /// Begins the value of `key`, whose text begins at `start`. If the value must be a string,
    /// writes its key and its opening quote.
    fn begin(&mut self, key: &str, start: usize, cx: MemberContext<'_>) -> Growing {
        let (parser, strip) = cx.parser();
        match parser {
            _ if !cx.types(key).is_empty() => Growing::Waits,
            None => self.begin_text(key, start, strip),
            Some(Content::Text { strip: trim }) => self.begin_text(key, start, strip | trim),
            Some(Content::Json(Dialect { unquoted_keys: false, delimiters, text: Some(trim) }))
                if delimiters.is_empty() =>
            {
                Growing::Json { scanner: Scanner::default(), seen: start, strip: strip | trim }
            }
            Some(_) => Growing::Waits,
        }
    }

    fn begin_text(&mut self, key: &str, start: usize, strip: bool) -> Growing {
        self.write_key(key);
        self.json.push('"');
        Growing::Text { strip, begin: start, sent: start, seen: start }
    }
}
