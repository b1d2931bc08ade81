//! Tests of extreme limits, and of families that are too large or invalid.

use serde_json::json;
use stream_laws::{CONTENT, Cut, CutPlan, run, vector::run_case};
use toolcall_parsers::{CallLimits, Family, Grammar, Limits, Whitespace, grammar};

use crate::support::{ParserMachine, families_with_vectors, vectors};

#[test]
fn vectors_pass_with_maximum_limits() {
    let most = usize::MAX;
    let limits = Limits { candidate: most, whitespace: most, depth: most, ..Limits::default() };
    let calls = CallLimits { name: most, early_arguments: most, value: most };
    let mut failures = Vec::new();
    for family in families_with_vectors() {
        for case in vectors(&family) {
            let Ok(grammar) = grammar(&case.family) else { continue };
            let machine = || ParserMachine::of_case(&grammar, &case).limited(limits, calls);
            failures.extend(run_case(&case, machine, CutPlan::random(2, 1)).err());
        }
    }
    let report: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert!(report.is_empty(), "{} failures\n{}", report.len(), report.join("\n"));
}

#[test]
fn family_with_over_65535_tags_is_refused() {
    let call = |n| json!({"call": format!("<a{n}>{}{{object}}", "<a>".repeat(499))});
    let forms: Vec<_> = (0..140).map(call).collect();
    let family =
        Family::from_value(&json!({"name": "large", "calls": forms})).expect("a sound file");
    let error = Grammar::new(family).expect_err("it has too many tags");
    assert!(error.to_string().contains("more than 65535 tags"), "{error}");
}

#[test]
fn family_list_over_its_limit_is_refused() {
    let forms = |n| {
        let forms = vec![json!({"call": "<a>{object}"}); n];
        Family::from_value(&json!({"name": "large", "calls": forms}))
    };
    assert!(forms(1000).is_ok());
    let error = forms(1001).expect_err("a list is too long");
    assert!(error.to_string().contains("a list has at most 1000 entries"), "{error}");
}

#[test]
fn element_template_without_one_token_and_a_closing_tag_is_refused() {
    let compiles = |element: &str| {
        let call = "<<a><c name=\"{name}\">{elements}<</c>".replace('<', "]<");
        let form = json!({"call": call, "element": element});
        let family = Family::from_value(&json!({"name": "own", "calls": [form]}));
        Grammar::new(family.expect("a sound file"))
    };
    assert!(compiles("]<<{key}>{value}]<</{key}>").is_ok());
    for element in [
        "]<<{key}]{value}]<</{key}>",
        "]<<{key}>{value}]<</{key}]",
        "]<<{key}>{value}[<</{key}>",
        "]<<{key}>{value}]<<{key}>",
        "<{key}>{value}</{key}>",
    ] {
        let error = compiles(element).expect_err(element).to_string();
        assert!(error.contains("an element that is not"), "{element}: {error}");
    }
}

#[test]
fn indistinguishable_parameter_templates_are_refused() {
    let compiles = |parameters: [&str; 2]| {
        let form = json!({"call": "<c={name}>{parameters}</c>", "parameter": parameters});
        let family = Family::from_value(&json!({"name": "own", "calls": [form]}));
        Grammar::new(family.expect("a sound file"))
    };
    let known = "<p={key}>{value}</p>";
    assert!(compiles([known, "<p={key}>{value}</q>"]).is_ok());
    for pair in [
        [known, "<p={type}>{key}</p><v>{value}</v>"],
        ["<p>{key}</p><v>{value}</v>", "<p>{type}</p><k>{key}</k><v>{value}</v>"],
    ] {
        let error = compiles(pair).expect_err("two in one");
        assert!(error.to_string().contains("cannot be distinguished"), "{error}");
    }
}

#[test]
fn up_to_32_surplus_closing_brackets_are_dropped() {
    let machine = ParserMachine::new(grammar("hermes").unwrap(), Whitespace::Framing);
    let skipped_and_shown = |brackets: usize| {
        let call = r#"<tool_call>{"name": "f", "arguments": {}}"#;
        let wire = [call, &"}".repeat(brackets), "</tool_call>ok"].concat();
        let record = run(&machine, &wire, Cut::EachScalar);
        let skipped: u64 = record.diagnostics.iter().map(|one| one.bytes).sum();
        (skipped, record.channel_text(CONTENT).len())
    };
    assert_eq!((skipped_and_shown(1), skipped_and_shown(32)), ((1, 2), (32, 2)));
    // With one more, all brackets and the end tag are content.
    assert_eq!(skipped_and_shown(33), (0, 33 + "</tool_call>ok".len()));
}

#[test]
fn malformed_call_has_no_member_after_the_fault_beyond_the_limit() {
    let machine = ParserMachine::new(grammar("deepseek_v4").unwrap(), Whitespace::Framing);
    let broken = ["{\"k\": 7 \"z\": </>", &"x".repeat(70_000), "]}\n"].concat();
    let wire = [
        "<tool_calls>\n<invoke name=\"f\">\n<parameter name=\"a\" string=\"false\">",
        &broken,
        "<parameter name=\"b\" string=\"true\">Hi</>\n</invoke>\n</tool_calls>",
    ];
    let wire = wire.concat().replace("</>", "</parameter>");
    let wire = wire.replace("</", "</｜DSML｜").replace("<t", "<｜DSML｜t");
    let wire = wire.replace("<i", "<｜DSML｜i").replace("<p", "<｜DSML｜p");
    for cut in [Cut::Whole, Cut::EachScalar] {
        let record = run(&machine, &wire, cut);
        let calls = record.calls().expect("calls start before they end");
        let got: Vec<_> = calls.iter().map(|call| (&*call.arguments, &*call.outcome)).collect();
        assert_eq!(got, [("{\"a\": {\"k\": 7 ", "malformed")], "{cut:?}");
    }
}
