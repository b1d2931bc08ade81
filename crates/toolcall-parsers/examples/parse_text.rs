//! Parses standard input as one family's output: `parse_text hermes < answer.txt`.

use std::io::Read;

use toolcall_parsers::{End, Parser, grammar, parse};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let family = std::env::args().nth(1).unwrap_or_else(|| "hermes".to_string());
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let message = parse(&Parser::new(grammar(&family)?)?, &text, End::Stop)?;
    println!("{message:#?}");
    Ok(())
}
