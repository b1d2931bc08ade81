//! A check that the `no_std` crates do not use the standard library. A library with a panic handler
//! is compiled with them. This fails if a dependency brings the standard library's handler.

use std::{fs, path::Path};

use crate::process::Invocation;

/// The `no_std` crates, with the features that need no standard library.
const CRATES: [(&str, &str); 5] = [
    ("jail-match", r#""regex""#),
    ("think-filter", r#""serde""#),
    ("toolcall-parsers", ""),
    ("wire-remap", r#""json", "cache-key""#),
    ("response-templates", ""),
];

/// Checks a library with these dependencies, each a line of a manifest.
///
/// # Errors
/// Returns the error of the compiler.
fn check(root: &Path, name: &str, dependencies: &str) -> Result<String, String> {
    let directory = root.join("target/no-std").join(name);
    let fail = |error: std::io::Error| format!("{}: {error}", directory.display());
    fs::create_dir_all(directory.join("src")).map_err(fail)?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n[workspace]\n\
         [profile.dev]\npanic = \"abort\"\n[dependencies]\n{dependencies}"
    );
    fs::write(directory.join("Cargo.toml"), manifest).map_err(fail)?;
    // The versions of the workspace's lock file, which are downloaded already.
    fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock")).map_err(fail)?;
    let used = dependencies.lines().filter_map(|line| line.split_whitespace().next());
    let used: String = used.map(|name| format!("use {} as _;\n", name.replace('-', "_"))).collect();
    let code = format!(
        "#![no_std]\n{used}\n#[panic_handler]\n\
         fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{\n    loop {{}}\n}}\n"
    );
    fs::write(directory.join("src/lib.rs"), code).map_err(fail)?;
    let target = root.join("target/no-std/target");
    Invocation::new("cargo check -q")
        .env("CARGO_TARGET_DIR", &target.display().to_string())
        .output(&directory)
}

fn dependency(root: &Path, name: &str, features: &str) -> String {
    let path = root.join("crates").join(name);
    format!(
        "{name} = {{ path = {:?}, default-features = false, features = [{features}] }}\n",
        path.display().to_string()
    )
}

#[test]
fn no_std_crates_compile_without_the_standard_library() {
    let root = crate::root();
    let all: String =
        CRATES.iter().map(|(name, features)| dependency(&root, name, features)).collect();
    check(&root, "without-std", &all).unwrap_or_else(|error| panic!("{error}"));
    // A crate with the standard library is detected.
    let error = check(&root, "with-std", &dependency(&root, "sse-events", "")).unwrap_err();
    assert!(error.contains("panic_impl"), "{error}");
}

#[test]
fn every_no_std_crate_is_listed() {
    let root = crate::root();
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let directory = entry.unwrap().path();
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let code = fs::read_to_string(directory.join("src/lib.rs")).unwrap_or_default();
        let readme = fs::read_to_string(directory.join("README.md")).unwrap_or_default();
        let listed = CRATES.iter().any(|(listed, _)| *listed == name);
        assert_eq!(code.contains("no_std"), listed, "{name}");
        assert!(listed || !readme.contains("no_std"), "{name}");
    }
}
