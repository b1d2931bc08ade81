//! The transition from a header to the arguments after it.

use jail_match::CallPart;

use crate::{
    cursor::{Cursor, Undecided, blanks, longest_prefix},
    family::CommitOn,
    limits::MAX_BLANKS,
    machine::{
        arguments::tag::TagTexts,
        call::{Machine, MachineState, MachineStep},
        output::Output,
        plan::{Arguments, Leaf, LeafId, Plan, TrieNode},
    },
};

impl Machine {
    /// The arguments that may begin with `rest`: of several the one to be tried now.
    pub(super) fn choose(&mut self, plan: &Plan, node: &TrieNode, rest: &str) -> Option<LeafId> {
        let fits = |&&id: &&LeafId| may_begin(plan.leaf(id), rest);
        let mut fitting = node.leaves.iter().filter(fits);
        let count = fitting.clone().count();
        self.choices = self.choices.max(count);
        fitting.nth(self.attempt.min(count.saturating_sub(1))).copied()
    }

    /// The header is whole.
    pub(super) fn begin_arguments(
        &mut self,
        plan: &Plan,
        id: LeafId,
        cursor: &mut Cursor<'_>,
        out: &mut Output<'_>,
    ) -> MachineStep {
        self.leaf = id;
        let leaf = plan.leaf(id);
        self.started = false;
        match &leaf.arguments {
            Arguments::Object(_) | Arguments::Keywords(_) => {
                let name = leaf.name.as_deref().unwrap_or(&self.name);
                let keywords = matches!(leaf.arguments, Arguments::Keywords(_));
                if keywords && out.must_be_declared(leaf.commit) && !out.calls.tools.admits(name) {
                    return self.bad(cursor, out);
                }
                match keywords {
                    true => out.part(CallPart::Arguments, cursor.at),
                    false => self.item_at = out.place(cursor.at),
                }
                self.begin_reader(&leaf.arguments);
            }
            arguments => {
                if leaf.commit == CommitOn::DeclaredName && !out.calls.committed() {
                    match goes_on(leaf, cursor.rest()) {
                        Err(Undecided) => return MachineStep::more(cursor.at),
                        Ok(false) => return self.bad(cursor, out),
                        Ok(true) => {}
                    }
                }
                if let Err(step) = self.start(plan, cursor, out) {
                    return step;
                }
                if matches!(arguments, Arguments::None) {
                    out.arguments("{}");
                    self.complete(out);
                    return MachineStep::Go;
                }
                out.part(CallPart::Arguments, cursor.at);
                self.begin_reader(arguments);
            }
        }
        self.state = MachineState::Arguments;
        MachineStep::Go
    }
}

/// The arguments of a header that leads nowhere else: nothing of them need be seen.
pub(super) fn only(plan: &Plan, node: &TrieNode) -> Option<LeafId> {
    let [leaf] = node.leaves.as_slice() else { return None };
    let leads_on = !node.tags.is_empty() || node.field.is_some() || !node.sections.is_empty();
    let Leaf { arguments, commit, .. } = plan.leaf(*leaf);
    let must_look = match arguments {
        Arguments::Object(_) => true,
        Arguments::Value(_) => *commit == CommitOn::DeclaredName,
        _ => false,
    };
    (!leads_on && !must_look).then_some(*leaf)
}

/// Whether `rest` goes on as a call whose header a sentence might hold: with a line's end, the first
/// parameter or the end of the call.
fn goes_on(leaf: &Leaf, rest: &str) -> Result<bool, Undecided> {
    let Arguments::Parameters(spec) = &leaf.arguments else { return Ok(true) };
    let blank = blanks(rest);
    if rest[..blank].contains('\n') {
        return Ok(true);
    }
    if blank > MAX_BLANKS {
        return Ok(false);
    }
    let rest = &rest[blank..];
    let own = leaf.ends.tags.iter().flatten().map(|end| &**end);
    let tags = spec.openers().iter().chain(&spec.ends).flat_map(TagTexts::texts).chain(own);
    Ok(longest_prefix(rest, tags)?.is_some())
}

/// Whether the arguments of `leaf` may begin with `rest`, which is not empty.
fn may_begin(leaf: &Leaf, rest: &str) -> bool {
    match leaf.arguments {
        Arguments::Object(_) | Arguments::Value(_) => rest.starts_with('{'),
        Arguments::Parameters(_) | Arguments::Elements(_) => !rest.starts_with('{'),
        Arguments::Keywords(_) | Arguments::Raw { .. } | Arguments::None => true,
    }
}
