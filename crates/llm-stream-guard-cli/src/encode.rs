//! `encode`: writes tool calls as a model would have written them.

use std::{
    borrow::Cow,
    fs,
    io::{self, IsTerminal as _, Read as _, Write},
    path::Path,
};

use llm_stream_guard::{Grammar, Tools};
use serde::Deserialize;
use serde_json::value::RawValue;
use toolcall_parsers::EncodeCall;

use crate::{
    args::EncodeArgs,
    error::{Error, misuse},
    lookup,
    parse::read_tools,
};

/// A call of the input. The arguments keep their spelling.
#[derive(Debug, Deserialize)]
struct Call<'t> {
    #[serde(borrow)]
    name: Cow<'t, str>,
    #[serde(borrow)]
    arguments: &'t RawValue,
    #[serde(borrow, default)]
    id: Option<Cow<'t, str>>,
}

/// A call of the input as chat APIs have it.
#[derive(Debug, Deserialize)]
struct ChatCall<'t> {
    #[serde(borrow)]
    function: Call<'t>,
    #[serde(borrow, default)]
    id: Option<Cow<'t, str>>,
}

impl<'t> From<ChatCall<'t>> for Call<'t> {
    fn from(ChatCall { function, id }: ChatCall<'t>) -> Self {
        Self { id, ..function }
    }
}

/// Reads an array of calls, in the command's own form or in that of chat APIs.
fn read_calls(text: &str) -> Result<Vec<Call<'_>>, serde_json::Error> {
    let own = match serde_json::from_str(text) {
        Ok(calls) => return Ok(calls),
        Err(error) => error,
    };
    let chat: Result<Vec<ChatCall<'_>>, _> = serde_json::from_str(text);
    match chat {
        Ok(calls) => Ok(calls.into_iter().map(Into::into).collect()),
        Err(chat) if !chat.to_string().contains("`function`") => Err(chat),
        Err(_) => Err(own),
    }
}

/// Writes the calls of a file or of standard input to `out`, byte for byte. On a terminal a newline
/// follows.
///
/// # Errors
/// The family or model is unknown or has no tool calls, the input is not an array of calls, or the
/// family cannot express a call.
pub(crate) fn encode(args: &EncodeArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut grammar = grammar(args)?;
    if let Some(suffix) = &args.token_suffix {
        grammar = grammar.with_token_suffix(suffix);
    }
    let text = read(&args.file)?;
    let wire = wire(&grammar, &text, args.tools.as_deref())
        .map_err(|problem| misuse(format!("{}: {problem}", args.file.display())))?;
    out.write_all(wire.as_bytes())?;
    if io::stdout().is_terminal() {
        out.write_all(b"\n")?;
    }
    out.flush()?;
    Ok(())
}

/// Returns the grammar of the calls.
fn grammar(args: &EncodeArgs) -> Result<Grammar, Error> {
    let profile = match &args.grammar {
        Some(path) => Some(lookup::read_family(path)?),
        None => lookup::profile_of(args.family.as_deref(), args.model.as_deref())?,
    };
    let grammar = match &profile {
        Some(profile) => profile.grammar().map_err(misuse)?,
        None => None,
    };
    grammar.ok_or_else(|| {
        let name = profile.map(|profile| profile.name).unwrap_or_default();
        misuse(format!("`{name}` writes no tool calls"))
    })
}

fn read(path: &Path) -> Result<String, Error> {
    if path == Path::new("-") {
        let mut text = String::new();
        return match io::stdin().lock().read_to_string(&mut text) {
            Ok(_) => Ok(text),
            Err(error) => Err(misuse(format!("-: {error}"))),
        };
    }
    fs::read_to_string(path).map_err(|error| misuse(format!("{}: {error}", path.display())))
}

/// Returns the text that a model would have written for a JSON array of calls.
fn wire(grammar: &Grammar, text: &str, tools: Option<&Path>) -> Result<String, Error> {
    let read =
        read_calls(text).map_err(|error| misuse(format!("expected an array of calls: {error}")))?;
    // Chat APIs write arguments as a string that holds JSON.
    let texts = read.iter().map(|call| match call.arguments.get() {
        text if text.starts_with('"') => serde_json::from_str(text).map(Cow::Owned),
        text => Ok(Cow::Borrowed(text)),
    });
    let texts: Vec<Cow<'_, str>> = texts.collect::<Result<_, _>>().map_err(misuse)?;
    let calls = read.iter().zip(&texts).map(|(call, arguments)| {
        let encoded = EncodeCall::new(&call.name, arguments);
        call.id.as_deref().map_or(encoded, |id| encoded.with_id(id))
    });
    let calls: Vec<_> = calls.collect();
    let tools = match tools {
        Some(path) => read_tools(path)?,
        None => Tools::implied_by(&calls),
    };
    let (wire, dropped) =
        toolcall_parsers::encode_dropping_ids(grammar, &calls, &tools).map_err(misuse)?;
    for call in dropped {
        let (family, name) = (grammar.name(), &read.get(call).map_or("", |call| &call.name));
        let note = format!("note: `{family}` cannot write the id of call {call} ({name:?})");
        let _ = writeln!(io::stderr(), "{note}: dropped");
    }
    Ok(wire)
}
