//! A walk over objects and arrays. The dialect writes the texts around their parts.

use alloc::string::String;

use crate::{
    encode::{error::EncodeFault, input::JsonNode},
    typing::Path,
};

/// A member or element that is about to be written.
pub(super) struct Item<'a> {
    /// The number of the item in its container, from 0.
    pub(super) n: usize,
    pub(super) container: &'a JsonNode<'a>,
    /// The path of the container.
    pub(super) path: &'a Path,
}

/// The spelling of values in a dialect.
pub(super) trait Style {
    /// Returns the text between a key and its value.
    fn colon(&self) -> &'static str {
        ": "
    }

    /// Writes text before a member or element.
    fn before_item(&self, item: Item<'_>, out: &mut String) {
        out.push_str(if item.n > 0 { ", " } else { "" });
    }

    /// Writes text after the last member or element.
    fn after_items(&self, _: &JsonNode<'_>, _: &Path, _: &mut String) {}

    /// Writes a member's name.
    fn key(&self, key: &str, out: &mut String) -> Result<(), EncodeFault>;

    /// Writes a value that is not an object or array.
    fn scalar(&self, node: &JsonNode<'_>, path: &Path, out: &mut String)
    -> Result<(), EncodeFault>;
}

/// Writes the value at the end of the path. An error names the outermost member with the fault.
pub(super) fn write(
    style: &impl Style,
    node: &JsonNode<'_>,
    path: &mut Path,
    out: &mut String,
) -> Result<(), EncodeFault> {
    let (close, empty) = match node {
        JsonNode::Object(members) => {
            out.push('{');
            for (n, (key, value)) in members.iter().enumerate() {
                style.before_item(Item { n, container: node, path }, out);
                style.key(key, out).map_err(|fault| fault.for_key(key))?;
                out.push_str(style.colon());
                path.member(key);
                write(style, value, path, out).map_err(|fault| fault.for_key(key))?;
                path.pop();
            }
            ('}', members.is_empty())
        }
        JsonNode::Array(elements) => {
            out.push('[');
            for (n, element) in elements.iter().enumerate() {
                style.before_item(Item { n, container: node, path }, out);
                path.element(n);
                write(style, element, path, out)?;
                path.pop();
            }
            (']', elements.is_empty())
        }
        scalar => return style.scalar(scalar, path, out),
    };
    if !empty {
        style.after_items(node, path, out);
    }
    out.push(close);
    Ok(())
}
