//! The program, with `tls`.

use std::path::{Path, PathBuf};

use super::{Dist, VERSION, report::Report};
use crate::{
    disk::copied,
    process::{Invocation, installed},
};

/// The name of the program.
const NAME: &str = "llm-stream-guard";
/// The files beside the program.
const BESIDE: [&str; 3] = ["LICENSE-MIT", "LICENSE-APACHE", "README.md"];
/// The oldest version of the C library with which a program runs that needs one.
const OLDEST_GLIBC: &str = "2.17";

/// Builds the program, packs it and uses it.
pub(super) fn make(dist: &Dist, report: &mut Report) -> Result<(), String> {
    let host = host(&dist.root)?;
    let wanted = dist.target.clone().unwrap_or_else(|| preferred(&host));
    let (target, is_static) = match has_library(dist, &wanted) {
        true => (wanted.clone(), wanted.ends_with("-musl")),
        false if dist.target.is_some() => {
            return Err(format!("the toolchain has no standard library for {wanted}"));
        }
        false => {
            let linked = host.ends_with("-gnu");
            report.note(&format!("no standard library for {wanted}; the command is for {host}"));
            (host.clone(), linked)
        }
    };
    let program = build(dist, &target, is_static)?;
    let folder = format!("{NAME}-{VERSION}-{target}");
    let packing = dist.fresh("packing")?;
    let name = program.file_name().unwrap_or_default();
    copied(&program, &packing.join(&folder).join(name))?;
    for file in BESIDE {
        copied(&dist.root.join(file), &packing.join(&folder).join(file))?;
    }
    let archive = dist.place.join(format!("{folder}.tar.gz"));
    Invocation::new(&format!("tar -czf {} {folder}", archive.display())).output(&packing)?;
    if !runs(&target, &host) {
        report.note(&format!("{folder} was not used: it is for another platform"));
        return Ok(());
    }
    let fresh = dist.fresh("command")?;
    Invocation::new(&format!("tar -xzf {}", archive.display())).output(&fresh)?;
    copied(&dist.root.join("docs/samples/note.sse"), &fresh.join("note.sse"))?;
    let program = fresh.join(&folder).join(name);
    if is_static {
        report.check("command", statically_linked(&program));
    }
    use_program(dist, &fresh, &program)?;
    let place = if is_static { "an empty directory; static" } else { "an empty directory" };
    report.row(&archive, place, &format!("`{NAME} parse note.sse --model Qwen/Qwen3-8B`"))
}

/// Runs the program as a user does.
fn use_program(dist: &Dist, fresh: &Path, program: &Path) -> Result<(), String> {
    let program = program.display();
    let version = dist.alone(fresh, &format!("{program} --version"))?;
    if !version.starts_with(&format!("{NAME} {VERSION}")) {
        return Err(format!("the version is {version:?}"));
    }
    let line = format!("{program} parse note.sse --model Qwen/Qwen3-8B");
    let events = dist.alone(fresh, &line)?;
    if !events.contains("\"name\":\"save_note\"") || !events.contains("\"outcome\":\"complete\"") {
        return Err(format!("`{line}` found no call:\n{events}"));
    }
    // Without `tls`, such an upstream is refused.
    let line = format!("{program} serve --upstream https://example.com --print-config");
    dist.alone(fresh, &line).map(drop)
}

/// Compiles the program, stripped.
fn build(dist: &Dist, target: &str, is_static: bool) -> Result<PathBuf, String> {
    let is_gnu = target.ends_with("-linux-gnu");
    let uses_zig = dist.tools.has_zig && target.contains("-linux-") && !(is_gnu && is_static);
    let tool = if uses_zig { "zigbuild" } else { "build" };
    let library = if uses_zig && is_gnu { format!(".{OLDEST_GLIBC}") } else { String::new() };
    let line = format!(
        "cargo {tool} --release --locked -p llm-stream-guard-cli --features tls --target \
         {target}{library}"
    );
    let mut line = dist.builder(&line).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    if is_gnu && is_static {
        line = line.env("RUSTFLAGS", "-C target-feature=+crt-static");
    }
    line.run(&dist.root)?;
    let end = if target.contains("windows") { ".exe" } else { "" };
    Ok(dist.build.join(target).join("release").join(format!("{NAME}{end}")))
}

/// Returns the platform of the compiler.
pub(super) fn host(root: &Path) -> Result<String, String> {
    let printed = Invocation::new("rustc -vV").output(root)?;
    let line = printed.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc names no host".to_owned())
}

/// Returns the platform to build for on this one: on Linux, one that needs no C library.
fn preferred(host: &str) -> String {
    host.replace("-linux-gnu", "-linux-musl")
}

/// Returns whether the program of a platform runs on this machine.
pub(super) fn runs(target: &str, host: &str) -> bool {
    preferred(target) == preferred(host)
}

/// Returns whether there is a standard library for the platform, which rustup may fetch.
fn has_library(dist: &Dist, target: &str) -> bool {
    let exists = || {
        let line = format!("rustc --print target-libdir --target {target}");
        let printed = Invocation::new(&line).output(&dist.root).unwrap_or_default();
        Path::new(printed.trim()).is_dir()
    };
    let fetched = || {
        let line = format!("rustup target add {target}");
        installed("rustup") && Invocation::new(&line).output(&dist.root).is_ok()
    };
    exists() || (fetched() && exists())
}

/// Checks that a program needs no library of the system.
fn statically_linked(program: &Path) -> Result<(), String> {
    let line = format!("ldd {}", program.display());
    let printed = Invocation::new(&line).output(Path::new(".")).unwrap_or_else(|text| text);
    if printed.contains("statically linked") || printed.contains("not a dynamic executable") {
        return Ok(());
    }
    Err(format!("the program is not static: {printed}"))
}

#[cfg(test)]
mod tests {
    use super::{preferred, runs};

    #[test]
    fn linux_gets_a_program_without_a_c_library() {
        assert_eq!(preferred("x86_64-unknown-linux-gnu"), "x86_64-unknown-linux-musl");
        assert_eq!(preferred("aarch64-apple-darwin"), "aarch64-apple-darwin");
    }

    #[test]
    fn program_runs_on_its_own_platform_alone() {
        let host = "x86_64-unknown-linux-gnu";
        assert!(runs("x86_64-unknown-linux-musl", host));
        assert!(!runs("aarch64-unknown-linux-gnu", host));
        assert!(!runs("x86_64-apple-darwin", "aarch64-apple-darwin"));
    }
}
