//! Which calls can stream: those whose name and arguments a transform takes from known places.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    json::Value,
    template::{Content, Dialect, Field, Role, Transform},
};

/// Where the parts of a call come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) name: Name,
    /// The path to the arguments in the JSON of the region; `None`: they are known at its end.
    pub(super) arguments: Option<Vec<String>>,
    /// Whether each item of a list is a call.
    pub(super) each: bool,
    /// An id that the opener had.
    pub(super) id: Option<String>,
}

/// Where a name comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// From the opener or the template.
    Known(String),
    /// From this path in the JSON of the region.
    At(Vec<String>),
}

/// A member of the JSON of the region, or what is known without it.
enum Source {
    Known(String),
    Path(Vec<String>),
}

impl Plan {
    /// How calls of `field` stream whose opener's groups matched `groups`; `None` if they do not.
    pub(super) fn of(field: &Field, groups: &[(String, String)]) -> Option<Self> {
        if field.role != Role::Calls {
            return None;
        }
        let transform = field.transform.as_ref()?;
        let source = |transform: &Transform| source(field, groups, transform);
        let (function, name, arguments) = match transform.member("function") {
            Some(place @ Transform::Place { .. }) => {
                let Source::Path(path) = source(place)? else { return None };
                let member = |key: &str| [path.as_slice(), &[key.to_string()]].concat();
                (None, Source::Path(member("name")), Some(Source::Path(member("arguments"))))
            }
            function => {
                let function = function.unwrap_or(transform);
                let arguments = function.member("arguments").and_then(source);
                (Some(function), source(function.member("name")?)?, arguments)
            }
        };
        let id = [Some(transform), function].into_iter().flatten().find_map(|at| at.member("id"));
        let id = match id.map(source) {
            None => None,
            Some(Some(Source::Known(id))) => Some(id),
            // It may come too late for the call's start.
            Some(_) => return None,
        };
        // Only plain JSON can be read on the way.
        let json =
            matches!(&field.content, Content::Json(dialect) if *dialect == Dialect::default());
        let arguments = match arguments {
            Some(Source::Path(path)) if json => Some(path),
            _ => None,
        };
        let name = match name {
            Source::Known(name) => Name::Known(name),
            Source::Path(path) if json && arguments.is_some() => Name::At(path),
            Source::Path(_) => return None,
        };
        if field.each && arguments.is_none() {
            return None;
        }
        Some(Self { name, arguments, each: field.each, id })
    }
}

fn source(field: &Field, groups: &[(String, String)], transform: &Transform) -> Option<Source> {
    let (root, path) = match transform {
        Transform::Plain(Value::String(text)) => return Some(Source::Known(text.clone())),
        Transform::Place { root, path } => (root, path),
        _ => return None,
    };
    let group = groups.iter().find(|(name, _)| name == root);
    match group {
        // An item may have a member of this name, which would count.
        Some(_) if field.each => None,
        _ if field.each => {
            Some(Source::Path([core::slice::from_ref(root), path.as_slice()].concat()))
        }
        _ if root == "content" => Some(Source::Path(path.clone())),
        Some((_, text)) if path.is_empty() => Some(Source::Known(text.clone())),
        _ => None,
    }
}
