//! Tests of the view at every cut, and of its cost.

use serde_json::{Value, json};

use super::{ArgumentsChange, ArgumentsStep, ArgumentsView};

const ALL: &str = r#"{"a": "x\"\ud83c\udf31é\\", "b\n": [1, {"c": true, "d": []}], "e": -1.5}"#;

/// A value that only changes build.
fn replay(top: &mut Value, ArgumentsChange { path, value, appended }: ArgumentsChange<'_>) {
    let mut place = top;
    for step in path {
        place = match (step, place) {
            (ArgumentsStep::Key(key), Value::Object(members)) => {
                members.entry(&**key).or_insert(Value::Null)
            }
            (ArgumentsStep::Index(index), Value::Array(elements)) => {
                if *index == elements.len() {
                    elements.push(Value::Null);
                }
                &mut elements[*index]
            }
            _ => panic!("no container at {path:?}"),
        };
    }
    match (appended, &mut *place) {
        (Some(text), Value::String(string)) => string.push_str(text),
        (None, place) => *place = value.clone(),
        _ => panic!("no string at {path:?}"),
    }
    assert_eq!(place, value);
}

fn view(fragments: &[&str]) -> ArgumentsView {
    let mut view = ArgumentsView::new();
    let mut top = json!({});
    for fragment in fragments {
        view.push(fragment, |change| replay(&mut top, change));
        assert_eq!(&top, view.value(), "after {fragment:?} of {fragments:?}");
    }
    view
}

#[test]
fn view_equals_the_parsed_json_at_every_cut() {
    let whole: Value = serde_json::from_str(ALL).unwrap();
    for (at, _) in ALL.char_indices() {
        let view = view(&[&ALL[..at], &ALL[at..]]);
        assert_eq!(view.value(), &whole);
        assert!(view.is_complete());
    }
    let scalars: Vec<&str> = ALL.split_inclusive(|_| true).collect();
    assert_eq!(view(&scalars).value(), &whole);
}

#[test]
fn unfinished_numbers_words_keys_and_escapes_are_omitted() {
    for (text, value) in [
        ("", json!({})),
        ("{\"ke", json!({})),
        ("{\"key\": ", json!({})),
        ("{\"key\": 1", json!({})),
        ("{\"key\": 1 ", json!({"key": 1})),
        ("{\"key\": tru", json!({})),
        ("{\"key\": true", json!({"key": true})),
        ("{\"key\": \"a\\u00", json!({"key": "a"})),
        ("{\"key\": \"a\\ud83c", json!({"key": "a"})),
        ("{\"key\": \"a\\ud83c\\n", json!({"key": "a\u{fffd}\n"})),
        ("{\"key\": [[1, [\"b", json!({"key": [[1, ["b"]]]})),
    ] {
        assert_eq!(view(&[text]).value(), &value, "{text}");
        assert!(!view(&[text]).is_complete(), "{text}");
    }
}

#[test]
fn last_of_two_members_with_one_key_is_kept() {
    let view = view(&[r#"{"a": "x", "b": {"c": 1}, "a": "y"#, r#"z", "b": 2}"#]);
    assert_eq!(view.value(), &json!({"a": "yz", "b": 2}));
}

#[test]
fn malformed_text_ends_the_view_at_its_start() {
    for text in ["]}", "{\"a\": \"b\\x", "{]", "{{", "{\"a\": 1,,", "\u{0}"] {
        let view = view(&[text, "\"", "}", "1"]);
        assert!(view.is_malformed() && !view.is_complete(), "{text}");
    }
    let deep = "[".repeat(100_000);
    assert!(view(&[&deep]).is_malformed());
}

#[test]
fn plain_text_in_a_string_is_announced() {
    for (text, expected) in
        [("{\"a", false), ("{\"a\": \"", true), ("{\"a\": \"b\\", false), ("\"b\"", false)]
    {
        assert_eq!(view(&[text]).is_in_text(), expected, "{text}");
    }
}

#[test]
fn text_after_the_value_is_ignored() {
    let view = view(&["[1]", "{\"a\": 2}"]);
    assert_eq!(view.value(), &json!([1]));
    assert!(view.is_complete());
}

#[test]
fn long_string_in_small_pieces_is_read_in_linear_work() {
    let key = "k".repeat(32 << 10);
    for open in ["{\"a\": \"".to_owned(), format!("{{\"{key}\": [{{\"b\": \"")] {
        let mut view = ArgumentsView::new();
        view.push(&open, |_| {});
        let allocated = allocation_counter::measure(|| {
            for _ in 0..32 << 10 {
                view.push("wor\n", |change| assert_eq!(change.appended, Some("wor\n")));
            }
        });
        assert!(allocated.bytes_total < 1 << 20, "{allocated:?}");
    }
}

#[test]
fn cost_of_a_new_element_is_independent_of_earlier_elements() {
    let mut view = ArgumentsView::new();
    view.push("[", |_| {});
    let allocated = allocation_counter::measure(|| {
        for _ in 0..32 << 10 {
            view.push("1, ", |_| {});
        }
    });
    assert!(allocated.bytes_total < 8 << 20, "{allocated:?}");
    assert_eq!(view.value().as_array().map(Vec::len), Some(32 << 10));
}
