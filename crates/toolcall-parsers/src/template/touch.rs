//! A check that adjacent holes can be distinguished: the second must begin with a bracket or a
//! literal.

use alloc::vec::Vec;

use super::{Hole, Part, Template, TemplateError};

/// Checks that no two holes touch, groups between them missing or not. `starts` are the byte
/// offsets of the holes in the text, in order.
pub(super) fn check(template: &Template, starts: &[usize]) -> Result<(), TemplateError> {
    let mut starts = starts.iter().copied();
    walk(&template.parts, Vec::new(), &mut starts).map(drop)?;
    template.holes().try_for_each(|hole| match hole {
        // The texts of an id's holes are not known one by one: the whole id is to blame.
        Hole::Id(Some(id)) => check(id, &[]),
        _ => Ok(()),
    })
}

/// Checks `parts`, which may directly follow any of `before`. Returns the parts that may directly
/// precede the next one.
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
                if matches!(hole, Hole::NameMeant(_)) {
                    continue;
                }
                if let Some(first) = before.iter().find(|first| !may_touch(first, hole)) {
                    let found = alloc::format!("`{hole}` directly behind `{first}`");
                    return Err(TemplateError::new(at, "a literal between two holes", found));
                }
                before.clear();
                before.push(hole);
            }
        }
    }
    Ok(before)
}

/// Whether `second` shows where `first` ends.
fn may_touch(first: &Hole, second: &Hole) -> bool {
    let ends = matches!(first, Hole::Name | Hole::NameIs(_) | Hole::NameDeclared | Hole::Id(_))
        || matches!(first, Hole::Label | Hole::Index(_));
    ends && matches!(
        second,
        Hole::Parameters { .. } | Hole::Elements | Hole::Arguments(_) | Hole::Object(_)
    )
}
