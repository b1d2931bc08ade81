//! The head of a GGUF file: keys and values, of which a few are kept.

use std::io::{self, Read, Seek, SeekFrom};

use super::Checkpoint;

/// The longest text that is kept.
const LONGEST: u64 = 4 << 20;

/// More keys than any file has.
const KEYS: u64 = 1 << 16;

/// More bytes than any head has: vocabularies take tens of megabytes.
const HEAD: u64 = 256 << 20;

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

/// Reads the chat template of a GGUF file, and the tokens that a template names.
///
/// # Errors
/// Of kind `InvalidData` for a file that is not GGUF or has an unknown version. Others are the
/// reader's.
pub(super) fn read(file: &mut (impl Read + Seek)) -> io::Result<Checkpoint> {
    let file = &mut Head { file, left: HEAD };
    if &bytes::<4>(file)? != b"GGUF" {
        return Err(malformed("it does not begin as a GGUF file"));
    }
    // The first version had other lengths.
    if !matches!(u32::from_le_bytes(bytes(file)?), 2 | 3) {
        return Err(malformed("a version of GGUF that is not known"));
    }
    let _tensors = number(file)?;
    let keys = number(file)?;
    if keys > KEYS {
        return Err(malformed("more keys than any model has"));
    }
    let (mut found, mut for_tools) = (Checkpoint::default(), None);
    let (mut tokens, mut bos, mut eos) = (None, None, None);
    for _ in 0..keys {
        let key = text(file)?;
        let kind = u32::from_le_bytes(bytes(file)?);
        let place = match key.as_str() {
            "tokenizer.chat_template" => &mut found.template,
            "tokenizer.chat_template.tool_use" => &mut for_tools,
            "general.name" => &mut found.name,
            "tokenizer.ggml.bos_token_id" => {
                bos = id(file, kind)?;
                continue;
            }
            "tokenizer.ggml.eos_token_id" => {
                eos = id(file, kind)?;
                continue;
            }
            key => {
                // The list is long, and which of it counts stands behind it.
                if (key, kind) == ("tokenizer.ggml.tokens", ARRAY) {
                    tokens = Some(file.stream_position()?);
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
    if let Some(tokens) = tokens {
        found.bos_token = token(file, tokens, bos)?;
        found.eos_token = token(file, tokens, eos)?;
    }
    Ok(found)
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
    if len > LONGEST {
        return Err(malformed("a text that is too long"));
    }
    let mut text = Vec::new();
    file.take(len).read_to_end(&mut text)?;
    if (text.len() as u64) < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The number of a token.
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

/// The text of a token in the list that begins at an offset.
fn token(file: &mut (impl Read + Seek), list: u64, id: Option<u64>) -> io::Result<Option<String>> {
    file.seek(SeekFrom::Start(list))?;
    let (kind, count) = (u32::from_le_bytes(bytes(file)?), number(file)?);
    let Some(id) = id.filter(|&id| kind == STRING && id < count) else { return Ok(None) };
    pass_texts(file, id)?;
    text(file).map(Some)
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
