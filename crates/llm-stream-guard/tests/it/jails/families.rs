//! Sequences given by hand, with every family as the parser.

use llm_stream_guard::{
    Grammar, JailedStream, JailedStreamBuilder, Tools,
    toolcall_parsers::{
        EncodeCall, encode,
        family::{OwnMarkers, Sequences},
        grammars,
    },
};
use serde_json::json;

use crate::jails::seen;

const CALLS: [EncodeCall<'static>; 2] = [
    EncodeCall::new("lookup_tide", r#"{"port": "Brest"}"#),
    EncodeCall::new("ring_bell", r#"{"tone": "low"}"#),
];

/// What the calls are shown as.
const SHOWN: &str = r#"lookup_tide({"port": "Brest"})ring_bell({"tone": "low"})"#;

fn tools() -> Tools {
    let tool = |name: &str, argument: &str| {
        let parameters = json!({"type": "object", "properties": {argument: {"type": "string"}}});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    let tools = json!([tool("lookup_tide", "port"), tool("ring_bell", "tone")]);
    Tools::from_json(&tools).expect("tools")
}

/// Each family with `<<CALL` and `END>>` as its sequences, and the calls as it writes them then, one
/// after the other: how its calls look is the family's, and the sequences are where they belong.
/// Where calls are messages, the sequences stand around each.
fn wires() -> Vec<(Grammar, Result<String, String>)> {
    let markers = Sequences {
        blocks: vec![("<<CALL".to_owned(), vec!["END>>".to_owned()])],
        ends: Vec::new(),
    };
    let written = |grammar: Grammar| {
        let family = grammar.family().with_sequences(&markers, OwnMarkers::Replaced);
        let own = family.map(|family| Grammar::new(family).map_err(|error| error.to_string()));
        let wire = own.transpose().and_then(|own| {
            let mut all = String::new();
            for call in CALLS {
                let writes = own.as_ref().unwrap_or(&grammar);
                let wire = encode(writes, &[call], &tools()).map_err(|error| error.to_string())?;
                let wire = match own {
                    Some(_) => wire.trim().to_owned(),
                    None => format!("<<CALL{wire}END>>"),
                };
                if !wire.starts_with("<<CALL") || !wire.ends_with("END>>") {
                    return Err(wire);
                }
                all += &wire;
            }
            Ok(all)
        });
        (grammar, wire)
    };
    grammars().map(written).collect()
}

/// With the tools, and without any where calls are recognised then.
fn declarations(grammar: &Grammar) -> impl Iterator<Item = Tools> {
    let unnamed = grammar.with_names(&Tools::none());
    let reads = unnamed.family().forms.iter().any(|form| !form.calls.is_empty());
    [tools()].into_iter().chain(reads.then(Tools::none))
}

fn jail(grammar: &Grammar) -> JailedStreamBuilder {
    JailedStream::builder()
        .jail_start_sequence("<<CALL")
        .jail_end_sequence("END>>")
        .tool_call_parser(grammar.name())
}

/// Without whitespace and what is reported beside: families may lay arguments out, count calls by
/// ids, and do without an end.
fn plain(text: &str) -> String {
    let text = text.replace("!duplicate_id!", "").replace("!missing_closer!", "");
    text.split_ascii_whitespace().collect()
}

// Contract: S1.7, S1.10.
#[test]
fn custom_sequences_work_with_every_family() {
    let (mut messages, mut broken) = (0, Vec::new());
    for (grammar, wire) in wires() {
        let wire = match wire {
            Ok(wire) => wire,
            Err(error) => {
                broken.push(format!("{}: wire {error}", grammar.name()));
                continue;
            }
        };
        for tools in declarations(&grammar) {
            let declared = !tools.is_empty();
            let jail = jail(&grammar).tools(tools).build().unwrap();
            let shown = plain(&seen(jail.guard(), &format!("Hi. {wire} Bye.")));
            if shown != plain(&format!("Hi. {SHOWN} Bye.")) {
                broken.push(format!("{} {declared}: {wire}\n    {shown}", grammar.name()));
            }
        }
        messages += usize::from(grammar.has_messages());
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(messages > 3, "{messages} families of messages");
}

// Contract: S1.7.
#[test]
fn end_of_another_pair_and_the_end_after_it_are_removed() {
    let mut broken = Vec::new();
    for (grammar, wire) in wires() {
        let (Ok(wire), false) = (wire, grammar.has_messages()) else { continue };
        let jail = jail(&grammar).jail_pair("<<OTHER", "OVER>>").tools(tools()).build().unwrap();
        let text = format!("Hi. {} Bye.", wire.replace("END>>", "OVER>>END>>"));
        let shown = seen(jail.guard(), &text);
        let calls = ["lookup_tide(", "ring_bell("];
        if shown.contains("OVER")
            || shown.contains("END")
            || !calls.iter().all(|call| shown.contains(call))
        {
            broken.push(format!("{}: {text}\n    {shown}", grammar.name()));
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

// Contract: S1.10.
#[test]
fn family_markup_outside_custom_sequences_is_text() {
    let mut broken = Vec::new();
    for (grammar, wire) in wires() {
        let Ok(wire) = wire else { continue };
        let ordinary = encode(&grammar, &CALLS, &tools()).expect("the family writes its calls");
        for tools in declarations(&grammar) {
            let jail = jail(&grammar).tools(tools).build().unwrap();
            for text in [
                format!("Hi. {ordinary} Then {wire} and {ordinary} Bye."),
                format!("{ordinary} Bye."),
                format!("{wire}{ordinary}"),
            ] {
                let shown = plain(&seen(jail.guard(), &text));
                let expected = plain(&text.replace(&wire, SHOWN));
                if shown != expected {
                    broken.push(format!("{}: {text}\n    {shown}", grammar.name()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
}

// A value is closed by its own tag and one of the ends behind it, whichever end of the pool that is.
//
// Contract: S1.7.
#[test]
fn values_that_quote_ends_of_a_pool_are_whole() {
    let parameters = json!({"type": "object", "properties": {"port": {"type": "string"}}});
    let tools = Tools::new([("lookup_tide", parameters)]);
    let (mut tried, mut broken) = (0, Vec::new());
    for grammar in grammars() {
        for value in ["aEND>>END>>", "aEND>> b", "a\nEND>>\nb", "a</TOOLCALL>b END>> c"] {
            // Written with an end that no value has, so that the encoder accepts each.
            let blocks = vec![("<<CALL".to_owned(), vec!["WRITTEN>>".to_owned()])];
            let markers = Sequences { blocks, ends: Vec::new() };
            let own = grammar.family().with_sequences(&markers, OwnMarkers::Replaced);
            let Some(own) = own.and_then(|family| Grammar::new(family).ok()) else { continue };
            let arguments = json!({"port": value}).to_string();
            let call = EncodeCall::new("lookup_tide", &arguments);
            let Ok(wire) = encode(&own, &[call], &tools) else { continue };
            for end in ["END>>", "</TOOLCALL>"] {
                let text = format!("Hi. {} Bye.", wire.trim().replace("WRITTEN>>", end));
                let pool = JailedStream::builder()
                    .jail_start_sequences(["<<CALL", "<TOOLCALL>"])
                    .jail_end_sequences(["END>>", "</TOOLCALL>"]);
                let pair = JailedStream::builder().jail_pair("<<CALL", end);
                let [pool, pair] = [pool, pair].map(|jail| {
                    let jail = jail.tool_call_parser(grammar.name()).tools(tools.clone());
                    seen(jail.build().expect("sequences").guard(), &text)
                });
                tried += 1;
                if pool != pair {
                    broken.push(format!("{}: {text}\n    {pool}\n    {pair}", grammar.name()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{} broken\n{}", broken.len(), broken.join("\n"));
    assert!(tried > 300, "{tried}");
}
