//! Plain words for diagnostics, markers and what is held.

use std::borrow::Cow;

use jail_match::{Channel, ChannelMask, DiagnosticKind, Edge, Held, HeldKind, OnCommit, Then};

/// What a diagnostic means, and what to do; the second is empty where nothing need be done.
pub(super) const fn diagnostic(kind: DiagnosticKind) -> (&'static str, &'static str) {
    use DiagnosticKind as Kind;
    match kind {
        Kind::CandidateLimit => (
            "what followed a call's opener stayed undecided for too long and was given up",
            "raise the limit `candidate` if real calls are that long before their name is known",
        ),
        Kind::WhitespaceLimit => ("a run of whitespace was longer than its limit and passed", ""),
        Kind::DepthLimit => (
            "an opener was taken for text because too many channels were open",
            "look for openers without closers before it",
        ),
        Kind::RescanLimit => (
            "text that kept looking like the start of a call was released without another look",
            "look at the text: it repeats an opener",
        ),
        Kind::OrphanCloser => (
            "reasoning was closed that nothing in the stream had opened",
            "say that the prompt opened it: `--start reasoning`, or give the guard the prompt or model",
        ),
        Kind::ReasoningLimit => ("the reasoning was longer than its limit", "raise the limit"),
        Kind::Collapse => (
            "the model repeated an opener without end",
            "sample again, with a repetition penalty or another temperature",
        ),
        Kind::DamagedMarker => (
            "a marker had lost a character on the wire and passed as text",
            "look for what rewrites text between server and guard",
        ),
        Kind::CutOpener => (
            "the stream ended right after an opener, before a call had a name",
            "raise the token limit of the request, or look why the stream broke off",
        ),
        Kind::JailBytes => ("a jailed block was longer than its limit of bytes", ""),
        Kind::JailCount => ("there were more jailed blocks than allowed", ""),
        Kind::JailChunks => ("a jailed block took more chunks than it may", ""),
        Kind::JailTime => ("a jailed block took more time than it may", ""),
        Kind::JailUnclosed => ("the stream ended inside a jailed block", ""),
        Kind::JailDropped => ("a jailed block was dropped", ""),
        Kind::Halted => ("text after the end of the calls was dropped", ""),
        Kind::EmptyList => (
            "a block of calls has no call in it: its markup was removed, other text in it passed",
            "nothing to mend if the model called nothing; if it meant a call, its syntax is not the family's",
        ),
        Kind::Skipped => (
            "bytes behind a broken call were dropped",
            "look at the call before it: the model left the family's syntax there",
        ),
        Kind::SecondArguments => ("a call had its arguments twice; the first count", ""),
        Kind::LateId => ("an id came after its call had begun and was not used", ""),
        Kind::MissingCloser => ("a call's end marker never came; its arguments are whole", ""),
        Kind::Noise => ("text between the markers of a section of calls was dropped", ""),
        Kind::Echo => ("the calls of a block were repeated behind its end and dropped", ""),
        Kind::DuplicateParameter => ("a parameter was given twice; the first counts", ""),
        Kind::Mistyped => (
            "a parameter's text did not fit its declared type and is a string",
            "compare the tool's schema with what the model wrote",
        ),
        Kind::PseudoCall => ("the model called the family's name for no tool; it was dropped", ""),
        Kind::UndeclaredTool => (
            "a tool was called that the request does not declare",
            "declare it, or say what becomes of unknown tools",
        ),
        Kind::ParallelCall => ("a call beyond the first was dropped: parallel calls are off", ""),
        Kind::Inexpressible => ("a value cannot be written as JSON", ""),
        Kind::DuplicateId => ("an id came twice and got a suffix", ""),
        Kind::UnwantedCall => ("a call was dropped that the request did not ask for", ""),
        Kind::BadPayload => (
            "what had to be calls was none and was dropped",
            "check that the server constrains decoding when a tool is required",
        ),
        Kind::AfterStop => ("text behind a stop string was dropped", ""),
        Kind::MixedMarkers => (
            "a call began in one form of the delimiters and ended in the other; it was read all the same",
            "",
        ),
        Kind::MalformedRegion => (
            "a part of the message was not what its template says",
            "compare the text there with the checkpoint's template",
        ),
        Kind::Tolerated => ("arguments were not quite JSON and were put right", ""),
        _ => ("the guard reported something this version has no words for", ""),
    }
}

/// What an end tag does.
pub(super) const END_TAG: &str = "ends a call, or a block of calls";

/// What a marker does.
pub(super) fn edge(edge: &Edge) -> Cow<'static, str> {
    let channel = |channel| match channel {
        Channel::REASONING => "reasoning",
        Channel::CONTENT => "the answer",
        Channel::HIDDEN => "text that is left out",
        _ => "a channel",
    };
    match edge.then {
        Then::Erase => "is removed".into(),
        Then::Enter(to) => format!("opens {}", channel(to)).into(),
        Then::Leave if edge.on.has(Channel::REASONING) => "closes the reasoning".into(),
        Then::Leave if edge.on == ChannelMask::NONE => "closes the tool call".into(),
        Then::Leave => "closes the channel it stands in".into(),
        Then::Switch(to) => format!("begins {}", channel(to)).into(),
        Then::Body(_, OnCommit::Stay) => "opens a tool call".into(),
        Then::Body(_, OnCommit::Leave) => "opens a tool call and ends the reasoning".into(),
    }
}

/// Why `held` is held, and what would release it; `tail` is the text that is.
pub(super) fn held(held: Held, tail: &str, edges: &[Edge]) -> String {
    match held.kind {
        HeldKind::Marker => {
            let start = tail.trim_start_matches('\n');
            let mut markers: Vec<&str> = edges.iter().map(|edge| &*edge.marker).collect();
            markers.retain(|marker| !start.is_empty() && marker.starts_with(start));
            markers.sort_unstable();
            markers.dedup();
            match &markers[..] {
                [] => "may be the start of a marker; the next characters decide".to_owned(),
                [one] => format!("may become `{one}`; any other character releases it as text"),
                many => {
                    let first: Vec<String> =
                        many.iter().take(3).map(|marker| format!("`{marker}`")).collect();
                    let more = if many.len() > 3 { " or another marker" } else { "" };
                    let first = first.join(", ");
                    format!("may become {first}{more}; any other character releases it as text")
                }
            }
        }
        HeldKind::Candidate => {
            "an opener was read; once it is sure that a call follows it is one, \
                                and once it is sure that none does it is text"
                .to_owned()
        }
        HeldKind::Whitespace => {
            "whitespace that may only frame markup; the next visible character \
                                 decides"
                .to_owned()
        }
        HeldKind::Call => "inside a call: the next bytes say whether this is data, an escape or \
                           the call's end"
            .to_owned(),
        HeldKind::Utf8 => "a character is not whole; its other bytes release it".to_owned(),
        HeldKind::Reasoning => {
            "reasoning that is the answer if there is no other; visible text, a \
                                call or the end decides"
                .to_owned()
        }
        _ => "inside a jailed block, or what may be the start of one; its end or a limit decides"
            .to_owned(),
    }
}
