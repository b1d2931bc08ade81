//! Texts, images and documents of a message, in the form of chat completions.

use serde_json::{Value, json};

use super::{fields::expected, unsupported::Unsupported};
use crate::error::Fault;

/// The separator between two blocks of text.
const BETWEEN: &str = "\n";

/// Returns a part, or a block, of text. The text is not copied.
pub(crate) fn text_part(text: Value) -> Value {
    Value::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), text)])
}

/// The parts of a message's content.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<Value>);

impl Parts {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn text(&mut self, text: impl Into<Value>) {
        self.0.push(text_part(text.into()));
    }

    pub(crate) fn image(&mut self, url: &str) {
        self.0.push(json!({"type": "image_url", "image_url": {"url": url}}));
    }

    /// Inserts `mark` before the first text.
    pub(crate) fn mark(&mut self, mark: &str) {
        let is_text = |part: &&mut Value| part.get("text").is_some();
        match self.0.iter_mut().find(is_text).and_then(|part| part.get_mut("text")) {
            Some(Value::String(text)) => text.insert_str(0, mark),
            _ => self.0.insert(0, text_part(mark.into())),
        }
    }

    /// Returns the simplest form of the parts: one string if all parts are text.
    pub(crate) fn plain(mut self) -> Value {
        if let [part] = self.0.as_mut_slice()
            && let Some(text) = part.get_mut("text")
        {
            return text.take();
        }
        let texts: Option<Vec<&str>> =
            self.0.iter().map(|part| part.get("text")?.as_str()).collect();
        match texts {
            Some(texts) if texts.is_empty() => Value::Null,
            Some(texts) => texts.join(BETWEEN).into(),
            None => self.0.into(),
        }
    }
}

/// Adds one of Anthropic's blocks. A block that upstream cannot take is omitted. For images and
/// documents, a text informs the model.
pub(crate) fn block(
    mut block: Value,
    at: &str,
    parts: &mut Parts,
    unsupported: &mut Unsupported,
) -> Result<(), Fault> {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut nested = |path: &str| block.pointer_mut(path).map(Value::take);
    let (source, content) = (nested("/source/content"), nested("/content"));
    let text = |path: &str| block.pointer(path).and_then(Value::as_str);
    match kind.as_str() {
        "text" => {
            let text = block.get_mut("text").map(Value::take).filter(Value::is_string);
            parts.text(text.ok_or_else(|| expected(&format!("{at}.text"), "text"))?);
        }
        "image" => match (text("/source/url"), text("/source/media_type"), text("/source/data")) {
            (Some(url), ..) => parts.image(url),
            (None, Some(kind), Some(data)) => parts.image(&format!("data:{kind};base64,{data}")),
            _ if text("/source/type") == Some("file") => {
                unsupported.note("image");
                parts.text("[an image was left out]");
            }
            _ => {
                let what = "`url`, or `media_type` and `data`";
                return Err(expected(&format!("{at}.source"), what));
            }
        },
        "document" => {
            let title = text("/title").map_or_else(String::new, |title| format!("{title}\n"));
            if let (Some("text"), Some(data)) = (text("/source/type"), text("/source/data")) {
                parts.text(format!("{title}{data}"));
            } else if let Some(content) = source {
                if !title.is_empty() {
                    parts.text(title.trim_end());
                }
                blocks(content, &format!("{at}.source.content"), parts, unsupported)?;
            } else {
                unsupported.note("document");
                let what = text("/source/url").or(text("/source/media_type")).unwrap_or("unknown");
                parts.text(format!("{title}[a document was left out: {what}]"));
            }
        }
        "search_result" => {
            let head = [text("/title"), text("/source")].into_iter().flatten();
            let head = head.collect::<Vec<_>>().join("\n");
            if !head.is_empty() {
                parts.text(head);
            }
            blocks(content.unwrap_or_default(), &format!("{at}.content"), parts, unsupported)?;
        }
        kind => unsupported.drop(&format!("{at}.type"), kind)?,
    }
    Ok(())
}

/// Adds text, or blocks.
pub(crate) fn blocks(
    content: Value,
    at: &str,
    parts: &mut Parts,
    unsupported: &mut Unsupported,
) -> Result<(), Fault> {
    match content {
        Value::String(text) => parts.text(text),
        Value::Array(list) => {
            for (n, entry) in list.into_iter().enumerate() {
                block(entry, &format!("{at}[{n}]"), parts, unsupported)?;
            }
        }
        Value::Null => {}
        _ => return Err(expected(at, "text or a list")),
    }
    Ok(())
}

/// Adds text, or parts of a response.
pub(crate) fn response_parts(
    content: Option<Value>,
    at: &str,
    parts: &mut Parts,
    unsupported: &mut Unsupported,
) -> Result<(), Fault> {
    let list = match content {
        Some(Value::String(text)) => {
            parts.text(text);
            return Ok(());
        }
        Some(Value::Array(list)) => list,
        _ => return Err(expected(at, "text or a list")),
    };
    for (n, mut part) in list.into_iter().enumerate() {
        let key = ["text", "refusal"]
            .into_iter()
            .find(|key| part.get(*key).is_some_and(Value::is_string));
        if let Some(text) = key.and_then(|key| part.get_mut(key)) {
            parts.text(text.take());
            continue;
        }
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        match (text("type"), text("image_url")) {
            (Some("input_image"), Some(url)) => parts.image(url),
            (Some("input_image"), None) => {
                unsupported.drop(&format!("{at}[{n}]"), "image")?;
                parts.text("[an image was left out]");
            }
            (Some("input_file"), _) => {
                unsupported.drop(&format!("{at}[{n}]"), "file")?;
                let name = text("filename").or(text("file_url")).unwrap_or("unknown");
                parts.text(format!("[a file was left out: {name}]"));
            }
            _ => return Err(expected(&format!("{at}[{n}]"), "text or an image by its address")),
        }
    }
    Ok(())
}
