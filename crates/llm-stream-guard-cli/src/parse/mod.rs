//! `parse`: a stream in, typed events out, while it is still arriving.

mod detected;
mod feed;
mod json_lines;
mod readable;
mod setup;

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read, Write},
    path::Path,
};

pub(crate) use detected::taken;
pub(crate) use detected::{DETECTED, detection};
pub(crate) use feed::InputFeed;
pub(crate) use json_lines::JsonLines;
pub(crate) use readable::printable;
pub(crate) use readable::{Colour, Readable};
pub(crate) use setup::{builder, end};
pub(crate) use setup::{guard, read_tools};

pub(crate) use llm_stream_guard_serve::parse::{ChatReader, Intake, Remark, Render, ShownEvent};
pub(crate) use llm_stream_guard_serve::parse::{ceil_char_boundary, chunk_from, error_message};

use llm_stream_guard::Profile;

use crate::{
    args::{OutputKind, ParseArgs},
    error::{Error, misuse},
    input::Patience,
    lookup,
};

/// How much is read at once, at most.
const PIECE: usize = 64 * 1024;

/// Runs `parse` on the file or standard input it names, and writes to standard output.
///
/// # Errors
/// Misuse, an input that cannot be read, an output that cannot be written. What the model wrote
/// is never an error.
pub(crate) fn parse(args: &ParseArgs, out: &mut dyn Write) -> Result<(), Error> {
    let terminal = io::stdout().is_terminal();
    let readable = match args.output {
        OutputKind::Auto => terminal,
        OutputKind::Jsonl => false,
        OutputKind::Text => true,
    };
    let colour = Colour::of_output();
    let mut render: Box<dyn Render + '_> =
        if readable { Box::new(Readable::new(out, colour)) } else { Box::new(JsonLines(out)) };
    let file = &args.reading.file;
    if file == Path::new("-") {
        return parse_from(args, &mut io::stdin().lock(), Patience::Live, &mut *render);
    }
    let (mut file, patience) = open(file)?;
    parse_from(args, &mut file, patience, &mut *render)
}

/// Opens a file; a pipe is not waited for.
pub(crate) fn open(path: &Path) -> Result<(File, Patience), Error> {
    let fault = |error: io::Error| misuse(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(fault)?;
    let patience = match file.metadata() {
        Ok(metadata) if metadata.is_file() => Patience::Head,
        _ => Patience::Live,
    };
    Ok((file, patience))
}

/// Parses everything `input` gives, and writes the events of each piece before the next is read.
///
/// # Errors
/// As [`parse`]. If reading fails, held text is emitted first.
pub(crate) fn parse_from(
    args: &ParseArgs,
    input: &mut dyn Read,
    patience: Patience,
    render: &mut dyn Render,
) -> Result<(), Error> {
    let args = &args.reading;
    let mut head = Vec::new();
    let profile = match lookup::told(args)? {
        Some(profile) => profile,
        None if args.grammar.is_some() => Profile::named("none"),
        None => {
            // A failure to read comes again, when the rest is read.
            let _ = input.take(DETECTED).read_to_end(&mut head);
            match lookup::recorded(&head) {
                Some(profile) => profile,
                None => taken(detection(&head, args.input)?),
            }
        }
    };
    let input = &mut head.chain(input);
    let chat =
        ChatReader::new(guard(args, &profile)?, args.chunk.map(|bytes| bytes as usize), render);
    let mut feed = InputFeed::new(args.input, patience, chat);
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => feed.push(piece.get(..len).unwrap_or(&piece)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                feed.finish(setup::end(args), true);
                feed.output().finish()?;
                return Err(misuse(format!("{}: {error}", args.file.display())));
            }
        }
        feed.output().flush()?;
    }
    feed.finish(setup::end(args), false);
    feed.output().finish()?;
    Ok(())
}
