//! Steps of a choice: what follows for its state when its guard has read something.

use jail_match::{End, LimitError, ServerItem};
use wire_remap::Tally;

use crate::{
    chat::{
        choice::{state::ChoiceState, writer::DeltaWriter},
        model::chunk::ToolCallDelta,
        note::Note,
    },
    guard::Guard,
    observe::Stats,
};

/// Counts that survive when a finish reason resets the guard.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct Counted {
    pub(in crate::chat) stats: Option<Box<Stats>>,
    pub(in crate::chat) decoded: Tally,
}

/// Handles a delta of a call that the server made: text held before it is emitted first.
pub(in crate::chat) fn read_upstream_call(
    guard: &mut Guard,
    call: ToolCallDelta,
    writer: &mut DeltaWriter<'_, '_>,
) -> Result<(), LimitError> {
    let result = guard.server_item(ServerItem::Call, writer).map(drop);
    settle(guard, writer);
    writer.upstream_call(call);
    report_violations(guard, writer.state);
    result
}

/// Emits the fields and entries whose text has been released.
pub(in crate::chat) fn settle(guard: &Guard, writer: &mut DeltaWriter<'_, '_>) {
    writer.state.at =
        writer.state.fed.saturating_sub((guard.undecided() + writer.state.cut) as u64);
    writer.forget_taken(guard.taken_out());
    if !guard.withholds_call() {
        writer.settle(writer.state.at);
    }
}

pub(in crate::chat) fn holds(guard: &Guard, state: &ChoiceState) -> bool {
    state.cut > 0 || guard.held().bytes > 0 || guard.withholds_call()
}

/// Records whether a stop string, a bad payload or a limit ended the text.
pub(in crate::chat) fn look(guard: &Guard, writer: &mut DeltaWriter<'_, '_>) {
    writer.state.ended_by = writer.state.ended_by.or(guard.ended_by());
    if let (None, Some(string)) = (&writer.state.stopped, guard.stop_string()) {
        writer.state.stopped = Some(string.to_owned());
    }
    if let (None, Some(rejected)) = (writer.state.rejected, guard.rejected()) {
        writer.state.rejected = Some(rejected);
        writer.note(Note::Rejected(rejected));
    }
}

pub(in crate::chat) fn finish(
    guard: &mut Guard,
    writer: &mut DeltaWriter<'_, '_>,
    end: End,
    counted: &mut Counted,
) -> Result<(), LimitError> {
    let result = guard.finish(end, writer);
    if let Some(tally) = guard.remap_tally() {
        counted.decoded += &tally;
    }
    look(guard, writer);
    if let (Some(end), false) = (guard.message_end(), writer.state.finished) {
        writer.note(Note::End(end));
    }
    let tokens = &mut writer.state.reasoning_tokens;
    *tokens = tokens.saturating_add(guard.reasoning_tokens());
    writer.state.at = writer.state.fed;
    writer.forget_taken(guard.taken_out());
    writer.state.held_since = None;
    writer.settle_all();
    writer.close_inline();
    writer.end_native(end != End::Stop || writer.state.finished);
    report_violations(guard, writer.state);
    guard.find_causes();
    if counted.stats.is_none() {
        counted.stats = guard.stats().cloned().map(Box::new);
    }
    guard.reset();
    result
}

/// Reports violations and the ends of upstream's calls to the guard's observer.
pub(in crate::chat) fn report_violations(guard: &mut Guard, state: &mut ChoiceState) {
    state.violations.drain(..).for_each(|violation| guard.violation(violation.name()));
    for (index, outcome) in state.upstream_calls.unreported.drain(..) {
        guard.server_call(index, outcome);
    }
}
