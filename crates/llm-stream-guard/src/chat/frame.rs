//! The bytes of an event around its text. In most streams they are the same from event to event,
//! so that an event that only brings more text is known without reading its JSON.

use serde::{Deserialize, de::IgnoredAny};

/// Frames longer than this are not kept.
const LONGEST: usize = 4 * 1024;

/// What stands around the text of an event with one choice.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// The choice.
    pub(super) index: u32,
    before: Box<[u8]>,
    behind: Box<[u8]>,
}

/// A chunk as far as it is read here; its text borrows from the event only if nothing in it is
/// escaped.
#[derive(Deserialize)]
struct Chunk<'e> {
    #[serde(borrow)]
    choices: (Choice<'e>,),
}

#[derive(Deserialize)]
struct Choice<'e> {
    #[serde(default)]
    index: u32,
    #[serde(borrow)]
    delta: Delta<'e>,
}

#[derive(Deserialize)]
struct Delta<'e> {
    content: &'e str,
    /// Written once a choice: what says it is not like what follows.
    #[serde(default)]
    role: Option<IgnoredAny>,
}

impl Frame {
    /// The frame of an event's data, if it has one choice with text.
    pub(super) fn of(data: &[u8]) -> Option<Self> {
        let Chunk { choices: (Choice { index, delta: Delta { content, role } },) } =
            serde_json::from_slice(data).ok()?;
        if role.is_some() {
            return None;
        }
        let at = (content.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let (before, behind) = (data.get(..at)?, data.get(at + content.len()..)?);
        (before.len() + behind.len() <= LONGEST).then(|| Self {
            index,
            before: before.into(),
            behind: behind.into(),
        })
    }

    /// The text of an event's data that has this frame, if nothing in it is escaped.
    pub(super) fn text<'e>(&self, data: &'e [u8]) -> Option<&'e str> {
        let text = data.strip_prefix(&*self.before)?.strip_suffix(&*self.behind)?;
        let plain = |&byte: &u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        text.iter().all(plain).then(|| std::str::from_utf8(text).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::Frame;

    const EVENT: &str =
        r#"{"id":"a","choices":[{"index":3,"delta":{"content":"hm"},"finish_reason":null}]}"#;

    #[test]
    fn an_event_with_the_same_frame_is_its_text() {
        let frame = Frame::of(EVENT.as_bytes()).unwrap();
        assert_eq!(frame.index, 3);
        for text in ["", "é<", "say \u{1F980}"] {
            assert_eq!(frame.text(EVENT.replace("hm", text).as_bytes()), Some(text));
        }
    }

    #[test]
    fn other_events_are_not() {
        let frame = Frame::of(EVENT.as_bytes()).unwrap();
        for (from, to) in [
            ("hm", r#"a"},"x":{"y":"b"#),
            ("hm", r"a\n"),
            ("hm", "a\tb"),
            (r#""a""#, r#""b""#),
            ("null", r#""stop""#),
            (r#""hm"},"finish_reason":null}]}"#, r#""s"#),
        ] {
            assert_eq!(frame.text(EVENT.replace(from, to).as_bytes()), None, "{to}");
        }
        assert_eq!(frame.text(&EVENT.as_bytes()[..EVENT.len() - 1]), None);
        assert_eq!(frame.text(b"{\"id\":\"a\",\"choices\":[{\"index\":3,\"delta\":{\"content\":\"\xff\"},\"finish_reason\":null}]}"), None);
    }

    #[test]
    fn what_is_no_text_alone_has_no_frame() {
        for event in [
            r#"{"choices":[]}"#,
            r#"{"choices":[{"delta":{"content":"a\n"}}]}"#,
            r#"{"choices":[{"delta":{"role":"assistant","content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":null}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#,
            "[DONE]",
        ] {
            assert!(Frame::of(event.as_bytes()).is_none(), "{event}");
        }
        let long = EVENT.replace("\"a\"", &format!("{:?}", "x".repeat(5000)));
        assert!(Frame::of(long.as_bytes()).is_none());
    }
}
