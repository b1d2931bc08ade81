//! Frames: the bytes of an event before and after its text. Consecutive events usually differ only
//! in that text. An event with a known frame is read without parsing its JSON.
//!
//! ```text
//! {"id":"a","choices":[{"index":0,"delta":{"content":"Hel"}}]}   parsed; its frame is learnt
//! {"id":"a","choices":[{"index":0,"delta":{"content":"lo"}}]}    same frame: only `lo` is read
//! {"id":"a","choices":[],"usage":{"total_tokens":7}}             no frame matches: parsed
//! ```

use std::borrow::Cow;

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value, value::RawValue};
use sse_events::SseEvent;

use crate::{
    chat::model::{
        chunk::{Choice, Chunk, Content},
        field::Field,
    },
    limits::{MAX_FRAME_BYTES, MAX_FRAMES},
};

/// Number of frames learnt in a row without a matching event. After that, only one event in
/// `IN_VAIN` is learnt. Some servers write a new value into each event, and learning costs half as
/// much as parsing.
const IN_VAIN: u32 = 16;

/// How a chunk was read from its event.
pub(in crate::chat) enum Came {
    /// The event's bytes or lines cannot be forwarded unchanged.
    Damaged,
    Read(Chunk),
    /// The event has the frame at this index.
    Framed(usize),
}

/// An event that carries a chunk.
pub(in crate::chat) struct Arrived<'e> {
    pub(in crate::chat) event: SseEvent<'e>,
    pub(in crate::chat) came: Came,
}

/// A cache of frames, with one for each choice.
#[derive(Debug, Clone, Default)]
pub(in crate::chat) struct Frames {
    frames: Vec<Frame>,
    /// Number of frames learnt since an event last matched one.
    in_vain: u32,
}

impl Frames {
    /// Returns the index of the frame that matches an event's data, and the event's text.
    pub(in crate::chat) fn find<'e>(&mut self, data: &'e [u8]) -> Option<(usize, Cow<'e, str>)> {
        let text = |(at, frame): (usize, &Frame)| Some((at, frame.text(data)?));
        let found = self.frames.iter().enumerate().find_map(text)?;
        self.in_vain = 0;
        Some(found)
    }

    /// Returns the frame at an index returned by `find`.
    pub(in crate::chat) fn at(&mut self, at: usize) -> &mut Frame {
        &mut self.frames[at]
    }

    /// Whether `choice` is the choice of an event's `data` that has the frame at `at`.
    pub(in crate::chat) fn is(&self, at: usize, choice: &Choice, data: &[u8]) -> bool {
        let frame = &self.frames[at];
        frame.text(data).is_some_and(|text| frame.is(choice, &text))
    }

    /// Records the result of an event: its only chunk, if there is exactly one, and whether the
    /// event was forwarded as the `same` bytes.
    pub(in crate::chat) fn settle(
        &mut self,
        arrived: Arrived<'_>,
        only: Option<&mut Chunk>,
        same: bool,
    ) {
        let data = arrived.event.data.unwrap_or_default();
        match (arrived.came, only) {
            // The frame does not depend on the text.
            (Came::Read(came), Some(chunk))
                if chunk.fields == came.fields && chunk.usage == came.usage =>
            {
                self.learn(data, came, same);
            }
            // A chunk without choices holds the remaining fields of a withheld chunk.
            (Came::Framed(at), Some(chunk)) if !chunk.choices.is_empty() => {
                self.frames[at].restore(std::mem::take(&mut chunk.fields), same);
            }
            (Came::Framed(at), _) => drop(self.frames.remove(at)),
            (Came::Read(_) | Came::Damaged, _) => {}
        }
    }

    /// Learns the frame of `data`, which was read as `chunk`.
    fn learn(&mut self, data: &[u8], chunk: Chunk, same: bool) {
        self.in_vain = self.in_vain.saturating_add(1);
        if self.in_vain > IN_VAIN && !self.in_vain.is_multiple_of(IN_VAIN) {
            return;
        }
        let Some(frame) = Frame::of(data, chunk) else { return };
        let frame = Frame { passes: same, ..frame };
        self.frames.retain(|known| known.index() != frame.index());
        if self.frames.len() < MAX_FRAMES {
            // Streams usually have one choice, and a frame takes half a kilobyte.
            self.frames.reserve_exact(1);
            self.frames.push(frame);
        }
    }

    pub(in crate::chat) fn clear(&mut self) {
        self.frames.clear();
    }
}

/// The bytes around the text of an event with one choice.
#[derive(Debug, Clone)]
pub(in crate::chat) struct Frame {
    /// The bytes before the text, its opening quotation mark included.
    before: Box<[u8]>,
    behind: Box<[u8]>,
    /// The choice without its text.
    choice: Choice,
    usage: Field<Value>,
    /// Fields next to the choices; `None` while a chunk has them.
    fields: Option<Map<String, Value>>,
    /// Whether an event with this frame was forwarded unchanged.
    passes: bool,
}

/// The position of the text in an event.
#[derive(Deserialize)]
struct Outline<'e> {
    #[serde(borrow)]
    choices: (ChoiceOutline<'e>,),
}

#[derive(Deserialize)]
struct ChoiceOutline<'e> {
    #[serde(borrow)]
    delta: DeltaOutline<'e>,
}

#[derive(Deserialize)]
struct DeltaOutline<'e> {
    #[serde(borrow)]
    content: &'e RawValue,
    /// A role is written once per choice: such a chunk is not like the next one.
    #[serde(default)]
    role: Option<IgnoredAny>,
}

/// Decodes a JSON string, which is borrowed if it has no escapes.
#[derive(Deserialize)]
struct Text<'e>(#[serde(borrow)] Cow<'e, str>);

impl Frame {
    /// Returns the frame of an event's data, which was read as `chunk`, if it has one choice with
    /// text.
    pub(in crate::chat) fn of(data: &[u8], mut chunk: Chunk) -> Option<Self> {
        let [choice] = chunk.choices.as_mut_slice() else { return None };
        // Both describe this chunk's tokens and differ in the next chunk.
        if chunk.usage.value().is_some() || choice.logprobs.value().is_some() {
            return None;
        }
        choice.delta.content.take().into_value()?;
        let Outline { choices: (ChoiceOutline { delta: DeltaOutline { content, role } },) } =
            serde_json::from_slice(data).ok()?;
        let content = content.get();
        if role.is_some() || !content.starts_with('"') {
            return None;
        }
        let at = (content.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let (before, behind) = (data.get(..=at)?, data.get(at + content.len() - 1..)?);
        (before.len() + behind.len() <= MAX_FRAME_BYTES).then(|| Self {
            before: before.into(),
            behind: behind.into(),
            choice: std::mem::take(choice),
            usage: chunk.usage,
            fields: Some(chunk.fields),
            passes: false,
        })
    }

    /// Returns the index of the frame's choice.
    pub(in crate::chat) fn index(&self) -> u32 {
        self.choice.index
    }

    /// Returns the text of an event's data if the data has this frame.
    pub(in crate::chat) fn text<'e>(&self, data: &'e [u8]) -> Option<Cow<'e, str>> {
        let text = data.strip_prefix(&*self.before)?.strip_suffix(&*self.behind)?;
        // With the quotation marks on both sides.
        let string = data.get(self.before.len() - 1..self.before.len() + text.len() + 1)?;
        serde_json::from_slice(string).ok().map(|Text(text)| text)
    }

    /// Builds the chunk of an event with this frame and `text`. The fields next to the choices move
    /// into the chunk and must be returned with [`Frame::restore`].
    pub(in crate::chat) fn take(&mut self, text: String) -> Option<Chunk> {
        let fields = self.fields.take()?;
        Some(Chunk { choices: vec![self.choice(text)], usage: self.usage.clone(), fields })
    }

    /// Returns the fields next to the choices to the frame. `same` is set if the event was
    /// forwarded unchanged.
    fn restore(&mut self, fields: Map<String, Value>, same: bool) {
        self.fields = Some(fields);
        self.passes |= same;
    }

    /// Whether only the text decides if an event with this frame is forwarded unchanged.
    pub(in crate::chat) fn passes(&self) -> bool {
        self.passes
    }

    fn is(&self, choice: &Choice, text: &str) -> bool {
        choice.delta.text() == Some(text) && *choice == self.choice(text.to_owned())
    }

    fn choice(&self, text: String) -> Choice {
        let mut choice = self.choice.clone();
        choice.delta.content = Field::Value(Content::Text(text));
        choice
    }
}

#[cfg(test)]
mod tests {
    use sse_events::{Decoder, SseItem};

    use super::{Arrived, Came, Chunk, Frame, Frames, IN_VAIN, MAX_FRAMES};

    const EVENT: &str =
        r#"{"id":"a","choices":[{"index":3,"delta":{"content":"hm"},"finish_reason":null}]}"#;

    fn frame(event: &str) -> Option<Frame> {
        Frame::of(event.as_bytes(), serde_json::from_str(event).ok()?)
    }

    fn text(frame: &Frame, event: &[u8]) -> Option<String> {
        frame.text(event).map(std::borrow::Cow::into_owned)
    }

    #[test]
    fn event_matching_the_frame_yields_its_unescaped_text() {
        let mut frame = frame(EVENT).unwrap();
        assert_eq!(frame.index(), 3);
        for (written, means) in
            [("", ""), ("é<", "é<"), ("say \u{1F980}", "say \u{1F980}"), (r#"\"\n"#, "\"\n")]
        {
            let event = EVENT.replace("hm", written);
            assert_eq!(text(&frame, event.as_bytes()).as_deref(), Some(means));
            let chunk: Chunk = serde_json::from_str(&event).unwrap();
            let known = frame.take(means.to_owned()).unwrap();
            assert_eq!(known, chunk);
            assert!(frame.is(&chunk.choices[0], means));
            frame.restore(known.fields, true);
        }
    }

    #[test]
    fn event_with_any_other_change_does_not_match_the_frame() {
        let frame = frame(EVENT).unwrap();
        for (from, to) in [
            ("hm", r#"a"},"x":{"y":"b"#),
            ("hm", r"\ud800"),
            ("hm", "a\tb"),
            (r#""a""#, r#""b""#),
            ("null", r#""stop""#),
            (r#""hm"},"finish_reason":null}]}"#, r#""s"#),
        ] {
            assert_eq!(text(&frame, EVENT.replace(from, to).as_bytes()), None, "{to}");
        }
        assert_eq!(text(&frame, &EVENT.as_bytes()[..EVENT.len() - 1]), None);
        assert_eq!(text(&frame, b"{\"id\":\"a\",\"choices\":[{\"index\":3,\"delta\":{\"content\":\"\xff\"},\"finish_reason\":null}]}"), None);
    }

    #[test]
    fn only_short_single_choice_text_events_have_a_frame() {
        for event in [
            r#"{"choices":[]}"#,
            r#"{"choices":[{"delta":{"role":"assistant","content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"content":null}}]}"#,
            r#"{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"},"logprobs":{"content":[]}}]}"#,
            r#"{"choices":[{"delta":{"content":"a"}}],"usage":{"total_tokens":7}}"#,
            r#"{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}"#,
            "[DONE]",
        ] {
            assert!(frame(event).is_none(), "{event}");
        }
        let long = EVENT.replace("\"a\"", &format!("{:?}", "x".repeat(5000)));
        assert!(frame(&long).is_none());
    }

    fn event(id: u32, index: u32) -> String {
        let (id, index) = (format!("{id:?}"), format!("\"index\":{index}"));
        EVENT.replace("\"a\"", &id).replace("\"index\":3", &index)
    }

    fn learn(frames: &mut Frames, event: &str) {
        frames.learn(event.as_bytes(), serde_json::from_str(event).unwrap(), true);
    }

    fn knows(frames: &Frames, event: &str) -> bool {
        frames.clone().find(event.as_bytes()).is_some()
    }

    #[test]
    fn frames_that_never_repeat_are_learnt_less_often() {
        let mut frames = Frames::default();
        for n in 1..=3 * IN_VAIN {
            learn(&mut frames, &event(n, 0));
            assert_eq!(knows(&frames, &event(n, 0)), n <= IN_VAIN || n % IN_VAIN == 0, "{n}");
        }
    }

    #[test]
    fn frames_are_limited_in_number_and_one_per_choice() {
        let mut frames = Frames::default();
        for id in 0..2 {
            for index in 0..=MAX_FRAMES as u32 {
                learn(&mut frames, &event(id, index));
                assert_eq!(knows(&frames, &event(id, index)), index < MAX_FRAMES as u32, "{index}");
                assert!(id == 0 || !knows(&frames, &event(0, index)), "{index}");
                frames.in_vain = 0;
            }
        }
        frames.clear();
        assert!(!knows(&frames, &event(1, 0)));
    }

    #[test]
    fn frame_is_dropped_after_an_event_without_choices() {
        let mut frames = Frames::default();
        learn(&mut frames, EVENT);
        let chunk: Chunk = serde_json::from_str(EVENT).unwrap();
        let mut other = chunk.choices[0].clone();
        assert!(frames.is(0, &other, EVENT.as_bytes()));
        other.finish_reason = super::Field::Missing;
        assert!(!frames.is(0, &other, EVENT.as_bytes()));
        for (choices, stays) in [(chunk.choices.clone(), true), (Vec::new(), false)] {
            let taken = frames.at(0).take("hm".into()).unwrap();
            let mut out = Chunk { choices, ..taken };
            let settled = Decoder::new().push(format!("data: {EVENT}\n\n").as_bytes(), |item| {
                if let SseItem::Event(event) = item {
                    let arrived = Arrived { event, came: Came::Framed(0) };
                    frames.settle(arrived, Some(&mut out), false);
                }
            });
            assert!(settled.is_ok());
            assert_eq!(knows(&frames, EVENT), stays);
        }
    }

    #[test]
    fn frame_may_have_200_bytes_on_both_sides_of_the_text() {
        let long = EVENT.replace("\"a\"", &format!("{:?}", "x".repeat(200)));
        let long = long.replace("null", &format!("null,\"x\":{:?}", "y".repeat(200)));
        assert!(frame(&long).is_some());
    }
}
