//! Arguments in tags or lines: each is a member of the object as soon as it ends.

use alloc::string::String;
use core::fmt::Write;

use toolcall_parsers::Tools;

use crate::{
    cast,
    chars::is_blank,
    content,
    json::{Value, quoted},
    malformed::Malformed,
    pattern::Scan,
    template::Content,
};

/// Reads the members of one region, and writes them as JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    scan: Scan,
    /// Where the line begins that is being read, and how far its end was looked for.
    line: usize,
    looked: usize,
    written: usize,
    /// Whether one of them has no value: the region is malformed.
    broken: bool,
}

/// The tool whose arguments they are, and what is known of tools.
#[derive(Clone, Copy)]
pub(super) struct Tool<'t> {
    pub(super) name: &'t str,
    pub(super) tools: Option<&'t Tools>,
}

impl Members {
    /// How many bytes of `body` belong to no member yet.
    pub(super) fn held(&self, body: &str) -> usize {
        body.len().saturating_sub(self.scan.at.max(self.line))
    }

    /// What of the arguments is certain by what was read on in `body`, as JSON; `ended`: it is
    /// whole. `None`: a member has no value.
    pub(super) fn read(
        &mut self,
        content: &Content,
        body: &str,
        ended: bool,
        tool: Tool<'_>,
    ) -> Option<String> {
        let mut json = String::new();
        while !self.broken {
            match self.next(content, body, ended) {
                Ok(Some((key, value))) => self.write(key, value, tool, &mut json),
                Ok(None) => break,
                Err(_) => self.broken = true,
            }
        }
        if ended {
            json.push_str(if self.written == 0 { "{}" } else { "}" });
        }
        (!self.broken).then_some(json)
    }

    fn write(&mut self, key: &str, mut value: Value, tool: Tool<'_>, json: &mut String) {
        if let Some(tools) = tool.tools {
            cast::cast(&mut value, &cast::types(tools, tool.name, key));
        }
        json.push_str(if self.written == 0 { "{" } else { ", " });
        // Writing to a string cannot fail.
        let _ = quoted(key, json);
        let _ = write!(json, ": {value}");
        self.written += 1;
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
            Content::Lines { line, pair, strip, value } => {
                while let Some(text) = self.next_line(line.as_deref(), body, ended) {
                    let member = content::line(text, pair, *strip, value.as_deref())?;
                    if member.is_some() {
                        return Ok(member);
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The next line that ended: at `end`, or, without one, at white space.
    fn next_line<'b>(&mut self, end: Option<&str>, body: &'b str, ended: bool) -> Option<&'b str> {
        let rest = &body[self.looked..];
        let place = match end {
            Some(end) => rest.find(end).map(|at| (at, end.len())),
            None => rest
                .find(is_blank)
                .map(|at| (at, rest[at..].chars().next().map_or(0, char::len_utf8))),
        };
        let Some((at, len)) = place else {
            if ended && self.line <= body.len() {
                let last = &body[self.line..];
                (self.line, self.looked) = (body.len() + 1, body.len());
                return Some(last);
            }
            // The end of a line may have begun.
            let most = end.map_or(0, |end| end.len() - 1);
            let from = body.len().saturating_sub(most).max(self.looked);
            self.looked = (self.looked..=from).rev().find(|&at| body.is_char_boundary(at))?;
            return None;
        };
        let text = &body[self.line..self.looked + at];
        self.looked += at + len;
        self.line = self.looked;
        Some(text)
    }
}
