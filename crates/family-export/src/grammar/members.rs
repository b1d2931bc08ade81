//! Lists of members, some of which may be missing.

use super::ir::{Node, Rule};

/// A part of a list, and whether it must be present.
pub(super) type Part = (Node, bool);

/// Returns a list of the parts in order, with `between` between two that are present. Rules are
/// added that keep long lists short.
pub(super) fn list(parts: Vec<Part>, between: &Node, rules: &mut Vec<Rule>) -> Node {
    if between.is_empty() {
        let parts = parts.into_iter();
        return Node::seq(parts.map(
            |(part, is_required)| {
                if is_required { part } else { Node::optional(part) }
            },
        ));
    }
    let parts: Vec<_> = parts.into_iter().map(|(part, is)| (share(part, rules), is)).collect();
    // The first part that is present has no separator before it.
    let mut firsts = Vec::new();
    for (n, (part, is_required)) in parts.iter().enumerate() {
        let rest = parts.iter().skip(n + 1).map(|(part, is_required)| {
            let part = between.clone().then(part.clone());
            if *is_required { part } else { Node::optional(part) }
        });
        firsts.push(Node::seq([part.clone()].into_iter().chain(rest)));
        if *is_required {
            return Node::choice(firsts);
        }
    }
    match firsts.is_empty() {
        true => Node::default(),
        false => Node::optional(Node::choice(firsts)),
    }
}

/// Returns a reference to a rule for `node` if `node` is long, otherwise the node itself.
pub(super) fn share(node: Node, rules: &mut Vec<Rule>) -> Node {
    const MAX_UNSHARED_SIZE: usize = 6;
    if node.size() <= MAX_UNSHARED_SIZE {
        return node;
    }
    rules.push(Rule { name: format!("part-{}", rules.len()), node });
    Node::Rule(rules.len() - 1)
}

/// Returns repetitions of `part`, with `between` between two of them. The pair bounds their count.
pub(super) fn repeated(part: Node, between: &Node, (least, most): (u32, Option<u32>)) -> Node {
    let more = between.clone().then(part.clone());
    let rest = (least.saturating_sub(1), most.map(|most| most.saturating_sub(1)));
    let some = match most {
        Some(0) => return Node::default(),
        Some(1) => part,
        _ => part.then(Node::Repeat(Box::new(more), rest.0, rest.1)),
    };
    if least == 0 { Node::optional(some) } else { some }
}
