//! Copies standard input to standard output with secrets replaced: whatever stands between a
//! `-----BEGIN` and the end of the line that begins with `-----END`.
//!
//! ```text
//! cat server.log | cargo run -p jail-match --example redact
//! ```

use std::io::{self, BufRead, Write};

use jail_match::{Jail, JailEvent};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Keys are short: a block that has no end in 64 KiB is none, and comes out from there on.
    let jail = Jail::builder().start("-----BEGIN").end("\n-----END").limit(64 * 1024);
    let mut jail = jail.build()?;
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    // Behind a block, the rest of the line is the marker's.
    let mut in_end_line = false;
    let mut failed = Ok(());
    let mut on = |event: JailEvent<'_>| {
        let written = match event {
            JailEvent::Jailed(block) => {
                in_end_line = block.end.is_some();
                write!(output, "[{} bytes redacted]", block.body.len())
            }
            JailEvent::Text(text) if in_end_line => match text.find('\n') {
                Some(end) => {
                    in_end_line = false;
                    output.write_all(&text.as_bytes()[end..])
                }
                None => Ok(()),
            },
            JailEvent::Text(text) => output.write_all(text.as_bytes()),
        };
        if failed.is_ok() {
            failed = written;
        }
    };
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        jail.push(&line, &mut on);
        line.clear();
    }
    jail.finish(&mut on);
    failed?;
    Ok(())
}
