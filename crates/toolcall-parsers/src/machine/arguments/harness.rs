//! A test harness that runs a reader of arguments like the call machine does, from the end of a
//! call's header.

use alloc::{format, string::String, vec, vec::Vec};

use super::Cut;
use crate::{
    Event, Options, Repair, Sink, Tools,
    calls::Calls,
    cursor::{Progress, TextCursor},
    family::{At, CommitOn, Form, InReasoning, Keys, NewlineRule, Types, WhitespaceRule},
    machine::{call_sink::CallSink, plan::Plan},
    template::Template,
};

/// A reader of arguments and its specification.
pub(super) trait ReaderUnderTest {
    fn begin(&mut self, tool: &str);
    fn feed(&mut self, out: &mut CallSink<'_>) -> Progress;
    fn finish(&mut self, repair: Repair, out: &mut CallSink<'_>) -> Cut;
    fn close(&mut self, out: &mut CallSink<'_>);
    fn held(&self) -> usize;
}

/// A form with one call template and these parameters and elements.
pub(super) fn form(call: &str, parameters: &[&str], elements: &[&str]) -> Form {
    let parse = |text: &&str| Template::parse(text).expect("a template");
    Form {
        sections: Vec::new(),
        calls: vec![parse(&call)],
        parameters: parameters.iter().map(parse).collect(),
        elements: elements.iter().map(parse).collect(),
        between: Vec::new(),
        commit_on: None,
        at: At::Anywhere,
        call_alone: Some(CommitOn::Marker),
        spellings: Vec::new(),
        keys: Keys::NameIsKey,
        types: Types::Schema,
        undeclared: None,
        quote: Vec::new(),
        whitespace: WhitespaceRule::Free,
        newlines: NewlineRule::Text,
        in_reasoning: InReasoning::Literal,
        no_call: Vec::new(),
    }
}

/// The result of reading a call's text in parts.
pub(super) struct Run {
    /// The arguments, with diagnostics as `{kind bytes}`. At the end `|` and the text left to the
    /// call machine, or `.` for a complete call, or the outcome.
    pub(super) seen: String,
    /// Maximum number of bytes held.
    pub(super) held: usize,
    /// Number of bytes offered.
    pub(super) offered: usize,
}

/// Returns the context of a step over `text`.
pub(super) fn call_sink<'a>(
    plan: &'a Plan,
    text: &'a str,
    calls: &'a mut Calls,
    sink: &'a mut dyn Sink,
) -> CallSink<'a> {
    CallSink { plan, cursor: TextCursor::new(text), calls, sink }
}

/// Reads a call of `tool`.
pub(super) fn run<'t>(
    reader: &mut dyn ReaderUnderTest,
    (tool, tools): (&str, &Tools),
    options: &Options,
    parts: impl IntoIterator<Item = &'t str>,
) -> Run {
    let mut calls = Calls::new(tools.clone(), options.clone());
    let mut run = Run { seen: String::new(), held: 0, offered: 0 };
    let seen = &mut run.seen;
    let mut sink = |event: Event<'_>| match event {
        Event::CallArguments { fragment, .. } => seen.push_str(fragment),
        Event::Diagnostic(d) => seen.push_str(&format!("{{{} {}}}", d.kind.name(), d.bytes)),
        _ => {}
    };
    let plan = Plan::default();
    calls.start(tool, None, 0, &mut sink);
    reader.begin(tool);
    let (mut text, mut progress) = (String::new(), Progress::More);
    // The call machine feeds a reader directly after the header, even if no text is left.
    for part in core::iter::once("").chain(parts) {
        text.push_str(part);
        if progress == Progress::More {
            calls.begin_feed();
            let mut out = call_sink(&plan, &text, &mut calls, &mut sink);
            progress = reader.feed(&mut out);
            let at = out.cursor.at;
            run.offered += calls.looked_at(text.len());
            text.drain(..at);
            run.held = run.held.max(text.len() + reader.held());
        }
    }
    if progress == Progress::More {
        calls.ended = true;
        let mut out = call_sink(&plan, &text, &mut calls, &mut sink);
        progress = reader.feed(&mut out);
        let at = out.cursor.at;
        text.drain(..at);
    }
    let mut out = call_sink(&plan, &text, &mut calls, &mut sink);
    let end = match progress {
        Progress::Bad => " malformed|",
        Progress::Done => {
            reader.close(&mut out);
            "|"
        }
        Progress::More => {
            let cut = reader.finish(options.repair, &mut out);
            if !matches!(cut, Cut::Incomplete | Cut::Malformed) {
                reader.close(&mut out);
            }
            match cut {
                Cut::Whole | Cut::Ended(_) => ".",
                Cut::Repaired => " repaired",
                Cut::Incomplete => " incomplete",
                Cut::Malformed => " malformed",
            }
        }
    };
    run.seen.push_str(end);
    if progress != Progress::More {
        run.seen.push_str(&text);
    }
    run
}

/// Checks a text as a whole, character by character, and split in two at every position.
pub(super) fn check(
    reader: &mut dyn ReaderUnderTest,
    call: (&str, &Tools),
    options: &Options,
    text: &str,
    expected: &str,
) {
    let mut seen = |parts: Vec<&str>| run(reader, call, options, parts).seen;
    assert_eq!(seen(vec![text]), expected, "whole: {text:?}");
    assert_eq!(seen(scalars(text)), expected, "by scalars: {text:?}");
    for (cut, _) in text.char_indices().skip(1) {
        let (head, tail) = text.split_at(cut);
        assert_eq!(seen(vec![head, tail]), expected, "{head:?} + {tail:?}");
    }
}

/// Returns the characters of `text` as separate strings.
pub(super) fn scalars(text: &str) -> Vec<&str> {
    text.split_inclusive(|_: char| true).collect()
}
