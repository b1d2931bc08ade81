//! The wheel and the source distribution of the Python package.

use std::{fs, path::Path};

use super::{Dist, VERSION, command, report::Report};
use crate::process::python_of;

/// The directory of the package.
const PACKAGE: &str = "crates/python";
/// The platform of the wheels: Linux with a C library of 2014 or newer.
const OLDEST: &str = "manylinux2014";
/// The first program of a user.
const FIRST: &str = r#"from toolcall_parsers import guard_text

pieces = ["<think>look it up</th", 'ink>\n<tool_call>{"name": "find", "argu', 'ments": {}}</tool_call>']
print([event.kind for event in guard_text(pieces, model="Qwen/Qwen3-8B")])
"#;
const PRINTED: &str = "['reasoning', 'call_start', 'call_arguments', 'call_end']";
/// The line of it that a reader sees.
const LINE: &str = "`guard_text(pieces, model=\"Qwen/Qwen3-8B\")`";

/// Builds the wheel, one for all versions of Python, and uses it.
pub(super) fn wheel(dist: &Dist, report: &mut Report) -> Result<(), String> {
    require(dist)?;
    let host = command::host(&dist.root)?;
    let target = dist.target.as_deref();
    let linux = target.unwrap_or(&host).contains("-linux-");
    let platform = match (linux, dist.tools.has_zig) {
        (true, true) => format!("--zig --compatibility {OLDEST}"),
        (true, false) => {
            report.note("the wheel is for this machine's C library and newer ones");
            "--compatibility linux".to_owned()
        }
        (false, _) => String::new(),
    };
    let target = target.map_or_else(String::new, |target| format!("--target {target}"));
    let out = dist.place.display();
    let line = format!("maturin build --release --locked {platform} {target} --out {out}");
    dist.builder(&line).run(&dist.root.join(PACKAGE))?;
    let wheel = dist.artefact(".whl")?;
    if dist.target.as_deref().is_some_and(|target| !command::runs(target, &host)) {
        report.note("the wheel was not used: it is for another platform");
        return Ok(());
    }
    installed(dist, "wheel", &wheel)?;
    report.row(&wheel, "a new virtual environment", LINE)
}

/// Packs the sources, builds a wheel of them without the network, and uses that.
pub(super) fn sdist(dist: &Dist, report: &mut Report) -> Result<(), String> {
    require(dist)?;
    let line = format!("maturin sdist --out {}", dist.place.display());
    dist.builder(&line).run(&dist.root.join(PACKAGE))?;
    let sources = dist.artefact(&format!("toolcall_parsers-{VERSION}.tar.gz"))?;
    let fresh = dist.fresh("sdist-built")?;
    let (python, out) = (dist.tools.python(), fresh.display());
    let line = format!(
        "{} -m pip wheel --quiet --no-build-isolation --no-index --no-deps --wheel-dir {out} {}",
        python.display(),
        sources.display()
    );
    // Unoptimised: the sources are tried here, not their speed.
    let line = dist.builder(&line).env("MATURIN_PEP517_ARGS", "--profile dev");
    line.env("CARGO_NET_OFFLINE", "true").env("CARGO_PROFILE_DEV_DEBUG", "0").run(&fresh)?;
    let built = crate::disk::files(&fresh)?;
    let [wheel] = &built[..] else { return Err(format!("{} wheels", built.len())) };
    installed(dist, "sdist", wheel)?;
    let place = "a new virtual environment; built offline, with Rust and cargo's cache";
    report.row(&sources, place, LINE)
}

/// Installs a wheel in a new environment and runs the first program there.
fn installed(dist: &Dist, name: &str, wheel: &Path) -> Result<(), String> {
    let fresh = dist.fresh(name)?;
    let python = python_of(&dist.root, &fresh.join("venv"))?.display().to_string();
    let install = format!("{python} -m pip install --quiet --no-index --no-deps");
    dist.alone(&fresh, &format!("{install} {}", wheel.display()))?;
    fs::write(fresh.join("first.py"), FIRST).map_err(|error| error.to_string())?;
    let printed = dist.alone(&fresh, &format!("{python} first.py"))?;
    if printed.trim() != PRINTED {
        return Err(format!("the first program printed {printed}"));
    }
    Ok(())
}

fn require(dist: &Dist) -> Result<(), String> {
    if dist.tools.has_maturin { Ok(()) } else { Err("maturin cannot be fetched".to_owned()) }
}
