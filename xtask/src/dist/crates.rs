//! The library crates, as they are packed for the registry.

use std::{fs, path::Path};

use super::{Dist, VERSION, report::Report};
use crate::{
    disk::{copied, emptied},
    process::Invocation,
    release,
};

/// The files that every crate has.
const REQUIRED: [&str; 4] = ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "Cargo.toml"];

/// Packs all crates, then builds and tests them from the packed files, in a workspace of their own.
pub(super) fn make(dist: &Dist, report: &mut Report) -> Result<(), String> {
    // Cargo reuses what it unpacked of the same version.
    let packing = dist.build.join("packing-crates");
    emptied(&packing)?;
    let names = release::pack(&dist.root, &packing)?;
    let fresh = dist.fresh("crates")?;
    let mut manifest = String::from("[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n\n");
    manifest += "[patch.crates-io]\n";
    for name in &names {
        let folder = format!("{name}-{VERSION}");
        let file = dist.place.join(format!("{folder}.crate"));
        copied(&packing.join(format!("package/{folder}.crate")), &file)?;
        Invocation::new(&format!("tar -xzf {}", file.display())).output(&fresh)?;
        report.check(&folder, is_whole(&fresh.join(&folder)));
        manifest += &format!("{name} = {{ path = \"{folder}\" }}\n");
    }
    fs::write(fresh.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
    copied(&dist.root.join("Cargo.lock"), &fresh.join("Cargo.lock"))?;
    copied(&dist.root.join("rust-toolchain.toml"), &fresh.join("rust-toolchain.toml"))?;
    let test = "cargo test --quiet --workspace --all-features";
    dist.builder(test).env("CARGO_PROFILE_DEV_DEBUG", "0").run(&fresh)?;
    for name in &names {
        let file = dist.place.join(format!("{name}-{VERSION}.crate"));
        report.row(
            &file,
            "a workspace of the packed crates, with Rust",
            "`cargo test --all-features`",
        )?;
    }
    Ok(())
}

/// Checks that a crate has its licences and its README.
fn is_whole(directory: &Path) -> Result<(), String> {
    let missing: Vec<_> =
        REQUIRED.into_iter().filter(|name| !directory.join(name).is_file()).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("misses {}", missing.join(", "))) }
}
