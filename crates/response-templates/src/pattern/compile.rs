//! Trees to programs.

#![expect(
    clippy::indexing_slicing,
    reason = "steps are named by the places they were pushed to, sets by theirs, groups by the \
              numbers that the parser counted"
)]
#![expect(
    clippy::arithmetic_side_effects,
    reason = "steps, slots and groups are counted in `usize` and bounded by `MAX_STEPS`, the \
              characters of look-behinds by `MAX_BEHIND`; a pair of slots that fits 16 bits is \
              even at first, so its second one fits"
)]

use alloc::{collections::BTreeMap, string::String, vec, vec::Vec};

use regex_syntax::hir::ClassUnicode;

use super::{
    class::{Set, one},
    program::{Behind, Inst, Program},
    syntax::{self, Assert, Fault, FaultKind, Node},
};

/// The most steps a program may have.
const MAX_STEPS: usize = 20_000;

/// The most steps that repetitions may add to those of what they repeat. A search may stand at all
/// of them at once, so that this bounds its work for a character.
const MAX_REPEATED: usize = 256;

/// The most characters that the look-behinds of a program may have, all alternatives together.
const MAX_BEHIND: usize = 20_000;

/// Compiles an expression.
pub(crate) fn compile(expression: &str) -> Result<Program, Fault> {
    let parsed = syntax::parse(expression)?;
    let mut named = vec![None; parsed.groups + 1];
    let mut names = Vec::new();
    for (name, group) in &parsed.names {
        named[*group] = Some(names.len());
        names.push(name.clone());
    }
    build(&parsed.node, names, named)
}

/// Compiles a list of literals: any of them, the longer ones first.
pub(crate) fn literals<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Program, Fault> {
    let mut texts: Vec<&str> = texts.into_iter().collect();
    texts.sort_by_key(|text| core::cmp::Reverse(text.chars().count()));
    let literal = |text: &&str| Node::Concat(text.chars().map(|c| Node::Set(one(c))).collect());
    build(&Node::Alternate(texts.iter().map(literal).collect()), Vec::new(), vec![None])
}

fn build(node: &Node, names: Vec<String>, named: Vec<Option<usize>>) -> Result<Program, Fault> {
    let mut compiler = Compiler {
        insts: Vec::new(),
        sets: Vec::new(),
        known: BTreeMap::new(),
        behinds: Vec::new(),
        slots: 2 * names.len(),
        slot_of: named,
        looks: false,
        again: again(node),
        ahead: 0,
        behind: 1,
        looked_behind: 0,
        in_repeat: false,
        repeated: 0,
    };
    compiler.node(node)?;
    compiler.push(Inst::Match)?;
    let Compiler { insts, sets, behinds, slots, looks, again, behind, .. } = compiler;
    let mut program = Program {
        insts,
        sets,
        behinds,
        names,
        slots,
        first: [false; 256],
        nullable: false,
        looks,
        again,
        grows: None,
        behind,
    };
    program.grows = program.key_and_value();
    (program.first, program.nullable) = first_bytes(&program);
    Ok(program)
}

/// Whether groups are asked for again.
fn again(node: &Node) -> bool {
    match node {
        Node::Again(_) => true,
        Node::Concat(all) | Node::Alternate(all) => all.iter().any(again),
        Node::Repeat { node, .. } | Node::Group(_, node) | Node::Look { node, .. } => again(node),
        Node::Empty | Node::Set(_) | Node::Assert(_) => false,
    }
}

/// The steps of `node` without repetitions, at least.
fn steps(node: &Node) -> usize {
    match node {
        Node::Concat(all) | Node::Alternate(all) => all.iter().map(steps).sum(),
        Node::Repeat { node, .. } | Node::Group(_, node) | Node::Look { node, .. } => steps(node),
        Node::Empty => 0,
        Node::Set(_) | Node::Assert(_) | Node::Again(_) => 1,
    }
}

struct Compiler {
    insts: Vec<Inst>,
    sets: Vec<Set>,
    known: BTreeMap<Vec<(char, char)>, u32>,
    behinds: Vec<Behind>,
    slots: usize,
    /// The pair of slots of each group that needs one.
    slot_of: Vec<Option<usize>>,
    looks: bool,
    again: bool,
    /// How many look-aheads the step is inside of.
    ahead: usize,
    behind: usize,
    /// How long its look-behinds are, all alternatives together.
    looked_behind: usize,
    /// Whether the step is inside of a repetition.
    in_repeat: bool,
    /// How many steps repetitions added.
    repeated: usize,
}

type Built = Result<(), Fault>;

/// How long alternatives of a look-behind are together; an empty one takes room too.
fn length(alternatives: &[Vec<u32>]) -> usize {
    alternatives.iter().map(|one| one.len().max(1)).sum()
}

/// Refuses look-behinds that are `length` long together and too long.
fn bounded(length: usize) -> Built {
    if length > MAX_BEHIND {
        return unsupported("look-behinds of more than 20000 characters");
    }
    Ok(())
}

/// Puts each of `tails` behind each of `heads`.
fn join(heads: &mut Vec<Vec<u32>>, tails: &[Vec<u32>]) -> Built {
    if matches!(tails, [only] if only.is_empty()) {
        return Ok(());
    }
    if heads.len() * tails.len() > 64 {
        return unsupported("a look-behind of more than 64 alternatives");
    }
    let joined =
        heads.iter().flat_map(|head| tails.iter().map(|tail| [head.as_slice(), tail].concat()));
    *heads = joined.collect();
    bounded(length(heads))
}

fn unsupported<T>(what: &'static str) -> Result<T, Fault> {
    Err(Fault { kind: FaultKind::Unsupported(what), at: 0 })
}

impl Compiler {
    fn push(&mut self, inst: Inst) -> Result<u32, Fault> {
        if self.insts.len() >= MAX_STEPS {
            return unsupported("an expression of more than 20000 steps");
        }
        self.insts.push(inst);
        Ok(self.here() - 1)
    }

    fn here(&self) -> u32 {
        u32::try_from(self.insts.len()).unwrap_or(u32::MAX)
    }

    fn set(&mut self, class: &ClassUnicode) -> u32 {
        let ranges: Vec<_> = class.iter().map(|range| (range.start(), range.end())).collect();
        let (sets, next) = (&mut self.sets, self.known.len() as u32);
        *self.known.entry(ranges).or_insert_with(|| {
            sets.push(Set::new(class));
            next
        })
    }

    fn node(&mut self, node: &Node) -> Built {
        match node {
            Node::Empty => {}
            Node::Set(class) => {
                let set = self.set(class);
                self.push(Inst::Set(set))?;
            }
            Node::Concat(all) => return all.iter().try_for_each(|one| self.node(one)),
            Node::Alternate(all) => return self.alternatives(all),
            Node::Repeat { node, min, max, greedy } => {
                let outermost = !core::mem::replace(&mut self.in_repeat, true);
                let before = self.insts.len();
                self.repeat(node, *min, *max, *greedy)?;
                if outermost {
                    self.in_repeat = false;
                    self.repeated += (self.insts.len() - before).saturating_sub(steps(node));
                    if self.repeated > MAX_REPEATED {
                        return unsupported("repetitions of more than 256 steps");
                    }
                }
            }
            Node::Group(number, node) => {
                let Some(slot) = self.slot(*number) else { return self.node(node) };
                if self.ahead > 0 {
                    return unsupported("a named group inside a look-ahead");
                }
                self.push(Inst::Save(slot))?;
                self.node(node)?;
                self.push(Inst::Save(slot + 1))?;
            }
            Node::Assert(assert) => {
                self.push(Inst::Assert(*assert))?;
            }
            Node::Look { node, behind: true, negated } => {
                let mut alternatives = Vec::new();
                self.before(node, &mut alternatives)?;
                self.looked_behind += length(&alternatives);
                bounded(self.looked_behind)?;
                let longest = alternatives.iter().map(Vec::len).max().unwrap_or(0);
                self.behind = self.behind.max(longest);
                let at = self.behinds.len() as u32;
                self.behinds.push(Behind { alternatives, negated: *negated });
                self.push(Inst::Behind(at))?;
            }
            Node::Look { node, behind: false, negated } => return self.look(node, *negated),
            Node::Again(_) if self.ahead > 0 => {
                return unsupported("a back-reference inside a look-ahead");
            }
            Node::Again(number) => {
                let slot = self.slot(*number).unwrap_or(0);
                self.push(Inst::Again(slot))?;
            }
        }
        Ok(())
    }

    /// The slots of a group: those with names have some, all have where one may be asked for.
    fn slot(&mut self, group: usize) -> Option<u16> {
        let slot_of = self.slot_of.get_mut(group)?;
        if slot_of.is_none() && self.again {
            *slot_of = Some(self.slots / 2);
            self.slots += 2;
        }
        slot_of.and_then(|pair| u16::try_from(2 * pair).ok())
    }

    fn look(&mut self, node: &Node, negated: bool) -> Built {
        if self.ahead > 0 {
            return unsupported("a look-ahead inside a look-ahead");
        }
        self.looks = true;
        let ahead = self.push(Inst::Ahead { start: 0, negated })?;
        let over = self.push(Inst::Jump(0))?;
        self.insts[ahead as usize] = Inst::Ahead { start: self.here(), negated };
        self.ahead += 1;
        self.node(node)?;
        self.push(Inst::Match)?;
        self.ahead -= 1;
        self.insts[over as usize] = Inst::Jump(self.here());
        Ok(())
    }

    fn alternatives(&mut self, all: &[Node]) -> Built {
        let mut ends = Vec::new();
        for (n, one) in all.iter().enumerate() {
            if n + 1 == all.len() {
                self.node(one)?;
                break;
            }
            let split = self.push(Inst::Split(0, 0))?;
            self.node(one)?;
            ends.push(self.push(Inst::Jump(0))?);
            self.insts[split as usize] = Inst::Split(split + 1, self.here());
        }
        for end in ends {
            self.insts[end as usize] = Inst::Jump(self.here());
        }
        Ok(())
    }

    fn repeat(&mut self, node: &Node, min: u32, max: Option<u32>, greedy: bool) -> Built {
        for _ in 0..min {
            let steps = self.insts.len();
            self.node(node)?;
            // Nothing stays nothing, however often: nested, it would be repeated without end.
            if self.insts.len() == steps {
                break;
            }
        }
        let split = |go: u32, end: u32| {
            if greedy { Inst::Split(go, end) } else { Inst::Split(end, go) }
        };
        let Some(max) = max else {
            let start = self.push(Inst::Split(0, 0))?;
            self.node(node)?;
            self.push(Inst::Jump(start))?;
            self.insts[start as usize] = split(start + 1, self.here());
            return Ok(());
        };
        let mut starts = Vec::new();
        for _ in min..max {
            starts.push(self.push(Inst::Split(0, 0))?);
            self.node(node)?;
        }
        for start in starts {
            self.insts[start as usize] = split(start + 1, self.here());
        }
        Ok(())
    }

    /// What may stand before, as sets; each alternative of a fixed length.
    fn before(&mut self, node: &Node, all: &mut Vec<Vec<u32>>) -> Built {
        match node {
            Node::Empty => all.push(Vec::new()),
            Node::Set(class) => {
                let set = self.set(class);
                all.push(vec![set]);
            }
            Node::Group(_, inner) => return self.before(inner, all),
            Node::Alternate(nodes) => {
                let mut together = 0;
                for node in nodes {
                    let known = all.len();
                    self.before(node, all)?;
                    together += length(&all[known..]);
                    bounded(together)?;
                }
            }
            Node::Concat(nodes) => {
                let mut heads = vec![Vec::new()];
                for node in nodes {
                    let mut tails = Vec::new();
                    self.before(node, &mut tails)?;
                    join(&mut heads, &tails)?;
                }
                all.append(&mut heads);
            }
            Node::Repeat { min: 0, max: Some(0), .. } => all.push(Vec::new()),
            Node::Repeat { node, min, max: Some(max), .. } if min == max && *max <= 64 => {
                let (mut heads, mut tails) = (vec![Vec::new()], Vec::new());
                self.before(node, &mut tails)?;
                for _ in 0..*max {
                    join(&mut heads, &tails)?;
                }
                all.append(&mut heads);
            }
            _ => return unsupported("a look-behind of no fixed length"),
        }
        Ok(())
    }
}

/// The bytes a match may begin with. Where a match may be empty, or depend on what follows in a
/// way that is not looked into, all bytes.
fn first_bytes(program: &Program) -> ([bool; 256], bool) {
    let mut first = [false; 256];
    let nullable = !reach(program, 0, &mut first);
    if nullable {
        first.fill(true);
    }
    // No character begins with these.
    first[0x80..0xC0].fill(false);
    (first, nullable)
}

/// Adds the first bytes of what begins at step `pc`; false if it may match nothing.
fn reach(program: &Program, pc: u32, first: &mut [bool; 256]) -> bool {
    let mut seen = vec![false; program.insts.len()];
    let (mut todo, mut full) = (vec![pc], true);
    while let Some(pc) = todo.pop() {
        if core::mem::replace(&mut seen[pc as usize], true) {
            continue;
        }
        match program.insts[pc as usize] {
            Inst::Set(set) => program.sets[set as usize].first_bytes(first),
            Inst::Split(one, other) => todo.extend([one, other]),
            Inst::Jump(to) => todo.push(to),
            Inst::Save(_) | Inst::Behind(_) => todo.push(pc + 1),
            // What must follow tells the first byte, unless it may be nothing.
            Inst::Ahead { start, negated: false } => {
                if !reach(program, start, first) {
                    todo.push(pc + 1);
                }
            }
            Inst::Ahead { negated: true, .. } => todo.push(pc + 1),
            Inst::Assert(Assert::Word { .. } | Assert::WordStart) => todo.push(pc + 1),
            Inst::Assert(_) | Inst::Again(_) | Inst::Match => full = false,
        }
    }
    full
}
