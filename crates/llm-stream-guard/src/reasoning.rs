//! The table of all reasoning formats: markers, and families that write in messages.

use jail_match::{Alias, Channel, Driver, DriverSettings, Limits, Table, resolve, same_name};
use think_filter::{Format, Opening, Start, last_turn};
use toolcall_parsers::{Event, Grammar, InReasoning, Options, ToolCallParser, Tools, UnknownName};

/// The way in which a family separates reasoning from the answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Reasoning {
    /// Markers around the reasoning.
    Format(Format),
    /// Headers of the messages that a family writes, which may also contain calls.
    Channels(Grammar),
}

/// Engines' names for the families that write in messages, by engine.
const CHANNELS: &[(&str, &[(&str, &str)])] = &[
    (
        "vllm",
        &[("openai_gptoss", "harmony"), ("inkling", "inkling"), ("muse_glimmer", "muse_glimmer")],
    ),
    ("vllm_rust", &[("inkling", "inkling")]),
    ("sglang", &[("gpt-oss", "harmony"), ("inkling", "inkling")]),
    ("dynamo", &[("gpt_oss", "harmony"), ("inkling", "inkling")]),
    ("smg", &[("inkling", "inkling")]),
    ("ollama", &[("harmony", "harmony"), ("glimmer", "muse_glimmer")]),
];

impl Reasoning {
    /// Returns the name of the format.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Format(format) => &format.name,
            Self::Channels(family) => family.name(),
        }
    }

    /// Returns where the answer to `prompt` begins. `prompt` is the rendered prompt or its last
    /// turn; see [`Format::start_after`].
    #[must_use]
    pub fn start_after(&self, prompt: &str) -> Start {
        self.opening_after(prompt).start
    }

    /// Returns whether the last turn of `prompt` has a closing tag of reasoning. If it also leaves
    /// no reasoning open ([`Reasoning::start_after`]), the answer has none.
    #[must_use]
    pub fn closes_in(&self, prompt: &str) -> bool {
        let Self::Format(format) = self else { return false };
        let turn = last_turn(prompt);
        format.close.iter().any(|close| turn.contains(&**close))
    }

    /// Returns the state in which a stream begins if the caller chose `start`; see
    /// [`Format::opening`].
    pub(crate) fn opening(&self, start: Start) -> Opening {
        match self {
            Self::Format(format) => format.opening(start),
            Self::Channels(_) => start.into(),
        }
    }

    pub(crate) fn opening_after(&self, prompt: &str) -> Opening {
        let family = match self {
            Self::Format(format) => return format.opening_after(prompt),
            Self::Channels(family) => family,
        };
        let edges = toolcall_parsers::edges(family, InReasoning::Literal, 0);
        let Ok(table) = Table::new(edges) else { return Opening::default() };
        let limits = Limits::default();
        let mut driver = Driver::new(table, DriverSettings::default().limits(limits));
        let mut bodies = ToolCallParser::new(family.clone(), Tools::none(), Options::default());
        // The push cannot fail, because the default limits release text.
        let _ = driver.push(last_turn(prompt), &mut bodies, &mut |_: Event<'_>| {});
        match driver.channel() {
            Channel::REASONING => Start::Reasoning.into(),
            _ => Opening::default(),
        }
    }
}

/// Returns every registered reasoning format, in the order of the documentation.
#[must_use]
pub fn reasoning_formats() -> Vec<Reasoning> {
    let families = toolcall_parsers::grammars().filter(Grammar::has_messages);
    let channels = families.map(Reasoning::Channels);
    think_filter::formats().into_iter().map(Reasoning::Format).chain(channels).collect()
}

/// Returns the names that engines use for the formats.
pub fn reasoning_aliases() -> impl Iterator<Item = Alias> + Clone {
    let rows = CHANNELS.iter().flat_map(|&(engine, names)| {
        names.iter().map(move |&(name, of)| Alias { engine, name, of })
    });
    think_filter::aliases().chain(rows)
}

/// Returns the reasoning format called `name`, or the one that engines mean by that name. ASCII
/// case does not matter, and `-` equals `_`. `engine:name` asks for one engine's meaning.
///
/// # Errors
/// Returns an error with the nearest names if the name is unknown. If engines use the name for
/// different formats, the error lists the spellings that distinguish them.
pub fn reasoning(name: &str) -> Result<Reasoning, UnknownName> {
    // Most names belong to formats with markers, for which no family has to be built.
    if let Some(own) = think_filter::format(name).ok().filter(|it| same_name(&it.name, name)) {
        return Ok(Reasoning::Format(own));
    }
    let mut all = reasoning_formats();
    let at = {
        let names: Vec<&str> = all.iter().map(Reasoning::name).collect();
        let known = names.iter().copied();
        let found = resolve("reasoning format", name, known, reasoning_aliases())?;
        names.iter().position(|name| *name == found).unwrap_or_default()
    };
    Ok(all.swap_remove(at))
}
