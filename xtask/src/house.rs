//! Figures of the sources: names of types, functions with many parameters, and `#[expect]`
//! attributes. `tidy` holds them below ceilings.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::Source;

/// The number of parameters from which on a function counts as wide.
const MANY_PARAMETERS: usize = 5;

/// The figures of one crate.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// The name of each type, and whether it is public.
    pub(crate) types: Vec<(String, bool)>,
    /// The names of functions with five or more parameters.
    pub(crate) wide_functions: Vec<String>,
    /// The number of `#[expect]` attributes.
    pub(crate) expects: usize,
}

impl Figures {
    /// Counts the figures of the sources of a crate.
    pub(crate) fn of(sources: &[Source]) -> Self {
        let mut figures = Self::default();
        for source in sources {
            let code: Vec<&str> = source.code().collect();
            for line in &code {
                figures.expects += line.matches("[expect(").count();
                figures.expects += line.matches(", expect(").count();
                let line = line.trim_start();
                figures.types.extend(type_name(line));
            }
            figures.wide_functions.extend(wide_functions(&code.join("\n")));
        }
        figures
    }

    /// Returns the names that several types of the crate share.
    pub(crate) fn shared_types(&self) -> Vec<&str> {
        let mut seen = BTreeMap::<&str, usize>::new();
        for (name, _) in &self.types {
            *seen.entry(name).or_default() += 1;
        }
        seen.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect()
    }
}

/// Returns the names of public types that several crates share.
pub(crate) fn shared_public_types(crates: &BTreeMap<String, Figures>) -> Vec<&str> {
    let mut owners = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (owner, figures) in crates {
        for (name, _) in figures.types.iter().filter(|(_, public)| *public) {
            owners.entry(name).or_default().insert(owner);
        }
    }
    owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(name, _)| name).collect()
}

/// Returns the name of the type that a line defines, and whether it is public.
fn type_name(line: &str) -> Option<(String, bool)> {
    let rest = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(line, |(_, rest)| rest),
        None => rest,
    });
    let (keyword, rest) = rest.trim_start().split_once(' ')?;
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let defines = ["struct", "enum", "trait", "union"].contains(&keyword) && !name.is_empty();
    defines.then_some((name, line.starts_with("pub ")))
}

/// Returns the names of the functions in `code` with five or more parameters.
fn wide_functions(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + 3..];
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !name.is_empty() && parameters(&rest[name.len()..]) >= MANY_PARAMETERS {
            names.push(name);
        }
    }
    names
}

/// Counts the parameters of a function, given the text after its name.
fn parameters(text: &str) -> usize {
    let (mut depth, mut count, mut fresh, mut before) = (0_i32, 0, false, ' ');
    let mut opened = false;
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if before != '-' && before != '=' => depth -= 1,
            _ => {}
        }
        if !opened {
            opened = c == '(' && depth == 1;
            fresh = opened;
        } else if depth == 0 {
            return count;
        } else if c == ',' && depth == 1 {
            fresh = true;
        } else if fresh && !c.is_whitespace() {
            (fresh, count) = (false, count + 1);
        }
        before = c;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{Figures, parameters, shared_public_types};
    use crate::source::Source;

    fn figures(text: &str) -> Figures {
        Figures::of(&[Source { path: "a.rs".into(), text: text.into() }])
    }

    #[test]
    fn types_of_one_name_are_found_in_a_crate_and_among_public_names() {
        let one = "pub struct Read;\nmod a {\n    struct Read<'a>(&'a str);\n    enum Own {}\n}\n";
        assert_eq!(figures(one).shared_types(), ["Read"]);
        let two = "pub(crate) struct Own;\npub trait Read: Sized {}\n";
        assert_eq!(figures(two).shared_types(), Vec::<&str>::new());
        let crates = [("one", one), ("two", two)].map(|(name, text)| (name.into(), figures(text)));
        assert_eq!(shared_public_types(&crates.into()), ["Read"]);
    }

    #[test]
    fn functions_with_five_parameters_are_found() {
        let text = "fn a<F: Fn(u8, u8) -> u8>(&self, b: (u8, u8), c: F,\n    d: [u8; 2],) {}\n\
                    fn wide(\n    self,\n    a: Vec<(u8, u8)>,\n    b: u8,\n    c: u8,\n    d: u8,\n\
                    ) {}\n";
        assert_eq!(figures(text).wide_functions, ["wide"]);
        assert_eq!(parameters("()"), 0);
    }

    #[test]
    fn expect_attributes_are_counted() {
        let text = "#![expect(a)]\n#[cfg_attr(b, expect(c))]\npub struct A;\npub fn e() { f.expect(\"g\") }\n";
        assert_eq!(figures(text).expects, 2);
    }
}
