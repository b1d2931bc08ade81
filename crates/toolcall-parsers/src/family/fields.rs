//! Typed access to the fields of a family's file. Each value knows its path, which errors name.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use jail_match::UnknownName;
use serde_json::{Map, Value};

use super::error::FamilyError;
use crate::{
    limits::MAX_LIST_ENTRIES,
    template::{Part, Template},
};

/// The result of reading a part of a family file.
pub(super) type FamilyResult<T> = Result<T, FamilyError>;

/// Returns the path of `key` in the table at `path`.
pub(super) fn join(path: &str, key: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let dot = if path.is_empty() { "" } else { "." };
    if !key.is_empty() && key.bytes().all(bare) {
        format!("{path}{dot}{key}")
    } else {
        format!("{path}{dot}{key:?}")
    }
}

/// A value of a file and its path.
#[derive(Debug)]
pub(super) struct FieldReader<'v> {
    value: &'v Value,
    path: String,
}

impl<'v> FieldReader<'v> {
    pub(super) fn new(value: &'v Value, path: String) -> Self {
        Self { value, path }
    }

    pub(super) fn error(&self, problem: impl core::fmt::Display) -> FamilyError {
        FamilyError::new(self.path.as_str(), problem)
    }

    fn expected(&self, what: &str) -> FamilyError {
        let found = match self.value {
            Value::Null => "nothing".to_string(),
            Value::Bool(_) | Value::Number(_) => format!("`{}`", self.value),
            Value::String(text) => format!("the text {text:?}"),
            Value::Array(_) => "a list".to_string(),
            Value::Object(_) => "a table".to_string(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_object()
    }

    /// Reads a text, which may be empty.
    pub(super) fn text(&self) -> FamilyResult<String> {
        let text = self.value.as_str().ok_or_else(|| self.expected("a text"))?;
        Ok(text.to_string())
    }

    /// Reads a text that is not empty. An empty marker would match everywhere.
    pub(super) fn token(&self) -> FamilyResult<String> {
        let text = self.text()?;
        if text.is_empty() {
            Err(self.error("expected a text that is not empty"))
        } else {
            Ok(text)
        }
    }

    /// Reads a text of the wire. Unlike in templates, a backslash is not an escape, so `\n` is
    /// refused as a mistake.
    pub(super) fn marker(&self) -> FamilyResult<String> {
        let text = self.token()?;
        match ["\\n", "\\t", "\\r"].into_iter().find(|escape| text.contains(escape)) {
            None => Ok(text),
            Some(escape) => Err(self.error(format!(
                "{text:?} has a backslash: in single quotes `{escape}` is two characters, in double \
                 quotes it is one"
            ))),
        }
    }

    pub(super) fn flag(&self) -> FamilyResult<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("`true` or `false`"))
    }

    /// Reads a number from 1, and returns an index from 0.
    pub(super) fn ordinal(&self) -> FamilyResult<usize> {
        let number = self.value.as_u64().and_then(|number| usize::try_from(number).ok());
        let index = number.and_then(|number| number.checked_sub(1));
        index.ok_or_else(|| self.expected("a number from 1"))
    }

    /// Reads one of `words`, and returns its meaning.
    pub(super) fn word<T: Copy>(&self, words: &[(&str, T)]) -> FamilyResult<T> {
        let names = || words.iter().map(|&(name, _)| name);
        let Some(word) = self.value.as_str() else {
            let names: Vec<_> = names().map(|name| format!("`{name}`")).collect();
            return Err(self.expected(&names.join(" or ")));
        };
        let found = words.iter().find(|(name, _)| *name == word);
        let unknown = || self.error(UnknownName::new("word", word, names()));
        found.map(|&(_, meaning)| meaning).ok_or_else(unknown)
    }

    pub(super) fn template(&self) -> FamilyResult<Template> {
        let text = self.token()?;
        Template::parse(&text).map_err(|error| FamilyError::template(self.path.as_str(), error))
    }

    /// Reads a text with the escapes of a template's literal.
    pub(super) fn literal(&self) -> FamilyResult<String> {
        match <[Part; 1]>::try_from(self.template()?.parts) {
            Ok([Part::Literal(text)]) => Ok(text),
            _ => Err(self.error("expected a literal without holes")),
        }
    }

    /// Decodes `key`, the key of this field, like a template's literal.
    pub(super) fn literal_of(&self, key: &str) -> FamilyResult<String> {
        FieldReader::new(&Value::from(key), self.path.clone()).literal()
    }

    /// Reads each entry of a list. A value that is not a list counts as its only entry.
    pub(super) fn list<T>(&self, read: impl Fn(&Self) -> FamilyResult<T>) -> FamilyResult<Vec<T>> {
        match self.value {
            Value::Array(items) if items.len() > MAX_LIST_ENTRIES => {
                Err(self.error(format!("a list has at most {MAX_LIST_ENTRIES} entries")))
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, value)| read(&FieldReader::new(value, format!("{}[{i}]", self.path))))
                .collect(),
            _ => read(self).map(|one| Vec::from([one])),
        }
    }

    /// As [`FieldReader::list`], but at least one entry is required.
    pub(super) fn some<T>(&self, read: impl Fn(&Self) -> FamilyResult<T>) -> FamilyResult<Vec<T>> {
        let list = self.list(read)?;
        if list.is_empty() { Err(self.error("expected at least one entry")) } else { Ok(list) }
    }

    /// Reads a table whose keys must be among `known`.
    pub(super) fn table(&self, known: &[&str]) -> FamilyResult<Fields<'v>> {
        let fields = self.entries()?;
        match fields.map.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(fields),
            Some(key) => {
                let unknown = UnknownName::new("field", key, known.iter().copied());
                Err(FamilyError::new(join(&fields.path, key), unknown))
            }
        }
    }

    /// Reads a table with any keys.
    pub(super) fn entries(&self) -> FamilyResult<Fields<'v>> {
        match self.value {
            Value::Object(map) => Ok(Fields { map, path: self.path.clone() }),
            _ => Err(self.expected("a table")),
        }
    }
}

/// The entries of a table.
#[derive(Debug)]
pub(super) struct Fields<'v> {
    map: &'v Map<String, Value>,
    path: String,
}

impl<'v> Fields<'v> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'v str, FieldReader<'v>)> {
        self.map
            .iter()
            .map(|(key, value)| (key.as_str(), FieldReader::new(value, join(&self.path, key))))
    }

    pub(super) fn required(&self, key: &str) -> FamilyResult<FieldReader<'v>> {
        let missing = || FamilyError::new(self.path.as_str(), format!("`{key}` is missing"));
        let value = self.map.get(key).ok_or_else(missing)?;
        Ok(FieldReader::new(value, join(&self.path, key)))
    }

    /// Reads the value at `key`, if the table has it.
    pub(super) fn optional<T>(
        &self,
        key: &str,
        read: impl FnOnce(FieldReader<'v>) -> FamilyResult<T>,
    ) -> FamilyResult<Option<T>> {
        let field = self.map.get(key).map(|value| FieldReader::new(value, join(&self.path, key)));
        field.map(read).transpose()
    }

    /// Reads the value at `key`, or returns the default.
    pub(super) fn or_default<T: Default>(
        &self,
        key: &str,
        read: impl FnOnce(FieldReader<'v>) -> FamilyResult<T>,
    ) -> FamilyResult<T> {
        Ok(self.optional(key, read)?.unwrap_or_default())
    }

    /// Returns the meaning of the word at `key`, or the default.
    pub(super) fn word<T: Copy + Default>(
        &self,
        key: &str,
        words: &[(&str, T)],
    ) -> FamilyResult<T> {
        self.or_default(key, |field| field.word(words))
    }
}
