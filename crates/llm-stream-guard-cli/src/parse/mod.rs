//! `parse`: writes the typed events of a stream while it is still arriving.

mod detected;
mod feed;
mod json_lines;
mod readable;
mod rows;
mod setup;
mod table;

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read, Write},
    path::Path,
};

pub(crate) use detected::detection;
pub(crate) use detected::taken;
pub(crate) use feed::InputFeed;
pub(crate) use json_lines::JsonLines;
pub(crate) use readable::printable;
pub(crate) use readable::{Colour, Readable};
pub(crate) use setup::{builder, guard, read_tools};
use setup::{builder_with, read_settings};
pub use table::{ColumnFile, ParseTable};

pub(crate) use llm_stream_guard_serve::parse::{ChatReader, Intake, Remark, Render};

use crate::{
    args::{OutputKind, ParseArgs},
    error::{Error, misuse},
    limits::{MAX_DETECTED_BYTES, MAX_TOKEN_FILE_BYTES},
    lookup,
    tokens::added_tokens,
};
use llm_stream_guard::explain::Patience;

/// Maximum number of bytes per read.
const PIECE: usize = 64 * 1024;

/// Runs `parse` on a file or on standard input, and writes to standard output.
///
/// # Errors
/// The arguments are wrong, the input cannot be read, or the output cannot be written. Text of the
/// model is never an error.
pub(crate) fn parse(
    args: &ParseArgs,
    tables: Option<ParseTable>,
    out: &mut (dyn Write + Send),
) -> Result<(), Error> {
    if let Some(column) = &args.rows.column {
        return rows::parse_rows(args, column, (out, tables));
    }
    let terminal = io::stdout().is_terminal();
    let readable = match args.output {
        OutputKind::Auto => terminal,
        OutputKind::Jsonl => false,
        OutputKind::Text => true,
    };
    let colour = Colour::of_output();
    let mut render: Box<dyn Render + '_> =
        if readable { Box::new(Readable::new(out, colour)) } else { Box::new(JsonLines(out)) };
    let file = args.reading.path();
    if file == Path::new("-") {
        return parse_from(args, &mut io::stdin().lock(), Patience::Live, &mut *render);
    }
    let (mut file, patience) = open(file)?;
    parse_from(args, &mut file, patience, &mut *render)
}

/// Opens a file. For a pipe, detection of the format does not wait for more input.
pub(crate) fn open(path: &Path) -> Result<(File, Patience), Error> {
    let fault = |error: io::Error| misuse(format!("{}: {error}", path.display()));
    let file = File::open(path).map_err(fault)?;
    let patience = match file.metadata() {
        Ok(metadata) if metadata.is_file() => Patience::Head,
        _ => Patience::Live,
    };
    Ok((file, patience))
}

/// Parses all of `input`, and writes the events of each piece before the next is read.
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
    let (kind, mut head) = (args.input_kind(), Vec::new());
    if args.tokens.is_some() {
        // Markers are known only after all tokens are read.
        let _ = input.take(MAX_TOKEN_FILE_BYTES).read_to_end(&mut head);
    }
    let profile = match lookup::told(args)? {
        Some(profile) => profile,
        None => {
            // A failure to read is reported when the rest is read.
            let _ = input.take(MAX_DETECTED_BYTES).read_to_end(&mut head);
            match lookup::recorded(&head) {
                Some(profile) => profile,
                None => taken(detection(&head, kind)?),
            }
        }
    };
    let piece = args.chunk.map(|bytes| bytes as usize);
    let mut chat = ChatReader::new(guard(args, &profile)?, piece, render);
    if let Some(tokens) = added_tokens(args, &head)? {
        let guard = builder(args, &profile)?.marker_tokens(tokens.texts());
        chat = chat.token_ids(guard.build().map_err(misuse)?, &tokens);
    }
    let input = &mut head.chain(input);
    let mut feed = InputFeed::new(kind, patience, chat);
    let mut piece = vec![0; PIECE];
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => feed.push(piece.get(..len).unwrap_or(&piece)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                feed.finish(args.settings.finish, true);
                feed.output().finish()?;
                return Err(misuse(format!("{}: {error}", args.path().display())));
            }
        }
        feed.output().flush()?;
    }
    feed.finish(args.settings.finish, false);
    feed.output().finish()?;
    Ok(())
}
