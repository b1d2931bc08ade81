//! `explain`: shows the effect of each chunk of a recording, and the reasons.

mod chunks;
mod recording;
mod terminal;
mod words;

use std::{
    fs,
    io::{self, Read, Write},
    path::Path,
};

pub(crate) use recording::RecordedInput;
pub(crate) use terminal::{Terminal, width};

pub(crate) use llm_stream_guard::explain::{Explained, Report, page};
use llm_stream_guard::{
    GuardStage, Profile,
    explain::{Explainer, RecordedItem},
};

use crate::{
    args::{ExplainArgs, ReadingArgs},
    error::{Error, misuse},
    lookup,
    parse::{self, Colour},
    tokens::added_tokens,
};

/// Runs `explain` on a file or on standard input.
///
/// # Errors
/// The arguments are wrong, the input cannot be read, or the output cannot be written.
pub(crate) fn explain(args: &ExplainArgs, out: &mut dyn Write) -> Result<(), Error> {
    let report = report(args)?;
    if let Some(path) = &args.html {
        let html = page(&report).map_err(misuse)?;
        fs::write(path, html).map_err(|error| misuse(format!("{}: {error}", path.display())))?;
    }
    if args.json {
        serde_json::to_writer(&mut *out, &report).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    } else {
        let mut terminal = Terminal::new(out, Colour::of_output(), width());
        terminal.title(&report)?;
        let brief = args.html.is_some() || report.explanations.len() > 1;
        for explained in &report.explanations {
            let Explained { choice, explanation } = explained;
            match brief {
                true => terminal.summary(explanation, *choice)?,
                false => terminal.whole(explanation, *choice)?,
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// Reads the recording and explains it with each requested profile.
///
/// # Errors
/// As [`explain`].
pub(crate) fn report(args: &ExplainArgs) -> Result<Report, Error> {
    let reading = &args.reading;
    let mut progress = Progress::of(reading.path());
    let input = read(reading, &mut progress)?;
    let profiles = profiles(args, &input)?;
    let tokens = added_tokens(reading, input.raw())?;
    let recording = input.recording;
    let guards = profiles.iter().map(|profile| {
        let builder = parse::builder(reading, profile)?.stage(GuardStage::Stats);
        let by_ids = tokens.as_ref().map(|tokens| builder.clone().marker_tokens(tokens.texts()));
        let by_ids = by_ids.map(|builder| builder.build().map_err(misuse)).transpose()?;
        let derived = if profile.is_derived() { ", derived from a chat template" } else { "" };
        Ok((format!("{}{derived}", profile.name), builder.build().map_err(misuse)?, by_ids))
    });
    let guards = guards.collect::<Result<Vec<_>, Error>>()?;
    let end = reading.settings.finish;
    let mut explanations = Vec::new();
    let whole = recording.choices().map(|(_, items)| items.len()).sum::<usize>();
    let whole = whole.saturating_mul(guards.len());
    let mut done = 0;
    for (name, guard, by_ids) in &guards {
        for (choice, items) in recording.choices() {
            let by_ids = by_ids.as_ref().filter(|_| recording.has_ids(choice));
            let mut explainer = match (by_ids, &tokens) {
                (Some(guard), Some(tokens)) => {
                    Explainer::new(name.clone(), guard.clone()).token_ids(tokens)
                }
                _ => Explainer::new(name.clone(), guard.clone()),
            };
            for item in items {
                done += 1;
                progress.tell("explaining", done as u64, whole as u64);
                match item {
                    RecordedItem::Text { text, ids, time } => {
                        explainer.push_ids(text, ids.as_deref(), *time);
                    }
                    RecordedItem::Note(note) => explainer.note(note.clone()),
                    _ => {}
                }
            }
            let explanation = explainer.finish(end.unwrap_or_else(|| recording.end(choice)));
            explanations.push(Explained { choice, explanation });
        }
    }
    progress.end();
    Ok(Report { file: reading.path().display().to_string(), explanations })
}

/// Returns the profiles for a reading: the named family or model, and those to compare with.
/// Without a name, the text decides.
fn profiles(args: &ExplainArgs, input: &RecordedInput) -> Result<Vec<Profile>, Error> {
    let mut profiles: Vec<Profile> = lookup::told(&args.reading)?.into_iter().collect();
    for name in &args.compare {
        let profile =
            lookup::family(name).map_err(|error| misuse(format!("--compare: {error}")))?;
        if profiles.iter().all(|known| known.name != profile.name) {
            profiles.push(profile);
        }
    }
    if profiles.is_empty() {
        profiles.push(input.named().unwrap_or_else(|| {
            parse::taken(llm_stream_guard::detect(
                input.recording.texts().iter().map(String::as_str),
            ))
        }));
    }
    Ok(profiles)
}

/// Reads the whole input.
fn read(args: &ReadingArgs, progress: &mut Progress) -> Result<RecordedInput, Error> {
    if args.path() == Path::new("-") {
        let patience = llm_stream_guard::explain::Patience::Head;
        return RecordedInput::read(args, &mut io::stdin().lock(), patience, |_| {});
    }
    let (mut file, patience) = parse::open(args.path())?;
    let whole = progress.bytes;
    let input: &mut dyn Read = &mut file;
    RecordedInput::read(args, input, patience, |bytes| progress.tell("reading", bytes, whole))
}

/// Progress on a long recording, shown on a terminal.
struct Progress {
    /// Length of the recording, in bytes.
    bytes: u64,
    shown: bool,
    percent: u64,
}

impl Progress {
    fn of(file: &Path) -> Self {
        let bytes = fs::metadata(file).map_or(0, |metadata| metadata.len());
        let shown = bytes > LONG && io::IsTerminal::is_terminal(&io::stderr());
        Self { bytes, shown, percent: 101 }
    }

    fn tell(&mut self, doing: &str, done: u64, whole: u64) {
        let percent = done.saturating_mul(100) / whole.max(1);
        if self.shown && std::mem::replace(&mut self.percent, percent) != percent {
            // A failure to print this cannot be reported.
            let _ = write!(io::stderr(), "\r{doing}: {percent} %    ");
        }
    }

    fn end(&self) {
        if self.shown {
            let _ = writeln!(io::stderr());
        }
    }
}

/// Minimum length of files whose progress is shown, in bytes.
const LONG: u64 = 8 << 20;
