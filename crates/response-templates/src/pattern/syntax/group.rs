//! Groups: those that capture, look, or set flags, and what asks for one again.

use alloc::{boxed::Box, string::String, vec::Vec};

use super::{super::flags::Flag, Fault, FaultKind, Node, Parser, Read};

#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`at` moves over characters that are there, so it is at most their number, and so is \
              the number of groups"
)]
impl Parser<'_> {
    pub(super) fn group(&mut self, start: usize) -> Read<Option<Node>> {
        let outer = self.flags;
        let mut number = None;
        let mut look = None;
        if self.eat("?") {
            let name = if self.eat("P<") {
                Some(self.name('>')?)
            } else if self.eat("P=") {
                let name = self.name(')')?;
                return self.again_by_name(&name, start).map(Some);
            } else if self.eat("#") {
                while self.next().ok_or_else(|| self.invalid("missing )"))? != ')' {}
                return Ok(None);
            } else if self.eat("=") {
                look = Some((false, false));
                None
            } else if self.eat("!") {
                look = Some((false, true));
                None
            } else if self.eat("<=") {
                look = Some((true, false));
                None
            } else if self.eat("<!") {
                look = Some((true, true));
                None
            } else if self.eat("<") {
                Some(self.name('>')?)
            } else if !self.eat(":") && !self.flags_here(start)? {
                return Ok(None);
            } else {
                None
            };
            if let Some(name) = name {
                number = Some(self.number_of(name));
            }
        } else {
            self.groups += 1;
            number = Some(self.groups);
        }
        let node = self.alternatives()?;
        if !self.eat(")") {
            return Err(self.invalid("missing )"));
        }
        self.flags = outer;
        Ok(Some(match (number, look) {
            (Some(number), _) => {
                self.closed.push(number);
                Node::Group(number, Box::new(node))
            }
            (None, Some((behind, negated))) => Node::Look { node: Box::new(node), behind, negated },
            // Kept apart, so that it can be repeated.
            (None, None) if matches!(node, Node::Empty) => Node::Concat(Vec::new()),
            (None, None) => node,
        }))
    }

    fn number_of(&mut self, name: String) -> usize {
        if let Some((_, number)) = self.names.iter().find(|(known, _)| *known == name) {
            return *number;
        }
        self.groups += 1;
        self.names.push((name, self.groups));
        self.groups
    }

    pub(super) fn name(&mut self, end: char) -> Read<String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c != end) {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        if self.next() != Some(end) {
            return Err(self.invalid("missing end of a group's name"));
        }
        let mut chars = name.chars();
        let good = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
            && chars.all(|c| c.is_alphanumeric() || c == '_');
        if good {
            Ok(name)
        } else {
            Err(Fault { kind: FaultKind::Invalid("bad name of a group"), at: start })
        }
    }

    /// Reads flags; whether a group follows that they are for.
    fn flags_here(&mut self, start: usize) -> Read<bool> {
        let mut on = true;
        let mut flags = self.flags;
        loop {
            let at = self.at;
            let c = self.next().ok_or_else(|| self.invalid("unknown extension"))?;
            match c {
                '-' if on => on = false,
                ')' if self.at > start + 3 => {
                    if !on {
                        return self.unsupported("a flag switched off for the rest", start);
                    }
                    self.global = self.global.with(flags);
                    self.flags = flags;
                    return Ok(false);
                }
                ':' => {
                    self.flags = flags;
                    return Ok(true);
                }
                '>' if at == start + 2 => return self.unsupported("atomic group", start),
                '|' if at == start + 2 => return self.unsupported("branch reset", start),
                '(' if at == start + 2 => return self.unsupported("conditional", start),
                'R' | '&' | '0'..='9' | 'P' if at == start + 2 => {
                    return self.unsupported("recursion", start);
                }
                'L' | 'b' | 'e' | 'f' | 'p' | 'r' | 'w' | 'V' => {
                    return self.unsupported("a flag other than `a`, `i`, `m`, `s`, `u`, `x`", at);
                }
                c => match Flag::of(c) {
                    Some(flag) => flags.set(flag, on),
                    None if c == 'u' => flags.set(Flag::Ascii, false),
                    None => return Err(self.invalid("unknown extension")),
                },
            }
        }
    }

    pub(super) fn again_by_name(&mut self, name: &str, start: usize) -> Read<Node> {
        let number = self.names.iter().find(|(known, _)| known == name).map(|(_, n)| *n);
        self.again(number, start)
    }

    pub(super) fn again(&self, number: Option<usize>, start: usize) -> Read<Node> {
        match number.filter(|number| self.closed.contains(number)) {
            _ if self.flags.has(Flag::AnyCase) => {
                self.unsupported("back-reference in any case", start)
            }
            Some(number) => Ok(Node::Again(number)),
            None => Err(Fault { kind: FaultKind::Invalid("unknown group"), at: start }),
        }
    }
}
