//! The common interface of all parsers in the comparison, our guard included.

use llm_stream_guard::{
    End, Guard, Profile, Tools, jail_match::Alias, reasoning_aliases, toolcall_parsers,
};

use crate::{measure::feed, outcome::Outcome};

/// One stream from its first chunk to its end, ready to run.
pub(crate) type Stream<'a> = Box<dyn FnOnce(&mut Outcome) + 'a>;

/// A parser of one family.
pub(crate) trait Peer {
    /// Makes what a server has before the first chunk comes: that is not measured.
    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a>;

    /// Reads a whole text with the parser's own function for whole texts, if it has one.
    fn whole(&self, _text: &str) -> Option<Outcome> {
        None
    }
}

/// The task that a parser performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// To find calls in an answer.
    Calls,
    /// To find the reasoning of an answer.
    Reasoning {
        /// The prompt opened it.
        open: bool,
    },
}

/// A peer for the task, if it has one for the family.
///
/// An error says why what it has cannot be made.
pub(crate) type Made = Result<Option<Box<dyn Peer>>, String>;

/// Returns the names that `engine` gives its parsers of the profile's family, those for the task
/// first.
pub(crate) fn names(engine: &str, profile: &Profile, task: Task) -> Vec<&'static str> {
    let of = |alias: Alias, family: &Option<String>| {
        (alias.engine == engine && family.as_deref() == Some(alias.of)).then_some(alias.name)
    };
    let calls = toolcall_parsers::aliases().filter_map(|one| of(one, &profile.tools));
    let reasoning = reasoning_aliases().filter_map(|one| of(one, &profile.reasoning));
    match task {
        Task::Calls => calls.collect(),
        Task::Reasoning { .. } => reasoning.chain(calls).collect(),
    }
}

/// The tools, each as `of` makes it of a name and a schema.
pub(crate) fn tools<T>(tools: &Tools, of: impl Fn(&str, &serde_json::Value) -> T) -> Vec<T> {
    tools.iter().map(|tool| of(&tool.name, &tool.parameters)).collect()
}

/// The guard of this project, and how its streams end.
pub(crate) struct Ours(pub(crate) Guard, pub(crate) End);

impl Peer for Ours {
    fn stream<'a>(&'a self, chunks: &'a [&'a str]) -> Stream<'a> {
        let mut guard = self.0.clone();
        Box::new(move |out| {
            feed(&mut guard, chunks, out);
            out.failure = guard.finish(self.1, out).err().map(|error| error.to_string());
        })
    }
}
