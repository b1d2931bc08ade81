//! Shapes in another order, or without repetition.

use super::Shape;

impl Shape {
    /// Returns the shape with the members of objects sorted by their keys.
    pub(crate) fn sorted(self) -> Self {
        match self {
            Self::OneOf(shapes) => Self::OneOf(shapes.into_iter().map(Self::sorted).collect()),
            Self::Array(items, least, most) => Self::Array(Box::new(items.sorted()), least, most),
            Self::Const(mut value) => {
                value.sort_all_objects();
                Self::Const(value)
            }
            Self::Object(mut object) => {
                object.members.sort_by(|one, other| one.key.cmp(&other.key));
                for member in &mut object.members {
                    let shape = core::mem::replace(&mut member.shape, Self::Any);
                    member.shape = shape.sorted();
                }
                object.rest = object.rest.map(|rest| Box::new(rest.sorted()));
                Self::Object(object)
            }
            other => other,
        }
    }
}

/// Returns the choice of shapes, without repetition.
pub(super) fn one_of(shapes: Vec<Shape>) -> Shape {
    let mut all: Vec<Shape> = Vec::new();
    for shape in shapes {
        let inner = match shape {
            Shape::OneOf(inner) => inner,
            shape => vec![shape],
        };
        for shape in inner {
            if !all.contains(&shape) {
                all.push(shape);
            }
        }
    }
    match <[Shape; 1]>::try_from(all) {
        Ok([only]) => only,
        Err(all) => Shape::OneOf(all),
    }
}
