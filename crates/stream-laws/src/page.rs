//! Parts of documentation pages that tests generate.

use std::{env, fs, path::Path};

/// Compares a part of a page in the workspace's `docs/` with `text`. The part is between the lines
/// `<!-- NAME -->` and `<!-- end of NAME -->`. With the environment variable `UPDATE` set, writes
/// it instead.
///
/// `crate_directory` is `env!("CARGO_MANIFEST_DIR")` of a crate in the workspace's `crates/`.
///
/// # Panics
/// If the part differs or is missing, or if a file cannot be read or written.
pub fn check_page_part(crate_directory: &str, page: &str, name: &str, text: &str) {
    let path = Path::new(crate_directory).join("../../docs").join(page);
    let whole = fs::read_to_string(&path).unwrap_or_else(|no| panic!("{}: {no}", path.display()));
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- end of {name} -->\n"));
    let (head, rest) = whole.split_once(&begin).unwrap_or_else(|| panic!("{page}: no {begin}"));
    let (written, tail) = rest.split_once(&end).unwrap_or_else(|| panic!("{page}: no {end}"));
    let text = text.trim();
    if env::var_os("UPDATE").is_some() {
        let updated = [head, &begin, text, &end, tail].concat();
        fs::write(&path, updated).unwrap_or_else(|no| panic!("{}: {no}", path.display()));
        return;
    }
    assert!(
        written == text,
        "docs/{page}: `{name}` is not what the code does; this test with UPDATE=1 writes it"
    );
}
