//! Several calls of one family, some of them damaged, under every option of a guard.

use std::sync::LazyLock;

use guard_laws::{Damage, GuardMachine};
use llm_stream_guard::{End, GuardBuilder, Profile, profiles};
use stream_laws::Random;

use crate::{guard, input::Input, judge};

/// The number of bytes that select the family and the wire, before the options of the guard.
const WIRE: usize = 5;

struct Family {
    profile: Profile,
    damage: Damage,
    pieces: Vec<String>,
}

static FAMILIES: LazyLock<Vec<Family>> = LazyLock::new(|| {
    let family = |profile: Profile| {
        let grammar = profile.grammar().ok().flatten()?;
        let pieces = guard::pieces(&profile);
        Some(Family { damage: Damage::new(&grammar), pieces, profile })
    };
    profiles().into_iter().filter_map(family).collect()
});

/// Returns a wire selected by the first bytes, with the text of the input in its middle.
pub(crate) fn blocks(data: &[u8]) {
    let mut input = Input::new(data, WIRE + guard::OPTIONS);
    let Family { profile, damage, pieces } = &FAMILIES[input.below(FAMILIES.len())];
    let seed = (0..WIRE - 1).fold(0, |seed, _| seed << 8 | u64::from(input.byte()));
    let mut random = Random::new(seed);
    let (head, tail) = (damage.wire(&mut random), damage.wire(&mut random));
    let text = format!("{head}{}{tail}", input.text(pieces));
    let builder = guard::varied(profile, &mut input, pieces);
    let Some(Ok(guard)) = builder.map(GuardBuilder::build) else { return };
    let machine = GuardMachine::new(guard, *input.pick(&[End::Stop, End::Length, End::Aborted]));
    judge::events(&machine, &text, input.cuts());
}
