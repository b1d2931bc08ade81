//! A second implementation of the whitespace policies over a whole message, one scalar at a time.

use jail_match::{Channel, DriverSettings, OnCommit, Whitespace};
use stream_laws::{RecordedSpanKind, RunRecord};

/// A step of a message, in source order.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Text(Channel, usize, char),
    /// Markup that does not change the channel.
    Mark,
    Enter(Channel),
    Leave(Channel),
    /// A body was tried.
    Opener(Channel, OnCommit),
    Call(u32),
    CallEnd(u32),
}

pub(crate) fn apply(steps: &[Step], settings: DriverSettings, out: &mut RunRecord) {
    match settings.whitespace {
        Whitespace::Framing => framing(steps, settings.limits.whitespace, out),
        Whitespace::Trim => trim(steps, out),
        Whitespace::BeforeCalls => before_calls(steps, settings.limits.whitespace, out),
        Whitespace::ReasoningEnd => reasoning_end(steps, out),
        _ => steps.iter().for_each(|step| plain(step, out)),
    }
}

fn blank(scalar: char) -> bool {
    matches!(scalar, ' ' | '\t' | '\r' | '\n')
}

fn plain(step: &Step, out: &mut RunRecord) {
    match *step {
        Step::Text(channel, _, scalar) => out.text(channel.index() as u8, scalar),
        Step::Call(n) => out.call_start(n, format!("id{n}"), "tiny"),
        Step::CallEnd(n) => out.call_end(n, "done"),
        Step::Mark | Step::Enter(..) | Step::Leave(_) | Step::Opener(..) => {}
    }
}

fn dropped(run: &[(Channel, usize, char)], out: &mut RunRecord) {
    run.iter().for_each(|&(_, at, _)| out.span(RecordedSpanKind::Framing, at as u64, 1));
}

fn kept(run: &[(Channel, usize, char)], out: &mut RunRecord) {
    run.iter().for_each(|&(channel, at, scalar)| plain(&Step::Text(channel, at, scalar), out));
}

fn framing(steps: &[Step], limit: usize, out: &mut RunRecord) {
    runs(steps, limit, out, |_, _| true);
}

fn before_calls(steps: &[Step], limit: usize, out: &mut RunRecord) {
    runs(steps, limit, out, |channel, next| {
        channel == Channel::CONTENT && matches!(next, Some(Step::Call(..)))
    });
}

/// Drops blank runs between two markups where `drop` says so, if they are within the limit.
fn runs(
    steps: &[Step],
    limit: usize,
    out: &mut RunRecord,
    drop: impl Fn(Channel, Option<&Step>) -> bool,
) {
    let mut run: Vec<(Channel, usize, char)> = Vec::new();
    let settle = |run: &mut Vec<(Channel, usize, char)>, next: Option<&Step>, out: &mut _| {
        let Some(&(channel, at, _)) = run.first() else { return };
        let lead = run.iter().take_while(|&&(.., scalar)| blank(scalar)).count();
        // A channel from which no run is ever dropped holds none.
        let holds = drop(channel, Some(&Step::Call(0)));
        if lead > limit && holds {
            RunRecord::diagnostic(out, "whitespace_limit", (at + limit) as u64, limit as u64);
        }
        if lead == run.len() && lead <= limit && drop(channel, next) {
            dropped(run, out);
        } else {
            kept(run, out);
        }
        run.clear();
    };
    for step in steps {
        match *step {
            Step::Text(channel, at, scalar) => run.push((channel, at, scalar)),
            Step::Opener(..) => {}
            _ => {
                settle(&mut run, Some(step), out);
                plain(step, out);
            }
        }
    }
    settle(&mut run, None, out);
}

/// Limits are not modelled: the tests keep runs short.
fn trim(steps: &[Step], out: &mut RunRecord) {
    let (mut content, mut reasoning) = (Vec::new(), Vec::new());
    let (mut seen, mut thought) = (false, false);
    let (mut called, mut marked, mut eat) = (false, false, false);
    for step in steps {
        match *step {
            Step::Text(Channel::CONTENT, at, scalar) => {
                let one = (Channel::CONTENT, at, scalar);
                if blank(scalar) {
                    if eat {
                        dropped(&[one], out);
                    } else {
                        content.push(one);
                    }
                    continue;
                }
                let pending = std::mem::take(&mut content);
                if !seen && (called || marked) {
                    dropped(&pending, out);
                } else {
                    kept(&pending, out);
                }
                (seen, eat) = (true, false);
                kept(&[one], out);
            }
            Step::Text(Channel::REASONING, at, scalar) => {
                reasoning.push((Channel::REASONING, at, scalar));
                if !blank(scalar) {
                    let leading = if thought { 0 } else { reasoning.len() - 1 };
                    dropped(&reasoning[..leading], out);
                    kept(&reasoning[leading..], out);
                    reasoning.clear();
                    thought = true;
                }
            }
            Step::Leave(Channel::REASONING) => {
                dropped(&std::mem::take(&mut reasoning), out);
                (thought, eat) = (false, true);
            }
            _ => {}
        }
        match *step {
            Step::Enter(to) if to != Channel::HIDDEN => marked = true,
            Step::Leave(from) if from != Channel::HIDDEN => marked = true,
            Step::Call(..) => called = true,
            _ => {}
        }
        if !matches!(step, Step::Text(Channel::CONTENT | Channel::REASONING, ..)) {
            plain(step, out);
        }
        if !seen && (called || marked) {
            dropped(&std::mem::take(&mut content), out);
        }
    }
    dropped(&reasoning, out);
    if called || marked && !seen {
        dropped(&content, out);
    } else {
        kept(&content, out);
    }
}

fn reasoning_end(steps: &[Step], out: &mut RunRecord) {
    let mut run = Vec::new();
    for step in steps {
        match *step {
            Step::Text(Channel::REASONING, at, scalar) => {
                run.push((Channel::REASONING, at, scalar));
                if !blank(scalar) {
                    kept(&std::mem::take(&mut run), out);
                }
            }
            Step::Leave(Channel::REASONING) => dropped(&std::mem::take(&mut run), out),
            Step::Enter(to) if to != Channel::HIDDEN => kept(&std::mem::take(&mut run), out),
            Step::Opener(Channel::REASONING, OnCommit::Stay) => {
                kept(&std::mem::take(&mut run), out);
            }
            _ => plain(step, out),
        }
    }
    kept(&run, out);
}
