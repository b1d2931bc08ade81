//! Lists that are read entry by entry, and the parts of messages that guards need.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer as _,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::error::{Fault, expected};

/// Calls `on` with each entry of a list, without keeping them.
pub(crate) fn each(
    list: &RawValue,
    at: &str,
    on: &mut dyn FnMut(usize, &RawValue) -> Result<(), Fault>,
) -> Result<(), Fault> {
    struct Each<'o>(
        &'o mut dyn FnMut(usize, &RawValue) -> Result<(), Fault>,
        &'o mut Option<Fault>,
    );

    impl<'de> Visitor<'de> for Each<'_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            let mut n = 0_usize;
            while let Some(entry) = list.next_element::<&RawValue>()? {
                if let Err(fault) = self.0(n, entry) {
                    *self.1 = Some(fault);
                    return Err(A::Error::custom("a fault"));
                }
                n = n.saturating_add(1);
            }
            Ok(())
        }
    }

    let mut fault = None;
    let read = serde_json::Deserializer::from_str(list.get()).deserialize_seq(Each(on, &mut fault));
    match (fault, read) {
        (Some(fault), _) => Err(fault),
        (None, Err(_)) => Err(expected(at, "a list")),
        (None, Ok(())) => Ok(()),
    }
}

/// The parts of a message that a guard needs.
#[derive(Deserialize, Default)]
pub(super) struct Skim<'m> {
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<&'m RawValue>,
    #[serde(borrow, default)]
    pub(super) content: Option<&'m RawValue>,
}

#[derive(Deserialize)]
struct Typed<'p> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'p, str>,
}

impl Skim<'_> {
    /// Returns the number of calls in the message.
    pub(super) fn calls(&self) -> usize {
        let count = |list: Option<&RawValue>, counts: &dyn Fn(&RawValue) -> bool| {
            let mut count = 0_usize;
            if let Some(list) = list {
                // Text that is not a list has no entries.
                let _ = each(list, "", &mut |_, entry| {
                    count = count.saturating_add(usize::from(counts(entry)));
                    Ok(())
                });
            }
            count
        };
        let used = |part: &RawValue| {
            serde_json::from_str::<Typed<'_>>(part.get()).is_ok_and(|it| it.kind == "tool_use")
        };
        count(self.tool_calls, &|_| true).saturating_add(count(self.content, &used))
    }
}
