//! Integers between bounds, as digits.

use super::{class::CharClass, ir::Node};

/// Returns the decimal spelling of the integers from `least` to `most`.
pub(super) fn integer(least: Option<i64>, most: Option<i64>) -> Node {
    let mut ways = Vec::new();
    let positive_least = least.map_or(0, |it| it.max(0).unsigned_abs());
    if most.is_none_or(|it| it >= 0) {
        ways.extend(from_to(positive_least, most.map(i64::unsigned_abs)));
    }
    if least.is_none_or(|it| it < 0) {
        let nearest = most.map_or(1, |it| it.min(-1).unsigned_abs());
        let negative = from_to(nearest, least.map(i64::unsigned_abs));
        ways.push(Node::Text("-".to_owned()).then(Node::choice(negative)));
    }
    Node::choice(ways)
}

/// Returns the spellings of the natural numbers from `least` on.
fn from_to(least: u64, most: Option<u64>) -> Vec<Node> {
    let (low, mut ways) = (least.to_string(), Vec::new());
    let length = low.len();
    match most {
        None if least == 0 => {
            ways.push("0".into());
            ways.push(digit('1', '9').then(Node::many(digit('0', '9'))));
        }
        None => {
            ways.extend(same_length(&low, &"9".repeat(length)));
            let longer = u32::try_from(length).unwrap_or(u32::MAX);
            ways.push(digit('1', '9').then(Node::Repeat(Box::new(digit('0', '9')), longer, None)));
        }
        Some(most) => {
            let high = most.to_string();
            for digits in length..=high.len() {
                let from = if digits == length { low.clone() } else { first_of(digits) };
                let to = if digits == high.len() { high.clone() } else { "9".repeat(digits) };
                if from <= to {
                    ways.extend(same_length(&from, &to));
                }
            }
        }
    }
    ways
}

/// Returns the smallest number with this count of digits.
fn first_of(digits: usize) -> String {
    format!("1{}", "0".repeat(digits.saturating_sub(1)))
}

fn digit(from: char, to: char) -> Node {
    match from == to {
        true => Node::Text(from.to_string()),
        false => Node::Char(CharClass::from_ranges(&[(from, to)])),
    }
}

fn any_digits(count: usize) -> Node {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    match count {
        0 => Node::default(),
        _ => Node::Repeat(Box::new(digit('0', '9')), count, Some(count)),
    }
}

/// Returns the numbers between two of the same length.
fn same_length(low: &str, high: &str) -> Vec<Node> {
    let (Some(from), Some(to)) = (low.chars().next(), high.chars().next()) else {
        return vec![Node::default()];
    };
    let (low, high) = (&low[1..], &high[1..]);
    let rest = low.len();
    let is_lowest = low.bytes().all(|it| it == b'0');
    let is_highest = high.bytes().all(|it| it == b'9');
    if from == to {
        return vec![digit(from, to).then(Node::choice(same_length(low, high)))];
    }
    let (mut ways, mut first, mut last) = (Vec::new(), from, to);
    let step = |c: char, by: i32| {
        u32::from(c).checked_add_signed(by).and_then(char::from_u32).unwrap_or(c)
    };
    if !is_lowest {
        ways.push(digit(from, from).then(Node::choice(same_length(low, &"9".repeat(rest)))));
        first = step(from, 1);
    }
    if !is_highest {
        last = step(to, -1);
    }
    if first <= last {
        ways.push(digit(first, last).then(any_digits(rest)));
    }
    if !is_highest {
        ways.push(digit(to, to).then(Node::choice(same_length(&"0".repeat(rest), high))));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::integer;
    use crate::grammar::{ir::Rules, matcher::admits};

    #[test]
    fn integer_grammar_accepts_exactly_the_integers_in_its_bounds() {
        let bounds = [None, Some(-120), Some(-7), Some(0), Some(3), Some(19), Some(204)];
        for least in bounds {
            for most in bounds.into_iter().filter(|most| most.is_none() || *most >= least) {
                let rules = Rules { rules: Vec::new(), start: integer(least, most) };
                for number in -1100..1100_i64 {
                    let is =
                        least.is_none_or(|it| it <= number) && most.is_none_or(|it| number <= it);
                    assert_eq!(
                        admits(&rules, &number.to_string()),
                        is,
                        "{least:?} {most:?} {number}"
                    );
                }
            }
        }
    }
}
