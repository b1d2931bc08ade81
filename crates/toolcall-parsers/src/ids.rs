//! Call ids: the wire's own where it has one, else from an injected generator.

use alloc::{boxed::Box, format, string::String, sync::Arc};
use core::fmt;

/// Makes the id of the `n`th call of a message (from 0) that has none on the wire.
pub trait IdSource: Send + Sync {
    /// The id. Must differ for different `n`.
    fn id(&self, n: u32) -> String;
}

impl<F: Fn(u32) -> String + Send + Sync> IdSource for F {
    fn id(&self, n: u32) -> String {
        self(n)
    }
}

/// How ids are made. The default counts: `call_` and 24 digits.
#[derive(Clone, Default)]
pub struct Ids {
    source: Option<Arc<dyn IdSource>>,
}

impl Ids {
    /// Ids from `source`.
    pub fn new(source: impl IdSource + 'static) -> Self {
        Self { source: Some(Arc::new(source)) }
    }

    /// Ids `call_` and 24 letters and digits, scrambled from `seed`: unique within a message,
    /// and different between messages with different seeds.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::new(move |n: u32| scrambled(seed, n))
    }

    /// Whether they come from a source that was given, not from the default counter.
    #[must_use]
    pub fn is_injected(&self) -> bool {
        self.source.is_some()
    }

    /// The id of the `n`th call of a message.
    #[must_use]
    pub fn id(&self, n: u32) -> String {
        match &self.source {
            Some(source) => source.id(n),
            None => format!("call_{n:024}"),
        }
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.source.is_some() { "Ids(injected)" } else { "Ids(counter)" })
    }
}

impl From<Box<dyn IdSource>> for Ids {
    fn from(source: Box<dyn IdSource>) -> Self {
        Self { source: Some(source.into()) }
    }
}

fn scrambled(seed: u64, n: u32) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut id = String::from("call_");
    let mut state = seed;
    let mut word = 0;
    for i in 0..24 {
        if i % 12 == 0 {
            // SplitMix64: every step a bijection of the counter, so ids of a seed differ.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(u64::from(n));
            word = mix(state);
        }
        id.push(char::from(DIGITS[(word % 36) as usize]));
        word /= 36;
    }
    id
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
