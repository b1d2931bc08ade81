//! Names of the fields of settings, and fields that are read by functions of their own.

use std::cell::Cell;

#[cfg(feature = "response-templates")]
use response_templates::ResponseTemplate;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, Visitor, value::Error},
    forward_to_deserialize_any,
};
use serde_json::Value;
use toolcall_parsers::Tools;

#[cfg(feature = "toml")]
use crate::profile::Profile;

/// Returns the names of the fields of a struct.
pub(super) fn names<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let names = Cell::new(&[] as &[&str]);
    // A derived implementation asks for its fields before it reads anything.
    let _ = T::deserialize(FieldNames(&names));
    names.get()
}

/// A deserializer without a value that keeps the names of the fields it is asked for.
struct FieldNames<'n>(&'n Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.set(fields);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Reads a list of tools.
pub(super) fn tools<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Tools>, D::Error> {
    let tools = Option::<Value>::deserialize(from)?;
    tools.map(|tools| Tools::from_json(&tools)).transpose().map_err(D::Error::custom)
}

/// Reads a response template: an object, or its text.
#[cfg(feature = "response-templates")]
pub(super) fn template<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<ResponseTemplate>, D::Error> {
    let text = match Option::<Value>::deserialize(from)? {
        None => return Ok(None),
        Some(Value::String(text)) => text,
        Some(object) => object.to_string(),
    };
    ResponseTemplate::from_json(&text).map(Some).map_err(D::Error::custom)
}

/// The name of a family whose file does not say it.
#[cfg(feature = "toml")]
const OWN_FAMILY: &str = "own";

/// Reads a family's file: the text of TOML or JSON, or an object.
#[cfg(feature = "toml")]
pub(super) fn family_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Profile>, D::Error> {
    let json = |text: &str| Profile::from_family_json(text).map_err(D::Error::custom);
    match Option::<Value>::deserialize(from)? {
        None => Ok(None),
        Some(Value::String(text)) if text.trim_start().starts_with('{') => json(&text).map(Some),
        Some(Value::String(text)) => {
            Profile::from_family_toml(OWN_FAMILY, &text).map(Some).map_err(D::Error::custom)
        }
        Some(object) => json(&object.to_string()).map(Some),
    }
}
