//! Tests of element trees: each row is read at every cut.

use alloc::format;

use jail_match::End;
use serde_json::{Value, json};

use super::{ElementSpec, Elements};
use crate::{
    CallLimits, Options, Repair, Tools,
    cursor::Progress,
    machine::{
        arguments::{
            CallEnds, Cut,
            harness::{self, ReaderUnderTest, form, run, scalars},
        },
        call_sink::CallSink,
    },
};

const TOKEN: &str = "]<]minimax[>[";

struct Family {
    spec: ElementSpec,
    reader: Elements,
    options: Options,
}

impl ReaderUnderTest for Family {
    fn begin(&mut self, tool: &str) {
        self.reader.begin(tool);
    }
    fn feed(&mut self, out: &mut CallSink<'_>) -> Progress {
        self.reader.feed(&self.spec, out)
    }
    fn finish(&mut self, repair: Repair, out: &mut CallSink<'_>) -> Cut {
        debug_assert_eq!(repair, out.calls.options.repair);
        self.reader.finish(&self.spec, End::Stop, out)
    }
    fn close(&mut self, out: &mut CallSink<'_>) {
        self.reader.close(out);
    }
    fn held(&self) -> usize {
        self.reader.held()
    }
}

impl Family {
    fn new(options: Options) -> Self {
        let text = |text: &str| text.replace('~', TOKEN);
        let element = text("~<{key}>{value}~</{key}>");
        let form = form("<f={name}>{elements}</f>", &[], &[&element]);
        let ends = CallEnds {
            call: [text("~</invoke>")].into(),
            section: [text("~</tool_call>")].into(),
            openers: [text("~<tool_call>"), text("~<invoke name=\"")].into(),
            ..CallEnds::default()
        };
        let spec = ElementSpec::compile(&form, ends).expect("a form");
        Self { spec, reader: Elements::default(), options }
    }

    /// Checks a text. Replaces `~` by the token.
    fn check(&mut self, text: &str, expected: &str) {
        let options = self.options.clone();
        let (text, expected) = (text.replace('~', TOKEN), expected.replace('~', TOKEN));
        harness::check(self, ("f", &tools()), &options, &text, &expected);
    }

    /// Checks elements that are followed by the call's end.
    fn check_all(&mut self, rows: &[(&str, &str)]) {
        for (elements, expected) in rows {
            self.check(&format!("{elements}~</invoke>"), &format!("{{{expected}}}|~</invoke>"));
        }
    }
}

fn tools() -> Tools {
    let schema = json!({"properties": {
        "s": {"type": "string"}, "n": {"type": "integer"}, "x": {"description": "any"},
        "l": {"type": "array", "items": {"type": "integer"}},
        "o": {"$ref": "#/$defs/o"},
        "t": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
    }, "$defs": {"o": {"type": "object", "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"}, "o": {"$ref": "#/$defs/o"},
    }}}});
    Tools::new([("f", schema), ("g", Value::Null)])
}

#[test]
fn elements_are_typed_by_the_schema() {
    Family::new(Options::default()).check_all(&[
        ("", ""),
        ("~<s>a \"b\" </s> <~</s>~<n> 7 ~</n>", "\"s\": \"a \\\"b\\\" </s> <\", \"n\": 7"),
        ("~<s>~</s>~<x>42~</x>", "\"s\": \"\", \"x\": \"42\""),
        ("~<n>seven~</n>", "\"n\": \"seven\"{mistyped 0}"),
        ("~<l>\n~<a>1~</a>\n~<b>2~</b>\n~</l>", "\"l\": [1, 2]"),
        ("~<l>~</l>~<o> ~</o>~<l>[1]~</l>", "\"l\": [], \"o\": {}, \"l\": [1]"),
        ("~<o>~<n>1~</n>~<s>1~</s>~</o>", "\"o\": {\"n\": 1, \"s\": \"1\"}"),
        ("~<o>~<o>~<item>1~</item>~</o>~</o>", "\"o\": {\"o\": {\"item\": \"1\"}}"),
        ("~<t>~<i>1~</i>~<i>2~</i>~</t>", "\"t\": [\"1\", 2]"),
        ("~<s>~<item>x~</item>~</s>", "\"s\": \"~<item>x~</item>\""),
        ("~<l>x~<a>1~</a>yz~</l>", "\"l\": [1]{noise 3}"),
        ("~ <s >a~ </ s>", "\"s\": \"a\""),
    ]);
}

#[test]
fn elements_without_a_schema_are_typed_by_their_children() {
    Family::new(Options::default()).check_all(&[
        ("~<a>1~</a>~<a>2~</a>", "\"a\": \"1\", \"a\": \"2\""),
        ("~<a>~<b>~</b>~</a>", "\"a\": {\"b\": \"\"}"),
        ("~<a>~<item>1~</item>~<b>2~</b>~</a>", "\"a\": [\"1\", \"2\"]"),
        ("~<a>~<b>1~</b>~<item>2~</item>~</a>", "\"a\": {\"b\": \"1\", \"item\": \"2\"}"),
        (
            "~<a>~<b>1~</b>~<b>2~</b>~<b>3~</b>~<c>4~</c>~<b>5~</b>~</a>",
            "\"a\": {\"b\": [\"1\", \"2\", \"3\"], \"c\": \"4\", \"b\": \"5\"}",
        ),
        (
            "~<a>~<b>~<c>1~</c>~<c>2~</c>~</b>~<b>~<d>~</d>~</b>~</a>~<e>~</e>",
            "\"a\": {\"b\": [{\"c\": [\"1\", \"2\"]}, {\"d\": \"\"}]}, \"e\": \"\"",
        ),
        ("~<a>~<b>~<b>1~</b>~</b>~</a>", "\"a\": {\"b\": {\"b\": \"1\"}}"),
        ("~<a> x~<b>1~</b>\n y ~</a>", "\"a\": {\"b\": \"1\", \"$text\": \"x\\n y\"}"),
        (
            "~<a>x~<$text>1~</$text>~<$text$>2~</$text$>~</a>",
            "\"a\": {\"$text\": \"1\", \"$text$\": \"2\", \"$text$$\": \"x\"}",
        ),
        ("~<o>x~<n>1~</n>~</o>", "\"o\": {\"n\": 1, \"$text\": \"x\"}"),
        ("~<a>a~~<b>1~</b>~</a>", "\"a\": {\"b\": \"1\", \"$text\": \"a~\"}"),
    ]);
}

#[test]
fn elements_named_like_call_tags_are_arguments() {
    Family::new(Options::default()).check_all(&[
        ("~<invoke>1~</invoke>~<invokes>2~</invokes>", "\"invoke\": \"1\", \"invokes\": \"2\""),
        ("~<a>~<tool_call>1~</tool_call>~</a>", "\"a\": {\"tool_call\": \"1\"}"),
    ]);
}

#[test]
fn text_that_is_not_an_element_is_left_to_the_call_machine() {
    let mut family = Family::new(Options::default());
    for (text, expected) in [
        ("~<a>1~</a>\n~</tool_call> b", "{\"a\": \"1\"}|~</tool_call> b"),
        ("~<a>1~</a>~<invoke name='g'>", "{\"a\": \"1\"}|~<invoke name='g'>"),
        ("~<tool_call>", "{}|~<tool_call>"),
        ("oops~<a>", "{}|oops~<a>"),
        ("~x", "{}|~x"),
        ("]<", "{ incomplete"),
        // A tag of the call, while an element is open.
        ("~<a>1~</invoke>", "{ malformed|~</invoke>"),
        ("~<s>1~<invoke name=\"g\">", "{\"s\": \"1~<invoke name=\\\"g\\\"> malformed|"),
        ("~<a>1~</b>x", "{ malformed|x"),
        ("~<s>1~<n>2", "{\"s\": \"1~<n>2 malformed|"),
        ("~<a>~<>2", "{ malformed|2"),
    ] {
        family.check(text, expected);
    }
    let text = "~<a>1~</b>x".replace('~', TOKEN);
    run(&mut family, ("f", &tools()), &Options::default(), [text.as_str()]);
    assert_eq!(family.reader.faulty_tag_len(), TOKEN.len() as u64 + 4);
}

#[test]
fn truncated_elements_are_incomplete_or_closed_by_repair() {
    let rows = [
        ("", "{ incomplete", "{} repaired"),
        ("~<s", "{ incomplete", "{} repaired"),
        ("~<s>ab]<", "{\"s\": \"ab incomplete", "{\"s\": \"ab\"} repaired"),
        ("~<x>ab", "{ incomplete", "{} repaired"),
        (
            "~<a>~<b>1~</b>~<b>2~</b",
            "{\"a\": {\"b\": [\"1\" incomplete",
            "{\"a\": {\"b\": [\"1\"]}} repaired",
        ),
        ("~<a>~<b>1~</b>", "{\"a\": {\"b\": \"1\" incomplete", "{\"a\": {\"b\": \"1\"}} repaired"),
        ("~<n>1~</n>~<s", "{\"n\": 1 incomplete", "{\"n\": 1} repaired"),
        ("~<n>1~</n>", "{\"n\": 1}.", "{\"n\": 1}."),
        ("~<n>1~</n>\n~<", "{\"n\": 1}.", "{\"n\": 1}."),
        ("~<n>1~</n>\n~", "{\"n\": 1}.", "{\"n\": 1}."),
    ];
    let mut plain = Family::new(Options::default());
    let mut repairing = Family::new(Options { repair: Repair::Close, ..Options::default() });
    for (text, cut, closed) in rows {
        plain.check(text, cut);
        repairing.check(text, closed);
    }
}

#[test]
fn element_text_over_the_value_limit_is_a_string_or_dropped() {
    let limits = CallLimits { value: 8, ..CallLimits::default() };
    Family::new(Options { limits, ..Options::default() }).check_all(&[
        ("~<x>12345678~</x>", "\"x\": \"12345678\""),
        ("~<x>123456789~</x>", "\"x\": \"123456789\""),
        ("~<a>1~<b>~</b>2345678é1~</a>", "\"a\": {\"b\": \"\", \"$text\": \"12345678\"}{noise 3}"),
        // The first child is too long to be held until a second one comes.
        ("~<a>~<b>12~</b>~<b>3~</b>~</a>", "\"a\": {\"b\": \"12\", \"b\": \"3\"}"),
    ]);
}

#[test]
fn declared_string_elements_stream() {
    Family::new(Options::default()).check("~<o>~<s>ab]<]mini", "{\"o\": {\"s\": \"ab incomplete");
}

#[test]
fn element_nesting_is_limited() {
    let mut family = Family::new(Options::default());
    let mut read = |depth: usize| {
        let (open, close) = ("~<item>".repeat(depth - 1), "~</item>".repeat(depth - 1));
        let text = format!("~<a>{open}x{close}~</a>~</invoke>").replace('~', TOKEN);
        run(&mut family, ("g", &tools()), &Options::default(), scalars(&text)).seen
    };
    assert!(read(128).contains("]}|"));
    assert!(read(129).contains(" malformed|"));
}
