//! Roles of tokens: their bytes add up to the input, and the text of a role is that of the events.

use guard_laws::{likely_marker_tokens, markers_in, reasoning_options};
use llm_stream_guard::{
    End, Guard, Message, RoleCounts, RoleReader, RoleSpan, Start, Token, TokenKind, TokenRole,
    Whitespace, Word, loss_mask, profile,
};
use stream_laws::Cut;

use crate::laws::inputs::of_shard;

/// The wire as tokens: its markers whole, the text between them cut at random.
fn tokens<'w>(wire: &'w str, markers: &[(usize, usize)], seed: u64) -> Vec<(&'w str, TokenKind)> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    let ends = markers.iter().copied().chain([(wire.len(), 0)]);
    for (from, len) in ends {
        let text = Cut::Random { seed }.pieces(&wire[at..from]);
        tokens.extend(text.map(|text| (text, TokenKind::Text)));
        if len > 0 {
            tokens.push((&wire[from..from + len], TokenKind::Marker));
        }
        at = from + len;
    }
    tokens
}

/// The roles of a stream, and its message.
fn read(guard: &Guard, tokens: &[(&str, TokenKind)]) -> (Vec<RoleSpan>, Message) {
    let mut reader = RoleReader::new(guard.clone()).expect("nothing moves text");
    let (mut spans, mut message) = (Vec::new(), Message::default());
    for (id, (text, kind)) in (0..).zip(tokens) {
        let token = Token { id, text, kind: *kind };
        let mut sink = |event: llm_stream_guard::Event<'_>| message.collect(event);
        reader.push(token, &mut sink, |span| spans.push(span)).expect("limits release");
    }
    let mut sink = |event: llm_stream_guard::Event<'_>| message.collect(event);
    reader.finish(End::Stop, &mut sink, |span| spans.push(span)).expect("limits release");
    (spans, message)
}

/// The text of the spans whose role `of` picks.
fn text_of(
    spans: &[RoleSpan],
    tokens: &[(&str, TokenKind)],
    of: impl Fn(TokenRole) -> bool,
) -> String {
    let (mut text, mut token, mut at) = (String::new(), 0, 0);
    for span in spans {
        if token != span.token {
            (token, at) = (span.token, 0);
        }
        let whole = tokens[span.token as usize].0;
        if of(span.role) {
            text.push_str(&whole[at..at + span.bytes]);
        }
        at += span.bytes;
    }
    text
}

#[test]
fn role_byte_counts_sum_to_the_input_and_match_the_events() {
    let mut broken = Vec::new();
    for inputs in of_shard(0, 1) {
        let plain = Guard::builder(&inputs.profile).build().expect("builds");
        let all = likely_marker_tokens(&plain);
        let guard = Guard::builder(&inputs.profile).marker_tokens(all).build().expect("builds");
        let markers: Vec<String> = guard.marker_tokens().map(String::from).collect();
        let policies = Whitespace::WORDS.iter().map(|policy| {
            let mut profile = inputs.profile.clone();
            profile.whitespace = policy.parse().expect("a policy");
            Guard::builder(&profile).build().expect("builds")
        });
        let policies: Vec<Guard> = policies.collect();
        for (seed, wire) in (0..).zip(inputs.all()) {
            let other = &policies[seed as usize % policies.len()];
            for (guard, markers) in
                [(&plain, vec![]), (other, vec![]), (&guard, markers_in(wire, &markers))]
            {
                let tokens = tokens(wire, &markers, seed);
                let (spans, message) = read(guard, &tokens);
                let mut token = 0;
                let ordered = spans.iter().all(|span| {
                    let ordered = span.token >= token;
                    token = span.token;
                    ordered
                });
                let all = text_of(&spans, &tokens, |_| true);
                let content = text_of(&spans, &tokens, |role| role == TokenRole::Content);
                let reasoning = text_of(&spans, &tokens, |role| role == TokenRole::Reasoning);
                if !ordered
                    || all != wire
                    || content != message.content
                    || reasoning != message.reasoning
                {
                    broken.push(format!("{} {wire:?}: {spans:?}", inputs.profile.name));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken\n{}",
        broken.len(),
        broken[..broken.len().min(5)].join("\n")
    );
}

#[test]
fn call_names_and_arguments_have_roles() {
    let (mut broken, mut named) = (Vec::new(), 0);
    for inputs in of_shard(0, 1) {
        let guard = Guard::builder(&inputs.profile).build().expect("builds");
        for (seed, wire) in (0..).zip(&inputs.wires) {
            let tokens = tokens(wire, &[], seed);
            let (spans, message) = read(&guard, &tokens);
            for (index, call) in (0..).zip(&message.calls) {
                let name = text_of(&spans, &tokens, |role| role == TokenRole::CallName(index));
                let arguments =
                    text_of(&spans, &tokens, |role| role == TokenRole::Arguments(index));
                let on_wire = wire.matches(&call.name).count() > 0;
                named += usize::from(name == call.name);
                let empty = call.arguments.trim() == "{}" || call.arguments.is_empty();
                if on_wire && name != call.name || !empty && arguments.is_empty() {
                    broken
                        .push(format!("{} {wire:?}: {name:?}, {arguments:?}", inputs.profile.name));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "{} broken, {named} fine\n{}",
        broken.len(),
        broken[..broken.len().min(20)].join("\n")
    );
    assert!(named > 500, "{named}");
}

#[test]
fn whitespace_that_text_overtakes_gets_its_role_later() {
    let mut profile = profile("qwen3").expect("registered");
    profile.whitespace = Whitespace::Trim;
    let guard = Guard::builder(&profile).build().expect("builds");
    let tokens = ["é", "\n", "<think>", "é", "</think>", "so"].map(|it| (it, TokenKind::Text));
    let (spans, message) = read(&guard, &tokens);
    let roles: Vec<_> = spans.iter().map(|span| (span.token, span.role.name())).collect();
    assert_eq!(message.content, "é\nso");
    assert_eq!(
        roles,
        [
            (0, "content"),
            (1, "content"),
            (2, "markup"),
            (3, "reasoning"),
            (4, "markup"),
            (5, "content")
        ]
    );
}

#[test]
fn token_spanning_two_roles_counts_for_the_larger_part() {
    let guard = Guard::builder(&profile("qwen3").expect("registered"))
        .reasoning(reasoning_options(|it| it.start = Some(Start::Reasoning)));
    let tokens = [
        ("hm, ", TokenKind::Text),
        ("ok</think>yes it is", TokenKind::Text),
        ("", TokenKind::Text),
        ("!", TokenKind::Text),
    ];
    let (spans, _) = read(&guard.build().expect("builds"), &tokens);
    let of_second: Vec<_> =
        spans.iter().filter(|span| span.token == 1).map(|span| (span.role, span.bytes)).collect();
    let expected = [(TokenRole::Reasoning, 2), (TokenRole::Markup, 8), (TokenRole::Content, 9)];
    assert_eq!(of_second, expected);
    let mut counts = RoleCounts::default();
    spans.iter().for_each(|span| counts.add(*span));
    assert_eq!((counts.reasoning, counts.content, counts.markup), (1, 3, 0));
    let mask = loss_mask(spans, |role| role == TokenRole::Reasoning);
    assert_eq!(mask, [true, true, false, false]);
}

#[test]
fn token_does_not_allocate_in_the_steady_state() {
    for family in ["qwen3", "hermes", "harmony"] {
        let guard = Guard::builder(&profile(family).expect("registered"));
        let guard = guard.marker_tokens(["<think>", "<tool_call>", "</tool_call>", "<|message|>"]);
        let mut reader = RoleReader::new(guard.build().expect("builds")).expect("moves nothing");
        let mut push = |count: usize| {
            for id in 0..count as u32 {
                let token = Token { id, text: "wave ", kind: TokenKind::Text };
                let mut sink = |_: llm_stream_guard::Event<'_>| {};
                reader.push(token, &mut sink, |_| {}).expect("no limit");
            }
        };
        push(64);
        let spent = allocation_counter::measure(|| push(1000));
        assert_eq!(spent.count_total, 0, "{family}");
    }
}
