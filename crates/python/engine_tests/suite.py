"""Runs vLLM's own tests of its parsers through the plug-in of this package, and compares.

    python engine_tests/suite.py FOLDER

The tests are fetched from vLLM's source package, at the version of the installed engine, and stay
below `FOLDER`. They run twice: with the engine's classes, and with the guard's in their places. A test
that passes with the first and fails with the second differs, and `suite.tsv` has its reason. The
command fails where a reason is missing, or where one matches no test. `--page` renews the counts of
`docs/results.md`.
"""

# ruff: noqa: T201 - a script prints

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
from collections import Counter
from fnmatch import fnmatchcase
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
REASONS = HERE / "suite.tsv"
ROOT = HERE.parents[2]

# The page, and the part of it that `cargo xtask compare` writes again.
PAGES = [ROOT / "docs" / "results.md", ROOT / "xtask" / "compare" / "further.md"]
FOLDERS = ["tests/tool_parsers", "tests/reasoning"]

# They import functions from here.
IMPORTED = ["tests/parser"]

# What the source package's setup imports. It also imports torch, for which a stand-in will do.
BUILD = ["cmake", "jinja2", "ninja", "setuptools<81", "setuptools-rust", "setuptools-scm", "wheel"]

# What the tests import beside the packages of `requirements.txt`.
TESTS = ["pytest", "tokenizers"]

STAND_IN = "import stubs; stubs.install('torch')"


def run(*command: str, **environment: str) -> None:
    """Run a command with further variables of the environment; it has to succeed."""
    subprocess.run(command, check=True, env={**os.environ, **environment})  # noqa: S603


def fetch(folder: Path) -> Path:
    """Unpack the tests of the source package below a folder, and return their parent."""
    engine = version("vllm").split("+")[0]
    package = folder / f"vllm-{engine}.tar.gz"
    if not package.exists():
        stand_in = folder / "stand_in"
        stand_in.mkdir(exist_ok=True)
        (stand_in / "sitecustomize.py").write_text(STAND_IN, encoding="utf-8")
        pip = [sys.executable, "-m", "pip"]
        run(*pip, "install", "--quiet", *BUILD, *TESTS)
        only = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        run(
            *[*pip, "download", "--quiet", *only, "--dest", str(folder), f"vllm=={engine}"],
            PYTHONPATH=f"{stand_in}{os.pathsep}{HERE}",
            VLLM_TARGET_DEVICE="empty",
            VLLM_VERSION_OVERRIDE=engine,
        )
    place = folder / f"vllm-{engine}"
    with tarfile.open(package) as archive:
        wanted = [f"{place.name}/{name}/" for name in FOLDERS + IMPORTED]
        members = [it for it in archive if it.name.startswith(tuple(wanted))]
        archive.extractall(folder, members, filter="data")
    (place / "tests" / "__init__.py").touch()
    (place / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return place


def outcomes(place: Path, *options: str) -> dict[str, list[str]]:
    """Run the tests, and return the outcome and the message of each."""
    out = place / "outcomes.json"
    command = [sys.executable, "-m", "pytest", "-p", "suite_plugin", "--outcomes", str(out)]
    command += ["-q", "--tb=line", "-W", "ignore", "-p", "no:cacheprovider"]
    command += ["--continue-on-collection-errors"]
    with (place / "output.txt").open("w", encoding="utf-8") as output:
        # Tests fail here on purpose; what counts is written to the file.
        subprocess.run(  # noqa: S603
            [*command, *options, *FOLDERS],
            check=False,
            cwd=place,
            env={**os.environ, "PYTHONPATH": str(HERE)},
            stdout=output,
        )
    found: dict[str, list[str]] = json.loads(out.read_text(encoding="utf-8"))
    out.unlink()
    return found


def reasons() -> list[tuple[str, str]]:
    """Return the patterns of tests, each with the key of its reason."""
    lines = REASONS.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return [(pattern, key) for key, pattern in rows]


def table(passed: list[str], differ: dict[str, str]) -> str:
    """Return a table of the files of tests."""
    file_of = {test: test.split("::")[0].removeprefix("tests/") for test in passed}
    counts = Counter(file_of.values())
    lines = ["| tests | run | differ | reasons |", "|---|---|---|---|"]
    for file, count in sorted(counts.items()):
        keys = Counter(key for test, key in differ.items() if file_of[test] == file)
        texts = [f"{key} {number}" for key, number in sorted(keys.items())]
        name = file.removesuffix(".py").replace("/test_", "/")
        lines.append(f"| `{name}` | {count} | {keys.total()} | {', '.join(texts)} |")
    totals = Counter(differ.values())
    texts = [f"{key} {number}" for key, number in sorted(totals.items())]
    lines.append(f"| all | {len(passed)} | {len(differ)} | {', '.join(texts)} |")
    return "\n".join(lines) + "\n"


def renewed(page: str, run: int, differ: dict[str, str]) -> str:
    """Return the page with the counts of tests that were run and that differ, by reason."""
    counts = Counter(differ.values())
    page = re.sub(
        r"Of \d+ tests that vLLM \S+ passes with its own parsers, \d+ differ",
        f"Of {run} tests that vLLM {version('vllm')} passes with its own parsers, {len(differ)} differ",
        page,
    )
    return re.sub(
        r"(?m)^\| `(\w+)` \| \d+ \| (?=.* \| .* \|$)",
        lambda row: f"| `{row[1]}` | {counts[row[1]]} | ",
        page,
    )


def write_pages(run: int, differ: dict[str, str]) -> None:
    """Renew the counts of the page and of its source."""
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        head, section = page.split("## vLLM's own tests\n", 1)
        table, rest = section.split("\n## ", 1)
        table = renewed(table, run, differ)
        path.write_text(f"{head}## vLLM's own tests\n{table}\n## {rest}", encoding="utf-8")


def main() -> None:
    """Compare, and report what differs without a reason."""
    arguments = argparse.ArgumentParser(description="Run vLLM's parser tests through the plug-in.")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--page", action="store_true")
    given = arguments.parse_args()
    folder: Path = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    place = fetch(folder)
    theirs, ours = outcomes(place), outcomes(place, "--guard")
    passed = [test for test, (outcome, _) in theirs.items() if outcome == "passed"]
    failed = {test: ours.get(test, ["", "was not run"]) for test in passed}
    failed = {test: found for test, found in failed.items() if found[0] != "passed"}
    patterns = reasons()
    differ, problems, used = {}, [], set()
    for test, (_, message) in failed.items():
        name = test.removeprefix("tests/").replace("[", "(").replace("]", ")")
        found = next((row for row in patterns if fnmatchcase(name, row[0])), None)
        if found is None:
            problems.append(f"no reason: {name}\n    {message[:300]}")
        else:
            used.add(found)
            differ[test] = found[1]
    problems += [f"matches no test: {row}" for row in patterns if row not in used]
    better = [test for test, (outcome, _) in ours.items() if outcome == "passed"]
    better = [test for test in better if theirs.get(test, ["failed"])[0] == "failed"]
    text = table(passed, differ)
    if given.page:
        write_pages(len(passed), differ)
    print(text)
    print(
        f"{len(theirs)} tests, {len(passed)} pass with the engine's classes and tokenizers made here"
    )
    print(f"{len(better)} pass with the guard's classes only")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
