//! Which calls can stream: those whose name and arguments a transform takes from known places.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    json::JsonTree,
    template::{Content, Field, Role, Transform},
};

/// Where the parts of a call come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) name: Name,
    pub(super) arguments: Source,
    /// Whether schemas may change the arguments: only calls in the wrapped form are looked at.
    pub(super) cast: bool,
    /// Whether each item of a list is a call.
    pub(super) each: bool,
    /// An id that the opener had.
    pub(super) id: Option<String>,
}

/// Where arguments come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// From this path in the JSON of the region.
    At(Vec<String>),
    /// From the tags or lines of the content, whose members end one after the other.
    Members,
    /// From the value of the region, which is known at its end.
    Whole,
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
enum From {
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
                let From::Path(path) = source(place)? else { return None };
                let member = |key: &str| [path.as_slice(), &[key.to_string()]].concat();
                (None, From::Path(member("name")), Some(From::Path(member("arguments"))))
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
            Some(Some(From::Known(id))) => Some(id),
            // An id in the JSON may come too late for the call's start.
            Some(_) => return None,
        };
        let json = matches!(field.content, Content::Json(_));
        // A tag that comes again may make a list of what its first value was.
        let members = match &field.content {
            Content::Tags { merge, .. } => !merge,
            Content::Lines { .. } => true,
            _ => false,
        };
        let arguments = match arguments {
            Some(From::Path(path)) if json => Source::At(path),
            Some(From::Path(path)) if members && path.is_empty() => Source::Members,
            _ => Source::Whole,
        };
        let at = matches!(arguments, Source::At(_));
        let name = match name {
            From::Known(name) => Name::Known(name),
            From::Path(path) if at => Name::At(path),
            From::Path(_) => return None,
        };
        let cast = transform.member("function").is_some();
        (at || !field.each).then_some(Self { name, arguments, cast, each: field.each, id })
    }
}

fn source(field: &Field, groups: &[(String, String)], transform: &Transform) -> Option<From> {
    let (root, path) = match transform {
        Transform::Plain(JsonTree::String(text)) => return Some(From::Known(text.clone())),
        Transform::Place { root, path } => (root, path),
        _ => return None,
    };
    let group = groups.iter().find(|(name, _)| name == root);
    match group {
        // An item may have a member of this name, which would count.
        Some(_) if field.each => None,
        _ if field.each => {
            Some(From::Path([core::slice::from_ref(root), path.as_slice()].concat()))
        }
        _ if root == "content" => Some(From::Path(path.clone())),
        Some((_, text)) if path.is_empty() => Some(From::Known(text.clone())),
        _ => None,
    }
}
