//! Structural tags of XGrammar: a grammar in EBNF inside of JSON.

use serde_json::{Value, json};

use super::gbnf;
use crate::grammar::ir::Rules;

pub(super) fn write(rules: &Rules) -> Value {
    json!({
        "type": "structural_tag",
        "format": {"type": "grammar", "grammar": gbnf::write(rules)},
    })
}
