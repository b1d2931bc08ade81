//! The comparison of a parser's answers with a vector's expectation.

use serde::Deserialize;
use serde_json::Value;

use super::cases::{Expected, ExpectedCall, Vector, run};

/// The answers of one parser to one case, one for each run. A parser that does not stream has one.
#[derive(Debug, Deserialize)]
pub(super) struct Answers {
    pub(super) parser: String,
    pub(super) id: String,
    pub(super) runs: Vec<Answer>,
}

/// The message that a client gets.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Answer {
    pub(super) content: String,
    pub(super) reasoning: String,
    /// Names and the text of the arguments.
    pub(super) calls: Vec<(String, String)>,
    pub(super) failure: Option<String>,
}

/// A number of cases, and the number of cases that were judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) good: usize,
    pub(super) of: usize,
}

impl Share {
    fn add(&mut self, good: bool) {
        self.good += usize::from(good);
        self.of += 1;
    }
}

/// The results of one parser for one task.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    pub(super) families: std::collections::BTreeSet<String>,
    /// All cases, including cut answers and decided cases.
    pub(super) cases: usize,
    /// Calls as expected, in the whole text and as a stream of tokens.
    pub(super) calls: [Share; 2],
    /// Text as expected up to white space, in the same two runs.
    pub(super) text: [Share; 2],
    /// Cases with the right text except for white space.
    pub(super) blanks: usize,
    /// Cases with the same result for cuts between tags, and for cuts at any place.
    pub(super) steady: [Share; 2],
    pub(super) quoted: Share,
    /// Cases with a call whose arguments are valid JSON, but not those of the vector.
    pub(super) wrong_arguments: usize,
    /// Cases whose result is a decision of this project, and in which the parser agrees.
    pub(super) decided: Share,
    /// Cases in which the parser raised an error or did not end.
    pub(super) failures: usize,
}

impl Tally {
    pub(super) fn add(&mut self, vector: &Vector, answers: &Answers) {
        let Some(whole) = answers.runs.get(run::WHOLE) else { return };
        let expect = &vector.expect;
        let streamed = answers.runs.get(run::TOKENS);
        // Most clients read streams. A parser that does not stream is judged by the whole text.
        let last = streamed.unwrap_or(whole);
        self.families.insert(vector.family.clone());
        self.cases += 1;
        self.failures += usize::from(answers.runs.iter().any(|one| one.failure.is_some()));
        self.wrong_arguments +=
            usize::from([whole, last].into_iter().any(|one| has_wrong_arguments(one, expect)));
        if streamed.is_some() {
            let same = |runs: &[Answer]| runs.windows(2).all(|two| is_same(&two[0], &two[1]));
            let streams = answers.runs.get(run::WHOLE + 1..).unwrap_or_default();
            let between_tags = answers.runs.get(run::TOKENS..run::CUT_TAGS).unwrap_or_default();
            self.steady[0].add(same(between_tags));
            self.steady[1].add(same(streams));
        }
        if vector.is_cut() {
            return;
        }
        if vector.is_decided() {
            self.decided.add(vector.is_right(last));
            return;
        }
        for (at, one) in [Some(whole), streamed].into_iter().enumerate() {
            let Some(one) = one else { continue };
            if vector.reads_calls() {
                self.calls[at].add(are_calls_right(one, expect));
            }
            self.text[at].add(text_match(one, expect) != TextMatch::Other);
        }
        self.blanks += usize::from(text_match(last, expect) == TextMatch::Blanks);
        if vector.is_quoted() {
            self.quoted.add(vector.is_right(last));
        }
    }
}

impl Vector {
    /// Returns whether a message has the calls and, up to white space, the text that are expected.
    pub(super) fn is_right(&self, one: &Answer) -> bool {
        (!self.reads_calls() || are_calls_right(one, &self.expect))
            && text_match(one, &self.expect) != TextMatch::Other
    }
}

/// The result of comparing text with the expected text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextMatch {
    Equal,
    /// White space differs.
    Blanks,
    Other,
}

fn text_match(answer: &Answer, expect: &Expected) -> TextMatch {
    let pairs = [(&answer.content, &expect.content), (&answer.reasoning, &expect.reasoning)];
    let pairs = pairs.map(|(got, wanted)| (got.as_str(), wanted.as_deref().unwrap_or_default()));
    if answer.failure.is_some() {
        TextMatch::Other
    } else if pairs.iter().all(|(got, wanted)| got == wanted) {
        TextMatch::Equal
    } else if pairs.iter().all(|(got, wanted)| visible(got).eq(visible(wanted))) {
        TextMatch::Blanks
    } else {
        TextMatch::Other
    }
}

fn visible(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace())
}

fn are_calls_right(answer: &Answer, expect: &Expected) -> bool {
    let wanted = expect.calls.as_deref().unwrap_or_default();
    answer.failure.is_none()
        && answer.calls.len() == wanted.len()
        && answer.calls.iter().zip(wanted).all(|(got, wanted)| is_call(got, wanted))
}

fn is_call((name, arguments): &(String, String), wanted: &ExpectedCall) -> bool {
    *name == wanted.name
        && value_of(arguments).is_some_and(|value| are_equal(&value, &wanted.arguments))
}

/// Returns the value of arguments. No text counts as an empty object.
fn value_of(arguments: &str) -> Option<Value> {
    let text = if arguments.trim().is_empty() { "{}" } else { arguments };
    serde_json::from_str(text).ok()
}

/// Returns whether two values are equal; numbers are compared by their value.
fn are_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let equal = |(key, value)| other.get(key).is_some_and(|other| are_equal(value, other));
            one.len() == other.len() && one.iter().all(equal)
        }
        _ => one == other,
    }
}

/// Returns whether the answer has a call that a client would run: its name is that of a call of the
/// wire, and its arguments are an object, but not the wire's.
fn has_wrong_arguments(answer: &Answer, expect: &Expected) -> bool {
    let wanted = expect.calls.as_deref().unwrap_or_default();
    let named = |name: &str| {
        let mut all = wanted.iter().chain(&expect.incomplete);
        all.any(|call| call.name == name)
    };
    answer.calls.iter().any(|got| {
        let whole = serde_json::from_str::<Value>(&got.1).is_ok_and(|value| value.is_object());
        whole && named(&got.0) && !wanted.iter().any(|call| is_call(got, call))
    })
}

/// Returns whether two runs gave the same calls, and the same text up to white space.
fn is_same(one: &Answer, other: &Answer) -> bool {
    let same_call = |(one, other): (&(String, String), &(String, String))| {
        one.0 == other.0
            && match (value_of(&one.1), value_of(&other.1)) {
                (Some(one), Some(other)) => are_equal(&one, &other),
                _ => visible(&one.1).eq(visible(&other.1)),
            }
    };
    one.failure.is_some() == other.failure.is_some()
        && visible(&one.content).eq(visible(&other.content))
        && visible(&one.reasoning).eq(visible(&other.reasoning))
        && one.calls.len() == other.calls.len()
        && one.calls.iter().zip(&other.calls).all(same_call)
}

#[cfg(test)]
mod tests {
    use super::{Answer, Answers, Share, Tally, Vector};

    const LINE: &str = r#"{"id": "hermes/prose", "kind": "tools", "family": "hermes",
        "expect": {"content": "On it. ", "calls": [{"name": "ring", "arguments": {"times": 2}}]}}"#;
    const CUT: &str = r#"{"id": "hermes/cut", "kind": "tools", "family": "hermes", "finish": "length",
        "expect": {"content": "", "calls": [], "incomplete": {"name": "ring"}}}"#;

    fn answer(content: &str, name: &str, arguments: &str) -> Answer {
        let calls = vec![(name.to_owned(), arguments.to_owned())];
        Answer { content: content.to_owned(), calls, ..Answer::default() }
    }

    fn tally(line: &str, runs: &[Answer]) -> Tally {
        let vector: Vector = serde_json::from_str(line).unwrap();
        let answers = Answers { parser: String::new(), id: String::new(), runs: runs.to_vec() };
        let mut tally = Tally::default();
        tally.add(&vector, &answers);
        tally
    }

    #[test]
    fn right_answer_counts_everywhere() {
        let right = answer("On it. ", "ring", r#"{"times": 2.0}"#);
        let found = tally(LINE, &vec![right; 7]);
        let one = Share { good: 1, of: 1 };
        assert_eq!((found.calls, found.text), ([one; 2], [one; 2]));
        assert_eq!((found.steady, found.quoted), ([one; 2], one));
        assert_eq!((found.wrong_arguments, found.blanks, found.failures), (0, 0, 0));
    }

    #[test]
    fn seeded_faults_are_counted() {
        let none = Share { good: 0, of: 1 };
        let wrong = tally(LINE, &[answer("On it.", "ring", r#"{"times": "2"}"#)]);
        assert_eq!((wrong.calls[0], wrong.wrong_arguments, wrong.blanks), (none, 1, 1));
        assert_eq!((wrong.quoted, wrong.steady[0]), (none, Share::default()));
        let lost = tally(LINE, &[answer("On", "ring", r#"{"times": 2}"#)]);
        assert_eq!((lost.text[0], lost.calls[0].good, lost.wrong_arguments), (none, 1, 0));
        let failed = Answer { failure: Some("why".to_owned()), ..answer("On it. ", "ring", "{}") };
        assert_eq!(tally(LINE, &[failed]).failures, 1);
    }

    #[test]
    fn cut_tag_changes_the_second_share_alone() {
        let mut runs = vec![answer("On it. ", "ring", r#"{"times": 2}"#); 7];
        runs[5].content.push_str("<tool_call>");
        let found = tally(LINE, &runs);
        assert_eq!(found.steady, [Share { good: 1, of: 1 }, Share { good: 0, of: 1 }]);
        runs[3].calls.clear();
        assert_eq!(tally(LINE, &runs).steady[0].good, 0);
    }

    #[test]
    fn cut_call_is_judged_by_its_arguments_alone() {
        let begun = tally(CUT, &[answer("", "ring", r#"{"times": "#)]);
        assert_eq!((begun.calls[0].of, begun.wrong_arguments), (0, 0));
        assert_eq!(tally(CUT, &[answer("", "ring", r#"{"times": 1}"#)]).wrong_arguments, 1);
    }
}
