//! Inputs for the laws: the wires of a profile's vectors, and soups of its markers.

use std::{fs, path::Path, sync::LazyLock};

use llm_stream_guard::{
    Format, Grammar, Profile, profile, profiles, think_filter,
    toolcall_parsers::{family::Keys, grammar},
};
use stream_laws::{
    Random, suffixes,
    vector::{CaseKind, VectorCase, read_cases},
};

/// Every vector of the repository.
static CASES: LazyLock<Vec<VectorCase>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../families/vectors");
    let mut cases = Vec::new();
    for directory in ["tools", "reasoning", "profiles"] {
        let entries = fs::read_dir(root.join(directory)).expect("the directory of vectors");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path).expect("a readable file");
            let read = read_cases(&text);
            cases.extend(read.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
        }
    }
    cases
});

/// Pieces of soups besides markers.
const FILLERS: [&str; 13] =
    ["x", " ", "\n", "\n\n", "a b", "é\u{1F331}", "<", "</", "`", "```\n", "｜", ">", "\u{0}"];

/// Everything the laws are checked on for one profile.
pub(crate) struct Inputs {
    pub(crate) profile: Profile,
    /// The vectors of the profile, its grammar and its reasoning format.
    pub(crate) cases: Vec<&'static VectorCase>,
    /// Their wires, and some of them inside and after reasoning.
    pub(crate) wires: Vec<String>,
    /// Markers, their halves and fillers in random order.
    pub(crate) soups: Vec<String>,
    /// Parts of wires with soup between.
    pub(crate) torn: Vec<String>,
    /// A beginning, and what follows it without end.
    pub(crate) endless: Vec<(String, &'static str)>,
    /// Continuations that may turn held text into something else.
    pub(crate) witnesses: Vec<String>,
    /// Markers that no committed call and no open channel may leak.
    pub(crate) markup: Vec<String>,
    /// Those, and what else opens or is removed.
    pub(crate) markers: Vec<String>,
}

/// The inputs of every registered profile whose number is `shard`, `shards` numbers each.
pub(crate) fn of_shard(shard: usize, shards: usize) -> Vec<Inputs> {
    profiles()
        .into_iter()
        .filter(keeps_its_bytes)
        .skip(shard)
        .step_by(shards)
        .map(Inputs::of)
        .collect()
}

/// Whether all that comes out came in: some formats write a tag before the text, and answers in
/// JSON come out decoded. The crates of these stages account for both.
fn keeps_its_bytes(profile: &Profile) -> bool {
    let format = profile.reasoning.as_deref().and_then(|name| think_filter::format(name).ok());
    let answers = profile.tools.as_deref().is_some_and(|name| {
        let tools = grammar(name).expect("a known family");
        tools
            .family()
            .forms
            .iter()
            .any(|form| matches!(&form.keys, Keys::Named(keys) if !keys.answer.is_empty()))
    });
    format.is_none_or(|format| format.prepend.is_none()) && !answers
}

impl Inputs {
    fn of(profile: Profile) -> Self {
        let tools = profile.tools.as_deref().map(|name| grammar(name).expect("a known family"));
        let format = profile.reasoning.as_deref().and_then(|name| think_filter::format(name).ok());
        let cases: Vec<&VectorCase> = CASES.iter().filter(|case| belongs(case, &profile)).collect();
        let mut wires: Vec<String> = cases.iter().map(|case| case.wire.clone()).collect();
        let tags = format.as_ref().and_then(|Format { open, close, .. }| {
            // Messages with headers have openers alone, or none.
            Some((open.first()?, close.first()?))
        });
        if let Some((open, close)) = tags {
            let some: Vec<String> = wires.iter().take(4).cloned().collect();
            wires.extend(some.iter().map(|wire| format!("{open}{wire}{close}")));
            wires.extend(some.iter().map(|wire| format!("{open}hm\n{close}\n\n{wire}")));
        }
        let markup = markup(tools.as_ref(), format.as_ref());
        let mut markers = markup.clone();
        if let Some(tools) = &tools {
            markers.extend(tools.openers().chain(tools.removed()).map(ToString::to_string));
        }
        if let Some(format) = &format {
            markers.extend(format.answer.iter().map(|answer| answer.marker.to_string()));
        }
        markers.sort();
        markers.dedup();
        let mut random = Random::new(profile.name.bytes().map(u64::from).sum());
        let soups = (0..40).map(|_| soup(&markers, &mut random)).collect();
        let torn = (0..24).map(|_| torn(&wires, &markers, &mut random)).collect();
        Self {
            endless: endless(&wires, &markers),
            witnesses: witnesses(&cases, &markers),
            profile,
            cases,
            wires,
            soups,
            torn,
            markup,
            markers,
        }
    }

    /// Everything but the endless.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.wires.iter().chain(&self.soups).chain(&self.torn).map(String::as_str)
    }
}

/// Whether a vector is about the profile or a part of it.
fn belongs(case: &VectorCase, of: &Profile) -> bool {
    match case.kind {
        CaseKind::Tools => {
            grammar(&case.family).is_ok_and(|g| of.tools.as_deref() == Some(g.name()))
        }
        CaseKind::Reasoning => think_filter::format(&case.family)
            .is_ok_and(|format| of.reasoning.as_deref() == Some(&format.name)),
        CaseKind::Both => profile(&case.family).is_ok_and(|profile| profile.name == of.name),
    }
}

fn markup(tools: Option<&Grammar>, format: Option<&Format>) -> Vec<String> {
    let mut markup = Vec::new();
    if let Some(tools) = tools {
        markup.extend(tools.markers().map(ToString::to_string));
    }
    if let Some(format) = format {
        markup.extend(format.open.iter().chain(&format.close).map(ToString::to_string));
    }
    markup
}

fn part(markers: &[String], random: &mut Random) -> String {
    let marker = markers.get(random.below(markers.len())).map_or("", String::as_str);
    let scalars = marker.chars().count();
    match random.below(6) {
        0 | 1 => marker.to_owned(),
        2 => marker.chars().take(random.below(scalars)).collect(),
        3 => marker.chars().skip(random.below(scalars)).collect(),
        _ => FILLERS[random.below(FILLERS.len())].to_owned(),
    }
}

fn soup(markers: &[String], random: &mut Random) -> String {
    (0..1 + random.below(7)).map(|_| part(markers, random)).collect()
}

fn torn(wires: &[String], markers: &[String], random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..3 {
        let wire = wires.get(random.below(wires.len())).map_or("", String::as_str);
        let from = random.below(wire.len());
        let skipped = wire.char_indices().map(|(at, _)| at).find(|at| *at >= from);
        let rest = skipped.map_or("", |at| &wire[at..]);
        text.extend(rest.chars().take(random.below(120)));
        text += &part(markers, random);
    }
    text
}

fn endless(wires: &[String], markers: &[String]) -> Vec<(String, &'static str)> {
    let mut endless: Vec<(String, &'static str)> = Vec::new();
    for marker in markers {
        for unit in ["x", "\n", "<"] {
            endless.push((marker.clone(), unit));
        }
    }
    let mut shortest: Vec<&String> = wires.iter().filter(|wire| wire.len() > 40).collect();
    shortest.sort_by_key(|wire| wire.len());
    for wire in shortest.into_iter().take(3) {
        for quarter in 1..4 {
            let head: String = wire.chars().take(wire.chars().count() * quarter / 4).collect();
            endless.extend([(head.clone(), "x"), (head, "<")]);
        }
    }
    endless
}

fn witnesses(cases: &[&VectorCase], markers: &[String]) -> Vec<String> {
    let markers: Vec<&str> = markers.iter().map(String::as_str).collect();
    let mut witnesses: Vec<String> = ["x", "\n", "x\n", "`"].map(String::from).to_vec();
    // A bare name, and a tag that goes on as another attribute before that of the name.
    witnesses.extend(["x\n{", "=\"x\" name=\"stop_all\">\n"].map(String::from));
    witnesses.extend(suffixes(&markers));
    witnesses.extend(markers.iter().map(ToString::to_string));
    // Words that begin a header if a token follows.
    for word in markers.iter().filter(|marker| !marker.contains('<')) {
        witnesses
            .extend(suffixes(&[&format!("{word}<|message|>"), &format!("{word}f<|message|>")]));
    }
    // What makes a call of a candidate: the rests of short calls that open like it.
    let called = cases.iter().filter(|case| !case.expect.calls.is_empty());
    let mut shortest: Vec<&str> = called.map(|case| case.wire.as_str()).collect();
    shortest.sort_by_key(|wire| wire.len());
    for marker in &markers {
        let from = shortest.iter().filter_map(|wire| Some(&wire[wire.find(marker)?..]));
        witnesses.extend(suffixes(&from.take(3).collect::<Vec<_>>()));
    }
    witnesses
}
