//! The jail: limits, ends, and what stays outside.

use jail_match::{Jail, JailEvent};

fn seen(jail: &Jail, chunks: &[&str]) -> String {
    let (mut jail, mut seen) = (jail.clone(), String::new());
    let mut on = |event: JailEvent<'_>| match event {
        JailEvent::Text(text) => seen.push_str(text),
        JailEvent::Jailed(block) => {
            seen.push_str(&format!("[{}|{}]", block.body, block.end.unwrap_or("-")));
        }
    };
    chunks.iter().for_each(|chunk| jail.push(chunk, &mut on));
    jail.finish(&mut on);
    seen
}

#[test]
fn a_block_behind_text_is_withheld() {
    let jail = Jail::builder().start("<s>").end("</s>").build().unwrap();
    assert_eq!(seen(&jail, &["some text <s>abc</s> more"]), "some text [abc|</s>] more");
    assert_eq!(seen(&jail, &["x<s>abc</"]), "x[abc</|-]");
}

#[test]
fn an_end_is_found_whatever_the_scalars_around_it() {
    // The bytes searched for are the last of one scalar and the middle of the other.
    let jail = Jail::builder().start("<").end("◁").end("\u{397}x").build().unwrap();
    assert_eq!(seen(&jail, &["<abc◁d"]), "[abc|◁]d");
}

#[test]
fn an_end_that_a_longer_one_may_outgrow_closes_at_the_end_of_the_stream() {
    let jail = Jail::builder().start("<").end("]").end("]>>").build().unwrap();
    assert_eq!(seen(&jail, &["<a]"]), "[a|]]");
    assert_eq!(seen(&jail, &["<a]>"]), "[a|]]>");
}

#[test]
fn a_block_never_outgrows_its_limit() {
    let jail = Jail::builder().start("<").end("</s>").limit(4).build().unwrap();
    assert_eq!(seen(&jail, &["<abcd</s>e"]), "[abcd|</s>]e");
    assert_eq!(seen(&jail, &["<abcdefg"]), "[abcd|-]efg");
    assert_eq!(seen(&jail, &["<abcé"]), "[abc|-]é");
    assert_eq!(seen(&jail, &["<abcd</s"]), "[abcd|-][/s|-]");
}

#[test]
fn bad_sequences_are_refused() {
    let error = |builder: jail_match::JailBuilder| builder.build().unwrap_err().to_string();
    assert_eq!(error(Jail::builder()), "no start sequence: expected at least one");
    assert_eq!(error(Jail::builder().start("<").end("")), "end sequence 0 is empty");
    assert_eq!(error(Jail::builder().start("")), "start sequence: edge 0: the marker is empty");
    let zero = Jail::builder().start("<").limit(0);
    assert_eq!(error(zero), "the limit is 0: expected at least 1 byte");
}
