//! Reader of the head of a GGUF file. The head has keys and values, of which a few are kept.
//!
//! ```text
//! "GGUF" version tensors keys          magic and counts
//! "tokenizer.chat_template" 8 "{%.."   a key, the type of its value, the value: kept
//! "tokenizer.ggml.tokens" 9 ...        a list: its offset is kept, its items are skipped
//! ```

use std::{
    collections::BTreeMap,
    io::{self, Read, Seek, SeekFrom},
};

use super::{
    Checkpoint,
    added_tokens::{AddedToken, AddedTokens},
};
use crate::limits::{
    MAX_ADDED_TEXT_BYTES, MAX_ADDED_TOKENS, MAX_GGUF_HEAD_BYTES, MAX_GGUF_KEYS, MAX_GGUF_TEXT_BYTES,
};

/// A file of which no more than a head is read.
struct Head<'f, F> {
    file: &'f mut F,
    left: u64,
}

impl<F: Read> Read for Head<'_, F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| malformed("a long head"))?;
        Ok(read)
    }
}

impl<F: Seek> Seek for Head<'_, F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Reads the chat template of a GGUF file, the tokens that a template names, and the added tokens.
///
/// # Errors
/// Returns an error of kind `InvalidData` for a file that is not GGUF or has an unknown version.
/// Other errors come from the reader.
pub(super) fn read(file: &mut (impl Read + Seek)) -> io::Result<Checkpoint> {
    let file = &mut Head { file, left: MAX_GGUF_HEAD_BYTES };
    if &bytes::<4>(file)? != b"GGUF" {
        return Err(malformed("it does not begin as a GGUF file"));
    }
    // Version 1 had other lengths.
    if !matches!(u32::from_le_bytes(bytes(file)?), 2 | 3) {
        return Err(malformed("a version of GGUF that is not known"));
    }
    let _tensors = number(file)?;
    let keys = number(file)?;
    if keys > MAX_GGUF_KEYS {
        return Err(malformed("more keys than any model has"));
    }
    let (mut found, mut for_tools) = (Checkpoint::default(), None);
    let mut vocabulary = Vocabulary::default();
    for _ in 0..keys {
        let key = text(file)?;
        let kind = u32::from_le_bytes(bytes(file)?);
        let place = match key.as_str() {
            "tokenizer.chat_template" => &mut found.template,
            "tokenizer.chat_template.tool_use" => &mut for_tools,
            "general.name" => &mut found.name,
            "tokenizer.ggml.bos_token_id" => {
                vocabulary.bos = id(file, kind)?;
                continue;
            }
            "tokenizer.ggml.eos_token_id" => {
                vocabulary.eos = id(file, kind)?;
                continue;
            }
            key => {
                // The lists are long, and the ids that we need come later in the file.
                match key {
                    _ if kind != ARRAY => {}
                    "tokenizer.ggml.tokens" => vocabulary.texts = Some(file.stream_position()?),
                    "tokenizer.ggml.token_type" => vocabulary.types = Some(file.stream_position()?),
                    _ => {}
                }
                skip(file, kind)?;
                continue;
            }
        };
        match kind {
            STRING => *place = Some(text(file)?),
            kind => skip(file, kind)?,
        }
    }
    found.template = for_tools.or(found.template);
    vocabulary.read(file, &mut found)?;
    Ok(found)
}

/// The tokens of a head: offsets of their lists, and numbers of tokens that a template names.
#[derive(Default)]
struct Vocabulary {
    texts: Option<u64>,
    types: Option<u64>,
    bos: Option<u64>,
    eos: Option<u64>,
}

impl Vocabulary {
    /// Reads the texts of the added tokens, and of those that a template names.
    fn read(&self, file: &mut (impl Read + Seek), found: &mut Checkpoint) -> io::Result<()> {
        let Some(texts) = self.texts else { return Ok(()) };
        // Whether each added token is special; `None` for other tokens.
        let mut wanted: BTreeMap<u64, Option<bool>> = BTreeMap::new();
        wanted.extend(self.bos.into_iter().chain(self.eos).map(|id| (id, None)));
        if let Some(types) = self.types {
            for (id, special) in added(file, types)? {
                wanted.insert(id, Some(special));
            }
        }
        let (kind, count) = list(file, texts)?;
        let (mut next, mut len, mut tokens) = (0, 0_usize, Vec::new());
        for (&id, &special) in wanted.range(..count).filter(|_| kind == STRING) {
            pass_texts(file, id.saturating_sub(next))?;
            let text = text(file)?;
            next = id.saturating_add(1);
            len = len.saturating_add(text.len());
            if len > MAX_ADDED_TEXT_BYTES {
                return Err(malformed("added tokens that are too long"));
            }
            for (named, place) in
                [(self.bos, &mut found.bos_token), (self.eos, &mut found.eos_token)]
            {
                if named == Some(id) {
                    *place = Some(text.clone());
                }
            }
            if let (Some(special), Ok(id)) = (special, u32::try_from(id)) {
                tokens.push(AddedToken { id, text, special });
            }
        }
        found.added_tokens = AddedTokens::from_iter(tokens);
        Ok(())
    }
}

/// The types of added tokens: those that control the model, and those that are text.
const CONTROL: u32 = 3;
const USER_DEFINED: u32 = 4;

/// Reads the list of types at an offset: the number of each added token, and whether it is special.
fn added(file: &mut (impl Read + Seek), types: u64) -> io::Result<Vec<(u64, bool)>> {
    let mut added = Vec::new();
    let (kind, count) = list(file, types)?;
    for id in 0..if matches!(kind, 4 | 5) { count } else { 0 } {
        let special = match u32::from_le_bytes(bytes(file)?) {
            CONTROL => true,
            USER_DEFINED => false,
            _ => continue,
        };
        if added.len() >= MAX_ADDED_TOKENS {
            return Err(malformed("more added tokens than any tokenizer has"));
        }
        added.push((id, special));
    }
    Ok(added)
}

/// Returns the type and the number of items of the list at an offset.
fn list(file: &mut (impl Read + Seek), at: u64) -> io::Result<(u32, u64)> {
    file.seek(SeekFrom::Start(at))?;
    Ok((u32::from_le_bytes(bytes(file)?), number(file)?))
}

const STRING: u32 = 8;
const ARRAY: u32 = 9;

fn malformed(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn bytes<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn number(file: &mut impl Read) -> io::Result<u64> {
    Ok(u64::from_le_bytes(bytes(file)?))
}

fn text(file: &mut impl Read) -> io::Result<String> {
    let len = number(file)?;
    if len > MAX_GGUF_TEXT_BYTES {
        return Err(malformed("a text that is too long"));
    }
    let mut text = Vec::new();
    file.take(len).read_to_end(&mut text)?;
    if (text.len() as u64) < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Reads the id of a token.
fn id(file: &mut impl Read, kind: u32) -> io::Result<Option<u64>> {
    Ok(match kind {
        4 | 5 => Some(u32::from_le_bytes(bytes(file)?).into()),
        10 | 11 => Some(number(file)?),
        kind => {
            skip(file, kind)?;
            None
        }
    })
}

/// Skips a value of the head.
fn skip(file: &mut impl Read, kind: u32) -> io::Result<()> {
    let (kind, count) = match kind {
        ARRAY => (u32::from_le_bytes(bytes(file)?), number(file)?),
        kind => (kind, 1),
    };
    let width = match kind {
        0 | 1 | 7 => 1,
        2 | 3 => 2,
        4..=6 => 4,
        10..=12 => 8,
        STRING => {
            return pass_texts(file, count);
        }
        _ => return Err(malformed("a value of a type that is not known")),
    };
    pass(file, count.saturating_mul(width))
}

fn pass_texts(file: &mut impl Read, count: u64) -> io::Result<()> {
    for _ in 0..count {
        let len = number(file)?;
        pass(file, len)?;
    }
    Ok(())
}

fn pass(file: &mut impl Read, len: u64) -> io::Result<()> {
    match io::copy(&mut file.take(len), &mut io::sink())? {
        passed if passed == len => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{Checkpoint, read};
    use crate::limits::{MAX_ADDED_TEXT_BYTES, MAX_ADDED_TOKENS};

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
    }

    fn read_all(file: &[u8]) -> std::io::Result<Checkpoint> {
        read(&mut Cursor::new(file))
    }

    fn head(keys: &[(&str, u32, Vec<u8>)]) -> Vec<u8> {
        let counts = [0_u64.to_le_bytes(), (keys.len() as u64).to_le_bytes()].concat();
        let mut head = [&b"GGUF"[..], &3_u32.to_le_bytes(), &counts].concat();
        for (key, kind, value) in keys {
            head.extend([&text(key)[..], &kind.to_le_bytes(), value].concat());
        }
        head
    }

    #[test]
    fn tool_template_is_preferred_and_other_values_are_skipped() {
        let list = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &text("a"), &text("")].concat();
        let file = head(&[
            ("tokenizer.ggml.tokens", 9, list),
            ("general.name", 8, text("Some Model")),
            ("general.file_type", 4, vec![1, 0, 0, 0]),
            ("tokenizer.chat_template.tool_use", 8, text("{{ tools }}")),
            ("tokenizer.chat_template", 8, text("{{ messages }}")),
        ]);
        let found = read_all(&file).expect("a sound file");
        assert_eq!(found.template.as_deref(), Some("{{ tools }}"));
        assert_eq!(found.name.as_deref(), Some("Some Model"));
    }

    #[test]
    fn bos_and_eos_are_resolved_whether_ids_precede_or_follow_the_token_list() {
        let list = |texts: &[&str]| {
            let texts: Vec<u8> = texts.iter().flat_map(|it| text(it)).collect();
            [&8_u32.to_le_bytes()[..], &3_u64.to_le_bytes(), &texts].concat()
        };
        let found = |bos: u32, eos: (u32, Vec<u8>)| {
            let file = head(&[
                ("tokenizer.ggml.bos_token_id", 4, bos.to_le_bytes().to_vec()),
                ("tokenizer.ggml.tokens", 9, list(&["<s>", "long".repeat(99).as_str(), "</s>"])),
                ("tokenizer.ggml.eos_token_id", eos.0, eos.1),
                ("tokenizer.chat_template", 8, text("{{ messages }}")),
            ]);
            let found = read_all(&file).expect("a sound file");
            assert!(found.template.is_some());
            (found.bos_token, found.eos_token)
        };
        let (start, end) = (Some("<s>".to_owned()), Some("</s>".to_owned()));
        assert_eq!(found(0, (4, vec![2, 0, 0, 0])), (start.clone(), end.clone()));
        assert_eq!(found(3, (10, 2_u64.to_le_bytes().to_vec())), (None, end));
        assert_eq!(found(0, (6, vec![0; 4])), (start, None));
    }

    /// A head with `count` tokens of these types.
    fn typed(types: &[u32], texts: &[&str]) -> Vec<u8> {
        let types: Vec<u8> = types.iter().flat_map(|kind| kind.to_le_bytes()).collect();
        let count = (types.len() as u64 / 4).to_le_bytes();
        let texts: Vec<u8> = texts.iter().flat_map(|it| text(it)).collect();
        head(&[
            ("tokenizer.ggml.token_type", 9, [&5_u32.to_le_bytes()[..], &count, &types].concat()),
            ("tokenizer.ggml.tokens", 9, [&8_u32.to_le_bytes()[..], &count, &texts].concat()),
            ("tokenizer.ggml.eos_token_id", 4, 3_u32.to_le_bytes().to_vec()),
        ])
    }

    #[test]
    fn control_and_user_defined_tokens_are_the_added_tokens() {
        let found = read_all(&typed(&[1, 4, 6, 3], &["a", "<think>", "<0x0A>", "<|im_end|>"]));
        let found = found.expect("a sound file");
        let tokens: Vec<_> =
            found.added_tokens.iter().map(|it| (it.id, it.text.as_str(), it.special)).collect();
        assert_eq!(tokens, [(1, "<think>", false), (3, "<|im_end|>", true)]);
        assert_eq!(found.eos_token.as_deref(), Some("<|im_end|>"));
    }

    #[test]
    fn lists_of_added_tokens_have_limits() {
        let many = vec![4; MAX_ADDED_TOKENS + 1];
        let error = read_all(&typed(&many, &[])).expect_err("cut");
        assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof);
        let error =
            read_all(&typed(&many, &vec!["a"; MAX_ADDED_TOKENS + 1])).expect_err("too many");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        let long = "a".repeat(MAX_ADDED_TEXT_BYTES / 2 + 1);
        let error = read_all(&typed(&[3, 3, 3, 3], &[long.as_str(); 4])).expect_err("too long");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        let sound = typed(&[3, 3, 3, 3], &["a", "b", "c", "d"]);
        assert!((0..sound.len()).all(|end| read_all(&sound[..end]).is_err()));
    }

    #[test]
    fn malformed_or_truncated_gguf_header_is_an_error() {
        let long = head(&[("general.name", 8, u64::MAX.to_le_bytes().to_vec())]);
        let odd = head(&[("x", 77, Vec::new())]);
        for file in [&b"GGML"[..], b"GGUF\x01\0\0\0", &long, &odd] {
            let error = read_all(file).expect_err("malformed");
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        }
        let sound = head(&[("general.name", 8, text("Some Model"))]);
        assert!((0..sound.len()).all(|end| read_all(&sound[..end]).is_err()));
    }
}
