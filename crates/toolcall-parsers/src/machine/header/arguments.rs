//! The transition from a header to the arguments after it.

use jail_match::CallPart;

use crate::{
    cursor::{Undecided, blanks, longest_prefix},
    limits::MAX_BLANKS,
    machine::{
        arguments::tag::TagTexts,
        call::{Machine, MachineStep},
        call_sink::CallSink,
        plan::{Arguments, Leaf, LeafId, Plan, TrieNode},
        state::MachineState,
    },
};

impl Machine {
    /// Returns the leaf whose arguments may begin with `rest`. If there are several, `attempt`
    /// selects one.
    pub(super) fn choose(&mut self, plan: &Plan, node: &TrieNode, rest: &str) -> Option<LeafId> {
        let fits = |&&id: &&LeafId| may_begin(plan.leaf(id), rest);
        let mut fitting = node.leaves.iter().filter(fits);
        let count = fitting.clone().count();
        self.readings.choices = self.readings.choices.max(count);
        fitting.nth(self.readings.attempt.min(count.saturating_sub(1))).copied()
    }

    /// Starts the arguments after a complete header.
    pub(super) fn begin_arguments(&mut self, id: LeafId, out: &mut CallSink<'_>) -> MachineStep {
        let plan = out.plan;
        self.place.leaf = id;
        let leaf = plan.leaf(id);
        self.call.started = false;
        // The types of parameters are declared for the name.
        if let Some(name) = &leaf.name {
            self.call.name.clear();
            self.call.name.push_str(name);
        }
        match &leaf.arguments {
            Arguments::Object(_) | Arguments::Keywords(_) => {
                let name = leaf.name.as_deref().unwrap_or(&self.call.name);
                let keywords = matches!(leaf.arguments, Arguments::Keywords(_));
                if keywords && out.must_be_declared(leaf.commit) && !out.calls.tools.admits(name) {
                    return self.bad(out);
                }
                match keywords {
                    true => out.part(CallPart::Arguments, out.cursor.at),
                    false => self.call.item_at = out.stream_offset(out.cursor.at),
                }
                self.begin_reader(&leaf.arguments);
            }
            arguments => {
                let waits = out.waits_for_arguments();
                if waits || leaf.commit.is_by_name() && !out.calls.committed() {
                    match goes_on(leaf, out.cursor.rest(), waits) {
                        Err(Undecided) => return MachineStep::more(out.cursor.at),
                        Ok(false) => return self.bad(out),
                        Ok(true) => {}
                    }
                }
                if let Err(step) = self.start(out) {
                    return step;
                }
                if matches!(arguments, Arguments::None) {
                    out.arguments("{}");
                    self.complete(out);
                    return MachineStep::Go;
                }
                out.part(CallPart::Arguments, out.cursor.at);
                self.begin_reader(arguments);
            }
        }
        self.state = MachineState::Arguments;
        MachineStep::Go
    }
}

/// Returns the only leaf of `node`, if nothing else can follow and the arguments need not be
/// examined.
pub(super) fn only(plan: &Plan, node: &TrieNode) -> Option<LeafId> {
    let [leaf] = node.leaves.as_slice() else { return None };
    let leads_on = !node.tags.is_empty() || node.field.is_some() || !node.sections.is_empty();
    let Leaf { arguments, commit, .. } = plan.leaf(*leaf);
    let must_look = match arguments {
        Arguments::Object(_) => true,
        Arguments::Value(_) => commit.is_by_name(),
        _ => false,
    };
    (!leads_on && !must_look).then_some(*leaf)
}

/// Returns whether `rest` confirms a header that a sentence may also contain. The beginning of the
/// arguments or the end of the call does. A newline does, too, except in a thought.
fn goes_on(leaf: &Leaf, rest: &str, in_thought: bool) -> Result<bool, Undecided> {
    let own = leaf.ends.tags.iter().flatten().map(|end| &**end);
    let blank = blanks(rest);
    let after = &rest[blank..];
    match &leaf.arguments {
        Arguments::Parameters(spec) => {
            if !in_thought && rest[..blank].contains('\n') {
                return Ok(true);
            }
            if blank > MAX_BLANKS {
                return Ok(false);
            }
            let tags = spec.openers().iter().chain(&spec.ends).flat_map(TagTexts::texts);
            Ok(longest_prefix(after, tags.chain(own))?.is_some())
        }
        Arguments::Value(_) if in_thought => match after.as_bytes() {
            [] if blank <= MAX_BLANKS => Err(Undecided),
            [b'{', ..] => Ok(true),
            _ => Ok(longest_prefix(after, own)?.is_some()),
        },
        _ => Ok(true),
    }
}

/// Returns whether the arguments of `leaf` may begin with `rest`, which is not empty.
fn may_begin(leaf: &Leaf, rest: &str) -> bool {
    match leaf.arguments {
        Arguments::Object(_) | Arguments::Value(_) => rest.starts_with('{'),
        Arguments::Parameters(_) | Arguments::Elements(_) => !rest.starts_with('{'),
        Arguments::Keywords(_) | Arguments::Raw { .. } | Arguments::None => true,
    }
}
