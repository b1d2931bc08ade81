//! Transforms: JSON values with placeholders that build the value of a field.
//!
//! For the content `{"a": 1}` and the group `name` with the text `f`, the transform
//! `{"name": "{name}", "arguments": "{content}"}` gives `{"name": "f", "arguments": {"a": 1}}`.

use alloc::{
    borrow::ToOwned,
    string::{String, ToString},
    vec::Vec,
};

use super::{ErrorKind, ResponseTemplateError};
use crate::{
    chars::is_word,
    json::{JsonObject, JsonTree},
    malformed::Malformed,
};

/// A value with placeholders.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Transform {
    Object(Vec<(String, Self)>),
    Array(Vec<Self>),
    Place { root: String, path: Vec<String> },
    Plain(JsonTree),
}

/// The values of placeholders. The content, or the members of an item, take precedence over the
/// groups of the opener and the closer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope<'s> {
    Content(&'s JsonTree),
    Item(&'s JsonObject),
}

impl Transform {
    /// Reads the transform at `key`. `check` returns the fault of a placeholder.
    pub(crate) fn from_json(
        value: &JsonTree,
        key: &str,
        check: &dyn Fn(&str, &[String]) -> Option<ErrorKind>,
    ) -> Result<Self, ResponseTemplateError> {
        let inner =
            |name: &str, value| Self::from_json(value, &alloc::format!("{key}.{name}"), check);
        Ok(match value {
            JsonTree::Object(object) => {
                let member = |(name, value): (&str, _)| Ok((name.to_owned(), inner(name, value)?));
                Self::Object(
                    object.iter().map(member).collect::<Result<_, ResponseTemplateError>>()?,
                )
            }
            JsonTree::Array(items) => {
                let item = |(n, value): (usize, _)| inner(&n.to_string(), value);
                Self::Array(items.iter().enumerate().map(item).collect::<Result<_, _>>()?)
            }
            JsonTree::String(text) => match place(text) {
                Some((0, inner)) if inner.len() + 2 == text.len() => {
                    let mut parts = inner.split('.').map(str::to_owned);
                    let root = parts.next().unwrap_or_default();
                    let path: Vec<_> = parts.collect();
                    if let Some(kind) = check(&root, &path) {
                        return Err(ResponseTemplateError::new(kind, key).detail(root));
                    }
                    Self::Place { root, path }
                }
                Some((byte, _)) => {
                    let error = ResponseTemplateError::new(ErrorKind::MixedPlaceholder, key);
                    return Err(error
                        .detail(text.as_str())
                        .at_offset(text[..byte].chars().count()));
                }
                None => Self::Plain(value.clone()),
            },
            plain => Self::Plain(plain.clone()),
        })
    }

    /// Returns the member of an object.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        let Self::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value with its placeholders replaced.
    pub(crate) fn apply(
        &self,
        groups: &[(String, String)],
        scope: Scope<'_>,
    ) -> Result<JsonTree, Malformed> {
        Ok(match self {
            Self::Object(members) => {
                let member =
                    |(key, value): &(String, Self)| Ok((key.clone(), value.apply(groups, scope)?));
                JsonTree::Object(members.iter().map(member).collect::<Result<_, Malformed>>()?)
            }
            Self::Array(items) => {
                let items = items.iter().map(|item| item.apply(groups, scope));
                JsonTree::Array(items.collect::<Result<_, _>>()?)
            }
            Self::Place { root, path } => find(root, path, groups, scope)?,
            Self::Plain(value) => value.clone(),
        })
    }
}

fn find(
    root: &str,
    path: &[String],
    groups: &[(String, String)],
    scope: Scope<'_>,
) -> Result<JsonTree, Malformed> {
    let content = match scope {
        Scope::Content(content) if root == "content" => Some(content),
        Scope::Content(_) => None,
        Scope::Item(item) => item.get(root),
    };
    let Some(mut value) = content else {
        let group = groups.iter().find(|(name, _)| name == root);
        let (_, text) = group.ok_or(Malformed::UndefinedPlaceholder)?;
        return match path.is_empty() {
            true => Ok(JsonTree::String(text.clone())),
            false => Err(Malformed::PlaceholderPath),
        };
    };
    for key in path {
        let object = value.as_object().ok_or(Malformed::PlaceholderPath)?;
        value = object.get(key).ok_or(Malformed::PlaceholderPath)?;
    }
    Ok(value.clone())
}

/// Returns the first placeholder in `text`: the offset of its brace, and the text between its
/// braces.
fn place(text: &str) -> Option<(usize, &str)> {
    text.match_indices('{').find_map(|(at, _)| {
        let inner = &text[at + 1..];
        let end = inner.find(|c| !is_word(c) && c != '.')?;
        let name = &inner[..end];
        let good = inner[end..].starts_with('}') && name.split('.').all(|part| !part.is_empty());
        good.then_some((at, name))
    })
}
