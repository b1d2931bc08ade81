//! A check of adjacent holes: the end of the first must be visible in the text of the second.
//!
//! ```text
//! {name}{arguments}     the arguments begin with a brace, which ends the name
//! {name}{id}            refused: the text does not show where the name ends
//! ```

use alloc::vec::Vec;

use super::{Hole, Part, Template, TemplateError};

/// Checks all adjacent holes, with groups between them present or absent. `starts` are the byte
/// offsets of the holes in the text, in order.
pub(super) fn check(template: &Template, starts: &[usize]) -> Result<(), TemplateError> {
    let mut starts = starts.iter().copied();
    walk(&template.parts, Vec::new(), &mut starts).map(drop)?;
    template.holes().try_for_each(|hole| match hole {
        // The offsets of holes inside an id are unknown, so the error has no exact position.
        Hole::Id(Some(id)) => check(id, &[]),
        _ => Ok(()),
    })
}

/// Checks `parts`, which may directly follow any of the holes `before`. Returns the holes that may
/// directly precede the next part.
fn walk<'t>(
    parts: &'t [Part],
    mut before: Vec<&'t Hole>,
    starts: &mut impl Iterator<Item = usize>,
) -> Result<Vec<&'t Hole>, TemplateError> {
    for part in parts {
        match part {
            Part::Literal(_) => before.clear(),
            Part::Group(inner) => {
                let after = walk(inner, before.clone(), starts)?;
                before.extend(after);
            }
            Part::Hole(hole) => {
                let at = starts.next().unwrap_or_default();
                if matches!(hole, Hole::NameMeant(_) | Hole::KeyMeant(_)) {
                    continue;
                }
                if let Some(first) = before.iter().find(|first| !may_touch(first, hole)) {
                    let found = alloc::format!("`{hole}` directly after `{first}`");
                    return Err(TemplateError::new(at, "a literal between two holes", found));
                }
                before.clear();
                before.push(hole);
            }
        }
    }
    Ok(before)
}

/// Returns whether the text of `second` shows where `first` ends.
fn may_touch(first: &Hole, second: &Hole) -> bool {
    let ends = matches!(first, Hole::Name | Hole::NameIs(_) | Hole::NameDeclared | Hole::Id(_))
        || matches!(first, Hole::Label | Hole::Index(_));
    ends && matches!(
        second,
        Hole::Parameters { .. } | Hole::Elements | Hole::Arguments(_) | Hole::Object(_)
    )
}
