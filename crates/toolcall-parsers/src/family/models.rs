//! Model ids, and the patterns that say which models a family is for.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "places in a pattern and a text in memory, one behind those that are there at most"
)]

use alloc::{string::String, vec::Vec};

/// Longest id that is looked up, in bytes: paths into a cache of models have about 200.
const LONGEST: usize = 512;

/// How files of weights end.
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

/// Last words of an id that say how the weights are packed or offered, not which model it is.
const PACKAGING: [&str; 29] = [
    "gguf", "ggml", "awq", "gptq", "exl2", "exl3", "mlx", "fp8", "fp4", "nvfp4", "mxfp4", "mxfp8",
    "bf16", "f16", "fp16", "f32", "int4", "int8", "4bit", "8bit", "6bit", "5bit", "3bit", "2bit",
    "bnb", "hf", "free", "cloud", "latest",
];

/// Words of ids of models that write no answers, whatever they were made from: they embed, rank, judge,
/// hear, read pages, draw, or have a format of their own.
const OTHERS: &str = "embed embedder embedding embeddings embedqa e5 gte gme bge colbert retriever \
    rerank reranker rerankers rerankqa classifier reward rm prm guard guardian nemoguard moderation \
    safety asr stt aligner forcedaligner transcribe transcription speech canary tts ocr image video \
    diffusion eagle eagle3 speculator speculators llava cogvlm2 internvl2 minitron openhermes";

/// A model id as patterns are compared with it: `Qwen/Qwen3.5-9B-GGUF`, `qwen3.5:9b` and
/// `./models/qwen3p5-9b.gguf` are spellings of one.
///
/// Lower case; each run of whitespace or punctuation between words is one `-`, and so is a `p`
/// between digits; organisation, file extension and packaging are dropped. Of a path every
/// segment may be the model's, the last one first. An id of more than 512 bytes has no text, and
/// neither has one with a word such as `embedding`, `reranker` or `ocr`: its model writes no answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId {
    segments: Vec<String>,
}

impl ModelId {
    /// Normalises an id.
    #[must_use]
    pub fn new(id: &str) -> Self {
        if id.len() > LONGEST {
            return Self { segments: Vec::new() };
        }
        let id = id.trim().to_lowercase().replace('\\', "/");
        let used = if is_path(&id) { usize::MAX } else { 1 };
        let segments = without_scheme(&id).split('/').rev().map(model_of);
        let segments = segments.filter(|it| !it.is_empty()).take(used);
        Self { segments: segments.take_while(|it| !it.split('-').any(is_other)).collect() }
    }

    /// The texts a pattern may match, those that count first in front: each segment, whole and
    /// without its first words.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(|segment| {
            let words = segment.match_indices('-').map(|(at, _)| at + 1);
            core::iter::once(0).chain(words).filter_map(|at| segment.get(at..))
        })
    }

    /// The first text that patterns match, and those of them with the most literal characters.
    pub fn find<'s, 'p, T>(
        &'s self,
        patterns: &'p [(ModelPattern, T)],
    ) -> Option<(&'s str, Vec<&'p T>)> {
        self.texts().find_map(|text| {
            let hits = || patterns.iter().filter(|(pattern, _)| pattern.is_for(text));
            let most = hits().map(|(pattern, _)| pattern.literals()).max()?;
            let heaviest = hits().filter(|(pattern, _)| pattern.literals() == most);
            Some((text, heaviest.map(|(_, of)| of).collect()))
        })
    }
}

/// A pattern of model ids: `*` is any run of characters, and `-*` at the end may also match
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPattern(String);

impl ModelPattern {
    /// Normalises a pattern as ids are, and keeps its stars.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(folded(&pattern.to_lowercase()))
    }

    /// Whether it matches all of a text of [`ModelId::texts`].
    #[must_use]
    pub fn is_for(&self, text: &str) -> bool {
        self.spelled().any(|pattern| globs(pattern, text))
    }

    /// Whether there is a text that both are for.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.spelled().any(|a| other.spelled().any(|b| share(a.as_bytes(), b.as_bytes())))
    }

    /// The patterns without the rule for `-*` at the end.
    fn spelled(&self) -> impl Iterator<Item = &str> {
        [Some(&*self.0), self.0.strip_suffix("-*")].into_iter().flatten()
    }

    /// How many of its characters are no stars.
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
    OTHERS.split(' ').any(|other| other == word)
}

fn without_scheme(id: &str) -> &str {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|char: char| char.is_ascii_lowercase())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    };
    id.split_once("://").filter(|(scheme, _)| is_scheme(scheme)).map_or(id, |(_, rest)| rest)
}

/// The words of a segment without what is no part of the model's name.
fn model_of(segment: &str) -> String {
    let bare = EXTENSIONS.iter().find_map(|end| segment.strip_suffix(end)).unwrap_or(segment);
    let words = folded(bare);
    let mut words = words.trim_matches('-');
    while let Some((rest, last)) = words.rsplit_once('-')
        && PACKAGING.contains(&last)
    {
        words = rest;
    }
    words.into()
}

/// The same with one `-` for each run of whitespace and punctuation between words, and for a `p`
/// between digits: hosts write `3p5` for `3.5`.
fn folded(lower: &str) -> String {
    let digit_at = |at: Option<usize>| {
        at.and_then(|at| lower.as_bytes().get(at)).is_some_and(u8::is_ascii_digit)
    };
    let mut folded = String::with_capacity(lower.len());
    for (at, char) in lower.char_indices() {
        let point = char == 'p' && digit_at(at.checked_sub(1)) && digit_at(Some(at + 1));
        if !(point || char.is_whitespace() || "._:@,~()[]'\"=-".contains(char)) {
            folded.push(char);
        } else if !folded.ends_with('-') {
            folded.push('-');
        }
    }
    folded
}

/// Whether `pattern` is all of `text`. Where something does not fit, the last star takes one byte
/// more, so no star is tried again for those before it.
#[expect(
    clippy::indexing_slicing,
    reason = "`t` is less than the length where it is read; `p` grows only where a byte of the \
              pattern stood, and goes back to behind a star"
)]
fn globs(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                (p, t) = (at + 1, from + 1);
            }
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// Whether two patterns have a text in common: row by row from their ends, whether what is left of
/// both has.
#[expect(
    clippy::indexing_slicing,
    reason = "`j` is at most the length of `b`, and a byte of `b` stands at `j` where the next \
              entry is read"
)]
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
mod tests {
    use alloc::{string::ToString, vec, vec::Vec};

    use super::{ModelId, ModelPattern};

    fn texts(id: &str) -> Vec<alloc::string::String> {
        ModelId::new(id).texts().map(ToString::to_string).collect()
    }

    #[test]
    fn spellings_of_one_model_are_one_text() {
        for id in ["Qwen/Qwen3.5-9B", "qwen3.5:9b", " qwen3p5-9b ", "hf.co/x/QWEN3_5--9b:latest"] {
            assert_eq!(texts(id)[0], "qwen3-5-9b", "{id}");
        }
        assert_eq!(texts("a/b-4bit-AWQ"), ["b"]);
        assert_eq!(texts("GGUF"), ["gguf"], "the last word that is left stays");
        assert_eq!(texts(&"x".repeat(513)), Vec::<&str>::new());
        assert_eq!(texts("  //"), Vec::<&str>::new());
    }

    #[test]
    fn an_id_of_a_model_that_writes_no_answers_has_no_text() {
        for id in ["Qwen/Qwen3-Embedding-8B", "qwen3-reranker:0.6b", "/m/Qwen3-ASR-1.7B/main.gguf"]
        {
            let found = texts(id);
            assert!(found.iter().all(|text| !text.contains("qwen")), "{id}: {found:?}");
        }
        assert_eq!(texts("/embedding/qwen3-8b")[0], "qwen3-8b");
        assert_eq!(texts("openPangu-Embedded-7B")[0], "openpangu-embedded-7b");
    }

    #[test]
    fn only_of_paths_every_segment_counts() {
        assert_eq!(texts("org/model"), ["model"]);
        assert_eq!(texts(r"C:\llm\model\main.gguf"), ["main", "model", "llm", "c"]);
        assert_eq!(texts("~/x/y/"), ["y", "x"]);
        assert_eq!(texts("hf://org/model/"), ["model"]);
    }

    #[test]
    fn patterns_meet_where_a_text_is_of_both() {
        let rows = [
            ("a-*", "*-b", true),
            ("a-*", "a", true),
            ("a*", "ab*c", true),
            ("a-*b", "a-*c", false),
            ("x-*2-*", "x-*3-*", true),
            ("", "*", true),
            ("ab", "a", false),
        ];
        for (a, b, expected) in rows {
            let (a, b) = (ModelPattern::new(a), ModelPattern::new(b));
            assert_eq!((a.meets(&b), b.meets(&a)), (expected, expected), "{a:?} {b:?}");
        }
    }

    #[test]
    fn what_begins_first_wins_then_what_is_most_literal() {
        let patterns = ["qwen3-*", "qwen3-coder-*", "hermes-*", "a*b", "a-*c"];
        let patterns: Vec<_> = patterns.map(|it| (ModelPattern::new(it), it)).into();
        let found = |id: &str| -> Vec<&str> {
            let id = ModelId::new(id);
            id.find(&patterns).map(|(_, of)| of.into_iter().copied().collect()).unwrap_or_default()
        };
        assert_eq!(found("Qwen3"), ["qwen3-*"]);
        assert_eq!(found("qwen3-coder:30b"), ["qwen3-coder-*"]);
        assert_eq!(found("huihui-hermes-qwen3-8b"), ["hermes-*"]);
        assert_eq!(found("qwen30"), Vec::<&str>::new());
        assert_eq!(found("axb"), ["a*b"]);
        assert_eq!(found("a-c"), ["a-*c"]);
        let tie: Vec<_> = vec![(ModelPattern::new("x*"), 1), (ModelPattern::new("*x"), 2)];
        assert_eq!(ModelId::new("x").find(&tie).map(|(_, of)| of), Some(vec![&1, &2]));
    }
}
