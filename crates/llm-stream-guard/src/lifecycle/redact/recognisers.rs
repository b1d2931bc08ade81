//! Ready-made recognisers. Each has an expression and a check of its matches.
//!
//! ```text
//! 4111 1111 1111 1111   the expression matches, the check digit is right: a card number
//! 4111 1111 1111 1112   the expression matches, the check digit is wrong: text
//! ```
//!
//! Expressions are ASCII and begin at the edge of a word, so that few positions are examined. A
//! match longer than its hold is followed to its end.

use std::net::{Ipv4Addr, Ipv6Addr};

use jail_match::Mark;

use super::rules::Recogniser;

impl Recogniser {
    /// Returns all ready-made recognisers: e-mail addresses, credit cards, IBANs, IP addresses,
    /// phone numbers and keys.
    #[must_use]
    pub fn ready_made() -> Vec<Self> {
        let all = [Self::email, Self::credit_card, Self::iban, Self::ip_address, Self::phone];
        all.into_iter().map(|make| make()).chain([Self::api_key()]).collect()
    }

    /// Recognises e-mail addresses: `email`.
    #[must_use]
    pub fn email() -> Self {
        let address =
            r"(?-u:\b)[A-Za-z0-9_][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}";
        Self::new("email", Mark::pattern(address).hold(320).checked(is_address))
    }

    /// Recognises numbers of credit cards, with or without blanks and dashes: `credit_card`.
    /// Numbers have 13 to 19 digits, begin like those of an issuer, and have a last digit that is
    /// right by Luhn's rule.
    #[must_use]
    pub fn credit_card() -> Self {
        let number = r"(?-u:\b)[2-6](?:[ -]?[0-9]){12,18}(?-u:\b)";
        let mark = Mark::pattern(number).accepting(|text| whole_groups(text, is_card));
        Self::new("credit_card", mark)
    }

    /// Recognises international bank account numbers in capitals, with or without blanks: `iban`.
    /// Numbers have 15 to 34 characters and are 1 modulo 97.
    #[must_use]
    pub fn iban() -> Self {
        let number = r"(?-u:\b)[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{1,4}){3,8}(?-u:\b)";
        let mark = Mark::pattern(number).accepting(|text| whole_groups(text, is_iban));
        Self::new("iban", mark)
    }

    /// Recognises IP addresses of both versions: `ip_address`. Addresses of version 6 must have a
    /// digit and three groups, because shorter ones look like paths in code.
    #[must_use]
    pub fn ip_address() -> Self {
        let four = r"(?-u:\b)(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?-u:\b)";
        let six = r"(?-u:\b)[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}";
        let version_six = |text: &str| {
            let groups = text.split(':').filter(|group| !group.is_empty()).count();
            groups > 2
                && text.contains(|scalar: char| scalar.is_ascii_digit())
                && text.parse::<Ipv6Addr>().is_ok()
        };
        Self::new(
            "ip_address",
            Mark::pattern(four).checked(|text| text.parse::<Ipv4Addr>().is_ok()),
        )
        .mark(Mark::pattern(six).checked(version_six))
    }

    /// Recognises phone numbers: `phone`. Numbers are international and begin with `+`, or are
    /// those of North America written in groups.
    #[must_use]
    pub fn phone() -> Self {
        let international = r"\+[1-9](?:[ ().-]{0,2}[0-9]){6,14}";
        let american = r"(?-u:\b)[2-9][0-9]{2}[ .-][2-9][0-9]{2}[ .-][0-9]{4}(?-u:\b)";
        Self::new("phone", Mark::pattern(international)).mark(Mark::pattern(american))
    }

    /// Recognises keys and tokens in the forms that their issuers document: `api_key`. The issuers
    /// are OpenAI, Anthropic, Stripe, AWS, Google, GitHub, GitLab, Slack and Hugging Face. JSON web
    /// tokens of any length are also recognised, if their header has at most 2 KiB.
    #[must_use]
    pub fn api_key() -> Self {
        const SHAPES: [&str; 8] = [
            r"(?-u:\b)gh[opsur]_[A-Za-z0-9]{36,}",
            r"(?-u:\b)github_pat_[A-Za-z0-9_]{22,}",
            r"(?-u:\b)glpat-[A-Za-z0-9_-]{20,}",
            r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
            r"(?-u:\b)AIza[A-Za-z0-9_-]{35}",
            r"(?-u:\b)xox[abeoprs]-[A-Za-z0-9-]{10,}",
            r"(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
            r"(?-u:\b)hf_[A-Za-z0-9]{30,}",
        ];
        // Two texts in base64, of which the second is an object, too, or a third follows: what is
        // known after the header needs no room for the rest.
        const WEB_TOKEN: &str = r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?|[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2})";
        let mark = |shape: &'static str| Mark::pattern(shape).hold(512);
        let first = Self::new("api_key", mark(r"(?-u:\b)sk-[A-Za-z0-9_-]{20,}"));
        let web_token = Mark::pattern(WEB_TOKEN).hold(2560);
        SHAPES.into_iter().fold(first, |all, shape| all.mark(mark(shape))).mark(web_token)
    }
}

/// Returns the length of the longest beginning of `text` that passes `check`, cut only at blanks
/// and dashes. Text after a number may look like a part of it.
fn whole_groups(text: &str, check: impl Fn(&str) -> bool) -> Option<usize> {
    let cuts = text.rmatch_indices([' ', '-']).map(|(at, _)| at);
    std::iter::once(text.len()).chain(cuts).find(|&at| check(&text[..at]))
}

/// Whether no label of an address is empty or has a dash at its edge.
fn is_address(text: &str) -> bool {
    let Some((name, host)) = text.split_once('@') else { return false };
    let host = || host.split('.');
    !name.ends_with('.')
        && !name.contains("..")
        && host().all(|label| !label.starts_with('-') && !label.ends_with('-') && label.len() < 64)
}

/// Whether `text` has as many digits as a card number, and the last is right by Luhn's rule.
fn is_card(text: &str) -> bool {
    let digits = || text.chars().rev().filter_map(|scalar| scalar.to_digit(10));
    let sum: u32 = digits()
        .enumerate()
        .map(|(n, digit)| if n % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    (13..=19).contains(&digits().count()) && sum.is_multiple_of(10)
}

/// Whether `text` is an account number with the right check digits. With the first four characters
/// moved to the end and two digits for each letter, the number must be 1 modulo 97.
fn is_iban(text: &str) -> bool {
    let compact: Vec<char> = text.chars().filter(|scalar| *scalar != ' ').collect();
    let rest = compact.iter().cycle().skip(4).take(compact.len()).try_fold(0, |rest, scalar| {
        let digit = scalar.to_digit(36)?;
        Some((rest * if digit < 10 { 10 } else { 100 } + digit) % 97)
    });
    (15..=34).contains(&compact.len()) && rest == Some(1)
}
