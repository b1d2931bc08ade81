//! Model ids, and the patterns of ids that a family has.

use crate::limits::MAX_MODEL_ID;
use alloc::{string::String, vec::Vec};

/// Extensions of files with weights.
const EXTENSIONS: [&str; 12] = [
    ".gguf",
    ".ggml",
    ".safetensors",
    ".bin",
    ".onnx",
    ".pt",
    ".pth",
    ".mlx",
    ".llamafile",
    ".engine",
    ".task",
    ".litertlm",
];

/// Words at the end of an id that describe its packaging, not the model.
const PACKAGING: [&str; 29] = [
    "gguf", "ggml", "awq", "gptq", "exl2", "exl3", "mlx", "fp8", "fp4", "nvfp4", "mxfp4", "mxfp8",
    "bf16", "f16", "fp16", "f32", "int4", "int8", "4bit", "8bit", "6bit", "5bit", "3bit", "2bit",
    "bnb", "hf", "free", "cloud", "latest",
];

/// Words in ids of models that are not chat models (embedding, ranking, speech, images), or that
/// have a different format from their base model.
const OTHER_MODEL_WORDS: &str = "embed embedder embedding embeddings embedqa e5 gte gme bge colbert retriever \
    rerank reranker rerankers rerankqa classifier reward rm prm guard guardian nemoguard moderation \
    safety asr stt aligner forcedaligner transcribe transcription speech canary tts ocr image video \
    diffusion eagle eagle3 speculator speculators llava cogvlm2 internvl2 minitron openhermes";

/// A normalised model id. `Qwen/Qwen3.5-9B-GGUF`, `qwen3.5:9b` and `./models/qwen3p5-9b.gguf` are
/// equal.
///
/// Normalisation:
///
/// - Letters become lower case.
/// - Each run of white space or punctuation between words becomes one `-`. So does a `p` between
///   digits. The point of a size (`0.6b`) stays.
/// - Organisation, file extension and packaging are removed.
/// - In a path, every segment may be the model's name. The last one is tried first.
/// - An id of more than 512 bytes matches nothing.
/// - An id with a word such as `embedding` or `ocr` is not a chat model. Only a pattern with such a
///   word matches it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId {
    segments: Vec<String>,
    /// The segment with a word of another kind of model. Segments to the left of it are not tried.
    other: Option<String>,
}

impl ModelId {
    /// Normalises a model's id.
    #[must_use]
    pub fn new(id: &str) -> Self {
        if id.len() > MAX_MODEL_ID {
            return Self { segments: Vec::new(), other: None };
        }
        let id = id.trim().to_lowercase().replace('\\', "/");
        let used = if is_path(&id) { usize::MAX } else { 1 };
        let segments = without_scheme(&id).split('/').rev().map(model_of);
        let mut all = segments.filter(|it| !it.is_empty()).take(used);
        let (mut segments, mut other) = (Vec::new(), None);
        while let Some(segment) = all.next()
            && other.is_none()
        {
            match segment.split('-').any(is_other) {
                true => other = Some(segment),
                false => segments.push(segment),
            }
        }
        Self { segments, other }
    }

    /// Returns the texts that a pattern may match, in order of preference: each segment, complete
    /// and without its first words.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(|segment| endings(segment))
    }

    /// Returns the first text that a pattern matches, and of its patterns those with the most
    /// literal characters.
    ///
    /// A text that matches except for its version ends the search: the words after it name only the
    /// base model, and a broader pattern names only the brand. `qwen3-coder-2.0` is not a `qwen3-*`.
    pub fn find<'s, 'p, T>(
        &'s self,
        patterns: &'p [(ModelPattern, T)],
    ) -> Option<(&'s str, Vec<&'p T>)> {
        let (text, hits) = self.first(patterns)?;
        let fits = |(pattern, _): &&&(ModelPattern, T)| pattern.is_for(text);
        let most = hits.iter().filter(fits).map(|(pattern, _)| pattern.literals()).max()?;
        let heaviest = |hit: &&&(ModelPattern, T)| fits(hit) && hit.0.literals() == most;
        let nearest = hits.iter().filter(heaviest).map(|(pattern, _)| pattern.head()).max();
        let nearer = |(pattern, _): &&(ModelPattern, T)| Some(pattern.head()) > nearest;
        if hits.iter().any(|hit| nearer(hit) && !fits(&hit)) {
            return None;
        }
        Some((text, hits.iter().filter(heaviest).map(|(_, of)| of).collect()))
    }

    /// Returns the patterns that match if versions are ignored: the families of other versions of
    /// the model. Patterns with the most literal characters come first.
    pub fn find_other_versions<'p, T>(&self, patterns: &'p [(ModelPattern, T)]) -> Vec<&'p T> {
        let mut hits = self.first(patterns).map(|(_, hits)| hits).unwrap_or_default();
        hits.sort_by_key(|(pattern, _)| core::cmp::Reverse(pattern.literals()));
        hits.into_iter().map(|(_, of)| of).collect()
    }

    /// Returns the first text that patterns match if versions are ignored, and these patterns.
    fn first<'s, 'p, T>(
        &'s self,
        patterns: &'p [(ModelPattern, T)],
    ) -> Option<(&'s str, Vec<&'p (ModelPattern, T)>)> {
        let answering = self.texts().map(|text| (text, false));
        let others =
            self.other.iter().flat_map(|segment| endings(segment)).map(|text| (text, true));
        answering.chain(others).find_map(|(text, other)| {
            let fits = |(pattern, _): &&(ModelPattern, T)| {
                (!other || pattern.names_other()) && pattern.is_for_any_version(text)
            };
            let hits: Vec<_> = patterns.iter().filter(fits).collect();
            (!hits.is_empty()).then_some((text, hits))
        })
    }
}

/// Returns a segment, complete and without its first words.
fn endings(segment: &str) -> impl Iterator<Item = &str> {
    let words = segment.match_indices('-').map(|(at, _)| at + 1);
    core::iter::once(0).chain(words).filter_map(|at| segment.get(at..))
}

/// A pattern of model ids. `*` matches any characters that do not begin with a version number. `-*`
/// at the end also matches nothing. The first version (`1`, `1.0`) counts as none, unless the star
/// follows a number. A version of the pattern also matches with a `v` before it.
///
/// ```
/// use toolcall_parsers::family::ModelPattern;
/// let pattern = ModelPattern::new("granite-4.0-*");
/// assert!(pattern.is_for("granite-4-0") && pattern.is_for("granite-4-0-micro"));
/// // Another version of a model may use another syntax.
/// assert!(!ModelPattern::new("granite-4-*").is_for("granite-4-2-8b"));
/// assert!(ModelPattern::new("beam-*").is_for("beam-1-0"));
/// assert!(ModelPattern::new("apertus-1.5-*").is_for("apertus-v1-5-8b"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPattern(String);

impl ModelPattern {
    /// Normalises a pattern like an id. Its stars are kept.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(folded(&pattern.to_lowercase()))
    }

    /// Returns whether the pattern matches all of `text`, a text of [`ModelId::texts`].
    #[must_use]
    pub fn is_for(&self, text: &str) -> bool {
        self.spelled().any(|pattern| globs(pattern, text, Star::NoVersion))
    }

    /// Returns whether the pattern matches all of `text` if a star may also match a version.
    fn is_for_any_version(&self, text: &str) -> bool {
        self.spelled().any(|pattern| globs(pattern, text, Star::Any))
    }

    /// Returns whether the pattern has a word of another kind of model.
    fn names_other(&self) -> bool {
        self.0.split('-').any(is_other)
    }

    /// Returns whether a text exists that both patterns match.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.spelled().any(|a| other.spelled().any(|b| share(a.as_bytes(), b.as_bytes())))
    }

    /// Returns the pattern, and without `-*` at its end.
    fn spelled(&self) -> impl Iterator<Item = &str> {
        [Some(&*self.0), self.0.strip_suffix("-*")].into_iter().flatten()
    }

    /// Returns the number of characters before the first star: how near the pattern is to a model.
    fn head(&self) -> usize {
        self.0.find('*').unwrap_or(self.0.len())
    }

    /// Returns the number of characters that are not stars.
    #[must_use]
    pub fn literals(&self) -> usize {
        self.0.chars().filter(|&char| char != '*').count()
    }
}

fn is_path(id: &str) -> bool {
    let drive = matches!(id.as_bytes(), [b'a'..=b'z', b':', b'/', ..]);
    drive || id.starts_with(['/', '.', '~']) || EXTENSIONS.iter().any(|end| id.ends_with(end))
}

fn is_other(word: &str) -> bool {
    OTHER_MODEL_WORDS.split(' ').any(|other| other == word)
}

fn without_scheme(id: &str) -> &str {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|char: char| char.is_ascii_lowercase())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    };
    id.split_once("://").filter(|(scheme, _)| is_scheme(scheme)).map_or(id, |(_, rest)| rest)
}

/// Returns the model's name in a segment.
fn model_of(segment: &str) -> String {
    let bare = EXTENSIONS.iter().find_map(|end| segment.strip_suffix(end)).unwrap_or(segment);
    let bare = without_revision(bare);
    let words = folded(bare);
    let mut words = words.trim_matches('-');
    while let Some((rest, last)) = words.rsplit_once('-')
        && PACKAGING.contains(&last)
    {
        words = rest;
    }
    words.into()
}

/// Returns `name` without the revision that hosts append (`r1-v1:0`), which is not a version of the
/// model.
fn without_revision(name: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let split = name.rsplit_once("-v").filter(|(_, revision)| {
        revision.split_once(':').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
    });
    split.map_or(name, |(name, _)| name)
}

/// Returns `lower` with one `-` for each run of white space and punctuation, and for a `p` between
/// digits: hosts write `3p5` for `3.5`. The point of a size stays, because `1.7b` is not a version.
fn folded(lower: &str) -> String {
    let digit_at = |at: Option<usize>| {
        at.and_then(|at| lower.as_bytes().get(at)).is_some_and(u8::is_ascii_digit)
    };
    let mut folded = String::with_capacity(lower.len());
    for (at, char) in lower.char_indices() {
        let between = digit_at(at.checked_sub(1)) && digit_at(Some(at + 1));
        let point = char == 'p' && between;
        if between && "._p".contains(char) && is_size(lower.get(at + 1..).unwrap_or_default()) {
            folded.push('.');
        } else if !(point || char.is_whitespace() || "._:@,~()[]'\"=-".contains(char)) {
            folded.push(char);
        } else if !folded.ends_with('-') {
            folded.push('-');
        }
    }
    folded
}

/// Returns whether `text` begins with the part of a size after its point, as a complete word: `7b`,
/// `6m`, `4t`.
fn is_size(text: &str) -> bool {
    let unit = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let rest = unit.strip_prefix(['b', 'm', 't']);
    rest.is_some_and(|rest| !rest.starts_with(|char: char| char.is_alphanumeric()))
}

/// Whether a star may match a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Star {
    NoVersion,
    Any,
}

/// Returns whether `pattern` matches all of `text`. For each character of the pattern, computes the
/// possible ends of the match so far.
fn globs(pattern: &str, text: &str, star: Star) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // Most patterns fail at their first word, so this part needs no memory.
    let word = pattern.iter().position(|byte| b"*-".contains(byte)).unwrap_or(pattern.len());
    if pattern.get(..word) != text.get(..word) {
        return false;
    }
    let mut ends = alloc::vec![word];
    for &byte in pattern.iter().skip(word) {
        if byte == b'*' {
            let may = |&&at: &&usize| star == Star::Any || !begins_version(text, at);
            // From the earliest end a star reaches all later ones. The other ends stay for an empty
            // match.
            if let Some(&first) = ends.iter().find(may) {
                ends.retain(|&at| at < first);
                ends.extend(first..=text.len());
            }
        } else {
            let skip = |at: usize| at + usize::from(byte.is_ascii_digit() && is_v(text, at));
            ends.iter_mut().for_each(|at| *at = skip(*at));
            ends.retain(|&at| text.get(at) == Some(&byte));
            ends.iter_mut().for_each(|at| *at += 1);
        }
        if ends.is_empty() {
            return false;
        }
    }
    ends.last() == Some(&text.len())
}

/// Returns whether `text` has the `v` of a version at `at`, as the first letter of a word.
fn is_v(text: &[u8], at: usize) -> bool {
    let begins = at.checked_sub(1).is_some_and(|at| text.get(at) == Some(&b'-'));
    begins && matches!(text.get(at..), Some([b'v', b'0'..=b'9', ..]))
}

/// Returns whether `text` has a version at `at`: one or two digits as a word, optionally after a
/// `v`. Not a version: `0` (as in `4.0`), the month of a date (`08-2024`), and a first version (`1`,
/// `1.0`) that does not follow a number.
fn begins_version(text: &[u8], at: usize) -> bool {
    let (before, rest) = text.split_at_checked(at).unwrap_or_default();
    let after_digit = before.last().is_some_and(u8::is_ascii_digit);
    let minor = before.strip_suffix(b"-").unwrap_or(before).last().is_some_and(u8::is_ascii_digit);
    let rest = match rest {
        [b'-', rest @ ..] if after_digit => rest,
        [b'v', rest @ ..] => rest,
        rest => rest,
    };
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = digits(rest);
    let (number, after) = rest.split_at(number);
    let is_word = matches!(after, [] | [b'-', ..]);
    let year = matches!(after, [b'-', year @ ..] if digits(year) == 4);
    let first = !minor && number == b"1" && !continues_version(after);
    is_word && !year && !first && matches!(number.len(), 1 | 2) && number != b"0"
}

/// Returns whether a first number (`1`) continues as another version than `1.0`: `-5`, `-0-2`.
fn continues_version(after: &[u8]) -> bool {
    let mut words = after.split(|&byte| byte == b'-').skip(1);
    let numbers = words
        .by_ref()
        .take_while(|word| matches!(word.len(), 1 | 2) && word.iter().all(u8::is_ascii_digit));
    numbers.into_iter().any(|word| word != b"0")
}

/// Returns whether two patterns match a common text. Computed for all pairs of their ends, from the
/// back.
fn share(a: &[u8], b: &[u8]) -> bool {
    let mut below = Vec::new();
    for x in core::iter::once(None).chain(a.iter().rev().map(Some)) {
        let mut row = alloc::vec![false; b.len() + 1];
        for j in (0..=b.len()).rev() {
            let down = |j: usize| below.get(j).is_some_and(|&share| share);
            row[j] = match (x, b.get(j)) {
                (None, None) => true,
                (Some(b'*'), y) => down(j) || y.is_some() && row[j + 1],
                (x, Some(b'*')) => row[j + 1] || x.is_some() && down(j),
                (x, y) => x == y && down(j + 1),
            };
        }
        below = row;
    }
    below.first().is_some_and(|&share| share)
}

#[cfg(test)]
mod tests;
