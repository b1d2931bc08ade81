//! Reading of TOML files. Errors name the line.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::{FamilyError, fields::join};

/// The keys of `keys` whose order in the file is the order on the wire.
const KEYS_WITH_ORDER: [&str; 3] = ["name", "arguments", "id"];

/// The content of a family's file, and the lines of its fields.
#[derive(Debug, Clone)]
pub struct FamilyFile {
    name: String,
    value: Value,
    /// Fields and their lines, in the order of the file.
    lines: Vec<(String, usize)>,
}

impl FamilyFile {
    /// Reads the text of the file of the family called `name`.
    ///
    /// # Errors
    /// The text is not TOML, or has a field `name`.
    pub fn parse(name: &str, text: &str) -> Result<Self, FamilyError> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map(|span| line(text, span.start));
            FamilyError::new("", error.message()).in_file(path(name), line)
        })?;
        let mut file = Self { name: name.to_owned(), value: Value::Null, lines: Vec::new() };
        let mut value = file.table(text, table.get_ref(), "");
        if value.get("name").is_some() {
            return Err(file.error(FamilyError::new(
                "name",
                "remove this field: the file name is the family's name",
            )));
        }
        value.insert("name".to_owned(), name.into());
        file.value = Value::Object(value);
        Ok(file)
    }

    /// Returns the name of the family.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the file's fields, with the file's name as `name`. If `keys` lists name, arguments
    /// and id, their order is added as `order`.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns `error` with the file and the line of its field. For a field that is inherited, the
    /// line is that of `like`.
    #[must_use]
    pub fn error(&self, error: FamilyError) -> FamilyError {
        let line = self.line(error.field());
        error.in_file(path(&self.name), line)
    }

    /// Returns the line of `field`, or of the innermost table that contains it.
    fn line(&self, field: &str) -> Option<usize> {
        let find = |wanted: &str| self.lines.iter().find(|(field, _)| field == wanted);
        let ends = field.char_indices().filter(|&(_, char)| char == '.' || char == '[');
        let mut ends: Vec<usize> = ends.map(|(at, _)| at).collect();
        ends.push(field.len());
        let prefixes = ends.into_iter().rev().filter_map(|end| field.get(..end));
        prefixes.chain(["like"]).find_map(find).map(|&(_, line)| line)
    }

    fn table(&mut self, text: &str, table: &DeTable<'_>, path: &str) -> Map<String, Value> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut map = Map::new();
        for (key, value) in &entries {
            let field = join(path, key.get_ref());
            self.lines.push((field.clone(), line(text, key.span().start)));
            let value = self.value_of(text, value.get_ref(), &field);
            map.insert(key.get_ref().to_string(), value);
        }
        let keys = entries.iter().map(|(key, _)| key.get_ref().as_ref());
        let order: Vec<&str> = keys.filter(|key| KEYS_WITH_ORDER.contains(key)).collect();
        let is_keys = path == "keys" || path.ends_with(".keys");
        if is_keys && order.len() == KEYS_WITH_ORDER.len() && !map.contains_key("order") {
            map.insert("order".to_owned(), order.into());
        }
        map
    }

    fn value_of(&mut self, text: &str, value: &DeValue<'_>, path: &str) -> Value {
        match value {
            DeValue::String(text) => text.to_string().into(),
            DeValue::Boolean(flag) => (*flag).into(),
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).unwrap_or(i64::MAX).into()
            }
            // No field has one of these types. As texts they are refused with the field's name.
            DeValue::Float(number) => number.as_str().into(),
            DeValue::Datetime(time) => time.to_string().into(),
            DeValue::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, item)| {
                    let field = format!("{path}[{i}]");
                    self.lines.push((field.clone(), line(text, item.span().start)));
                    self.value_of(text, item.get_ref(), &field)
                })
                .collect(),
            DeValue::Table(table) => Value::Object(self.table(text, table, path)),
        }
    }
}

fn path(name: &str) -> String {
    format!("{name}.toml")
}

/// Returns the line of byte `at`, from 1.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count().saturating_add(1)
}
