//! Splits standard input: content goes to standard output, reasoning to standard error.
//!
//! ```text
//! printf '<think>plan</think>answer\n' | cargo run -p think-filter --example split -- qwen3
//! ```

use std::io::{self, BufRead, Write};

use think_filter::{End, Piece, ThinkFilter, format};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "basic".to_owned());
    let mut filter = ThinkFilter::new(format(&name)?)?;
    let (mut content, mut reasoning) = (io::stdout().lock(), io::stderr().lock());
    let mut failed = Ok(());
    let mut on = |piece: Piece<'_>| {
        let written = match piece {
            Piece::Content(text) => content.write_all(text.as_bytes()),
            Piece::Reasoning(text) => reasoning.write_all(text.as_bytes()),
            Piece::ReasoningStart | Piece::ReasoningEnd => Ok(()),
        };
        if failed.is_ok() {
            failed = written;
        }
    };
    let (mut input, mut line) = (io::stdin().lock(), String::new());
    while input.read_line(&mut line)? > 0 {
        filter.push(&line, &mut on)?;
        line.clear();
    }
    filter.finish(End::Stop, &mut on)?;
    failed?;
    Ok(())
}
