//! The npm package, packed and installed.

use std::fs;

use super::{Dist, report::Report};
use crate::{disk::copied, js, process::installed};

/// The first program of a user.
const FIRST: &str = r#"import { Guard } from "toolcall-parsers";

const guard = new Guard({ model: "Qwen/Qwen3-8B" });
const pieces = ["<think>hm</thi", "nk>Hi. <tool_call>{\"name\": \"ring\", \"argu", "ments\": {}}</tool_call>"];
const events = [...pieces.flatMap((piece) => guard.push(piece)), ...guard.finish()];
console.log(events.map((event) => event.kind).join(" "));
"#;
const PRINTED: [&str; 3] = ["reasoning", "content", "call_end"];

/// Packs the package, installs it and uses it.
pub(super) fn make(dist: &Dist, report: &mut Report) -> Result<(), String> {
    if !installed("node") || !installed("npm") {
        return Err("node and npm are not installed".to_owned());
    }
    let packed = js::pack(&dist.root)?.ok_or("no compiler for WebAssembly")?;
    let package = dist.place.join(packed.file_name().unwrap_or_default());
    copied(&packed, &package)?;
    let fresh = dist.fresh("npm")?;
    let write = |name: &str, text: &str| {
        fs::write(fresh.join(name), text).map_err(|error| format!("{name}: {error}"))
    };
    write("package.json", "{\"private\": true, \"type\": \"module\"}\n")?;
    write("first.js", FIRST)?;
    let install = "npm install --offline --no-audit --no-fund --silent";
    dist.alone(&fresh, &format!("{install} {}", package.display()))?;
    let printed = dist.alone(&fresh, "node first.js")?;
    if !PRINTED.iter().all(|kind| printed.contains(kind)) {
        return Err(format!("the first program printed {printed}"));
    }
    report.row(&package, "a new npm project", "`new Guard({ model: \"Qwen/Qwen3-8B\" })`")
}
