//! Arrays of texts of any type: strings, bytes, dictionaries of them, and arrays of nulls.

use arrow_array::{
    Array, BinaryArray, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray,
    cast::AsArray as _,
    types::{ArrowPrimitiveType, Int32Type, Int64Type, UInt32Type, UInt64Type},
};
use arrow_schema::DataType;

use crate::BatchError;

/// An array of texts, whose bytes may not be UTF-8.
#[derive(Debug)]
pub struct TextArray<'a> {
    values: Values<'a>,
    /// For a dictionary, the place of each row's value; `None` for null.
    keys: Option<Vec<Option<usize>>>,
    len: usize,
}

/// The values of an array of texts.
#[derive(Debug)]
enum Values<'a> {
    String(&'a StringArray),
    LargeString(&'a LargeStringArray),
    StringView(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    FixedBinary(&'a FixedSizeBinaryArray),
    /// Integers of keys, as texts.
    Numbers(Vec<Option<String>>),
    Null,
}

impl<'a> TextArray<'a> {
    /// Reads an array in place.
    ///
    /// # Errors
    /// The array has no texts.
    pub fn new(array: &'a dyn Array) -> Result<Self, BatchError> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let keys = match dictionary.values().is_empty() {
                true => vec![None; array.len()],
                false => {
                    let keys = dictionary.normalized_keys().into_iter().enumerate();
                    keys.map(|(row, key)| array.is_valid(row).then_some(key)).collect()
                }
            };
            let values = values(dictionary.values().as_ref())?;
            return Ok(Self { values, keys: Some(keys), len: array.len() });
        }
        Ok(Self { values: values(array)?, keys: None, len: array.len() })
    }

    /// Reads an array of keys, which may also be integers.
    ///
    /// # Errors
    /// The array has neither texts nor integers.
    pub fn of_keys(array: &'a dyn Array) -> Result<Self, BatchError> {
        let numbers = match array.data_type() {
            DataType::Int32 => numbers::<Int32Type>(array),
            DataType::Int64 => numbers::<Int64Type>(array),
            DataType::UInt32 => numbers::<UInt32Type>(array),
            DataType::UInt64 => numbers::<UInt64Type>(array),
            _ => return Self::new(array),
        };
        Ok(Self { values: Values::Numbers(numbers), keys: None, len: array.len() })
    }

    /// Returns the number of rows.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the array has zero rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes of a row's text, or `None` for null.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        let row = match &self.keys {
            Some(keys) => (*keys.get(row)?)?,
            None => row,
        };
        match &self.values {
            Values::String(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Values::LargeString(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Values::StringView(array) => array.is_valid(row).then(|| array.value(row).as_bytes()),
            Values::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Values::LargeBinary(array) => array.is_valid(row).then(|| array.value(row)),
            Values::BinaryView(array) => array.is_valid(row).then(|| array.value(row)),
            Values::FixedBinary(array) => array.is_valid(row).then(|| array.value(row)),
            Values::Numbers(numbers) => numbers.get(row)?.as_deref().map(str::as_bytes),
            Values::Null => None,
        }
    }

    /// Returns whether messages of these texts may need columns with large offsets.
    #[must_use]
    pub const fn is_large(&self) -> bool {
        matches!(
            self.values,
            Values::LargeString(_)
                | Values::StringView(_)
                | Values::LargeBinary(_)
                | Values::BinaryView(_)
        )
    }
}

/// Returns integers as texts.
fn numbers<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array) -> Vec<Option<String>> {
    array.as_primitive::<T>().iter().map(|number| Some(number?.to_string())).collect()
}

fn values(array: &dyn Array) -> Result<Values<'_>, BatchError> {
    Ok(match array.data_type() {
        DataType::Utf8 => Values::String(array.as_string()),
        DataType::LargeUtf8 => Values::LargeString(array.as_string()),
        DataType::Utf8View => Values::StringView(array.as_string_view()),
        DataType::Binary => Values::Binary(array.as_binary()),
        DataType::LargeBinary => Values::LargeBinary(array.as_binary()),
        DataType::BinaryView => Values::BinaryView(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => Values::FixedBinary(array.as_fixed_size_binary()),
        DataType::Null => Values::Null,
        found => return Err(BatchError::Type(found.clone())),
    })
}
