//! The first inputs and words of a fuzz campaign, made of the families' vectors.

use std::{fs, io, path::Path};

use stream_laws::vector::{VectorCase, read_cases};

use crate::guard::{self, END_OF_FILE};

/// Returns the families and texts of the vectors below `root` that need no declared tools.
fn wires(root: &Path) -> io::Result<Vec<(String, String)>> {
    let mut wires = Vec::new();
    for directory in ["tools", "profiles", "reasoning"] {
        let mut paths: Vec<_> = fs::read_dir(root.join("families/vectors").join(directory))?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
            .collect();
        paths.sort();
        for path in paths {
            let cases: Vec<VectorCase> =
                read_cases(&fs::read_to_string(path)?).map_err(io::Error::other)?;
            wires.extend(cases.into_iter().map(|case| (case.family, case.wire)));
        }
    }
    Ok(wires)
}

/// Returns the files of the families.
fn files(root: &Path) -> io::Result<Vec<String>> {
    let mut paths: Vec<_> =
        fs::read_dir(root.join("families"))?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|kind| kind == "toml"));
    paths.sort();
    paths.into_iter().map(fs::read_to_string).collect()
}

/// Returns the first inputs of a campaign of `target`. `root` is the root of the workspace, or of
/// any project with `families/vectors/` and `families/`.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn seeds(target: &str, root: &Path) -> io::Result<Vec<Vec<u8>>> {
    Ok(match target {
        "calls" => guard::call_seeds(&wires(root)?),
        "guard" | "raw_bytes" | "tokens" => guard::profile_seeds(&wires(root)?),
        "family" => {
            let file = |text: String| {
                let mut seed = text.into_bytes();
                seed.push(END_OF_FILE);
                seed.extend([0; 8]);
                seed.extend(0x80..=0xFE);
                seed
            };
            files(root)?.into_iter().map(file).collect()
        }
        // Options of all kinds, then every piece once, and again with other pieces between.
        _ => (0..64_u8)
            .map(|n| {
                let options = (0..64_u8).map(|at| at.wrapping_mul(n).wrapping_add(n >> 1));
                let text = (0..=255_u8).map(|at| at.wrapping_mul(2 * (n % 16) + 1));
                options.chain(text).collect()
            })
            .collect(),
    })
}

/// Returns the words of `target` as libFuzzer reads them.
#[must_use]
pub fn dictionary(target: &str) -> String {
    let words: Vec<String> = match target {
        "calls" | "guard" | "raw_bytes" | "think" | "tokens" => guard::words(),
        "family" => [
            "[calls]",
            "[[form]]",
            "call = ",
            "like = ",
            "keys = { ",
            "{name}",
            "{arguments}",
            "{object}",
            "{parameters}",
            "{value}",
            "{key}",
            "[reasoning]",
            "open = [",
            "close = [",
            "'<t>'",
            "\n",
        ]
        .map(String::from)
        .to_vec(),
        "sse" => {
            ["data: ", "event: ", "id: ", "retry: ", "\n\n", "\r\n"].map(String::from).to_vec()
        }
        // In other targets a byte selects each piece, but libFuzzer refuses an empty file.
        _ => ["<a>", "</a>", "```", "\n\n"].map(String::from).to_vec(),
    };
    let printable = |word: &String| (2..=40).contains(&word.len());
    let words = words.iter().filter(|word| printable(word));
    words.map(|word| format!("\"{}\"\n", escaped(word))).collect()
}

fn escaped(word: &str) -> String {
    let byte = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    word.bytes().map(byte).collect()
}

/// Returns the line of a file of vectors for an input of `target`, without its expectation, or
/// `None` if the input is not text of one family.
#[must_use]
pub fn vector(target: &str, data: &[u8]) -> Option<String> {
    let (family, wire) = guard::wire_of(data, target)?;
    let kind = if target == "calls" { "tools" } else { "both" };
    let id = format!("{family}/found");
    let expect = serde_json::json!({"content": "", "calls": []});
    let case = serde_json::json!({
        "id": id, "kind": kind, "family": family, "wire": wire, "expect": expect,
    });
    Some(case.to_string())
}
