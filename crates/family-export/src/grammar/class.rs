//! Sets of characters, each for one position of a text.

/// A set of characters: those in some ranges, or those outside of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CharClass {
    /// Ranges in order, without overlap.
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl CharClass {
    /// Returns the class of the characters in these ranges, ends included.
    pub(crate) fn from_ranges(ranges: &[(char, char)]) -> Self {
        Self { ranges: merged(ranges.to_vec()), negated: false }
    }

    /// Returns the class of all characters outside of these ranges.
    pub(crate) fn not(ranges: &[(char, char)]) -> Self {
        Self { ranges: merged(ranges.to_vec()), negated: true }
    }

    /// Returns the class without these characters.
    pub(crate) fn without(&self, chars: &[char]) -> Self {
        let mut ranges = self.ranges.clone();
        if self.negated {
            ranges.extend(chars.iter().map(|&c| (c, c)));
            return Self { ranges: merged(ranges), negated: true };
        }
        for &c in chars {
            let cut = |(from, to): (char, char)| {
                if c < from || to < c {
                    return [Some((from, to)), None];
                }
                let before = before(c).filter(|&it| from <= it).map(|it| (from, it));
                let after = after(c).filter(|&it| it <= to).map(|it| (it, to));
                [before, after]
            };
            ranges = ranges.into_iter().flat_map(cut).flatten().collect();
        }
        Self { ranges, negated: false }
    }

    pub(crate) fn has(&self, c: char) -> bool {
        self.ranges.iter().any(|&(from, to)| from <= c && c <= to) != self.negated
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && !self.negated
    }

    /// Returns a character of the class, if it has any.
    pub(crate) fn example(&self) -> Option<char> {
        let first = self.ranges.first().map(|&(from, _)| from).filter(|_| !self.negated);
        first.or_else(|| ('a'..='z').chain('0'..='9').find(|&c| self.has(c)))
    }

    pub(crate) fn ranges(&self) -> &[(char, char)] {
        &self.ranges
    }

    pub(crate) fn is_negated(&self) -> bool {
        self.negated
    }
}

fn before(c: char) -> Option<char> {
    char::from_u32(u32::from(c).checked_sub(1)?)
}

fn after(c: char) -> Option<char> {
    char::from_u32(u32::from(c).checked_add(1)?)
}

fn merged(mut ranges: Vec<(char, char)>) -> Vec<(char, char)> {
    ranges.sort_unstable();
    let mut all: Vec<(char, char)> = Vec::new();
    for (from, to) in ranges {
        match all.last_mut() {
            Some((_, end)) if from <= *end || after(*end) == Some(from) => *end = (*end).max(to),
            _ => all.push((from, to)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::CharClass;

    #[test]
    fn character_class_excludes_single_characters() {
        let letters = CharClass::from_ranges(&[('a', 'e'), ('d', 'f')]);
        assert_eq!(letters.ranges(), [('a', 'f')]);
        assert_eq!(letters.without(&['a', 'c']).ranges(), [('b', 'b'), ('d', 'f')]);
        let rest = CharClass::not(&[('"', '"')]).without(&['<']);
        assert!(rest.has('a') && !rest.has('<') && !rest.has('"'));
    }
}
