//! Blocks of calls, alone and after other text.

use std::sync::Arc;

use crate::grammar::{
    dfa::until,
    ir::{Node, Rule},
    members::share,
};

/// Blocks of calls: blocks that may be the first, and blocks that may follow.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) first: Vec<Node>,
    pub(super) later: Vec<Node>,
}

/// The calls of an answer.
#[derive(Default)]
pub(super) struct Calls {
    pub(super) rules: Vec<Rule>,
    pub(super) any: Blocks,
}

/// One or more blocks of calls.
#[derive(Default)]
pub(super) struct Blocks {
    first: Node,
    /// The first block without the text that the prompt wrote.
    shorter: Option<Node>,
    more: Node,
    /// The calls with an answer's text before them.
    pub(super) with_text: Option<Node>,
}

impl Calls {
    pub(super) fn new(
        opened: Option<String>,
        mut rules: Vec<Rule>,
        Forms { first, later }: Forms,
        (between, is_single, text): (&str, bool, Option<Arc<[String]>>),
    ) -> Self {
        let shorter: Option<Vec<Node>> = opened
            .and_then(|opened| first.iter().map(|block| without_head(block, &opened)).collect());
        let with_text = text.map(|not| {
            let ways = first.iter().map(|block| after_answer(block, &not));
            share(Node::choice(ways), &mut rules)
        });
        let block = share(Node::choice(first), &mut rules);
        let shorter = shorter.map(|blocks| share(Node::choice(blocks), &mut rules));
        let more = match is_single || later.is_empty() {
            true => Node::default(),
            false => Node::many(
                Node::Text(between.to_owned()).then(share(Node::choice(later), &mut rules)),
            ),
        };
        let with_text = with_text.map(|first| first.then(more.clone()));
        Self { rules, any: Blocks { first: block, shorter, more, with_text } }
    }
}

impl Blocks {
    /// Returns the calls at the start of the answer.
    pub(super) fn at_start(&self) -> Node {
        let ways = [Some(self.first.clone()), self.shorter.clone()];
        Node::choice(ways.into_iter().flatten()).then(self.more.clone())
    }

    /// Returns the calls after other text.
    pub(super) fn after_text(&self) -> Node {
        self.first.clone().then(self.more.clone())
    }
}

/// Returns a block after text of the answer. The text ends where the block's first tag begins.
fn after_answer(block: &Node, not: &[String]) -> Node {
    let head = match block {
        Node::Text(text) => text.as_str(),
        Node::Seq(parts) => match parts.first() {
            Some(Node::Text(text)) => text.as_str(),
            _ => "",
        },
        _ => "",
    };
    let tags = not.iter().filter(|tag| head.starts_with(tag.as_str()));
    let rest = tags.max_by_key(|tag| tag.len()).and_then(|tag| {
        let rest = without_head(block, tag)?;
        Some(until(not, tag).then(rest))
    });
    rest.unwrap_or_else(|| until(not, "").then(block.clone()))
}

/// Returns a block without the text that it begins with.
fn without_head(block: &Node, head: &str) -> Option<Node> {
    match block {
        Node::Text(text) => Some(Node::Text(text.strip_prefix(head)?.to_owned())),
        Node::Seq(parts) => {
            let (Node::Text(text), rest) = parts.split_first()? else { return None };
            let first = Node::Text(text.strip_prefix(head)?.to_owned());
            Some(Node::seq([first].into_iter().chain(rest.iter().cloned())))
        }
        _ => None,
    }
}
