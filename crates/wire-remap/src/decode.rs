//! Wire to canonical, as a stream of pieces.

use alloc::{borrow::Cow, string::String};

use crate::{
    bit::{Bit, Kind, Syntax, Way},
    json_text::{Channel, escape_json},
    pair::{Role, Truncated},
    piece::{Detection, Form, Marker, Piece, Suspect},
    place::Place,
    scan::Scanner,
    table::RemapTable,
    tally::Tally,
    watch::{Watch, mixed},
    word::WordKind,
    words::Compiled,
};

/// Decodes a stream of wire text: one per choice and field.
///
/// Pieces, neighbouring texts joined, depend on the concatenated input only. Holds back a proper
/// beginning of a marker and nothing else, at most [`RemapTable::max_held`] bytes; a complete
/// marker waits only while a longer one may match.
///
/// ```
/// use wire_remap::{Piece, RemapTable, StreamDecoder};
/// let mut decoder = StreamDecoder::new(&RemapTable::hermes());
/// let (mut text, mut calls) = (String::new(), 0);
/// for chunk in ["`[[CALL]]` it is.\n[[CA", "LL]]{}[[/CALL]]"] {
///     decoder.push(chunk, |piece| {
///         text.push_str(piece.text());
///         calls += usize::from(matches!(piece, Piece::Marker(m) if m.counts && m.entry == 0));
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
    detection: Detection,
    tally: Tally,
}

impl StreamDecoder {
    /// A decoder of plain text.
    #[must_use]
    pub fn new(table: &RemapTable) -> Self {
        Self::of(table, Syntax::Text)
    }

    /// A decoder of text in the given syntax. In JSON no marker is structural.
    #[must_use]
    pub fn with_syntax(table: &RemapTable, syntax: Syntax) -> Self {
        Self::of(table, syntax)
    }

    /// Chooses which markers count; [`Detection::Structural`] unless set.
    #[must_use]
    pub fn detection(mut self, detection: Detection) -> Self {
        self.detection = detection;
        self
    }

    pub(crate) fn of(table: &RemapTable, syntax: Syntax) -> Self {
        let channel = Channel::new(Scanner::new(&table.inner, Way::Decode(syntax)), syntax);
        let watch = (!channel.is_json()).then(|| Watch::new(&table.inner));
        let detection = Detection::default();
        Self { table: table.clone(), channel, watch, detection, tally: Tally::default() }
    }

    /// Stops classifying markers unless decoded text depends on it.
    pub(crate) fn watch_only_if_needed(&mut self) {
        if self.table.inner.settings.truncated != Truncated::Recover {
            self.watch = None;
        }
    }

    /// Feeds the next piece of the stream and reports what is certain.
    pub fn push(&mut self, chunk: &str, mut on: impl FnMut(Piece<'_>)) {
        self.push_pieces(chunk, &mut |piece, _| on(piece));
    }

    /// Ends the stream and reports what was held; the decoder is then as new, its tally kept.
    pub fn finish(&mut self, mut on: impl FnMut(Piece<'_>)) {
        self.finish_pieces(&mut |piece, _| on(piece));
    }

    /// As [`push`](Self::push), appending text.
    pub fn push_str(&mut self, chunk: &str, out: &mut String) {
        self.push(chunk, |piece| out.push_str(piece.text()));
    }

    /// As [`finish`](Self::finish), appending text.
    pub fn finish_str(&mut self, out: &mut String) {
        self.finish(|piece| out.push_str(piece.text()));
    }

    /// Forgets everything received, and the tally.
    pub fn reset(&mut self) {
        self.channel.reset();
        self.tally = Tally::default();
        if self.watch.is_some() {
            self.watch = Some(Watch::new(&self.table.inner));
        }
    }

    /// Bytes received and not yet reported.
    #[must_use]
    pub fn held(&self) -> usize {
        self.channel.held()
    }

    /// What was found so far.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Bytes looked at so far: a measure of work that does not depend on the clock.
    #[must_use]
    pub fn examined(&self) -> u64 {
        let watched = self.watch.as_ref().map_or(0, |watch| watch.canonical.examined());
        self.channel.scanner().examined().saturating_add(watched)
    }

    /// Reports pieces and whether each equals the input it stands for.
    pub(crate) fn push_pieces(&mut self, chunk: &str, on: &mut impl FnMut(Piece<'_>, bool)) {
        let Self { table, channel, watch, detection, tally } = self;
        let (json, detection) = (channel.is_json(), *detection);
        let mut reader = Reader { compiled: &table.inner, json, watch, detection, tally };
        channel.push(chunk, &mut |bit| reader.read(bit, on));
        tally.max_held = tally.max_held.max(channel.held());
    }

    pub(crate) fn finish_pieces(&mut self, on: &mut impl FnMut(Piece<'_>, bool)) {
        let Self { table, channel, watch, detection, tally } = self;
        let cut = cut_word(&table.inner, channel);
        let (json, detection) = (channel.is_json(), *detection);
        let mut reader = Reader { compiled: &table.inner, json, watch, detection, tally };
        channel.finish(&mut |bit| match (cut, bit.kind) {
            (Some(entry), Kind::Text) => reader.cut(entry, bit.text, on),
            _ => reader.read(bit, on),
        });
        if let Some(watch) = watch {
            *watch = Watch::new(&table.inner);
        }
    }
}

/// The pair whose wire marker the stream ended in, if enough of it came to know that.
fn cut_word(compiled: &Compiled, channel: &Channel) -> Option<usize> {
    if compiled.settings.truncated == Truncated::Ignore || channel.is_json() {
        return None;
    }
    let held = channel.scanner().pending()?;
    let mut words = compiled.words.iter();
    let word = words.find(|word| {
        let names = crate::spelling::naming_prefix(&word.text);
        let whole = compiled.words.iter().any(|word| word.text == held);
        word.kind == WordKind::Wire && held.len() >= names && word.text.starts_with(held) && !whole
    })?;
    Some(word.entry)
}

/// Turns the scanner's bits into pieces.
struct Reader<'d> {
    compiled: &'d Compiled,
    json: bool,
    watch: &'d mut Option<Watch>,
    detection: Detection,
    tally: &'d mut Tally,
}

#[expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "words and pairs are told by the places they have in the same `compiled`; the \
              tallies count markers of one stream with 64 bits"
)]
impl Reader<'_> {
    fn read(&mut self, bit: Bit<'_>, on: &mut impl FnMut(Piece<'_>, bool)) {
        match bit.kind {
            Kind::Word(word) => self.word(word, bit.text, on),
            Kind::Unescaped | Kind::Unquoted => {
                self.tally.unescaped += 1;
                self.plain(bit.text);
                on(Piece::Literal(bit.text), false);
            }
            Kind::Text | Kind::Encoded | Kind::Escaped => {
                if let Some(watch) = self.watch {
                    watch.text(self.compiled, bit.text, self.tally);
                }
                on(Piece::Text(bit.text), true);
            }
        }
    }

    fn word(&mut self, id: usize, written: &str, on: &mut impl FnMut(Piece<'_>, bool)) {
        let word = &self.compiled.words[id];
        let (entry, role) = (word.entry, self.compiled.pairs[word.entry].role);
        let place = self.place(role);
        let structural = place == Place::Structural;
        let form = match word.kind {
            WordKind::Wire | WordKind::Canonical => Form::Wire,
            WordKind::Garbled => Form::Garbled,
            WordKind::NoLast | WordKind::NoFirst => Form::Truncated,
        };
        if form == Form::Truncated {
            let recover = self.compiled.settings.truncated == Truncated::Recover;
            if !structural {
                self.plain(written);
                return on(Piece::Text(written), true);
            }
            if !recover || word.kind == WordKind::NoFirst {
                self.tally.suspects += 1;
                self.plain(written);
                return on(Piece::Suspect(Suspect { entry, text: written, form }), true);
            }
            self.tally.recovered += 1;
        }
        self.tally.decoded += 1;
        self.tally.garbled += u64::from(form == Form::Garbled);
        let counts = structural || self.detection == Detection::Everywhere;
        if let Some(watch) = self.watch {
            watch.layout.marker(role, place);
            if structural {
                mixed(&mut watch.open_canonical, role, false, self.tally);
            }
        }
        let canonical = &self.compiled.pairs[entry].canonical;
        let text = if self.json { escape_json(canonical) } else { Cow::Borrowed(&**canonical) };
        on(Piece::Marker(Marker { entry, text: &text, written, role, form, place, counts }), false);
    }

    /// The stream ended in a wire marker.
    fn cut(&mut self, entry: usize, text: &str, on: &mut impl FnMut(Piece<'_>, bool)) {
        if self.place(self.compiled.pairs[entry].role) == Place::Structural {
            self.tally.suspects += 1;
            on(Piece::Suspect(Suspect { entry, text, form: Form::Cut }), true);
        } else {
            on(Piece::Text(text), true);
        }
    }

    fn place(&mut self, role: Role) -> Place {
        let Some(watch) = self.watch else { return Place::Quotes };
        watch.settle();
        watch.layout.place(role)
    }

    /// Text that holds no canonical marker worth counting.
    fn plain(&mut self, text: &str) {
        if let Some(watch) = self.watch {
            watch.settle();
            watch.layout.text(text);
        }
    }
}
