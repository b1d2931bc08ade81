//! Reduction of a failing input without a fuzzer.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Returns the smallest input found that fails like `data`, and the failure. `None` if `data` does
/// not fail.
///
/// Removes runs of bytes, long ones first, then replaces bytes by zero or a letter, as long as the
/// input changes. Panics are caught; a hook prints them unless the caller replaces it.
pub fn shrink(run: fn(&[u8]), data: &[u8]) -> Option<(Vec<u8>, String)> {
    let fails = |data: &[u8]| {
        let panic = catch_unwind(AssertUnwindSafe(|| run(data))).err()?;
        let text = panic.downcast_ref::<String>().cloned();
        Some(
            text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
                .unwrap_or_default(),
        )
    };
    // Returns the law, assertion or message of a failure. Another one found during the reduction is
    // a separate finding.
    let kind = |message: &str| -> Option<String> {
        let letters = |line: &str| line.chars().filter(|c| c.is_alphabetic()).take(24).collect();
        message.lines().next().map(letters)
    };
    let mut message = fails(data)?;
    let first = kind(&message);
    let mut best = data.to_vec();
    let mut try_one = |best: &mut Vec<u8>, candidate: Vec<u8>| match fails(&candidate) {
        Some(new) if kind(&new) == first => {
            (*best, message) = (candidate, new);
            true
        }
        _ => false,
    };
    loop {
        let mut changed = false;
        let mut len = best.len().next_power_of_two();
        while len > 0 {
            let mut at = 0;
            while at < best.len() {
                let end = (at + len).min(best.len());
                let without = [&best[..at], &best[end..]].concat();
                if try_one(&mut best, without) {
                    changed = true;
                } else {
                    at += len;
                }
            }
            len /= 2;
        }
        for at in 0..best.len() {
            for simple in [0, b'x'] {
                if best[at] == 0 || best[at] == simple {
                    break;
                }
                let mut simpler = best.clone();
                simpler[at] = simple;
                if try_one(&mut best, simpler) {
                    changed = true;
                    break;
                }
            }
        }
        if !changed {
            return Some((best, message));
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn failing_input_shrinks_to_its_failing_part() {
        fn run(data: &[u8]) {
            assert!(!data.windows(2).any(|pair| pair == b"ab"), "holds ab");
        }
        let shrunk = super::shrink(run, b"0123ab4567abab");
        assert_eq!(shrunk, Some((b"ab".to_vec(), "holds ab".to_owned())));
        assert_eq!(super::shrink(run, b"ba"), None);
    }
}
