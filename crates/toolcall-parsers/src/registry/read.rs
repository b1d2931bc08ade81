//! Families from text: those they are like are looked up among the registered ones.

use serde_json::Value;

use super::lookup::file;
#[cfg(feature = "toml")]
use crate::family::FamilyFile;
use crate::family::{Family, FamilyError, resolve};

impl Family {
    /// Reads a family from JSON: the file format with a `name` next to its keys, and an `order`
    /// where the order of `keys` matters. The families that `like` may name are the registered
    /// ones.
    ///
    /// ```
    /// use toolcall_parsers::family::Family;
    /// let family = Family::from_json(r#"{
    ///     "name": "shouted",
    ///     "calls": {"call": "CALL! {object} !DONE", "keys": {"name": "do", "arguments": "with"}}
    /// }"#)?;
    /// assert_eq!(family.forms[0].calls[0].to_string(), "CALL! {object} !DONE");
    ///
    /// let error = Family::from_json(r#"{"name": "x", "calls": {"call": "<{nmae}>"}}"#).unwrap_err();
    /// assert_eq!(error.field(), "calls.call");
    /// assert_eq!(error.in_template().map(|error| error.at()), Some(2));
    /// # Ok::<(), toolcall_parsers::family::FamilyError>(())
    /// ```
    ///
    /// # Errors
    /// Text that is not JSON, a field that is unknown, missing or of another type, a template
    /// that is none, fields that do not fit each other: the error names the field.
    pub fn from_json(text: &str) -> Result<Self, FamilyError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| FamilyError::new("", error))?;
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        Self::from_value(&resolve(name, &value, file)?)
    }

    /// Reads a family from a TOML file of that name; the families it is `like` are the
    /// registered ones.
    ///
    /// # Errors
    /// As [`Family::from_json`]; the error names file, line and field.
    #[cfg(feature = "toml")]
    pub fn from_toml(name: &str, text: &str) -> Result<Self, FamilyError> {
        let file = FamilyFile::parse(name, text)?;
        resolve(name, file.value(), self::file)
            .and_then(|resolved| Self::from_value(&resolved))
            .map_err(|error| file.error(error))
    }
}
