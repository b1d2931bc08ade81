//! A compiler for WebAssembly.

use std::path::{Path, PathBuf};

use crate::process::{Invocation, installed};

/// The target of the module.
const TARGET: &str = "wasm32-unknown-unknown";
/// The compiler of Debian's packages, and the sources of its standard library.
const DEBIAN: [&str; 3] =
    ["/usr/bin/cargo", "/usr/bin/rustc", "/usr/lib/rustlib/src/rust/library/std/Cargo.toml"];
/// A standard library without messages of panics, and built for size.
const SMALL: &str =
    "-Zfmt-debug=none -Zlocation-detail=none -Zunstable-options -Cpanic=immediate-abort";

/// The reason why the module cannot be built.
pub(super) const MISSING: &str = "the toolchain has no wasm32-unknown-unknown (`rustup target \
                                  add` installs it), and Debian's packages rustc-web, cargo-web, \
                                  rust-web-src and lld are not installed or too old";

/// A toolchain that has a standard library for the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Toolchain {
    /// The toolchain in use.
    Own,
    /// Debian's, which compiles its standard library.
    Debian,
}

impl Toolchain {
    /// Looks for a toolchain. Debian's is preferred, because it makes a smaller module.
    pub(super) fn found(root: &Path) -> Option<Self> {
        let has_debian = DEBIAN.iter().all(|path| Path::new(path).exists()) && installed("wasm-ld");
        if has_debian && takes_flags(root) {
            return Some(Self::Debian);
        }
        let line = format!("rustc --print target-libdir --target {TARGET}");
        let printed = Invocation::new(&line).output(root).ok()?;
        Path::new(printed.trim()).is_dir().then_some(Self::Own)
    }

    /// Compiles the crate in `package` with these flags of cargo and returns the module.
    ///
    /// # Errors
    /// Returns the error of the compiler.
    pub(super) fn build(
        self,
        package: &Path,
        build: &Path,
        flags: &str,
    ) -> Result<PathBuf, String> {
        let what =
            format!("build --release --locked --target {TARGET} -p toolcall-parsers-js {flags}");
        let line = match self {
            Self::Own => Invocation::new(&format!("cargo {what}")),
            Self::Debian => {
                let [cargo, rustc, _] = DEBIAN;
                let library = "-Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size";
                Invocation::new(&format!("{cargo} {what} {library}"))
                    .env("RUSTC", rustc)
                    .env("RUSTC_BOOTSTRAP", "1")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", "wasm-ld")
                    .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", SMALL)
            }
        };
        line.env("CARGO_TARGET_DIR", &build.display().to_string()).run(package)?;
        Ok(build.join(TARGET).join("release/toolcall_parsers_wasm.wasm"))
    }
}

/// Returns whether Debian's compiler is new enough for the flags.
fn takes_flags(root: &Path) -> bool {
    let [_, rustc, _] = DEBIAN;
    let line = Invocation::new(&format!("{rustc} {SMALL} --print cfg"));
    line.env("RUSTC_BOOTSTRAP", "1").output(root).is_ok()
}
