//! Arguments in tags or lines: each is a member of the object as it comes.

use alloc::string::String;
use core::{fmt::Write, mem};

use toolcall_parsers::Tools;

use super::lines::Lines;
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

/// Reads the members of one region, and writes them as JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    scan: Scan,
    lines: Lines,
    growing: Growing,
    written: usize,
    /// Whether one of them has no value: the region is malformed.
    broken: bool,
    /// What is to be said of them.
    json: String,
}

/// The value of the member that is being read.
#[derive(Debug, Clone, Default)]
enum Growing {
    #[default]
    Unknown,
    /// What it is is known when it is whole.
    Waits,
    /// It is a string if it stops to be JSON, trimmed or not; so far it was read.
    Json { scanner: Scanner, seen: usize, strip: bool },
    /// A string, trimmed or not: where it begins, how far it is out, how far it was looked at.
    Text { strip: bool, begin: usize, sent: usize, seen: usize },
}

/// The tool whose arguments they are, and what is known of tools.
#[derive(Clone, Copy)]
pub(super) struct Tool<'t> {
    pub(super) name: &'t str,
    pub(super) tools: Option<&'t Tools>,
}

impl Tool<'_> {
    fn types(&self, key: &str) -> cast::Types {
        self.tools.map_or_else(cast::Types::new, |tools| cast::types(tools, self.name, key))
    }
}

impl Members {
    /// How many bytes of `body` belong to no member yet.
    pub(super) fn held(&self, body: &str) -> usize {
        let sent = if let Growing::Text { sent, .. } = self.growing { sent } else { 0 };
        body.len().saturating_sub(self.scan.pending().max(self.lines.start).max(sent))
    }

    /// What of the arguments is certain by what was read on in `body`, as JSON; `ended`: it is
    /// whole. `closes`: a tag that opened is closed before the region is.
    pub(super) fn read(
        &mut self,
        content: &Content,
        body: &str,
        ended: bool,
        closes: bool,
        tool: Tool<'_>,
    ) -> &str {
        self.json.clear();
        while !self.broken {
            match self.next(content, body, ended) {
                Ok(Some(member)) => self.broken = self.write(content, member, tool).is_err(),
                Ok(None) if ended => {
                    self.json.push('}');
                    break;
                }
                Ok(None) => {
                    self.grow(content, body, closes, tool);
                    break;
                }
                Err(_) => self.broken = true,
            }
        }
        &self.json
    }

    /// Writes a member that is whole.
    fn write(
        &mut self,
        content: &Content,
        (key, text): Member<'_>,
        tool: Tool<'_>,
    ) -> Result<(), Malformed> {
        let (parser, strip) = parser(content);
        let growing = match mem::take(&mut self.growing) {
            Growing::Unknown if text.is_some() => self.begin(key, 0, (parser, strip), tool),
            known => known,
        };
        if let (Growing::Text { strip, begin, sent, .. }, Some(text)) = (growing, text) {
            let text = if strip { text::strip(text) } else { text };
            self.escaped(&text[sent - begin..]);
            self.json.push('"');
            return Ok(());
        }
        let mut value = content::member_value(parser, text)?;
        cast::cast(&mut value, &tool.types(key));
        self.key(key);
        // Writing to a string cannot fail.
        let _ = write!(self.json, "{value}");
        Ok(())
    }

    fn key(&mut self, key: &str) {
        if self.written > 0 {
            self.json.push_str(", ");
        }
        self.written += 1;
        let _ = quoted(key, &mut self.json);
        self.json.push_str(": ");
    }

    fn escaped(&mut self, text: &str) {
        let _ = escaped(text, &mut self.json);
    }

    /// The next member that ended.
    fn next<'b>(
        &mut self,
        content: &Content,
        body: &'b str,
        ended: bool,
    ) -> Result<Option<Member<'b>>, Malformed> {
        match content {
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

    /// Writes what is certain of the member that is being read.
    fn grow(&mut self, content: &Content, body: &str, closes: bool, tool: Tool<'_>) {
        if matches!(self.growing, Growing::Waits) {
            return;
        }
        let member = match content {
            Content::Tags { pattern, .. } => self.scan.growing(pattern, body, closes),
            Content::Lines { pairs, .. } => self.lines.growing(pairs, body),
            _ => None,
        };
        let Some((key, start, end)) = member else { return };
        if let Growing::Unknown = self.growing {
            self.growing = self.begin(key, start, parser(content), tool);
        }
        if let Growing::Json { scanner, seen, strip } = &mut self.growing
            && scanner.feed(&body[mem::replace(seen, end)..end], &mut |_| {}).is_err()
        {
            let strip = *strip;
            self.growing = self.begin_text(key, start, strip);
        }
        let Growing::Text { strip, begin, sent, seen } = &mut self.growing else { return };
        let new = &body[mem::replace(seen, end)..end];
        let edge = |c: char| *strip && is_blank(c);
        if sent == begin {
            *begin = end - new.trim_start_matches(edge).len();
            *sent = *begin;
        }
        // White space that may end the text waits.
        let visible = new.trim_end_matches(edge);
        if !visible.is_empty() {
            let certain = end - new.len() + visible.len();
            let text = &body[mem::replace(sent, certain)..certain];
            self.escaped(text);
        }
    }

    /// What is known of the value of `key`, whose text is looked for from `start` on. If it is a
    /// string, that begins.
    fn begin(
        &mut self,
        key: &str,
        start: usize,
        (parser, strip): (Option<&Content>, bool),
        tool: Tool<'_>,
    ) -> Growing {
        match parser {
            _ if !tool.types(key).is_empty() => Growing::Waits,
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
        self.key(key);
        self.json.push('"');
        Growing::Text { strip, begin: start, sent: start, seen: start }
    }
}

/// How values are read, and whether they are trimmed before.
fn parser(content: &Content) -> (Option<&Content>, bool) {
    match content {
        Content::Tags { value, .. } => (value.as_deref(), false),
        Content::Lines { value, pairs, .. } => (value.as_deref(), pairs.strip),
        _ => (None, false),
    }
}
