//! Calls that can be emitted before their region ends.
//!
//! A call can if its transform takes the name and the arguments from known places. With the
//! transform `{"function": {"name": "{name}", "arguments": "{content}"}}` and an opener with the
//! group `name`, the name is known at the opener, and the arguments are the JSON of the region.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};

use crate::{
    json::JsonTree,
    template::{Content, Field, Role, Transform},
};

/// The sources of the parts of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) name: Name,
    pub(super) arguments: Source,
    /// Whether schemas may change the arguments. Only wrapped calls are cast.
    pub(super) cast: bool,
    /// Whether each item of a list is a call.
    pub(super) each: bool,
    /// The id, if it is in the opener.
    pub(super) id: Option<String>,
}

/// The source of the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// The value at this path in the JSON of the region.
    At(Vec<String>),
    /// The members in tags or lines. Each is certain before the region ends.
    Members,
    /// The value of the region, which is known at the region's end.
    Whole,
}

/// The source of the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A name in the opener or the template.
    Known(String),
    /// The string at this path in the JSON of the region.
    At(Vec<String>),
}

/// The source of a part of a call: a known text, or a path in the JSON of the region.
enum PartSource {
    Known(String),
    Path(Vec<String>),
}

impl Plan {
    /// Returns the plan for the calls of `field` after an opener with these `groups`, or `None` if
    /// they cannot be emitted early.
    pub(super) fn for_field(field: &Field, groups: &[(String, String)]) -> Option<Self> {
        if field.role != Role::Calls {
            return None;
        }
        let transform = field.transform.as_ref()?;
        let source = |transform: &Transform| source(field, groups, transform);
        let (function, name, arguments) = match transform.member("function") {
            Some(place @ Transform::Place { .. }) => {
                let PartSource::Path(path) = source(place)? else { return None };
                let member = |key: &str| [path.as_slice(), &[key.to_string()]].concat();
                (
                    None,
                    PartSource::Path(member("name")),
                    Some(PartSource::Path(member("arguments"))),
                )
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
            Some(Some(PartSource::Known(id))) => Some(id),
            // An id in the JSON may come too late for the call's start.
            Some(_) => return None,
        };
        let json = matches!(field.content, Content::Json(_));
        // A repeated tag may turn the first value into a list.
        let members = match &field.content {
            Content::Tags { merge, .. } => !merge,
            Content::Lines { .. } => true,
            _ => false,
        };
        let arguments = match arguments {
            Some(PartSource::Path(path)) if json => Source::At(path),
            Some(PartSource::Path(path)) if members && path.is_empty() => Source::Members,
            _ => Source::Whole,
        };
        let at = matches!(arguments, Source::At(_));
        let name = match name {
            PartSource::Known(name) => Name::Known(name),
            PartSource::Path(path) if at => Name::At(path),
            PartSource::Path(_) => return None,
        };
        let cast = transform.member("function").is_some();
        (at || !field.each).then_some(Self { name, arguments, cast, each: field.each, id })
    }
}

fn source(field: &Field, groups: &[(String, String)], transform: &Transform) -> Option<PartSource> {
    let (root, path) = match transform {
        Transform::Plain(JsonTree::String(text)) => return Some(PartSource::Known(text.clone())),
        Transform::Place { root, path } => (root, path),
        _ => return None,
    };
    // The closer may set or replace this group.
    if field.close.iter().any(|close| close.program.names.contains(root)) {
        return None;
    }
    let group = groups.iter().find(|(name, _)| name == root);
    match group {
        // A member of the item with this name would replace the group.
        Some(_) if field.each => None,
        _ if field.each => {
            Some(PartSource::Path([core::slice::from_ref(root), path.as_slice()].concat()))
        }
        _ if root == "content" => Some(PartSource::Path(path.clone())),
        Some((_, text)) if path.is_empty() => Some(PartSource::Known(text.clone())),
        _ => None,
    }
}
