//! The position of a value in the arguments.

use alloc::{string::String, vec::Vec};

/// A step from a value to a value inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathStep<'p> {
    /// Into the member with this name.
    Member(&'p str),
    /// Into the element at this index.
    Element(usize),
}

/// The steps from the arguments to a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    /// The names of all members of the path, one after another.
    names: String,
    places: Vec<PathPlace>,
}

#[derive(Debug, Clone, Copy)]
enum PathPlace {
    /// A member. Its name begins at this offset of `names`.
    Member(usize),
    Element(usize),
}

impl Path {
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.places.clear();
    }

    pub(crate) fn member(&mut self, name: &str) {
        self.places.push(PathPlace::Member(self.names.len()));
        self.names.push_str(name);
    }

    pub(crate) fn element(&mut self, index: usize) {
        self.places.push(PathPlace::Element(index));
    }

    /// Removes the last step.
    pub(crate) fn pop(&mut self) {
        if let Some(PathPlace::Member(from)) = self.places.pop() {
            self.names.truncate(from);
        }
    }

    /// Returns the name of the last step, if that is a member.
    pub(crate) fn name(&self) -> Option<&str> {
        match self.places.last() {
            Some(&PathPlace::Member(from)) => Some(&self.names[from..]),
            _ => None,
        }
    }

    /// Returns the total length of the names in bytes.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = PathStep<'_>> + Clone {
        self.places.iter().enumerate().map(|(i, place)| match *place {
            PathPlace::Element(index) => PathStep::Element(index),
            PathPlace::Member(from) => {
                let mut following = self.places.iter().skip(i.saturating_add(1));
                let next = following.find_map(|place| match place {
                    PathPlace::Member(next) => Some(*next),
                    PathPlace::Element(_) => None,
                });
                PathStep::Member(&self.names[from..next.unwrap_or(self.names.len())])
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Path, PathStep};

    #[test]
    fn path_steps_are_returned_in_order() {
        let mut path = Path::default();
        path.member("a");
        path.element(2);
        path.element(0);
        path.member("");
        path.member("bé");
        let steps = [
            PathStep::Member("a"),
            PathStep::Element(2),
            PathStep::Element(0),
            PathStep::Member(""),
            PathStep::Member("bé"),
        ];
        assert!(path.steps().eq(steps));
        assert_eq!(path.name(), Some("bé"));
        path.pop();
        path.pop();
        assert_eq!((path.name(), path.len()), (None, 1));
        assert!(path.steps().eq(steps[..3].iter().copied()));
    }
}
