//! Inheritance between families' files: `like`, `reasoning.like` and variants.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use super::FamilyError;
use crate::limits::MAX_LIKE_CHAIN;

/// Keys that are not inherited.
const NOT_INHERITED: [&str; 8] =
    ["about", "source", "models", "names", "template", "variant", "like", "name"];

/// Tables that are inherited or replaced as a whole.
const REPLACED_WHOLE: [&str; 2] = ["keys", "spellings"];

/// Returns the file `over` with the fields it inherits from `base`. Tables are merged key by key.
/// Lists and other values are replaced. Descriptions such as `about` are not inherited.
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
        base.retain(|key, _| !NOT_INHERITED.contains(&key.as_str()));
        // A section on reasoning inherits from one file only.
        if over.pointer("/reasoning/like").is_some() {
            base.remove("reasoning");
        }
        // Engines' names for a reasoning format belong to that format alone.
        if let Some(Value::Object(reasoning)) = base.get_mut("reasoning") {
            reasoning.remove("names");
        }
    }
    replace(&mut base, over);
    base
}

/// Returns `file` with the fields of one of its variants. The result has no variants.
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
                    Some(old) if !REPLACED_WHOLE.contains(&key.as_str()) => replace(old, value),
                    _ => drop(base.insert(key.clone(), value.clone())),
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

/// Returns the file called `name` with all inherited fields. `lookup` returns the file of a name.
///
/// # Errors
/// `lookup` does not know a name, or the chain of `like` has a cycle or is too long.
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

/// Returns the section on reasoning of the file called `name`, with the name of the file that its
/// tags come from. Both may be inherited by `reasoning`, `reasoning.like` or `like`.
///
/// # Errors
/// As [`resolve`].
pub fn reasoning(
    name: &str,
    file: &Value,
    lookup: impl Fn(&str) -> Option<Value>,
) -> Result<Option<(String, Value)>, FamilyError> {
    section_of(name, file, &lookup, &mut Chain::new("reasoning", name))
}

fn section_of(
    name: &str,
    file: &Value,
    lookup: &dyn Fn(&str) -> Option<Value>,
    chain: &mut Chain,
) -> Result<Option<(String, Value)>, FamilyError> {
    let next = match (file.get("reasoning"), file.get("like")) {
        (Some(Value::Object(_)), _) => {
            let resolved = resolve(name, file, lookup)?;
            let Some(Value::Object(mut section)) = resolved.get("reasoning").cloned() else {
                return Ok(None);
            };
            let Some(like) = section.remove("like") else {
                return Ok(Some((name.to_owned(), section.into())));
            };
            let expected = || FamilyError::new("reasoning.like", "expected a name");
            let like = like.as_str().ok_or_else(expected)?;
            let base = chain.follow(like, lookup)?;
            let base = section_of(like, &base, lookup, chain)?;
            let missing = || format!("`{like}` has no section on reasoning");
            let (owner, mut base) =
                base.ok_or_else(|| FamilyError::new("reasoning.like", missing()))?;
            if let Value::Object(base) = &mut base {
                base.remove("names");
            }
            // These keys do not change the tags.
            let same = section.keys().all(|key| matches!(key.as_str(), "starts" | "switch"));
            replace(&mut base, &section.into());
            return Ok(Some((if same { owner } else { name.to_owned() }, base)));
        }
        (Some(Value::String(name)), _) | (None, Some(Value::String(name))) => name.clone(),
        (None, None) => return Ok(None),
        _ => return Err(FamilyError::new("reasoning", "expected a table or a name")),
    };
    let file = chain.follow(&next, lookup)?;
    section_of(&next, &file, lookup, chain)
}

/// The names of the files that inherit from each other.
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
        if self.names.len() > MAX_LIKE_CHAIN + 1 {
            let problem = format!("a chain of more than {MAX_LIKE_CHAIN} files: {}", chain());
            return Err(FamilyError::new(self.field, problem));
        }
        lookup(name)
            .ok_or_else(|| FamilyError::new(self.field, format!("no family is called `{name}`")))
    }
}
