//! Families that start from another family's file.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde_json::Value;

use super::FamilyError;
use crate::limits::MAX_LIKE;

/// Keys that a file never takes from another.
const OWN: [&str; 8] =
    ["about", "source", "models", "names", "template", "variant", "like", "name"];

/// Tables that mean something as a whole only: no key of them is kept.
const WHOLE: [&str; 2] = ["keys", "spellings"];

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
        // A section that begins from another file's begins from no second one.
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

/// The reasoning section of the file called `name` and the name of the file whose tags it has: its
/// own, that of the file that `reasoning` or `reasoning.like` names, or that of the file it is
/// like.
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
            // Where the prompt ends does not change the tags.
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
        if self.names.len() > MAX_LIKE + 1 {
            let problem = format!("a chain of more than {MAX_LIKE} files: {}", chain());
            return Err(FamilyError::new(self.field, problem));
        }
        lookup(name)
            .ok_or_else(|| FamilyError::new(self.field, format!("no family is called `{name}`")))
    }
}
