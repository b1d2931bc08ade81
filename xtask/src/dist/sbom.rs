//! Lists of the components of each program, in the JSON of CycloneDX.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use serde_json::{Value, json};

use super::{Dist, VERSION, command, report::Report};
use crate::process::Invocation;

/// The newest version of the format that most readers know.
const SPEC: &str = "1.5";
/// The checker of the format.
const CHECKER: &str = "cyclonedx-python-lib[json-validation]";
/// The program that checks a file.
const CHECK: &str = "\
import pathlib, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
text = pathlib.Path(sys.argv[1]).read_text()
fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(text)
sys.exit(None if fault is None else str(fault))
";

/// A program to list: the file, its crate with features, and its platform.
struct Listed {
    file: &'static str,
    directory: &'static str,
    features: &'static str,
    /// The host's if it is empty.
    target: &'static str,
}

const LISTED: [Listed; 3] = [
    Listed {
        file: "llm-stream-guard",
        directory: "crates/llm-stream-guard-cli",
        features: "--features tls",
        target: "",
    },
    Listed {
        file: "toolcall-parsers-python",
        directory: "crates/python",
        features: "",
        target: "",
    },
    Listed {
        file: "toolcall-parsers-npm",
        directory: "crates/js",
        features: "",
        target: "wasm32-unknown-unknown",
    },
];

/// Writes a list for each program, and checks that it is valid.
pub(super) fn make(dist: &Dist, report: &mut Report) -> Result<(), String> {
    let host = command::host(&dist.root)?;
    let can_check = dist.tools.has_maturin && dist.tools.fetch(CHECKER);
    let fresh = dist.fresh("sbom")?;
    fs::write(fresh.join("check.py"), CHECK).map_err(|error| error.to_string())?;
    for one in LISTED {
        let file = dist.place.join(format!("{}-{VERSION}.cdx.json", one.file));
        let target = if one.target.is_empty() { &host } else { one.target };
        let directory = dist.root.join(one.directory);
        let text = format!("{:#}\n", list(&directory, one.features, target)?);
        fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
        let line = format!("{} check.py {}", dist.tools.python().display(), file.display());
        if can_check {
            Invocation::new(&line).output(&fresh)?;
            report.row(&file, "none; valid for `cyclonedx-python-lib`", "CycloneDX 1.5")?;
        } else {
            report.note("the lists of components were not checked: the checker cannot be fetched");
            report.row(&file, "none; not checked", "CycloneDX 1.5")?;
        }
    }
    Ok(())
}

/// Returns the list of a crate's components: itself, and what is linked into it or expanded in it.
fn list(directory: &Path, features: &str, target: &str) -> Result<Value, String> {
    let line =
        format!("cargo metadata --locked --format-version 1 --filter-platform {target} {features}");
    let printed = Invocation::new(&line).output(directory)?;
    let metadata: Value = serde_json::from_str(printed.lines().next().unwrap_or_default())
        .map_err(|error| format!("{line}: {error}"))?;
    let lock = Path::new(text(&metadata["workspace_root"])).join("Cargo.lock");
    let lock = fs::read_to_string(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let manifest = directory.join("Cargo.toml");
    let packages = items(&metadata["packages"]);
    let root = packages.iter().find(|one| Path::new(text(&one["manifest_path"])) == manifest);
    let root = root.ok_or_else(|| format!("{} is no crate", directory.display()))?;
    Ok(document(&metadata, root, &checksums(&lock)))
}

/// Returns the list of what the crate `root` needs.
fn document(
    metadata: &Value,
    root: &Value,
    checksums: &BTreeMap<(String, String), String>,
) -> Value {
    let needs = needs(&metadata["resolve"]);
    let packages: BTreeMap<_, _> =
        items(&metadata["packages"]).iter().map(|one| (text(&one["id"]), one)).collect();
    let start = text(&root["id"]);
    let (mut seen, mut waiting) = (BTreeSet::from([start]), vec![start]);
    while let Some(id) = waiting.pop() {
        let new = needs.get(id).into_iter().flatten().filter(|id| seen.insert(**id));
        waiting.extend(new.copied());
    }
    let name = |id: &str| packages.get(id).map(|one| purl(one)).unwrap_or_default();
    let components: Vec<_> = seen.iter().filter(|id| **id != start).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": {"component": component(root, "application", checksums)},
        "components": components.iter().filter_map(|id| packages.get(**id))
            .map(|one| component(one, "library", checksums)).collect::<Vec<_>>(),
        "dependencies": seen.iter().map(|id| json!({
            "ref": name(id),
            "dependsOn": needs.get(id).into_iter().flatten().map(|id| name(id)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

/// Returns what each package needs to run, by the ids of cargo. Needs of builds and tests are left
/// out.
fn needs(resolve: &Value) -> BTreeMap<&str, BTreeSet<&str>> {
    let is_normal = |one: &&Value| items(&one["dep_kinds"]).iter().any(|it| it["kind"].is_null());
    let of = |node| items(node).iter().filter(is_normal).map(|one| text(&one["pkg"])).collect();
    items(&resolve["nodes"]).iter().map(|node| (text(&node["id"]), of(&node["deps"]))).collect()
}

fn component(package: &Value, kind: &str, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": name,
        "version": version,
        "purl": purl(package),
    });
    if let Some(licence) = package["license"].as_str() {
        // The form that crates had before expressions.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(sum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

/// Returns the name of a package among those of all registries.
fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

/// Returns the checksums of a lock file by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |entry: &str, name: &str| {
        let start = format!("{name} = \"");
        let line = entry.lines().find_map(|line| line.strip_prefix(&start))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let entry = |entry: &str| {
        let key = (field(entry, "name")?, field(entry, "version")?);
        Some((key, field(entry, "checksum")?))
    };
    lock.split("[[package]]").filter_map(entry).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{checksums, document};

    #[test]
    fn list_has_what_a_program_needs_to_run_with_licences_and_checksums() {
        let package = |name: &str, licence: &str| json!({"id": name, "name": name, "version": "1.0.0", "license": licence});
        let dep =
            |name: &str, kind: Option<&str>| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                package("app", "MIT"), package("lib", "MIT/Apache-2.0"), package("cc", "MIT"),
                package("deep", "ISC"), package("other", "MIT"),
            ],
            "resolve": {"nodes": [
                {"id": "app", "deps": [dep("lib", None), dep("cc", Some("build"))]},
                {"id": "lib", "deps": [dep("deep", None), dep("other", Some("dev"))]},
                {"id": "deep", "deps": []},
            ]},
        });
        let lock = "[[package]]\nname = \"deep\"\nversion = \"1.0.0\"\nchecksum = \"ab\"\n\n\
                    [[package]]\nname = \"app\"\nversion = \"1.0.0\"\n";
        let list = document(&metadata, &metadata["packages"][0], &checksums(lock));
        assert_eq!(list["metadata"]["component"]["purl"], "pkg:cargo/app@1.0.0");
        let names: Vec<_> =
            list["components"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(names, ["deep", "lib"]);
        let [deep, lib] = [0, 1].map(|n| &list["components"][n]);
        assert_eq!(deep["hashes"], json!([{"alg": "SHA-256", "content": "ab"}]));
        assert_eq!(lib["licenses"], json!([{"expression": "MIT OR Apache-2.0"}]));
        let lib = json!({"ref": "pkg:cargo/lib@1.0.0", "dependsOn": ["pkg:cargo/deep@1.0.0"]});
        assert!(list["dependencies"].as_array().unwrap().contains(&lib), "{list:#}");
    }
}
