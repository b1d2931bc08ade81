//! Patterns of provider and model names.

use crate::limits::MAX_GLOB_CHARS;
use alloc::vec::Vec;
use core::fmt;

/// A glob: `*` matches any text, `?` any one character, and every other character itself. The case
/// of ASCII letters does not matter.
///
/// Matching takes time linear in the name for every pattern, because a 128-bit word has a bit for
/// each state and follows all possible matches at once.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    /// The character each state needs to reach the next state; `None` is `?`.
    atoms: Vec<Option<char>>,
    /// Bit `i` is set if state `i` is at a `*`, which accepts any character and stays.
    stars: u128,
}

impl Glob {
    /// Compiles a pattern. Returns `None` if it has more than `MAX_GLOB_CHARS` characters.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let (mut atoms, mut stars) = (Vec::new(), 0);
        for c in pattern.chars() {
            match c {
                '*' => stars |= 1u128.checked_shl(atoms.len() as u32)?,
                '?' => atoms.push(None),
                c => atoms.push(Some(c.to_ascii_lowercase())),
            }
        }
        (atoms.len() <= MAX_GLOB_CHARS).then_some(Self { atoms, stars })
    }

    /// Returns whether the whole `name` matches.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let mut ascii = [0u128; 128];
        let reads = |c: char| {
            let bits = self.atoms.iter().enumerate();
            bits.filter(|(_, atom)| atom.is_none_or(|a| a == c))
                .fold(0, |mask, (i, _)| mask | 1 << i)
        };
        for (byte, mask) in ascii.iter_mut().enumerate() {
            *mask = reads((byte as u8 as char).to_ascii_lowercase());
        }
        let mut states = 1u128;
        for c in name.chars() {
            let mask = if c.is_ascii() { ascii[c as usize] } else { reads(c) };
            states = (states & mask) << 1 | (states & self.stars);
        }
        states >> self.atoms.len() & 1 == 1
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Glob(")?;
        for i in 0..=self.atoms.len() {
            if self.stars >> i & 1 == 1 {
                f.write_str("*")?;
            }
            if let Some(atom) = self.atoms.get(i) {
                write!(f, "{}", atom.unwrap_or('?'))?;
            }
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use proptest::prelude::*;

    use super::Glob;

    #[test]
    fn globs_match_complete_names_ignoring_case() {
        for (pattern, name, matches) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything/at all", true),
            ("qwen3*", "Qwen3.6-27B", true),
            ("qwen3*", "my-qwen3", false),
            ("*qwen?.6*", "x/QWEN3.6:latest", true),
            ("a?c", "ac", false),
            ("a?c", "aéc", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("**a**", "za", true),
            ("É", "é", false),
        ] {
            assert_eq!(Glob::new(pattern).unwrap().matches(name), matches, "{pattern} {name}");
        }
    }

    /// Matches recursively, as a reference.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => {
                naive(rest, name) || !name.is_empty() && naive(pattern, &name[1..])
            }
            (['?', rest @ ..], [_, name @ ..]) => naive(rest, name),
            ([a, rest @ ..], [b, name @ ..]) => a.eq_ignore_ascii_case(b) && naive(rest, name),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn globs_match_like_a_recursive_matcher(pattern in "[abé*?]{0,8}", name in "[aAbBé]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Glob::new(&pattern).unwrap().matches(&name), naive(&chars(&pattern), &chars(&name)));
        }
    }
}
