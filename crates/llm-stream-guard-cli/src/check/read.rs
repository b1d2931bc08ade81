//! Vector files: each line is a case, or a failure with the reason why it is not.

use std::{collections::HashSet, path::Path};

use llm_stream_guard::response_templates::JsonTree;
use stream_laws::vector::{VectorCase, read_cases};

use super::template::TemplateCase;

/// One line of a file of vectors.
#[derive(Debug, Clone)]
pub(crate) struct CaseLine {
    /// The path of the file, as given.
    pub(crate) file: String,
    /// Number of the line, from 1.
    pub(crate) number: usize,
    /// The case's id, or the position of a line without an id.
    pub(crate) id: String,
    /// The case, or the problem with the line.
    pub(crate) case: Result<AnyCase, String>,
}

/// A case of either kind.
#[derive(Debug, Clone)]
pub(crate) enum AnyCase {
    /// A case whose wire is read by a family, format or profile.
    Family(VectorCase),
    /// A case whose wire is read by a response template.
    Template(TemplateCase),
}

impl AnyCase {
    fn id(&self) -> &str {
        match self {
            Self::Family(case) => &case.id,
            Self::Template(case) => &case.id,
        }
    }
}

/// Reads the lines of `path` that are not blank. Cases that name neither a family nor a template
/// use `template`.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read_lines(
    path: &Path,
    template: Option<&JsonTree>,
) -> std::io::Result<Vec<CaseLine>> {
    let bytes = std::fs::read(path)?;
    Ok(lines_of(&path.display().to_string(), &bytes, template))
}

/// Reads the lines of the text of `file` that are not blank, as [`read_lines`] does.
pub(super) fn lines_of(file: &str, text: &[u8], template: Option<&JsonTree>) -> Vec<CaseLine> {
    let mut ids = HashSet::new();
    let lines = (1..).zip(text.split(|&byte| byte == b'\n'));
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let mut read = |(number, line): (usize, &[u8])| {
        let case = read_line(line, template, &mut ids);
        let id = case.as_ref().map(|case| case.id().to_owned());
        let id = id.unwrap_or_else(|_| id_of(line).unwrap_or(format!("{file}:{number}")));
        CaseLine { file: file.to_owned(), number, id, case }
    };
    lines.map(&mut read).collect()
}

fn read_line(
    line: &[u8],
    template: Option<&JsonTree>,
    ids: &mut HashSet<String>,
) -> Result<AnyCase, String> {
    let case = match std::str::from_utf8(line) {
        Err(error) => Err(format!("not UTF-8 from byte {} on", error.valid_up_to())),
        Ok(text) => match TemplateCase::read(text, template) {
            Some(case) => case.map(AnyCase::Template),
            None => family_case(text).map(AnyCase::Family),
        },
    };
    case.and_then(|case| {
        if ids.insert(case.id().to_owned()) {
            Ok(case)
        } else {
            Err("`id` was used before".to_owned())
        }
    })
}

fn family_case(text: &str) -> Result<VectorCase, String> {
    match read_cases(text) {
        Err(error) if error.field.is_empty() => Err(error.problem),
        Err(error) => Err(format!("`{}`: {}", error.field, error.problem)),
        Ok(mut cases) => cases.pop().ok_or_else(|| "no case".to_owned()),
    }
}

/// Returns the id of a line that is not a case, so that the report can name it.
fn id_of(line: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    value.get("id")?.as_str().map(str::to_owned)
}
