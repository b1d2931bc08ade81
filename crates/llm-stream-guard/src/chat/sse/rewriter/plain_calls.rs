//! A check whether the calls of an event are written as they came.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The calls of an event.
#[derive(Deserialize)]
struct EventCalls<'e> {
    #[serde(borrow)]
    choices: Vec<ChoiceCalls<'e>>,
}

#[derive(Deserialize)]
struct ChoiceCalls<'e> {
    #[serde(borrow, default)]
    delta: Option<DeltaCalls<'e>>,
}

#[derive(Deserialize)]
struct DeltaCalls<'e> {
    #[serde(borrow, default)]
    tool_calls: Option<Vec<Members<'e>>>,
}

/// The members of an object.
type Members<'e> = BTreeMap<Name<'e>, &'e RawValue>;

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Name<'e>(#[serde(borrow)] Cow<'e, str>);

/// Returns whether a chunk with the calls of this event writes them equally. Arguments that are not
/// a string are written as text, and `null` is not written.
///
/// ```text
/// {"index":0,"function":{"name":"f","arguments":"{}"}}   written as it came
/// {"index":0,"function":{"name":"f","arguments":{}}}     written with "arguments":"{}"
/// {"index":0,"id":null,"function":{"arguments":"{"}}     written without "id"
/// ```
pub(in crate::chat) fn calls_are_plain(data: &[u8]) -> bool {
    let Ok(EventCalls { choices }) = serde_json::from_slice::<EventCalls<'_>>(data) else {
        return false;
    };
    let deltas = choices.into_iter().filter_map(|choice| choice.delta);
    deltas.filter_map(|delta| delta.tool_calls).flatten().all(|call| {
        let function = member(&call, "function");
        let function = function.map(|raw| serde_json::from_str::<Members<'_>>(raw).ok());
        let is_given = |members: &Members<'_>, name: &str| member(members, name) != Some("null");
        ["index", "id", "type"].into_iter().all(|name| is_given(&call, name))
            && function.is_none_or(|members| {
                members.is_some_and(|members| {
                    is_given(&members, "name")
                        && member(&members, "arguments").is_none_or(|raw| raw.starts_with('"'))
                })
            })
    })
}

fn member<'e>(members: &Members<'e>, name: &str) -> Option<&'e str> {
    members.get(&Name(name.into())).map(|raw| raw.get())
}

#[cfg(test)]
mod tests {
    use super::calls_are_plain;

    #[test]
    fn calls_with_null_or_with_other_arguments_than_text_are_not_plain() {
        for (call, expected) in [
            (r#"{"index":0,"function":{"name":"f","arguments":"{}"},"x":null}"#, true),
            (r#"{"index":0,"id":"a","type":"function"}"#, true),
            (r#"{"index":0,"function":{"name":"f","arguments":{}}}"#, false),
            (r#"{"index":0,"function":{"name":"f","arguments":null}}"#, false),
            (r#"{"index":0,"function":{"name":null,"arguments":"{"}}"#, false),
            (r#"{"index":0,"function":null}"#, false),
            (r#"{"index":0,"id":null,"function":{"arguments":"{"}}"#, false),
            (r#"{"index":null,"function":{"arguments":"{"}}"#, false),
        ] {
            let data = format!(
                r#"{{"choices":[{{"delta":{{}}}},{{"delta":{{"tool_calls":[{call}]}}}}]}}"#
            );
            assert_eq!(calls_are_plain(data.as_bytes()), expected, "{call}");
        }
    }
}
