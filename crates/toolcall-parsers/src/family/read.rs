//! Reading of a family from the value of its file.

use alloc::{format, string::String};

use jail_match::Newlines;
use serde_json::Value;

use super::{
    At, Erase, Escapes, Family, FamilyError, KeyOrder, Spacing, Suffix, Words, Write, WrittenIds,
    check,
    fields::{FamilyResult, FieldReader, Fields},
    form, messages, prompt,
};

/// The keys of a file. `models`, `names`, `reasoning`, `template` and `variant` are read by other
/// modules.
const KEYS: [&str; 17] = [
    "name",
    "about",
    "source",
    "models",
    "names",
    "end_of_turn",
    "erase",
    "special_tokens",
    "suffix",
    "reasoning",
    "calls",
    "foreign",
    "messages",
    "write",
    "prompt",
    "template",
    "variant",
];

impl Family {
    /// Reads a family from a value, as [`Family::from_json`] does from text. `like` must have been
    /// [resolved](super::resolve).
    ///
    /// # Errors
    /// As [`Family::from_json`].
    pub fn from_value(value: &Value) -> Result<Self, FamilyError> {
        let fields = FieldReader::new(value, String::new()).table(&KEYS)?;
        let family = Self {
            name: name(&fields.required("name")?)?,
            about: fields.or_default("about", |field| field.text())?,
            source: fields.or_default("source", |field| field.text())?,
            forms: fields.or_default("calls", |field| field.some(form::read))?,
            foreign: fields.or_default("foreign", |field| field.some(form::read_foreign))?,
            messages: fields.optional("messages", messages::read)?,
            end_of_turn: fields
                .or_default("end_of_turn", |field| field.list(FieldReader::marker))?,
            erase: fields.or_default("erase", |field| field.list(erase))?,
            special_tokens: fields.or_default("special_tokens", |field| field.flag())?,
            suffix: fields.word("suffix", &[("none", Suffix::None), ("learnt", Suffix::Learnt)])?,
            write: fields.or_default("write", write)?,
            prompt: fields.or_default("prompt", prompt::read)?,
        };
        check::check(&family, value)?;
        Ok(family)
    }
}

/// Reads a name, which is also a file name: lower case letters, digits and `_`.
fn name(field: &FieldReader<'_>) -> FamilyResult<String> {
    let name = field.token()?;
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    match name.bytes().all(fits) {
        true => Ok(name),
        false => Err(field.error(format!("expected lower case, digits and `_`, found {name:?}"))),
    }
}

fn erase(field: &FieldReader<'_>) -> FamilyResult<Erase> {
    if !field.is_table() {
        return Ok(Erase {
            text: field.marker()?,
            at: At::Anywhere,
            once: false,
            newlines: (0, 0),
        });
    }
    let fields = field.table(&["text", "at", "once", "newlines"])?;
    let all = Newlines::MAX;
    let newlines = [("none", (0, 0)), ("one", (1, 1)), ("all", (all, all))];
    Ok(Erase {
        text: fields.required("text")?.marker()?,
        at: fields.or_default("at", |field| {
            field.word(&[
                ("anywhere", At::Anywhere),
                ("lead", At::Lead),
                ("line", At::Line),
                ("after_call", At::AfterCall),
            ])
        })?,
        once: fields.or_default("once", |field| field.flag())?,
        newlines: fields.word("newlines", &newlines)?,
    })
}

fn write(field: FieldReader<'_>) -> FamilyResult<Write> {
    let fields: Fields<'_> = field.table(&["json", "words", "keys", "escapes", "ids", "form"])?;
    let json = [
        ("spaced", Spacing::Spaced),
        ("compact", Spacing::Compact),
        ("indented", Spacing::Indented),
    ];
    Ok(Write {
        json: fields.word("json", &json)?,
        words: fields.word(
            "words",
            &[("json", Words::Json), ("python", Words::Python), ("repr", Words::Repr)],
        )?,
        keys: fields.word("keys", &[("given", KeyOrder::Given), ("sorted", KeyOrder::Sorted)])?,
        escapes: fields
            .word("escapes", &[("needed", Escapes::Needed), ("ascii", Escapes::Ascii)])?,
        ids: fields
            .word("ids", &[("given", WrittenIds::Given), ("counted", WrittenIds::Counted)])?,
        form: fields.or_default("form", |field| field.ordinal())?,
    })
}
