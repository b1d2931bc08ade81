//! Sets of characters.

use alloc::vec::Vec;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

/// A set of characters, as sorted ranges that do not touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Set {
    /// Bit `n`: character `n` is in.
    ascii: u128,
    /// All ranges, those of ASCII included.
    ranges: Vec<(char, char)>,
}

impl Set {
    pub(crate) fn new(class: &ClassUnicode) -> Self {
        let ranges: Vec<_> = class.iter().map(|range| (range.start(), range.end())).collect();
        let mut set = Self { ascii: 0, ranges };
        for n in 0..128_u8 {
            if set.has_slow(char::from(n)) {
                set.ascii |= 1 << n;
            }
        }
        set
    }

    pub(crate) fn has(&self, c: char) -> bool {
        let code = u32::from(c);
        if code < 128 { self.ascii >> code & 1 == 1 } else { self.has_slow(c) }
    }

    /// Whether every character is in.
    pub(crate) fn is_all(&self) -> bool {
        self.ranges == [('\0', char::MAX)]
    }

    fn has_slow(&self, c: char) -> bool {
        let after = self.ranges.partition_point(|&(first, _)| first <= c);
        let range = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        range.is_some_and(|&(_, last)| c <= last)
    }

    /// Sets the first bytes of the characters.
    #[expect(clippy::indexing_slicing, reason = "`bytes` has an entry for each byte")]
    pub(crate) fn first_bytes(&self, bytes: &mut [bool; 256]) {
        let lead = |c: char| {
            let mut buffer = [0; 4];
            c.encode_utf8(&mut buffer);
            usize::from(buffer[0])
        };
        for &(first, last) in &self.ranges {
            bytes[lead(first)..=lead(last)].fill(true);
        }
    }
}

pub(crate) fn range(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

pub(crate) fn one(c: char) -> ClassUnicode {
    range(c, c)
}

/// The class of an escape such as `\w`; `upper` is that of its upper-case form.
pub(crate) fn escape(letter: char, ascii: bool) -> Option<ClassUnicode> {
    let (source, negated) = match letter {
        'd' => (if ascii { "[0-9]" } else { r"\d" }, false),
        'D' => (if ascii { "[0-9]" } else { r"\d" }, true),
        'w' => (if ascii { "[0-9A-Za-z_]" } else { r"\w" }, false),
        'W' => (if ascii { "[0-9A-Za-z_]" } else { r"\w" }, true),
        's' => (if ascii { r"[\t-\r ]" } else { r"\s" }, false),
        'S' => (if ascii { r"[\t-\r ]" } else { r"\s" }, true),
        _ => return None,
    };
    let hir = regex_syntax::parse(source).ok()?;
    let HirKind::Class(regex_syntax::hir::Class::Unicode(mut class)) = hir.into_kind() else {
        return None;
    };
    if negated {
        class.negate();
    }
    Some(class)
}

/// Adds the other case of each character.
pub(crate) fn fold(class: &mut ClassUnicode) {
    // The error is that the tables are not compiled in.
    let _ = class.try_case_fold_simple();
}
