//! Tests of the conversion of text to declared types.

use alloc::string::String;

use serde_json::{Value, json};

use crate::{
    typing::{TypeSet, admitted},
    value::{Fit, json_or_string, typed},
};

fn write(text: &str, schema: Value) -> (String, Fit) {
    let parameters = json!({"type": "object", "properties": {"p": schema}, "$defs": {
        "count": {"type": "integer"},
        "a/b c": {"type": "boolean"},
        "loop": {"$ref": "#/$defs/loop"},
        "tree": {"anyOf": [{"$ref": "#/$defs/tree"}, {"$ref": "#/$defs/tree"}, {"type": "null"}]},
    }});
    let types = admitted(&parameters, "p").expect("it is declared");
    let mut out = String::new();
    let fit = typed(text, types, |piece| out.push_str(piece));
    (out, fit)
}

// Contract: S1.25.
#[test]
fn text_is_typed_by_the_schema() {
    let union = json!({"type": ["string", "integer"]});
    let rows = [
        // A declared string is never converted.
        ("null", json!({"type": "string"}), "\"null\"", Fit::Yes),
        ("\"q\"", json!({"type": "string"}), "\"\\\"q\\\"\"", Fit::Yes),
        (" 42\n", json!({"type": "string"}), "\" 42\\n\"", Fit::Yes),
        ("a &lt; b", json!({"type": "string"}), "\"a &lt; b\"", Fit::Yes),
        ("42", json!({"description": "no type"}), "\"42\"", Fit::Yes),
        // Null, where it is admitted.
        ("null", json!({"type": "integer"}), "\"null\"", Fit::No),
        ("null", json!({"type": ["string", "null"]}), "null", Fit::Yes),
        ("NULL", json!({"type": ["string", "null"]}), "null", Fit::Yes),
        ("None", json!({"type": ["string", "null"]}), "null", Fit::Yes),
        ("none", json!({"type": ["string", "null"]}), "\"none\"", Fit::Yes),
        ("nil", json!({"type": ["integer", "null"]}), "null", Fit::Yes),
        ("NULL", json!({"type": ["integer", "null"]}), "null", Fit::Yes),
        ("null", json!({"type": "integer", "nullable": true}), "null", Fit::Yes),
        // Booleans.
        ("true", json!({"type": "boolean"}), "true", Fit::Yes),
        (" False ", json!({"type": "bool"}), "false", Fit::Yes),
        ("yes", json!({"type": "boolean"}), "\"yes\"", Fit::No),
        ("1", json!({"type": "boolean"}), "\"1\"", Fit::No),
        ("True", json!({"type": ["boolean", "string"]}), "true", Fit::Yes),
        ("TRUE", json!({"type": ["boolean", "string"]}), "\"TRUE\"", Fit::Yes),
        // Integers and numbers keep their spelling.
        ("5", json!({"type": "integer"}), "5", Fit::Yes),
        (" -7 ", json!({"type": "int64"}), "-7", Fit::Yes),
        ("5.0", json!({"type": "integer"}), "5.0", Fit::Yes),
        ("5.5", json!({"type": "integer"}), "\"5.5\"", Fit::No),
        ("1e-3", json!({"type": "integer"}), "\"1e-3\"", Fit::No),
        ("99999999999999999999", json!({"type": "integer"}), "99999999999999999999", Fit::Yes),
        ("1e3", json!({"type": "number"}), "1e3", Fit::Yes),
        ("5.0", json!({"type": "float"}), "5.0", Fit::Yes),
        ("NaN", json!({"type": "number"}), "\"NaN\"", Fit::No),
        ("-Infinity", json!({"type": "number"}), "\"-Infinity\"", Fit::No),
        ("1_000", json!({"type": "integer"}), "\"1_000\"", Fit::No),
        ("007", json!({"type": "integer"}), "7", Fit::Yes),
        ("-00.5", json!({"type": "number"}), "-0.5", Fit::Yes),
        ("00", json!({"type": "integer"}), "0", Fit::Yes),
        ("+5", json!({"type": "integer"}), "5", Fit::Yes),
        ("+-5", json!({"type": "integer"}), "\"+-5\"", Fit::No),
        ("5.", json!({"type": "number"}), "\"5.\"", Fit::No),
        ("1e", json!({"type": "number"}), "\"1e\"", Fit::No),
        ("", json!({"type": "number"}), "\"\"", Fit::No),
        ("-", json!({"type": "number"}), "\"-\"", Fit::No),
        // Unions.
        ("42", union.clone(), "42", Fit::Yes),
        (" 42", union.clone(), "\" 42\"", Fit::Yes),
        ("0042", union, "\"0042\"", Fit::Yes),
        ("3", json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "3", Fit::Yes),
        ("x", json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}), "\"x\"", Fit::Yes),
        (
            "2",
            json!({"allOf": [{"type": ["integer", "string"]}, {"type": "number"}]}),
            "2",
            Fit::Yes,
        ),
        ("2", json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), "\"2\"", Fit::Yes),
        // Values of `enum` and `const` also have types.
        ("2", json!({"enum": [1, 2, "auto"]}), "2", Fit::Yes),
        ("auto", json!({"enum": [1, 2, "auto"]}), "\"auto\"", Fit::Yes),
        ("2", json!({"enum": ["1", "2"]}), "\"2\"", Fit::Yes),
        ("2", json!({"type": "string", "enum": ["2", 2]}), "\"2\"", Fit::Yes),
        ("true", json!({"const": true}), "true", Fit::Yes),
        // Containers: valid JSON with the right bracket, or a string.
        ("{\"a\": [1, 2.50]}", json!({"type": "object"}), "{\"a\": [1, 2.50]}", Fit::Yes),
        (" [1, 2]\n", json!({"type": "array"}), "[1, 2]", Fit::Yes),
        ("[1]", json!({"type": "object"}), "\"[1]\"", Fit::No),
        ("{'a': 1}", json!({"type": "object"}), "{\"a\": 1}", Fit::Mended),
        ("{\"a\": True,}", json!({"type": "object"}), "{\"a\": true}", Fit::Mended),
        ("(1, 2)", json!({"type": "array"}), "[1, 2]", Fit::Mended),
        ("{} {}", json!({"type": "object"}), "\"{} {}\"", Fit::Broken),
        ("", json!({"type": "object"}), "\"\"", Fit::No),
        ("{}", json!({"properties": {}}), "{}", Fit::Yes),
        ("[]", json!({"items": {"type": "integer"}}), "[]", Fit::Yes),
        (
            "{\"x\": 1}",
            json!({"oneOf": [{"type": "object"}, {"type": "string"}]}),
            "{\"x\": 1}",
            Fit::Yes,
        ),
        // References: escapes, cycles and dangling ones.
        ("3", json!({"$ref": "#/$defs/count"}), "3", Fit::Yes),
        ("true", json!({"$ref": "#/$defs/a~1b%20c"}), "true", Fit::Yes),
        ("3", json!({"$ref": "#/$defs/loop"}), "\"3\"", Fit::Yes),
        ("3", json!({"$ref": "#/$defs/missing"}), "\"3\"", Fit::Yes),
        ("3", json!({"$ref": "https://example.org/x"}), "\"3\"", Fit::Yes),
        ("null", json!({"$ref": "#/$defs/tree"}), "\"null\"", Fit::Yes),
    ];
    for (text, schema, expected, fit) in rows {
        assert_eq!(write(text, schema.clone()), (expected.into(), fit), "{text:?} as {schema}");
    }
}

// Contract: S1.25.
#[test]
fn property_is_found_wherever_the_schema_declares_it() {
    let integer = json!({"properties": {"n": {"type": "integer"}}});
    let rows = [
        (integer.clone(), Some(TypeSet::INTEGER)),
        (json!({"allOf": [{"properties": {}}, integer]}), Some(TypeSet::INTEGER)),
        (
            json!({"anyOf": [integer, {"properties": {"n": {"type": "null"}}}]}),
            Some(TypeSet::INTEGER.or(TypeSet::NULL)),
        ),
        (json!({"$ref": "#/$defs/all", "$defs": {"all": integer}}), Some(TypeSet::INTEGER)),
        (json!({"additionalProperties": {"type": "boolean"}}), Some(TypeSet::BOOLEAN)),
        (json!({"additionalProperties": true}), None),
        (json!({"properties": {"m": {"type": "integer"}}}), None),
        (json!({"properties": {"n": true}}), Some(TypeSet::STRING)),
        (json!({"$ref": "#"}), None),
        (Value::Null, None),
    ];
    for (schema, expected) in rows {
        assert_eq!(admitted(&schema, "n"), expected, "{schema}");
    }
}

#[test]
fn untyped_text_is_json_if_it_parses_and_a_string_otherwise() {
    let rows = [
        ("42", "42", Fit::Yes),
        (" {\"a\": 1}\n", "{\"a\": 1}", Fit::Yes),
        ("\"q\"", "\"q\"", Fit::Yes),
        ("null", "null", Fit::Yes),
        ("not json", "\"not json\"", Fit::No),
        ("True", "\"True\"", Fit::No),
        ("1 2", "\"1 2\"", Fit::No),
        ("", "\"\"", Fit::No),
    ];
    for (text, expected, fit) in rows {
        let mut out = String::new();
        assert_eq!(json_or_string(text, |piece| out.push_str(piece)), fit, "{text:?}");
        assert_eq!(out, expected);
    }
}
