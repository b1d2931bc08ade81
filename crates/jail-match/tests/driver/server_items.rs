//! Items between pieces of text: held text is emitted before them, for every cut.

use jail_match::{Channel, Driver, DriverSettings, End, InlineTags, ServerItem, Table, Whitespace};
use stream_laws::RunRecord;

use crate::{bodies::*, tables::*};

/// A piece of text, or an item between two.
enum Step {
    Text(&'static str),
    Item(ServerItem),
}

use Step::{Item as A, Text as T};

/// Returns the output with `|` for each item, and whether each item was recorded. Checks that
/// single scalars give the same.
fn seen(steps: &[Step], settings: DriverSettings) -> (String, Vec<bool>) {
    let once = |each: bool| {
        let mut driver = Driver::new(Table::new(all()).unwrap(), settings);
        let (mut bodies, mut seen, mut taken) = (Tiny::default(), String::new(), Vec::new());
        let step = |seen: &mut String, run: &mut dyn FnMut(&mut Out<'_>)| {
            let mut record = RunRecord::default();
            run(&mut Out(&mut record));
            seen.push_str(&show(&record));
        };
        for one in steps {
            match one {
                T(text) if each => text.chars().for_each(|scalar| {
                    let text = scalar.to_string();
                    step(&mut seen, &mut |out| driver.push(&text, &mut bodies, out).unwrap());
                }),
                T(text) => {
                    step(&mut seen, &mut |out| driver.push(text, &mut bodies, out).unwrap());
                }
                A(what) => {
                    step(&mut seen, &mut |out| {
                        taken.push(driver.server_item(*what, &mut bodies, out).unwrap());
                    });
                    seen.push('|');
                }
            }
        }
        step(&mut seen, &mut |out| driver.finish(End::Stop, &mut bodies, out).unwrap());
        (seen.replace("}{", ""), taken)
    };
    let whole = once(false);
    assert_eq!(once(true), whole);
    whole
}

#[test]
fn held_text_is_emitted_before_separated_items() {
    let call = || A(ServerItem::Call);
    for (steps, expected) in [
        (vec![T("a<ca"), call(), T("ll>b")], "a<ca|ll>b"),
        (vec![T("a<call>b"), call(), T(":</call>c")], "a<call>b|:</call>c"),
        (vec![T("<call><call>x"), call(), T("<call>:</call>c")], "<call><call>x|#c"),
        (vec![T("a<call>:</call>"), call(), T("b")], "a#|b"),
        (vec![call(), call()], "||"),
    ] {
        let (seen, taken) = seen(&steps, verbatim());
        assert_eq!(seen, expected);
        assert!(taken.iter().all(|taken| *taken));
    }
    let open = [T("a<call>:b"), call(), T("c</call>d")];
    assert_eq!(seen(&open, verbatim()), ("a#|d".into(), vec![false]), "an open call goes on");
}

#[test]
fn server_item_assigns_the_text_after_it_to_a_channel() {
    let (thought, answer) = (
        || A(ServerItem::Channel(Channel::REASONING)),
        || A(ServerItem::Channel(Channel::CONTENT)),
    );
    let steps = [T("a<th"), thought(), T("r<call>:</call>s"), thought(), T("t"), answer(), T("b")];
    // The call ends the reasoning of this table.
    assert_eq!(seen(&steps, verbatim()).0, "a<th|{r}#s|{t}|b");
    let framed = [thought(), T("r"), answer(), T("\n\n"), A(ServerItem::Call), T("\n"), thought()];
    let framing = DriverSettings::default().whitespace(Whitespace::Framing);
    assert_eq!(seen(&framed, framing).0, "|{r}|||");
    let again = [thought(), T("r\n"), thought(), T("s")];
    assert_eq!(seen(&again, framing).0, "|{r\n}|{s}", "nothing ended");
}

#[test]
fn tags_after_separated_reasoning_act_unless_literal() {
    let (thought, answer) = (
        || A(ServerItem::Channel(Channel::REASONING)),
        || A(ServerItem::Channel(Channel::CONTENT)),
    );
    let literal = verbatim().inline_tags(InlineTags::Literal);
    for (steps, live, dead) in [
        (vec![thought(), T("r"), answer(), T("<think>x")], "|{r}|{x}", "|{r}|<think>x"),
        // The server separated no reasoning here.
        (vec![answer(), T("<think>x</think>y<think>z")], "|{x}y{z}", "|{x}y{z}"),
        (vec![T("<think>x</think>y<think>z")], "{x}y{z}", "{x}y{z}"),
    ] {
        assert_eq!(seen(&steps, verbatim()).0, live);
        assert_eq!(seen(&steps, literal).0, dead);
    }
    // Naming the open channel again does not end it.
    let again = [thought(), T("r "), thought(), T("s")];
    assert_eq!(seen(&again, verbatim().whitespace(Whitespace::Trim)).0, "|{r}|{ s}");

    let (mut bodies, mut record) = (Tiny::default(), RunRecord::default());
    let mut driver = Driver::new(Table::new(all()).unwrap(), verbatim());
    driver.push("<think>", &mut bodies, &mut Out(&mut record)).unwrap();
    assert!(driver.is_unclosed());
    driver.reset();
    let item = ServerItem::Channel(Channel::REASONING);
    driver.server_item(item, &mut bodies, &mut Out(&mut record)).unwrap();
    assert!(!driver.is_unclosed(), "no marker opened it");
}
