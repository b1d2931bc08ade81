//! The syntax of expressions: Python's, as far as it can be run over text in pieces.

mod escape;
mod group;
mod quantifier;

use alloc::{boxed::Box, string::String, vec::Vec};

use regex_syntax::hir::ClassUnicode;

use super::{
    class::{fold, one},
    flags::{Flag, Flags},
};

/// An expression as a tree.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Empty,
    Set(ClassUnicode),
    Concat(Vec<Self>),
    /// In order of preference.
    Alternate(Vec<Self>),
    Repeat {
        node: Box<Self>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    /// A group that captures, by number from 1.
    Group(usize, Box<Self>),
    Assert(Assert),
    Look {
        node: Box<Self>,
        behind: bool,
        negated: bool,
    },
    /// What a group matched, again.
    Again(usize),
}

/// A condition on what stands before and behind a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assert {
    /// The start of the text.
    Start,
    /// Its end.
    End,
    /// Its end, or before a newline that ends it.
    LastLine,
    LineStart,
    LineEnd,
    /// Between a word's character and another; or not so.
    Word {
        ascii: bool,
        negated: bool,
    },
    /// Where a word begins, or ends.
    WordStart,
    WordEnd,
}

/// What is wrong with an expression, and where: at this character, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// It is no expression; what was expected or is wrong.
    Invalid(&'static str),
    /// It is one, but cannot be run here; the name of what it uses.
    Unsupported(&'static str),
}

/// An expression and its groups.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) node: Node,
    /// Names of groups, with their numbers.
    pub(crate) names: Vec<(String, usize)>,
    pub(crate) groups: usize,
}

type Read<T> = Result<T, Fault>;

/// Nesting beyond this is refused.
const MAX_DEPTH: usize = 100;

/// Repetitions beyond this are refused.
const MAX_REPEAT: u32 = 1000;

pub(crate) fn parse(expression: &str) -> Read<Parsed> {
    let chars: Vec<char> = expression.chars().collect();
    // Flags that stand anywhere count everywhere: once more with those that were found.
    let mut flags = Flags::default();
    loop {
        let mut parser = Parser {
            chars: &chars,
            at: 0,
            flags,
            global: flags,
            names: Vec::new(),
            groups: 0,
            closed: Vec::new(),
            depth: 0,
        };
        let node = parser.alternatives()?;
        if parser.at < chars.len() {
            return Err(parser.invalid("unbalanced parenthesis"));
        }
        if parser.global != flags {
            flags = parser.global;
            continue;
        }
        return Ok(Parsed { node, names: parser.names, groups: parser.groups });
    }
}

struct Parser<'p> {
    chars: &'p [char],
    at: usize,
    flags: Flags,
    /// Those of the whole expression, as far as they are known.
    global: Flags,
    names: Vec<(String, usize)>,
    groups: usize,
    /// Groups that ended, which alone may be asked for.
    closed: Vec<usize>,
    depth: usize,
}

#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "`at` moves over characters that are there, so it is at most their number; the depth \
              goes up by one and down again"
)]
impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let here = self.chars[self.at..].iter().copied().take(text.chars().count());
        let found = here.eq(text.chars());
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn invalid(&self, what: &'static str) -> Fault {
        Fault { kind: FaultKind::Invalid(what), at: self.at }
    }

    fn unsupported<T>(&self, what: &'static str, at: usize) -> Read<T> {
        Err(Fault { kind: FaultKind::Unsupported(what), at })
    }

    fn alternatives(&mut self) -> Read<Node> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.unsupported("deep nesting", self.at);
        }
        let mut all = Vec::new();
        loop {
            all.push(self.sequence()?);
            if !self.eat("|") {
                break;
            }
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Alternate(all) })
    }

    fn sequence(&mut self) -> Read<Node> {
        let mut all = Vec::new();
        loop {
            if self.flags.has(Flag::Verbose) {
                self.skip_remarks();
            }
            match self.peek() {
                None | Some('|' | ')') => break,
                Some('*' | '+' | '?') => return Err(self.invalid("nothing to repeat")),
                Some(_) => {}
            }
            let start = self.at;
            if let Some(node) = self.atom()? {
                all.push(self.repeated(node, start)?);
            }
        }
        Ok(match all.len() {
            0 => Node::Empty,
            1 => all.remove(0),
            _ => Node::Concat(all),
        })
    }

    fn skip_remarks(&mut self) {
        while let Some(c) = self.peek() {
            if c == '#' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
            } else if c.is_whitespace() {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// What stands here without its repetition; `None` for what matches nothing, such as flags.
    fn atom(&mut self) -> Read<Option<Node>> {
        let start = self.at;
        let Some(c) = self.next() else { return Ok(None) };
        let node = match c {
            '(' => return self.group(start),
            '[' => Node::Set(self.set()?),
            '.' => {
                let mut class = ClassUnicode::empty();
                if !self.flags.has(Flag::DotAll) {
                    class = one('\n');
                }
                class.negate();
                Node::Set(class)
            }
            '^' if self.flags.has(Flag::Lines) => Node::Assert(Assert::LineStart),
            '^' => Node::Assert(Assert::Start),
            '$' if self.flags.has(Flag::Lines) => Node::Assert(Assert::LineEnd),
            '$' => Node::Assert(Assert::LastLine),
            '\\' => self.escape(start)?,
            c => Node::Set(self.folded(one(c))),
        };
        Ok(Some(node))
    }

    fn folded(&self, mut class: ClassUnicode) -> ClassUnicode {
        if self.flags.has(Flag::AnyCase) {
            fold(&mut class);
        }
        class
    }

    fn repeated(&mut self, node: Node, start: usize) -> Read<Node> {
        if self.flags.has(Flag::Verbose) {
            self.skip_remarks();
        }
        let from = self.at;
        let Some((min, max)) = self.quantifier()? else { return Ok(node) };
        if matches!(node, Node::Empty) && start == from {
            return Err(self.invalid("nothing to repeat"));
        }
        if self.peek() == Some('+') {
            return self.unsupported("possessive quantifier", self.at);
        }
        let greedy = !self.eat("?");
        let after = self.at;
        if self.quantifier()?.is_some() {
            self.at = after;
            return Err(self.invalid("multiple repeat"));
        }
        Ok(Node::Repeat { node: Box::new(node), min, max, greedy })
    }
}
