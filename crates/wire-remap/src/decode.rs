//! The streaming decoder, from wire text to pieces of canonical text.

use alloc::{borrow::Cow, string::String};

use crate::{
    json_text::{Channel, escape_json},
    pair::{Role, Truncated},
    piece::{DecodedPiece, Marker, MarkerDetection, MarkerForm, Suspect},
    place::MarkerPlace,
    scan::Scanner,
    segment::{Direction, Segment, SegmentKind, Syntax},
    table::RemapTable,
    tally::Tally,
    watch::{Watch, count_mixed},
    word::WordKind,
    words::Compiled,
};

/// A decoder of one stream of wire text, such as the content of one choice.
///
/// With neighbouring texts joined, the pieces depend only on the concatenated input. The decoder
/// holds back only a proper prefix of a marker, at most [`RemapTable::max_held`] bytes. A complete
/// marker is held only while a longer one may match.
///
/// ```
/// use wire_remap::{DecodedPiece, RemapTable, StreamDecoder};
/// let mut decoder = StreamDecoder::new(&RemapTable::hermes());
/// let (mut text, mut calls) = (String::new(), 0);
/// for chunk in ["`[[CALL]]` it is.\n[[CA", "LL]]{}[[/CALL]]"] {
///     decoder.push(chunk, |piece| {
///         text.push_str(piece.text());
///         let opens = |piece| matches!(piece, DecodedPiece::Marker(m) if m.counts && m.entry == 0);
///         calls += usize::from(opens(piece));
///     });
/// }
/// decoder.finish(|piece| text.push_str(piece.text()));
/// assert_eq!(text, "`<tool_call>` it is.\n<tool_call>{}</tool_call>");
/// assert_eq!(calls, 1);
/// ```
#[derive(Debug, Clone)]
pub struct StreamDecoder {
    table: RemapTable,
    channel: Channel,
    watch: Option<Watch>,
    detection: MarkerDetection,
    tally: Tally,
}

impl StreamDecoder {
    /// Creates a decoder of plain text.
    #[must_use]
    pub fn new(table: &RemapTable) -> Self {
        Self::with_syntax(table, Syntax::Text)
    }

    /// Creates a decoder of text in the given syntax. In JSON, markers are never structural.
    #[must_use]
    pub fn with_syntax(table: &RemapTable, syntax: Syntax) -> Self {
        let channel = Channel::new(Scanner::new(&table.inner, Direction::Decode(syntax)), syntax);
        let watch = (!channel.is_json()).then(|| Watch::new(&table.inner));
        let detection = MarkerDetection::default();
        Self { table: table.clone(), channel, watch, detection, tally: Tally::default() }
    }

    /// Sets which markers count. The default is [`MarkerDetection::Structural`].
    #[must_use]
    pub fn detection(mut self, detection: MarkerDetection) -> Self {
        self.detection = detection;
        self
    }

    /// Stops classifying markers, unless the decoded text depends on it.
    pub(crate) fn classify_only_if_needed(&mut self) {
        if self.table.inner.settings.truncated != Truncated::Recover {
            self.watch = None;
        }
    }

    /// Feeds the next chunk and reports the pieces that no later chunk can change.
    pub fn push(&mut self, chunk: &str, mut on: impl FnMut(DecodedPiece<'_>)) {
        let (channel, mut reader) = self.reader();
        channel.push(chunk, &mut |segment| reader.read_segment(segment, &mut on));
        reader.tally.max_held = reader.tally.max_held.max(channel.held());
    }

    /// Ends the stream and reports the held text. The decoder keeps its tally, and can then decode
    /// another stream.
    pub fn finish(&mut self, mut on: impl FnMut(DecodedPiece<'_>)) {
        let cut = cut_word(&self.table.inner, &self.channel);
        let (channel, mut reader) = self.reader();
        channel.finish(&mut |segment| match (cut, segment.kind) {
            (Some(entry), SegmentKind::Text) => reader.read_cut(entry, segment.text, &mut on),
            _ => reader.read_segment(segment, &mut on),
        });
        if let Some(watch) = &mut self.watch {
            *watch = Watch::new(&self.table.inner);
        }
    }

    /// Feeds the next chunk as [`push`](Self::push) does, and appends the text of its pieces.
    pub fn push_str(&mut self, chunk: &str, out: &mut String) {
        self.push(chunk, |piece| out.push_str(piece.text()));
    }

    /// Ends the stream as [`finish`](Self::finish) does, and appends the text of its pieces.
    pub fn finish_str(&mut self, out: &mut String) {
        self.finish(|piece| out.push_str(piece.text()));
    }

    /// Discards the held text and clears the tally.
    pub fn reset(&mut self) {
        self.channel.reset();
        self.tally = Tally::default();
        if self.watch.is_some() {
            self.watch = Some(Watch::new(&self.table.inner));
        }
    }

    /// Returns the number of bytes received and not yet reported.
    #[must_use]
    pub fn held(&self) -> usize {
        self.channel.held()
    }

    /// Returns the counters of this stream.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the number of bytes examined, a measure of work without a clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        let watched = self.watch.as_ref().map_or(0, |watch| watch.canonical.examined());
        self.channel.scanner().examined().saturating_add(watched)
    }

    /// Splits the decoder into its input and the reader of the input's segments.
    fn reader(&mut self) -> (&mut Channel, Reader<'_>) {
        let Self { table, channel, watch, detection, tally } = self;
        let (json, detection) = (channel.is_json(), *detection);
        (channel, Reader { compiled: &table.inner, json, watch, detection, tally })
    }
}

/// Returns the entry whose wire marker the end of the stream cut, if the marker's name is complete
/// (`[[CALL` and `[[CALL]`, but not `[[CA`).
fn cut_word(compiled: &Compiled, channel: &Channel) -> Option<usize> {
    if compiled.settings.truncated == Truncated::Ignore || channel.is_json() {
        return None;
    }
    let held = channel.scanner().pending()?;
    if compiled.words.iter().any(|word| word.text == held) {
        return None;
    }
    let word = compiled.words.iter().find(|word| {
        let name_end = crate::spelling::naming_prefix(&word.text);
        word.kind == WordKind::Wire && held.len() >= name_end && word.text.starts_with(held)
    })?;
    Some(word.entry)
}

/// A reader that turns the scanner's segments into pieces.
struct Reader<'d> {
    compiled: &'d Compiled,
    json: bool,
    watch: &'d mut Option<Watch>,
    detection: MarkerDetection,
    tally: &'d mut Tally,
}

impl Reader<'_> {
    fn read_segment(&mut self, segment: Segment<'_>, on: &mut impl FnMut(DecodedPiece<'_>)) {
        match segment.kind {
            SegmentKind::Word(word) => self.word(word, segment.text, on),
            SegmentKind::Unescaped | SegmentKind::Unquoted => {
                self.tally.unescaped += 1;
                self.skip(segment.text);
                on(DecodedPiece::Literal(segment.text));
            }
            SegmentKind::Text | SegmentKind::Encoded | SegmentKind::Escaped => {
                if let Some(watch) = self.watch {
                    watch.text(self.compiled, segment.text, self.tally);
                }
                on(DecodedPiece::Text(segment.text));
            }
        }
    }

    fn word(&mut self, id: usize, written: &str, on: &mut impl FnMut(DecodedPiece<'_>)) {
        let word = &self.compiled.words[id];
        let (entry, pair) = (word.entry, &self.compiled.pairs[word.entry]);
        let role = pair.role;
        let place = self.place(role);
        let structural = place == MarkerPlace::Structural;
        let form = match word.kind {
            WordKind::Wire | WordKind::Canonical => MarkerForm::Wire,
            WordKind::Garbled => MarkerForm::Garbled,
            WordKind::NoLast | WordKind::NoFirst => MarkerForm::Truncated,
        };
        if form == MarkerForm::Truncated {
            let recover = self.compiled.settings.truncated == Truncated::Recover;
            if !structural {
                self.skip(written);
                return on(DecodedPiece::Text(written));
            }
            if !recover || word.kind == WordKind::NoFirst {
                self.tally.suspects += 1;
                self.skip(written);
                return on(DecodedPiece::Suspect(Suspect { entry, text: written, form }));
            }
            self.tally.recovered += 1;
        }
        self.tally.decoded += 1;
        self.tally.garbled += u64::from(form == MarkerForm::Garbled);
        let counts = structural || self.detection == MarkerDetection::Everywhere;
        if let Some(watch) = self.watch {
            watch.layout.marker(role, place);
            if structural {
                count_mixed(&mut watch.open_canonical, role, false, self.tally);
            }
        }
        let canonical = &*pair.canonical;
        let text = if self.json { escape_json(canonical) } else { Cow::Borrowed(canonical) };
        on(DecodedPiece::Marker(Marker { entry, text: &text, written, role, form, place, counts }));
    }

    /// Reports a wire marker that the end of the stream cut.
    fn read_cut(&mut self, entry: usize, text: &str, on: &mut impl FnMut(DecodedPiece<'_>)) {
        if self.place(self.compiled.pairs[entry].role) == MarkerPlace::Structural {
            self.tally.suspects += 1;
            on(DecodedPiece::Suspect(Suspect { entry, text, form: MarkerForm::Cut }));
        } else {
            on(DecodedPiece::Text(text));
        }
    }

    /// Classifies the place of the marker that comes next.
    fn place(&mut self, role: Role) -> MarkerPlace {
        let Some(watch) = self.watch else { return MarkerPlace::Quotes };
        watch.settle();
        watch.layout.place(role)
    }

    /// Reads the layout of text in which canonical markers are not counted.
    fn skip(&mut self, text: &str) {
        if let Some(watch) = self.watch {
            watch.settle();
            watch.layout.text(text);
        }
    }
}
