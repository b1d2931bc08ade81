//! Copies standard input to standard output, any bytes, with secrets replaced: all text between
//! `-----BEGIN` and `-----END`.
//!
//! ```text
//! cat server.log | cargo run -p jail-match --example redact
//! ```

use std::io::{self, Read, Write};

use jail_match::{Jail, JailEvent, JailPair, JailSignal, OnFail};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    redact(io::stdin().lock(), &mut io::stdout().lock())
}

fn redact(mut input: impl Read, output: &mut impl Write) -> Result<(), Box<dyn std::error::Error>> {
    // A secret without an end is replaced as well.
    let secret = JailPair::new("-----BEGIN", "-----END")
        .limit(64 * 1024, OnFail::Drop)
        .unclosed(OnFail::Drop);
    let mut jail = Jail::builder().rule(secret).build()?;
    let mut clean = Vec::new();
    let (mut bytes, mut text) = ([0; 8 * 1024], String::new());
    loop {
        let count = input.read(&mut bytes)?;
        // A jail takes text. Each byte becomes the scalar with its number and is turned back later.
        // Any byte is then valid, and a chunk may end anywhere.
        text.clear();
        text.extend(bytes[..count].iter().map(|&byte| char::from(byte)));
        if count == 0 {
            jail.finish(|event| replace(event, &mut clean))?;
        } else {
            jail.push(&text, |event| replace(event, &mut clean))?;
        }
        output.write_all(&clean)?;
        clean.clear();
        if count == 0 {
            return Ok(output.flush()?);
        }
    }
}

fn replace(event: JailEvent<'_>, clean: &mut Vec<u8>) {
    match event {
        JailEvent::Text(text) => clean.extend(text.chars().map(byte)),
        JailEvent::Jailed(block) => {
            let body = block.body.chars().count();
            let (start, end) = (block.start, block.end.unwrap_or(""));
            clean.extend(format!("{start}[{body} bytes redacted]{end}").bytes());
        }
        JailEvent::Signal(JailSignal::Dropped { .. }) => {
            clean.extend(b"[an endless secret redacted]");
        }
        _ => {}
    }
}

fn byte(scalar: char) -> u8 {
    // Only scalars below 256 went in.
    u8::try_from(u32::from(scalar)).unwrap_or(b'?')
}

#[cfg(test)]
mod tests {
    use super::redact;

    /// A reader that gives `step` bytes at a time.
    struct Steps<'a>(&'a [u8], usize);

    impl std::io::Read for Steps<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            let (now, later) = self.0.split_at(count);
            into[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn redacted(input: &[u8]) -> Vec<u8> {
        let clean = |step| {
            let mut clean = Vec::new();
            redact(Steps(input, step), &mut clean).unwrap();
            clean
        };
        let whole = clean(usize::MAX);
        (1..20).for_each(|step| assert_eq!(clean(step), whole, "{step} bytes at a time"));
        whole
    }

    #[test]
    fn text_between_the_markers_is_replaced() {
        let input = b"a\n-----BEGIN KEY-----\nMIIE\n-----END KEY-----\nb";
        assert_eq!(redacted(input), b"a\n-----BEGIN[15 bytes redacted]-----END KEY-----\nb");
    }

    #[test]
    fn invalid_utf8_passes_unchanged() {
        let input = b"\xFF\xC3-----BEGIN\xC3\xFF-----END\x80\xE2\x97";
        assert_eq!(redacted(input), b"\xFF\xC3-----BEGIN[2 bytes redacted]-----END\x80\xE2\x97");
    }

    #[test]
    fn secret_without_an_end_is_redacted() {
        let mut input = b"a-----BEGIN".to_vec();
        assert_eq!(redacted(&input), b"a[an endless secret redacted]");
        input.extend([b'x'; 100_000]);
        assert_eq!(redacted(&input), b"a[an endless secret redacted]");
        input.extend(b"-----END b");
        assert_eq!(redacted(&input), b"a[an endless secret redacted] b");
    }
}
