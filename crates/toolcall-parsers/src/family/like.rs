//! Families that start from another family's file.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use super::FamilyError;

/// What belongs to one file only.
const OWN: [&str; 8] =
    ["about", "source", "models", "names", "template", "variant", "like", "name"];

/// Tables that mean something as a whole only: no key of them is kept.
const WHOLE: [&str; 2] = ["keys", "spellings"];

/// A family may be like one that is like one that is like one: whoever reads a file should not
/// have to follow more of them.
const LONGEST_CHAIN: usize = 3;

/// The file `over`, begun from `base`: keys named in `over` replace, tables merge key by key,
/// lists are replaced whole. What belongs to one file only is never taken over.
///
/// ```
/// use serde_json::json;
/// use toolcall_parsers::family::merge;
/// let base = json!({"about": "A", "write": {"json": "compact"}, "erase": ["x"]});
/// let over = json!({"about": "B", "write": {"keys": "sorted"}, "erase": []});
/// let merged = json!({"about": "B", "write": {"json": "compact", "keys": "sorted"}, "erase": []});
/// assert_eq!(merge(&base, &over), merged);
/// ```
#[must_use]
pub fn merge(base: &Value, over: &Value) -> Value {
    let mut base = base.clone();
    if let Value::Object(base) = &mut base {
        base.retain(|key, _| !OWN.contains(&key.as_str()));
        // What engines call a reasoning format is that one's, too.
        if let Some(Value::Object(reasoning)) = base.get_mut("reasoning") {
            reasoning.remove("names");
        }
    }
    replace(&mut base, over);
    base
}

/// A file under one of its variants, whose keys replace the file's. The result has no variants.
#[must_use]
pub fn with_variant(file: &Value, variant: &Value) -> Value {
    let (mut file, mut variant) = (file.clone(), variant.clone());
    for (value, own) in [(&mut file, "variant"), (&mut variant, "models")] {
        if let Value::Object(map) = value {
            map.remove(own);
        }
    }
    replace(&mut file, &variant);
    file
}

fn replace(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(key) {
                    Some(old) if !WHOLE.contains(&key.as_str()) => replace(old, value),
                    _ => drop(base.insert(key.clone(), value.clone())),
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// The file called `name` with all it takes from others by `like`; `lookup` gives the file of a
/// name.
///
/// # Errors
/// A name that `lookup` does not know, a cycle, a chain that is too long.
pub fn resolve(
    name: &str,
    file: &Value,
    lookup: impl Fn(&str) -> Option<Value>,
) -> Result<Value, FamilyError> {
    let mut chain = Chain::new("like", name);
    let mut files = Vec::from([file.clone()]);
    while let Some(like) = files.last().and_then(|file| file.get("like")) {
        let base = like.as_str().ok_or_else(|| FamilyError::new("like", "expected a name"))?;
        let base = chain.follow(base, &lookup)?;
        files.push(base);
    }
    let mut resolved = files.pop().unwrap_or_default();
    while let Some(over) = files.pop() {
        resolved = merge(&resolved, &over);
    }
    if let Value::Object(resolved) = &mut resolved {
        resolved.remove("like");
    }
    Ok(resolved)
}

/// The reasoning section of the file called `name` and the name of the file it stands in:
/// its own, that of the file that `reasoning` names, or that of the file it is like.
///
/// # Errors
/// As [`resolve`].
pub fn reasoning(
    name: &str,
    file: &Value,
    lookup: impl Fn(&str) -> Option<Value>,
) -> Result<Option<(String, Value)>, FamilyError> {
    let mut chain = Chain::new("reasoning", name);
    let (mut owner, mut file) = (name.to_owned(), file.clone());
    loop {
        let next = match (file.get("reasoning"), file.get("like")) {
            (Some(Value::Object(_)), _) => {
                let resolved = resolve(&owner, &file, &lookup)?;
                return Ok(resolved.get("reasoning").map(|section| (owner, section.clone())));
            }
            (Some(Value::String(name)), _) | (None, Some(Value::String(name))) => name.clone(),
            (None, None) => return Ok(None),
            _ => return Err(FamilyError::new("reasoning", "expected a table or a name")),
        };
        file = chain.follow(&next, &lookup)?;
        owner = next;
    }
}

/// The names that led from one file to the next.
struct Chain {
    field: &'static str,
    names: Vec<String>,
}

impl Chain {
    fn new(field: &'static str, name: &str) -> Self {
        Self { field, names: Vec::from([name.to_string()]) }
    }

    fn follow(
        &mut self,
        name: &str,
        lookup: impl Fn(&str) -> Option<Value>,
    ) -> Result<Value, FamilyError> {
        let known = self.names.iter().any(|seen| seen == name);
        self.names.push(name.to_owned());
        let chain = || self.names.join(" -> ");
        if known {
            return Err(FamilyError::new(self.field, format!("a cycle: {}", chain())));
        }
        if self.names.len() > LONGEST_CHAIN + 1 {
            let problem = format!("a chain of more than {LONGEST_CHAIN} files: {}", chain());
            return Err(FamilyError::new(self.field, problem));
        }
        lookup(name)
            .ok_or_else(|| FamilyError::new(self.field, format!("no family is called `{name}`")))
    }
}
