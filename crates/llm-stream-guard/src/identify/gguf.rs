//! The head of a GGUF file: keys and values, of which a few are kept.

use std::io::{self, Read};

use super::Checkpoint;

/// The longest text that is kept.
const LONGEST: u64 = 4 << 20;

/// More keys than any file has.
const KEYS: u64 = 1 << 16;

/// Reads what a GGUF file says about its chat template.
///
/// # Errors
/// Of kind `InvalidData`: it is no GGUF file, or of a version that is not known. Others are the
/// reader's.
pub(super) fn read(file: &mut impl Read) -> io::Result<Checkpoint> {
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
    for _ in 0..keys {
        let key = text(file)?;
        let kind = u32::from_le_bytes(bytes(file)?);
        let place = match key.as_str() {
            "tokenizer.chat_template" => &mut found.template,
            "tokenizer.chat_template.tool_use" => &mut for_tools,
            "general.name" => &mut found.name,
            _ => {
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

/// Reads past a value.
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
            for _ in 0..count {
                let len = number(file)?;
                pass(file, len)?;
            }
            return Ok(());
        }
        _ => return Err(malformed("a value of a type that is not known")),
    };
    pass(file, count.saturating_mul(width))
}

fn pass(file: &mut impl Read, len: u64) -> io::Result<()> {
    match io::copy(&mut file.take(len), &mut io::sink())? {
        passed if passed == len => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    fn text(text: &str) -> Vec<u8> {
        [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
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
    fn the_template_for_tools_is_kept_and_other_values_are_passed() {
        let list = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &text("a"), &text("")].concat();
        let file = head(&[
            ("tokenizer.ggml.tokens", 9, list),
            ("general.name", 8, text("Some Model")),
            ("general.file_type", 4, vec![1, 0, 0, 0]),
            ("tokenizer.chat_template.tool_use", 8, text("{{ tools }}")),
            ("tokenizer.chat_template", 8, text("{{ messages }}")),
        ]);
        let found = read(&mut &file[..]).expect("a sound file");
        assert_eq!(found.template.as_deref(), Some("{{ tools }}"));
        assert_eq!(found.name.as_deref(), Some("Some Model"));
    }

    #[test]
    fn what_is_no_head_is_an_error_and_nothing_long_is_kept() {
        let long = head(&[("general.name", 8, u64::MAX.to_le_bytes().to_vec())]);
        let odd = head(&[("x", 77, Vec::new())]);
        for file in [&b"GGML"[..], b"GGUF\x01\0\0\0", &long, &odd] {
            let error = read(&mut &file[..]).expect_err("malformed");
            assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        }
        let sound = head(&[("general.name", 8, text("Some Model"))]);
        assert!((0..sound.len()).all(|end| read(&mut &sound[..end]).is_err()));
    }
}
