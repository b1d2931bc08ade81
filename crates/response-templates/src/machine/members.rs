//! Arguments in tags or lines: each is a member of the object as it comes.

use alloc::string::String;
use core::{fmt::Write, mem};

use toolcall_parsers::Tools;

use super::lines::Lines;
use crate::{
    cast,
    chars::is_blank,
    content,
    json::{Scanner, Value, escaped, quoted},
    malformed::Malformed,
    pattern::Scan,
    template::Content,
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
                Ok(Some((key, value))) => self.write(key, value, tool),
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
    fn write(&mut self, key: &str, mut value: Value, tool: Tool<'_>) {
        match (mem::take(&mut self.growing), &value) {
            (Growing::Text { begin, sent, .. }, Value::String(text)) => {
                self.escaped(&text[sent - begin..]);
                self.json.push('"');
            }
            _ => {
                cast::cast(&mut value, &tool.types(key));
                self.key(key);
                // Writing to a string cannot fail.
                let _ = write!(self.json, "{value}");
            }
        }
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
    ) -> Result<Option<(&'b str, Value)>, Malformed> {
        match content {
            Content::Tags { pattern, value, .. } => {
                let found = self.scan.next(pattern, body, ended);
                found.map(|found| content::tag(pattern, value.as_deref(), body, &found)).transpose()
            }
            Content::Lines { line, pairs, value } => {
                while let Some(text) = self.lines.next(line.as_deref(), body, ended) {
                    let member = content::line(text, pairs, value.as_deref())?;
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
        let (member, parser, strip) = match content {
            Content::Tags { pattern, value, .. } => {
                (self.scan.growing(pattern, body, closes), value, false)
            }
            Content::Lines { pairs, value, .. } => {
                (self.lines.growing(pairs, body), value, pairs.strip)
            }
            _ => return,
        };
        let Some((key, start, end)) = member else { return };
        if let Growing::Unknown = self.growing {
            let typed = !tool.types(key).is_empty();
            self.growing = match parser.as_deref() {
                _ if typed => Growing::Waits,
                None => self.begin(key, strip, start),
                Some(Content::Text { strip: trim }) => self.begin(key, strip | trim, start),
                Some(Content::Json(dialect)) if dialect.is_plain() => match dialect.text {
                    Some(trim) => {
                        let scanner = Scanner::default();
                        Growing::Json { scanner, seen: start, strip: strip | trim }
                    }
                    None => Growing::Waits,
                },
                Some(_) => Growing::Waits,
            };
        }
        if let Growing::Json { scanner, seen, strip } = &mut self.growing
            && scanner.feed(&body[mem::replace(seen, end)..end], &mut |_| {}).is_err()
        {
            let strip = *strip;
            self.growing = self.begin(key, strip, start);
        }
        let Growing::Text { strip, begin, sent, seen } = &mut self.growing else { return };
        let new = &body[*seen..end];
        if *strip && sent == begin && begin == seen {
            let blank = new.len() - new.trim_start_matches(is_blank).len();
            (*begin, *sent, *seen) = (*begin + blank, *sent + blank, *seen + blank);
        }
        let new = &body[*seen..end];
        // White space that may end the text waits.
        let visible = if *strip { new.trim_end_matches(is_blank) } else { new };
        if !visible.is_empty() {
            let certain = *seen + visible.len();
            let text = &body[mem::replace(sent, certain)..certain];
            *seen = end;
            self.escaped(text);
        } else {
            *seen = end;
        }
    }

    /// The value of `key` is a string, whose text is looked for from `start` on.
    fn begin(&mut self, key: &str, strip: bool, start: usize) -> Growing {
        self.key(key);
        self.json.push('"');
        Growing::Text { strip, begin: start, sent: start, seen: start }
    }
}
