//! How often something is repeated.

use super::{MAX_REPEAT, Parser, Read};

#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`at` moves over characters that are there; where `is_fuzzy` asks, it stands at a \
              brace"
)]
impl Parser<'_> {
    /// How often what came before is repeated, if it is said here.
    pub(super) fn quantifier(&mut self) -> Read<Option<(u32, Option<u32>)>> {
        let start = self.at;
        let bounds = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted(start),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(bounds))
    }

    fn counted(&mut self, start: usize) -> Read<Option<(u32, Option<u32>)>> {
        self.at += 1;
        let min = self.number();
        let (max, ok) = if self.eat(",") { (self.number(), true) } else { (min, min.is_some()) };
        if !ok || !self.eat("}") {
            self.at = start;
            if self.is_fuzzy() {
                return self.unsupported("approximate matching", start);
            }
            return Ok(None);
        }
        let min = min.unwrap_or(0);
        if max.is_some_and(|max| max < min) {
            return Err(self.invalid("least repetition above the greatest"));
        }
        if min.max(max.unwrap_or(0)) > MAX_REPEAT {
            return self.unsupported("repetition above 1000", start);
        }
        Ok(Some((min, max)))
    }

    /// Whether a brace here says how many errors a match may have.
    fn is_fuzzy(&self) -> bool {
        let inner = self.chars[self.at + 1..].iter().take_while(|&&c| c != '}');
        let closed = self.chars[self.at..].contains(&'}');
        let mut kinds = false;
        let only = inner.clone().all(|&c| {
            kinds |= "isde".contains(c);
            "isde0123456789<=+, ".contains(c)
        });
        closed && only && kinds
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        let start = self.at;
        let mut number = 0_u32;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit);
            self.at += 1;
        }
        (self.at > start).then_some(number)
    }
}
