//! Cache keys of canonical request bodies.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::regime::Regime;

impl Regime {
    /// Returns a SHA-256 key for caching the result of sending `canonical` to `model`.
    ///
    /// The key is a hash of the canonical body, the model's name and the table's
    /// [version](crate::RemapTable::version). Pass the body *before* it is remapped, so that wire
    /// text and nonces do not enter the key. The same request then has the same key in every
    /// session, and two regimes never share a key. The order of object members does not matter.
    #[must_use]
    pub fn cache_key(&self, model: &str, canonical: &Value) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(b"wire-remap cache key 1");
        part(&mut hash, b'm', model.as_bytes());
        match self.table() {
            Some(table) => part(&mut hash, b't', &table.version().to_le_bytes()),
            None => part(&mut hash, b'-', b""),
        }
        value(&mut hash, canonical);
        hash.finalize().into()
    }
}

fn part(hash: &mut Sha256, tag: u8, bytes: &[u8]) {
    hash.update([tag]);
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn value(hash: &mut Sha256, json: &Value) {
    match json {
        Value::Null => part(hash, b'0', b""),
        Value::Bool(is) => part(hash, b'b', &[u8::from(*is)]),
        Value::Number(number) => part(hash, b'n', number.to_string().as_bytes()),
        Value::String(text) => part(hash, b's', text.as_bytes()),
        Value::Array(items) => {
            part(hash, b'[', &(items.len() as u64).to_le_bytes());
            items.iter().for_each(|item| value(hash, item));
        }
        Value::Object(members) => object(hash, members),
    }
}

fn object(hash: &mut Sha256, members: &Map<String, Value>) {
    part(hash, b'{', &(members.len() as u64).to_le_bytes());
    // The map is sorted only if no crate enables the feature `preserve_order` of serde_json.
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by_key(|(name, _)| *name);
    for (name, member) in sorted {
        part(hash, b'k', name.as_bytes());
        value(hash, member);
    }
}
