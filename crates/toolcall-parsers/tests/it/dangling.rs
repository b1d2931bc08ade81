//! Tests of markers that the end of the stream cuts.

use toolcall_parsers::{Dangling, End, Event, Parser, grammar};

/// Returns the content of `wire`, and the diagnostics.
fn read(family: &str, dangling: Dangling, wire: &str, end: End) -> (String, Vec<&'static str>) {
    let grammar = grammar(family).expect("a registered family");
    let mut parser = Parser::builder(grammar).dangling(dangling).build().expect("its table");
    let (mut text, mut reported) = (String::new(), Vec::new());
    let mut sink = |event: Event<'_>| match event {
        Event::Content(piece) => text.push_str(piece),
        Event::Diagnostic(diagnostic) => reported.push(diagnostic.kind.name()),
        _ => {}
    };
    parser.push(wire, &mut sink).expect("no limit");
    parser.finish(end, &mut sink).expect("no limit");
    (text, reported)
}

#[test]
fn truncated_marker_is_text_unless_dangling_is_drop() {
    for (family, wire) in [("hermes", "Hi.<tool_"), ("kimi_k2", "Hi.<|tool_calls_sec")] {
        let dropped = ("Hi.".to_owned(), vec!["cut_opener"]);
        let text = (wire.to_owned(), Vec::new());
        assert_eq!(read(family, Dangling::Drop, wire, End::Length), dropped, "{family}");
        assert_eq!(read(family, Dangling::Drop, wire, End::Aborted), dropped, "{family}");
        assert_eq!(read(family, Dangling::Drop, wire, End::Stop), text, "{family}");
        assert_eq!(read(family, Dangling::Release, wire, End::Length), text, "{family}");
    }
}

#[test]
fn truncated_single_byte_or_bare_name_is_text() {
    for (family, wire) in [("hermes", "1 <"), ("granite_pythonic", "Hi.\nsho")] {
        let text = (wire.to_owned(), Vec::new());
        assert_eq!(read(family, Dangling::Drop, wire, End::Length), text, "{family}");
    }
}
