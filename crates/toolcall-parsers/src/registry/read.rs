//! Reading of families from text. A family may inherit from a registered one with `like`.

use serde_json::Value;

use super::lookup::file;
#[cfg(feature = "toml")]
use crate::family::FamilyFile;
use crate::{
    family::{Family, FamilyError, resolve},
    proof::prove,
};

impl Family {
    /// Reads a family from JSON. The keys are those of family files, plus `name`, plus `order`
    /// where the order of `keys` matters. `like` may name a registered family.
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
    /// The error names the field. Causes are:
    ///
    /// - text that is not JSON,
    /// - an unknown or missing field, or one of the wrong type,
    /// - an invalid template,
    /// - fields that contradict each other,
    /// - calls that the encoder writes and the parser does not read back, whole and at every cut.
    pub fn from_json(text: &str) -> Result<Self, FamilyError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| FamilyError::new("", error))?;
        let name = value.get("name").and_then(Value::as_str).unwrap_or_default();
        let family = Self::from_value(&resolve(name, &value, file)?)?;
        prove(&family)?;
        Ok(family)
    }

    /// Reads a family from the text of a TOML file. `name` is the file's name. `like` may name a
    /// registered family.
    ///
    /// # Errors
    /// As [`Family::from_json`]. The error names file, line and field.
    #[cfg(feature = "toml")]
    pub fn from_toml(name: &str, text: &str) -> Result<Self, FamilyError> {
        let file = FamilyFile::parse(name, text)?;
        resolve(name, file.value(), self::file)
            .and_then(|resolved| Self::from_value(&resolved))
            .and_then(|family| prove(&family).map(|()| family))
            .map_err(|error| file.error(error))
    }
}
