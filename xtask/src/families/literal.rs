//! Values as Rust source.

/// Returns a string literal in source text.
pub(super) fn text(text: &str) -> String {
    format!("{text:?}")
}

/// Returns a text as a raw string, where that is easier to read.
pub(super) fn raw(value: &str) -> String {
    let mut hashes = String::from("#");
    while value.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{value}\"{hashes}")
}

/// Returns the source of a slice, whose items `item` writes.
pub(super) fn slice<T>(items: impl IntoIterator<Item = T>, item: impl Fn(T) -> String) -> String {
    let items: Vec<String> = items.into_iter().map(item).collect();
    format!("&[{}]", items.join(", "))
}

/// Returns the source of an option, whose value `some` writes.
pub(super) fn option<T>(value: Option<T>, some: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some({})", some(value)))
}
