//! The texts that are fed, made from a fixed seed, and how they are cut.

/// Numbers that look random and are the same in every run.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }
}

/// Text of at least `len` bytes: sentences and paragraphs.
pub(crate) fn prose(len: usize) -> String {
    prose_with(len, |_| "")
}

/// Prose in which every tenth word or so looks for a moment as if markup began.
pub(crate) fn near_markers(len: usize) -> String {
    const STARTS: [&str; 8] =
        ["a < b", "<b>", "`x`", "[1]", "{n}", "<to the", "</p>", "f(x) = [y]"];
    let mut numbers = Numbers(5);
    prose_with(len, move |word| match word % 10 {
        0 => STARTS[numbers.below(STARTS.len())],
        _ => "",
    })
}

/// Prose with a code block in each fourth paragraph.
pub(crate) fn fenced(len: usize) -> String {
    prose_with(len, |word| match word % 388 {
        0 => "\n\n```rust\nlet wind = sea.wind(3)?;\nprintln!(\"{wind}\");\n```\n\n",
        _ => "",
    })
}

/// Source code as the value of a string: quotes, backslashes and newlines abound.
pub(crate) fn code(len: usize) -> String {
    const LINES: [&str; 6] = [
        "    let name = \"harbour\";\n",
        "    println!(\"{name}\\t{}\", tide(name));\n",
        "    if depth < 3 && name != \"pier\" {\n",
        "        return Err(format!(\"no tide at {name:?}\"));\n",
        "    }\n",
        "    // The wind turns at noon.\n",
    ];
    let mut numbers = Numbers(3);
    let mut text = String::with_capacity(len + 64);
    while text.len() < len {
        text.push_str(LINES[numbers.below(LINES.len())]);
    }
    text
}

fn prose_with(len: usize, mut between: impl FnMut(usize) -> &'static str) -> String {
    const WORDS: [&str; 24] = [
        "the", "harbour", "keeps", "its", "lights", "on", "until", "dawn", "and", "every", "boat",
        "that", "leaves", "finds", "a", "note", "about", "wind", "from", "north", "while",
        "people", "wait", "quietly",
    ];
    let mut text = String::with_capacity(len + 128);
    let mut numbers = Numbers(7);
    let mut words = 0;
    while text.len() < len {
        text.push_str(WORDS[numbers.below(WORDS.len())]);
        words += 1;
        text.push_str(match words {
            w if w % 97 == 0 => ".\n\n",
            w if w % 13 == 0 => ". ",
            w if w % 7 == 0 => ", ",
            _ => " ",
        });
        let extra = between(words);
        if !extra.is_empty() {
            text.push_str(extra);
            text.push(' ');
        }
    }
    text
}

/// Cuts text into chunks of 1 to 8 bytes, 4.5 on average, as tokens are.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut numbers = Numbers(11);
    cut(text, move || 1 + numbers.below(8))
}

/// Cuts text into chunks of at least `len` bytes.
pub(crate) fn pieces(text: &str, len: usize) -> Vec<&str> {
    cut(text, || len)
}

fn cut(text: &str, mut len: impl FnMut() -> usize) -> Vec<&str> {
    let mut rest = text;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let len = len().min(rest.len());
        let len = (len..=rest.len()).find(|&at| rest.is_char_boundary(at)).unwrap_or(rest.len());
        let (chunk, tail) = rest.split_at(len);
        chunks.push(chunk);
        rest = tail;
    }
    chunks
}
