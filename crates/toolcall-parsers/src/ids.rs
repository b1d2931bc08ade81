//! Call ids: taken from the wire, or generated.

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

/// A generator of ids for calls that have none on the wire.
pub trait IdSource: Send + Sync {
    /// Returns the id of call number `n`, a call of the tool `name`. Ids must differ for different
    /// `n`.
    ///
    /// `n` counts from 0 in each message. With [`Ids::after`] it includes the calls of earlier
    /// turns.
    fn id(&self, name: &str, n: u32) -> String;
}

impl<F: Fn(&str, u32) -> String + Send + Sync> IdSource for F {
    fn id(&self, name: &str, n: u32) -> String {
        self(name, n)
    }
}

/// The way ids are generated. By default an id is `call_` and 24 letters and digits. Families whose
/// ids count calls keep their form (`functions.NAME:0`).
///
/// By default every call of a process gets a different id, and two processes use different ids. The
/// seed comes from the standard library, once per process. Exceptions:
///
/// - **Without the feature `std` the default is [`Ids::counting`]**: two messages have the same ids
///   unless the caller gives a seed ([`Ids::seeded`]) or a source ([`Ids::new`]).
/// - Where the platform has no random numbers (`wasm32-unknown-unknown`), two processes use the
///   same ids, unless the program sets the seed (`Ids::seed_process`, with the feature `std`).
#[derive(Clone, Default)]
pub struct Ids {
    source: Source,
    /// Calls of earlier turns.
    earlier: u32,
}

/// The generator of ids.
#[derive(Clone, Default)]
enum Source {
    /// Ids that are unique within the process.
    #[default]
    Unique,
    Counting,
    Given(Arc<dyn IdSource>),
}

/// The seed of ids that are unique within the process.
#[cfg(feature = "std")]
static PROCESS_SEED: std::sync::OnceLock<u64> = std::sync::OnceLock::new();

impl Ids {
    /// Sets the seed of unique ids for the whole process, on platforms without random numbers.
    /// Returns whether the seed was set. It cannot be changed after the first call of this function
    /// or the first generated id.
    ///
    /// ```
    /// use toolcall_parsers::Ids;
    /// # let random_number = 7;
    /// if Ids::seed_process(random_number) {
    ///     assert_ne!(Ids::default().id("f", 0), Ids::default().id("f", 0));
    /// }
    /// ```
    #[cfg(feature = "std")]
    pub fn seed_process(seed: u64) -> bool {
        PROCESS_SEED.set(seed).is_ok()
    }

    /// Creates ids that `source` generates.
    pub fn new(source: impl IdSource + 'static) -> Self {
        Source::Given(Arc::new(source)).into()
    }

    /// Creates ids that count the calls of each message, for reproducible output. Two messages have
    /// the same ids.
    #[must_use]
    pub fn counting() -> Self {
        Source::Counting.into()
    }

    /// Creates ids from `seed`. They are unique within a message and equal for messages with equal
    /// seeds.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::new(move |_: &str, n: u32| scrambled(seed, n.into()))
    }

    /// Numbers calls from `earlier` on: the number of calls in earlier turns of the conversation.
    #[must_use]
    pub fn after(self, earlier: u32) -> Self {
        Self { earlier, ..self }
    }

    /// Returns the number of calls in earlier turns.
    #[must_use]
    pub fn earlier(&self) -> u32 {
        self.earlier
    }

    /// Returns the id of call number `n` of a message, a call of the tool `name`.
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

    /// Returns ids in the family's own form, if that form counts calls and the caller gave no
    /// source. Otherwise returns `self`.
    pub(crate) fn or_form_of(self, family: &Family) -> Self {
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

/// Writes an id by its template, optional groups included.
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

/// Returns an id that no other call of the process has.
#[cfg(feature = "std")]
fn unique() -> String {
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::{hash::BuildHasher, hash::RandomState};

    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let seed = PROCESS_SEED.get_or_init(|| RandomState::new().hash_one(0));
    scrambled(*seed, CALLS.fetch_add(1, Ordering::Relaxed) as u64)
}

/// Returns `call_` and 24 letters and digits that depend on `seed` and `n`.
fn scrambled(seed: u64, n: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut id = String::from("call_");
    let mut state = seed;
    let mut word = 0;
    for i in 0..24 {
        if i % 12 == 0 {
            // SplitMix64: each step is a bijection of the counter, so ids with one seed differ.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_add(n);
            word = mix(state);
        }
        id.push(char::from(DIGITS[(word % 36) as usize]));
        word /= 36;
    }
    id
}

/// The output function of SplitMix64.
pub(crate) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
