"""Prints what the newest engine wheels have to read answers with, a line each: engine, kind and name of
every parser that they register (`tools`, `reasoning`), and engine, `source`, path and hash of every
file with parsing code.

Usage: drift.py DIRECTORY. Wheels are downloaded into the directory unless they are there, without
their dependencies, and only their sources are read: nothing of them runs.
"""

import ast
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

PACKAGES = {"vllm": "vllm", "sglang": "sglang", "lmdeploy": "lmdeploy", "mlx_lm": "mlx-lm"}

# The directories with parsing code.
PARSING = re.compile(r"vllm/(parser|reasoning|tool_parsers)/|sglang/srt/(function_call|parser)/"
                     r"|lmdeploy/serve/parsers/|mlx_lm/tool_parsers/")


def wheel(directory, package):
    """The newest wheel of a package in the directory, downloaded if none is there."""
    pattern = package.replace("-", "_") + "-*.whl"
    if not list(directory.glob(pattern)):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                   "--only-binary=:all:", "--dest", str(directory), package]
        subprocess.run(command, check=True)
    return max(directory.glob(pattern), key=lambda path: path.stat().st_mtime)


def sources(path):
    """The Python sources of a wheel by their names."""
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.endswith(".py"):
                yield name, archive.read(name).decode("utf-8", "replace")


def strings(node):
    """The texts of a literal: a text, a list, or the keys of a table."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        for item in node.elts:
            yield from strings(item)
    elif isinstance(node, ast.Dict):
        for key in node.keys:
            yield from strings(key)


def assigned(text, name):
    """The texts of the literal that a module assigns to a name."""
    for node in ast.walk(ast.parse(text)):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            yield from strings(node.value)


def decorated(text):
    """The manager and the names of every `@...Manager.register_module(names)`."""
    for node in ast.walk(ast.parse(text)):
        for call in getattr(node, "decorator_list", []):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) \
                    and call.func.attr == "register_module":
                for value in call.args + [keyword.value for keyword in call.keywords]:
                    for name in strings(value):
                        yield ast.unparse(call.func.value), name


TABLES = {
    "vllm/tool_parsers/__init__.py": ("tools", "_TOOL_PARSERS_TO_REGISTER"),
    "vllm/reasoning/__init__.py": ("reasoning", "_REASONING_PARSERS_TO_REGISTER"),
    "sglang/srt/function_call/parser_names.py": ("tools", "TOOL_CALL_PARSER_NAMES"),
    "sglang/srt/parser/reasoning_parser_names.py": ("reasoning", "REASONING_PARSER_NAMES"),
}


def names(engine, path, text):
    """Kind and name of all that a source registers."""
    if path in TABLES:
        kind, table = TABLES[path]
        yield from ((kind, name) for name in assigned(text, table))
    elif engine == "lmdeploy" and "register_module" in text and "/serve/" in path:
        for manager, name in decorated(text):
            yield ("reasoning" if "Reasoning" in manager else "tools"), name
    elif path.startswith("mlx_lm/tool_parsers/") and not path.endswith("/__init__.py"):
        yield "tools", pathlib.PurePath(path).stem


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for engine, package in PACKAGES.items():
        for path, text in sources(wheel(directory, package)):
            for kind, name in names(engine, path, text):
                print(engine, kind, name, sep="\t")
            if PARSING.match(path) and text.strip():
                digest = hashlib.sha256(text.encode()).hexdigest()[:16]
                print(engine, "source", path, digest, sep="\t")


main()
