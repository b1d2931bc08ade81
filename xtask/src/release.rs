//! `cargo xtask release --dry-run`: packages and builds the crates that can be published.

use std::{fs, path::Path, time::SystemTime};

use crate::{
    flags::Mode,
    manifest::{self, FACADE, Manifest, Publish, Table},
    process::Invocation,
};

/// The dependency line of the façade.
const BY_GIT: &str = "\
llm-stream-guard is not published: an unrelated project holds its name on the crate registry.
Depend on it by git instead:

    llm-stream-guard = { git = \"https://github.com/llm-stream-guard/llm-stream-guard\" }
";

/// Packages `chosen`, or every library crate, in the order of their dependencies.
pub(crate) fn run(root: &Path, mode: Mode, chosen: &[String]) -> Result<(), String> {
    let crates = manifest::crates(root)?;
    let libraries = libraries(&crates)?;
    if let Some(refusal) = refusal(mode, chosen, &libraries) {
        return Err(refusal);
    }
    let packages = with_dependencies(chosen, &libraries, &crates);
    // Cargo reuses files that it unpacked in a packaging directory if the version is the same. Each
    // run therefore gets a new directory.
    let time = SystemTime::UNIX_EPOCH.elapsed().map_err(|error| error.to_string())?;
    let target = format!("target/release-{}", time.as_nanos());
    let packaged = package(&packages, &target).run(root);
    let cleaned = fs::remove_dir_all(root.join(&target));
    packaged?;
    cleaned.map_err(|error| format!("{target}: {error}"))?;
    println!("\npackaged, in the order to publish in; nothing was published:");
    packages.iter().for_each(|name| println!("    {name}"));
    println!("\n{BY_GIT}");
    Ok(())
}

/// Packages every library crate below `target/package` without building it. Returns the names in the
/// order to publish in.
///
/// # Errors
/// Returns an error if cargo fails.
pub(crate) fn pack(root: &Path, target: &Path) -> Result<Vec<String>, String> {
    let names = libraries(&manifest::crates(root)?)?;
    let packed = package(&names.iter().collect::<Vec<_>>(), &target.display().to_string());
    packed.arg("--no-verify").run(root)?;
    Ok(names)
}

fn refusal(mode: Mode, chosen: &[String], libraries: &[String]) -> Option<String> {
    if chosen.iter().any(|name| name == FACADE) {
        return Some(format!("refused\n{BY_GIT}"));
    }
    if let Some(name) = chosen.iter().find(|name| !libraries.contains(name)) {
        let known = libraries.join(", ");
        return Some(format!("{name:?} is not a library crate; there are {known}"));
    }
    (mode == Mode::Publish).then(|| {
        let order: String =
            libraries.iter().map(|name| format!("\n    cargo publish -p {name}")).collect();
        format!(
            "publishing is manual for now; look at `cargo xtask release --dry-run`, then:{order}"
        )
    })
}

/// Returns the crates to publish, each after those it depends on.
fn libraries(crates: &[Manifest]) -> Result<Vec<String>, String> {
    let mut waiting: Vec<&Manifest> =
        crates.iter().filter(|one| one.publish == Publish::Yes && one.name != FACADE).collect();
    let mut ordered: Vec<String> = Vec::new();
    while !waiting.is_empty() {
        let ready = waiting.iter().position(|one| {
            one.dependencies.iter().all(|needs| {
                needs.table == Table::Dev || !waiting.iter().any(|other| other.name == needs.name)
            })
        });
        let ready = ready.ok_or_else(|| format!("{} is in a cycle", waiting[0].name))?;
        ordered.push(waiting.remove(ready).name.clone());
    }
    Ok(ordered)
}

/// Returns the chosen libraries, or all, with their dependencies, in order.
fn with_dependencies<'l>(
    chosen: &[String],
    libraries: &'l [String],
    crates: &[Manifest],
) -> Vec<&'l String> {
    let mut wanted: Vec<&String> = Vec::new();
    for name in libraries.iter().rev() {
        let needed = |user: &&String| {
            crates.iter().filter(|one| one.name == **user).any(|one| {
                one.dependencies
                    .iter()
                    .any(|needs| needs.table == Table::Normal && needs.name == *name)
            })
        };
        if chosen.is_empty() || chosen.contains(name) || wanted.iter().any(needed) {
            wanted.push(name);
        }
    }
    wanted.reverse();
    wanted
}

/// Packages all crates in one command, so that cargo resolves unpublished crates among them.
fn package(names: &[&String], target: &str) -> Invocation {
    let names: String = names.iter().map(|name| format!(" -p {name}")).collect();
    Invocation::new(&format!("cargo package --allow-dirty --target-dir {target}{names}"))
}

#[cfg(test)]
mod tests {
    use super::{Manifest, Mode, libraries, package, refusal, with_dependencies};

    fn crates() -> Vec<Manifest> {
        [
            "[package]\nname = \"a\"\n[dependencies]\nz.workspace = true",
            "[package]\nname = \"cli\"\npublish = false",
            "[package]\nname = \"llm-stream-guard\"\n[dependencies]\na.workspace = true",
            "[package]\nname = \"z\"\n[dev-dependencies]\na.workspace = true",
        ]
        .map(Manifest::parse)
        .into()
    }

    #[test]
    fn libraries_are_ordered_after_their_dependencies() {
        assert_eq!(libraries(&crates()).unwrap(), ["z", "a"]);
    }

    #[test]
    fn crates_that_depend_on_each_other_are_refused() {
        let cycle = ["a", "b"].map(|name| {
            let other = if name == "a" { "b" } else { "a" };
            Manifest::parse(&format!(
                "[package]\nname = \"{name}\"\n[dependencies]\n{other} = \"1\""
            ))
        });
        assert_eq!(libraries(&cycle).unwrap_err(), "a is in a cycle");
    }

    #[test]
    fn chosen_library_includes_its_dependencies() {
        let libraries = libraries(&crates()).unwrap();
        let packages = |name: &str| with_dependencies(&[name.to_owned()], &libraries, &crates());
        assert_eq!(packages("a"), ["z", "a"]);
        assert_eq!(packages("z"), ["z"]);
        assert_eq!(with_dependencies(&[], &libraries, &crates()), ["z", "a"]);
    }

    #[test]
    fn packages_are_built_with_one_command() {
        let names = ["z", "a"].map(String::from);
        let line = package(&names.iter().collect::<Vec<_>>(), "t").to_string();
        assert_eq!(line, "cargo package --allow-dirty --target-dir t -p z -p a");
    }

    #[test]
    fn facade_is_never_published() {
        for mode in [Mode::DryRun, Mode::Publish] {
            let chosen = ["llm-stream-guard".to_owned()];
            let refusal = refusal(mode, &chosen, &["a".to_owned()]).unwrap();
            assert!(refusal.contains("unrelated project"), "{refusal}");
            assert!(refusal.contains("git = "), "{refusal}");
        }
    }

    #[test]
    fn publishing_is_always_manual() {
        let names = ["z", "a"].map(String::from);
        let manual = refusal(Mode::Publish, &[], &names).unwrap();
        assert!(manual.contains("manual"), "{manual}");
        assert!(manual.find("-p z").unwrap() < manual.find("-p a").unwrap());
        assert_eq!(refusal(Mode::DryRun, &[], &names), None);
        assert!(refusal(Mode::DryRun, &["cli".to_owned()], &names).is_some());
    }
}
