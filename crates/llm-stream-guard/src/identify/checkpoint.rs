//! The files of a checkpoint that show how its model writes.

use std::{
    error::Error,
    fmt, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use serde::{
    Deserializer as _,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::{AddedTokens, gguf};
use crate::limits::{MAX_CHECKPOINT_FILE_BYTES, MAX_MEMBER_BYTES};

/// The parts of a checkpoint's files that show how its model writes.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The Jinja chat template; if there are several, the one for tools.
    pub template: Option<String>,
    /// The source of a chat template in Python, which is read and never run.
    pub python_template: Option<String>,
    /// The engine's parser that the tokenizer's file names, `tool_parser_type`.
    pub tool_parser: Option<String>,
    /// Name of the model, from the checkpoint's own files.
    pub name: Option<String>,
    /// The token before every text.
    pub bos_token: Option<String>,
    /// The token that ends a turn or a text.
    pub eos_token: Option<String>,
    /// Text that the tokenizer puts into its tags, before the closing bracket.
    pub token_suffix: Option<String>,
    /// The response template, unchanged. It describes how answers are parsed, and overrides the
    /// chat template.
    pub response_template: Option<Value>,
    /// The texts that the tokenizer writes as one token each.
    pub added_tokens: AddedTokens,
    /// The reason why files list added tokens that cannot be read.
    pub(super) unread_tokens: Option<String>,
}

/// Files that cannot be read, or that hold no template.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// A file cannot be read.
    Io(PathBuf, io::Error),
    /// A file does not have the format that its name implies.
    Malformed(PathBuf, String),
    /// There is neither a chat template nor a response template.
    NoTemplate(PathBuf),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Malformed(path, problem) => write!(f, "{}: {problem}", path.display()),
            Self::NoTemplate(path) => write!(f, "{}: no chat template is there", path.display()),
        }
    }
}

impl Error for CheckpointError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Files of a folder that hold only a template. The first existing file counts.
const TEMPLATES: [&str; 2] = ["additional_chat_templates/tool_use.jinja", "chat_template.jinja"];

impl Checkpoint {
    /// Creates a checkpoint with only a chat template.
    #[must_use]
    pub fn from_template(template: &str) -> Self {
        Self { template: Some(template.to_owned()), ..Self::default() }
    }

    /// Reads the text of a `tokenizer_config.json`, or of a `chat_template.json`, which has only
    /// the template.
    #[must_use]
    pub fn from_tokenizer_config(config: &Value) -> Self {
        let text = |key: &str| config.get(key).and_then(token);
        let suffix =
            config.get("token_suffix").or_else(|| config.pointer("/init_kwargs/token_suffix"));
        Self {
            template: config.get("chat_template").and_then(template),
            python_template: None,
            tool_parser: text("tool_parser_type"),
            name: text("name_or_path").or_else(|| text("_name_or_path")),
            bos_token: text("bos_token"),
            eos_token: text("eos_token"),
            token_suffix: suffix.and_then(token),
            response_template: config.get("response_template").filter(|it| !it.is_null()).cloned(),
            added_tokens: AddedTokens::of_config(config),
            unread_tokens: None,
        }
    }

    /// Reads a checkpoint's folder, or one file of it: `tokenizer_config.json`, a chat template
    /// (Jinja, or Python in a `.py` file), a GGUF file.
    ///
    /// # Errors
    /// Returns an error for a file that cannot be read or is malformed, and if no file holds a
    /// template.
    pub fn read(path: &Path) -> Result<Self, CheckpointError> {
        let mut found = if path.is_dir() { folder(path)? } else { file(path)? };
        // A family can be identified without them: copies of checkpoints often lack large files.
        if path.is_dir() || is(path, "json") {
            match AddedTokens::read(path) {
                Ok(tokens) => found.added_tokens = tokens,
                Err(error) => found.unread_tokens = Some(error.to_string()),
            }
        }
        let is_told = found.template.is_some() || found.python_template.is_some();
        match is_told || found.response_template.is_some() {
            true => Ok(found),
            false => Err(CheckpointError::NoTemplate(path.to_owned())),
        }
    }
}

fn folder(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let there = |name: &str| Some(path.join(name)).filter(|path| path.is_file());
    let config = there("tokenizer_config.json").map(|path| file(&path)).transpose()?;
    let mut found = config.unwrap_or_default();
    if let Some(path) = TEMPLATES.iter().find_map(|name| there(name)) {
        found.template = file(&path)?.template;
    } else if found.template.is_none()
        && let Some(path) = there("chat_template.json")
    {
        found.template = file(&path)?.template;
    }
    if found.template.is_none() {
        if let Some(path) = first_in(path, is_python_template)? {
            found.python_template = file(&path)?.python_template;
        } else if let Some(path) = gguf_in(path)? {
            return gguf_file(&path);
        }
    }
    Ok(found)
}

/// Returns the first GGUF file of a folder, by name.
pub(super) fn gguf_in(folder: &Path) -> Result<Option<PathBuf>, CheckpointError> {
    first_in(folder, |path| is(path, "gguf"))
}

fn first_in(
    folder: &Path,
    is_wanted: impl Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, CheckpointError> {
    let entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>())
        .map_err(|error| CheckpointError::Io(folder.to_owned(), error))?;
    Ok(entries.into_iter().filter(|path| is_wanted(path)).min())
}

pub(super) fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case(extension))
}

/// Whether a file of a checkpoint's folder is a chat template in Python: `chat_template.py`.
fn is_python_template(path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    is(path, "py") && stem.is_some_and(|stem| stem.contains("chat_template"))
}

/// Reads the head of a GGUF file.
pub(super) fn gguf_file(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let io = |error| CheckpointError::Io(path.to_owned(), error);
    let file = fs::File::open(path).map_err(io)?;
    gguf::read(&mut io::BufReader::new(file)).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            CheckpointError::Malformed(path.to_owned(), error.to_string())
        }
        _ => io(error),
    })
}

fn file(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let io = |error| CheckpointError::Io(path.to_owned(), error);
    if is(path, "gguf") {
        return gguf_file(path);
    }
    let malformed = |problem: String| CheckpointError::Malformed(path.to_owned(), problem);
    let mut text = String::new();
    fs::File::open(path)
        .and_then(|file| {
            file.take(MAX_CHECKPOINT_FILE_BYTES.saturating_add(1)).read_to_string(&mut text)
        })
        .map_err(io)?;
    if text.len() as u64 > MAX_CHECKPOINT_FILE_BYTES {
        return Err(malformed(format!("longer than {MAX_CHECKPOINT_FILE_BYTES} bytes")));
    }
    if is(path, "py") {
        return Ok(Checkpoint { python_template: Some(text), ..Checkpoint::default() });
    }
    if !is(path, "json") {
        return Ok(Checkpoint::from_template(&text));
    }
    let mut reader = serde_json::Deserializer::from_str(&text);
    let config = reader.deserialize_map(Config).and_then(|config| reader.end().map(|()| config));
    let config = config.map_err(|error| malformed(error.to_string()))?;
    Ok(Checkpoint::from_tokenizer_config(&config))
}

/// A reader of a `tokenizer_config.json` that keeps only the needed members. Parsed values take
/// many times the memory of their text, and lists of tokens are long.
struct Config;

/// The members that are kept.
const MEMBERS: [&str; 9] = [
    "chat_template",
    "name_or_path",
    "_name_or_path",
    "bos_token",
    "eos_token",
    "token_suffix",
    "init_kwargs",
    "response_template",
    "tool_parser_type",
];

impl<'j> Visitor<'j> for Config {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'j>>(self, mut members: M) -> Result<Value, M::Error> {
        let (mut kept, mut len) = (serde_json::Map::new(), 0_usize);
        while let Some(name) = members.next_key::<String>()? {
            let value: &RawValue = members.next_value()?;
            if MEMBERS.contains(&name.as_str()) {
                len = len.saturating_add(value.get().len());
                if len > MAX_MEMBER_BYTES {
                    let problem = format!("`{name}` is beyond {MAX_MEMBER_BYTES} bytes");
                    return Err(serde::de::Error::custom(problem));
                }
                let value = serde_json::from_str(value.get()).map_err(serde::de::Error::custom)?;
                kept.insert(name, value);
            }
        }
        Ok(kept.into())
    }
}

/// Reads a token, which is a text or an object with a text.
fn token(value: &Value) -> Option<String> {
    let text = value.as_str().or_else(|| value.get("content")?.as_str())?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// Reads a template, which is a text or a list of named templates. In a list, the template for
/// tools counts.
fn template(value: &Value) -> Option<String> {
    if let Value::Array(named) = value {
        let named = |name: &str| {
            named.iter().find(|entry| entry.get("name").and_then(Value::as_str) == Some(name))
        };
        return template(named("tool_use").or_else(|| named("default"))?.get("template")?);
    }
    value.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::PathBuf};

    use super::Checkpoint;
    use crate::{Certainty, identify};

    /// Creates a folder with these files.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let name = format!("llm-stream-guard-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            fs::write(path.join(file), text).unwrap();
        }
        path
    }

    #[test]
    fn python_template_is_identified_by_its_strings_without_running_it() {
        let source = "def render(messages):\n    out = ['[gMASK]<sop>']\n    \
                      out.append(f'<tool_call>{name}<arg_key>{key}</arg_key>')\n{{ 1/0 }} {% if %}";
        let files = [("tokenizer_config.json", "{}"), ("chat_template.py", source)];
        let path = folder("python", &files);
        let found = identify(&Checkpoint::read(&path).unwrap());
        assert_eq!(found.families, ["glm47"], "{found}");
        assert_eq!(found.certainty, Certainty::Likely);
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn parser_named_by_the_tokenizer_identifies_the_family() {
        let config = r#"{"tool_parser_type": "json_tools", "chat_template": "{{ messages }}"}"#;
        let path = folder("parser", &[("tokenizer_config.json", config)]);
        let found = identify(&Checkpoint::read(&path).unwrap());
        fs::remove_dir_all(path).unwrap();
        assert_eq!(found.families, ["hermes"], "{found}");
        assert!(found.to_string().contains("its tokenizer names the parser `json_tools`"));
        let unknown = config.replace("json_tools", "nobodys");
        let checkpoint =
            Checkpoint::from_tokenizer_config(&serde_json::from_str(&unknown).unwrap());
        assert!(identify(&checkpoint).families.is_empty());
    }
}
