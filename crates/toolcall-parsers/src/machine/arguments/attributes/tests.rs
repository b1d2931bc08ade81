//! Tests of attributes.

use alloc::{format, string::String, vec};

use super::{AttributeHeader, AttributeHole, AttributeRead, HeaderReader, Holes, Names, last_word};
use crate::{cursor::TextCursor, machine::arguments::tag::TagTexts};

fn header(holes: Holes, attributes: &[&str]) -> AttributeHeader {
    let hole = |name: &&str| AttributeHole { attribute: (*name).into(), names: Names::Line };
    let ends = vec![TagTexts::new(">", &[]), TagTexts::new("/>", &[])];
    AttributeHeader { holes, fields: attributes.iter().map(hole).collect(), ends }
}

/// Reads `text` as a whole and cut at every position.
fn read(header: &AttributeHeader, text: &str) -> String {
    let run = |cut: usize| {
        let mut reader = HeaderReader::default();
        reader.begin(header);
        let mut at = 0;
        for end in [cut, text.len()] {
            let mut cursor = TextCursor { text: &text[..end], at };
            let read = reader.feed(header, 8, &mut cursor);
            at = cursor.at;
            match read {
                AttributeRead::More => {}
                AttributeRead::Done { end, .. } => {
                    let fields = 0..header.fields.len();
                    let values = fields.map(|n| format!("{:?} ", reader.value(n)));
                    return format!("{}{end} {}", values.collect::<String>(), &text[at..]);
                }
                AttributeRead::Bad => return format!("bad {}", &text[at..]),
            }
        }
        "more".into()
    };
    let whole = run(text.len());
    for (cut, _) in text.char_indices() {
        assert_eq!(run(cut), whole, "{text:?} cut at {cut}");
    }
    whole
}

#[test]
fn attributes_are_read_in_any_order_and_quoting_or_refused() {
    let header = header(Holes::Attributes, &["name", "string"]);
    let both = "Some(\"a>b\") Some(\"true\") 0 x";
    assert_eq!(read(&header, " name=\"a>b\" string='true'>x"), both);
    assert_eq!(read(&header, "string = true id='<>' name = \"a>b\" >x"), both);
    assert_eq!(read(&header, " name=a string=\"true\" />"), "Some(\"a\") Some(\"true\") 1 ");
    assert_eq!(read(&header, " name=a b>x"), "Some(\"a b\") None 0 x");
    assert_eq!(read(&header, " other=a b name=c>x"), "Some(\"c\") None 0 x");
    assert_eq!(read(&header, " name='&quot;&amp;'>"), "bad mp;'>");
    assert_eq!(read(&header, " name='&quot;'>"), "Some(\"\\\"\") None 0 ");
    assert_eq!(read(&header, ">x"), "None None 0 x");
    assert_eq!(read(&header, " ?>x"), "bad ?>x");
    assert_eq!(read(&header, " name>x"), "bad >x");
    assert_eq!(read(&header, " name='a"), "more");
}

#[test]
fn text_after_an_equals_sign_may_be_quoted() {
    let header = header(Holes::Assigned, &[""]);
    assert_eq!(read(&header, "a b>x"), "Some(\"a b\") 0 x");
    assert_eq!(read(&header, " 'a>b' >x"), "Some(\"a>b\") 0 x");
    assert_eq!(read(&header, " '&amp;'>x"), "Some(\"&amp;\") 0 x");
    assert_eq!(read(&header, "a=b>x"), "Some(\"a=b\") 0 x");
    assert_eq!(read(&header, "a<b>"), "bad <b>");
    assert_eq!(read(&header, "a\nb>"), "bad b>");
    assert_eq!(read(&header, "123456789>"), "bad 9>");
}

#[test]
fn quotes_between_tags_are_text() {
    let header = header(Holes::Text, &[""]);
    assert_eq!(read(&header, " \"a\" \n>x"), "Some(\"\\\"a\\\"\") 0 x");
}

#[test]
fn last_word_requires_text_and_a_space_before_it() {
    for (value, wanted) in [("a bc", Some(2)), ("a b ", Some(2)), ("a, bc", Some(3))] {
        assert_eq!(last_word(value), wanted, "{value}");
    }
    for value in ["", "abc", " abc", "a b!", "a,b"] {
        assert_eq!(last_word(value), None, "{value}");
    }
}
