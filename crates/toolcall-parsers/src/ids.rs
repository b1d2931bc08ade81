//! Call ids: the wire's own where it has one, else from an injected generator.

use alloc::{boxed::Box, format, string::String, sync::Arc};
use core::{
    fmt::{self, Write},
    str::FromStr,
};

use jail_match::{UnknownName, named};

use crate::{
    family::Family,
    template::{Hole, Part, Template},
};

/// Makes the id of a call that has none on the wire.
pub trait IdSource: Send + Sync {
    /// The id of a call of the tool `name`, the `n`th of the conversation (from 0), as far as
    /// earlier turns are known ([`Ids::after`]). Must differ for different `n`.
    fn id(&self, name: &str, n: u32) -> String;
}

impl<F: Fn(&str, u32) -> String + Send + Sync> IdSource for F {
    fn id(&self, name: &str, n: u32) -> String {
        self(name, n)
    }
}

/// How ids are made: `call_` and 24 letters and digits, unless the family's ids have a form of their
/// own that counts calls (`functions.NAME:0`).
///
/// By default no two calls of a process have one id, whichever parser, clone or message they are
/// of, and the ids of two processes differ. That takes a seed that the standard library draws once a
/// process: **without the feature `std` the default is [`Ids::counting`]**, and two messages have the
/// same ids unless the caller gives a seed ([`Ids::seeded`]) or a source ([`Ids::new`]). So do two
/// processes where the platform has no random numbers, such as `wasm32-unknown-unknown`.
#[derive(Clone, Default)]
pub struct Ids {
    source: Source,
    /// Calls of earlier turns.
    earlier: u32,
}

#[derive(Clone, Default)]
enum Source {
    /// Never the same twice.
    #[default]
    Unique,
    Counting,
    Given(Arc<dyn IdSource>),
}

impl Ids {
    /// Creates ids from `source`.
    pub fn new(source: impl IdSource + 'static) -> Self {
        Source::Given(Arc::new(source)).into()
    }

    /// Ids that count the calls of each message: the same for every message, for output that can be
    /// compared.
    #[must_use]
    pub fn counting() -> Self {
        Source::Counting.into()
    }

    /// Ids scrambled from `seed`: unique within a message, the same for every message with this seed,
    /// and different between messages with different seeds.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::new(move |_: &str, n: u32| scrambled(seed, n.into()))
    }

    /// Continues after this number of calls in earlier turns of the conversation.
    #[must_use]
    pub fn after(self, earlier: u32) -> Self {
        Self { earlier, ..self }
    }

    /// How many calls of earlier turns there are.
    #[must_use]
    pub fn earlier(&self) -> u32 {
        self.earlier
    }

    /// The id of a call of the tool `name`, the `n`th of a message.
    #[must_use]
    pub fn id(&self, name: &str, n: u32) -> String {
        let n = self.earlier.saturating_add(n);
        match &self.source {
            Source::Given(source) => source.id(name, n),
            #[cfg(feature = "std")]
            Source::Unique => unique(),
            _ => format!("call_{n:024}"),
        }
    }

    /// These, if they were given; else in the form in which the family writes its own, if that
    /// counts calls.
    pub(crate) fn or_of(self, family: &Family) -> Self {
        let calls = family.forms.iter().flat_map(|form| &form.calls);
        let form = calls.flat_map(Template::holes).find_map(|hole| match hole {
            Hole::Id(Some(form)) if form.holes().any(|hole| matches!(hole, Hole::Index(_))) => {
                Some((**form).clone())
            }
            _ => None,
        });
        match form {
            Some(form) if !matches!(self.source, Source::Given(_)) => {
                let source = move |name: &str, n: u32| {
                    let mut id = String::new();
                    write_id(&form.parts, name, n, &mut id);
                    id
                };
                Self::new(source).after(self.earlier)
            }
            _ => self,
        }
    }
}

/// Writes an id as its template shows it, with all that may be missing.
fn write_id(parts: &[Part], name: &str, n: u32, id: &mut String) {
    for part in parts {
        match part {
            Part::Literal(text) | Part::Hole(Hole::NameIs(text)) => id.push_str(text),
            Part::Hole(Hole::Index(from)) => {
                // Writing to a string cannot fail.
                let _ = write!(id, "{}", n.saturating_add(*from));
            }
            Part::Hole(_) => id.push_str(name),
            Part::Group(parts) => write_id(parts, name, n, id),
        }
    }
}

impl fmt::Debug for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.source {
            Source::Unique => "Ids(unique)",
            Source::Counting => "Ids(counting)",
            Source::Given(_) => "Ids(given)",
        })
    }
}

impl FromStr for Ids {
    type Err = UnknownName;

    /// Reads `unique`, the default, or `counting`.
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let is_counting = named("kind of ids", name, &[("unique", false), ("counting", true)])?;
        Ok(if is_counting { Self::counting() } else { Self::default() })
    }
}

impl From<Source> for Ids {
    fn from(source: Source) -> Self {
        Self { source, earlier: 0 }
    }
}

impl From<Box<dyn IdSource>> for Ids {
    fn from(source: Box<dyn IdSource>) -> Self {
        Source::Given(source.into()).into()
    }
}

/// An id that no other call of the process has.
#[cfg(feature = "std")]
fn unique() -> String {
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::{hash::BuildHasher, hash::RandomState, sync::OnceLock};

    static SEED: OnceLock<u64> = OnceLock::new();
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let seed = SEED.get_or_init(|| RandomState::new().hash_one(0));
    scrambled(*seed, CALLS.fetch_add(1, Ordering::Relaxed) as u64)
}

fn scrambled(seed: u64, n: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut id = String::from("call_");
    let mut state = seed;
    let mut word = 0;
    for i in 0..24 {
        if i % 12 == 0 {
            // SplitMix64: every step a bijection of the counter, so ids of a seed differ.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(n);
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
