//! Guards that read tokens.

use guard_laws::{TokenMachine, likely_marker_tokens, markers_in};
use llm_stream_guard::{End, Guard};
use stream_laws::Random;

use crate::{
    guard::{OPTIONS, PROFILES, varied},
    input::Input,
    judge,
};

/// Checks a guard of any profile with any options and any text, in which some marker tokens are
/// tokens and others are typed text.
pub(crate) fn tokens(data: &[u8]) {
    let mut input = Input::new(data, OPTIONS);
    let (profile, pieces) = &PROFILES[input.below(PROFILES.len())];
    let end = *input.pick(&[End::Stop, End::Length, End::Aborted]);
    let text = input.text(pieces);
    let Ok(plain) = Guard::builder(profile).build() else { return };
    let tokens = likely_marker_tokens(&plain);
    let mut random = Random::new(u64::from(input.byte()));
    let all = markers_in(&text, &tokens).into_iter();
    let markers: Vec<_> = all.filter(|_| random.below(4) > 0).collect();
    let Some(builder) = varied(profile, &mut input, pieces) else { return };
    let Ok(guard) = builder.marker_tokens(tokens).build() else { return };
    let machine = TokenMachine::new(guard, end, markers);
    judge::events(&machine, &text, input.cuts());
    judge::cost(&machine, &text, judge::REWRITTEN);
}
