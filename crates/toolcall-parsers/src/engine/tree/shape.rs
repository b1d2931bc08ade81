//! The shape of calls that are element trees, as data.

use serde::{Deserialize, Serialize};

use crate::grammar::Text;

/// Calls as elements in elements, with a token before every tag that alone begins markup.
///
/// ```text
/// NS<wrapper>NS<call name="f">NS<key>text NS</key>NS<list>NS<item>1NS</item>NS</list>NS</call>
/// ```
///
/// An element with text alone is a scalar. One with elements is an object or a list, whichever
/// the schema says; else a list if its first child is an item, or an object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeShape {
    /// What stands before every tag.
    pub namespace: Text,
    /// The element calls stand in.
    pub wrapper: Text,
    /// The element of a call.
    pub call: Text,
    /// The attribute with the call's name.
    pub name: Text,
    /// The element of a list's items.
    pub item: Text,
    /// The member for text that stands next to elements; dollar signs follow if it is taken.
    pub text: Text,
}
