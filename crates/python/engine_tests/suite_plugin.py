"""Plug-in of pytest that runs vLLM's own tests of its parsers, with its classes or with the guard's.

`--guard` puts the guard's classes in the places of the engine's. The tests fetch tokenizers of models;
the ones made here know the engine's markers and have learnt other tokens from the tests.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import stubs
import tomllib

stubs.install("torch", "torchaudio", "torchvision", "triton")

import suite_classes
import transformers
import vllm.tokenizers.registry
from toolcall_parsers.engines import vllm_parsers
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

if TYPE_CHECKING:
    from collections.abc import Callable

FAMILIES = Path(__file__).parents[3] / "families"

# Functions of the tests that feed a stream, each with the name of its parameter for the parser.
STREAMS = [
    ("tests.tool_parsers.utils", "run_tool_extraction_streaming", "tool_parser"),
    ("tests.reasoning.utils", "run_reasoning_extraction_streaming", "reasoning_parser"),
]

# Texts that a parser looks up as one token.
MARKER = re.compile(r"</?[^\s<>=]{2,46}>|\[/?[A-Z_]+\]|[<\[]\S*[|\uff5c]\S*[>\]]")

# The tests of this reasoning parser write the calls of the newer models.
REASONING = {"qwen3": "qwen3_coder"}

TOKENS = 6000


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--guard", action="store_true")
    parser.addoption("--outcomes", type=Path, required=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Outcomes(config.getoption("outcomes")))
    replace_tokenizers(config.rootpath)
    if config.getoption("guard"):
        replace_classes()


def pytest_sessionstart(session: pytest.Session) -> None:
    """Report the end of a stream, which the tests leave out and the server does not."""
    if session.config.getoption("guard"):
        for name, function, first in STREAMS:
            module = import_module(name)
            setattr(module, function, with_end(getattr(module, function), first))


class Outcomes:
    """Writes the outcome of each test, with the message of a failure."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            self.outcomes[report.nodeid] = report.outcome, crash.message if crash else ""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.outcomes[report.nodeid] = "failed", str(report.longrepr)

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(self.outcomes), encoding="utf-8")


def markers() -> list[str]:
    """Return the texts in the engine's parsers that are markers."""
    found = find_spec("vllm")
    assert found is not None
    assert found.submodule_search_locations is not None
    place = Path(found.submodule_search_locations[0])
    texts = set()
    for folder in ("parser", "reasoning", "tool_parsers"):
        for path in (place / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                text = node.value if isinstance(node, ast.Constant) else None
                if isinstance(text, str) and MARKER.fullmatch(text):
                    texts.add(text)
    return sorted(texts)


@lru_cache
def tokens(root: Path) -> Any:
    """Return a tokenizer of the tests' texts, in which each marker is one token."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=TOKENS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    paths = sorted(root.rglob("test_*.py"))
    tokenizer.train_from_iterator((path.read_text(encoding="utf-8") for path in paths), trainer)
    tokenizer.add_tokens([AddedToken(it, special=False, normalized=False) for it in markers()])
    return tokenizer


def replace_tokenizers(root: Path) -> None:
    def made(name: Any = None, *_: Any, tokenizer_name: Any = None, **__: Any) -> Any:
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=tokens(root))
        tokenizer.name_or_path = name or tokenizer_name
        return tokenizer

    transformers.AutoTokenizer.from_pretrained = made
    for module in (vllm.tokenizers, vllm.tokenizers.registry):
        module.get_tokenizer = made


def families() -> tuple[dict[str, str], dict[str, str]]:
    """Return families by vLLM's names of parsers: of calls, and of reasoning."""
    calls: dict[str, str] = {}
    reasoning: dict[str, str] = {}
    for path in sorted(FAMILIES.glob("*.toml")):
        entry = tomllib.loads(path.read_text(encoding="utf-8"))
        calls |= dict.fromkeys(entry.get("names", {}).get("vllm", []), path.stem)
        table = entry.get("reasoning")
        names = table.get("names", {}) if isinstance(table, dict) else {}
        reasoning |= dict.fromkeys(names.get("vllm", []), path.stem)
    return calls, reasoning | REASONING


def replace_classes() -> None:
    """Put the guard's classes into the engine's registries, and into its modules."""
    calls, reasoning = families()
    classes: dict[type, type] = {}
    # All are loaded first, so that no class of the engine inherits from one of the guard's.
    tools = {
        name: ToolParserManager.get_tool_parser(name) for name in registered(ToolParserManager)
    }
    thoughts = {
        name: ReasoningParserManager.get_reasoning_parser(name)
        for name in registered(ReasoningParserManager)
    }
    for name in sorted(calls.keys() & tools.keys()):
        base = getattr(vllm_parsers, f"GuardToolParser__{calls[name]}")
        ours = classes.setdefault(tools[name], suite_classes.of_calls(base))
        ToolParserManager.tool_parsers[name] = ours
    for name in sorted(reasoning.keys() & thoughts.keys()):
        base = getattr(vllm_parsers, f"GuardReasoningParser__{reasoning[name]}")
        ours = suite_classes.of_reasoning(base, thoughts[name])
        ReasoningParserManager.reasoning_parsers[name] = classes.setdefault(thoughts[name], ours)
    for name, module in list(sys.modules.items()):
        if name.startswith("vllm."):
            for attribute, value in list(vars(module).items()):
                if isinstance(value, type) and value in classes:
                    setattr(module, attribute, classes[value])


def registered(manager: Any) -> list[str]:
    """Return the engine's names of parsers."""
    return [name for name in manager.list_registered() if not name.startswith("guard")]


def with_end(run: Callable[..., Any], first: str) -> Callable[..., Any]:
    """Return a function that streams and then feeds the rest that the parser held."""

    def ran(*args: Any, **options: Any) -> Any:
        found = run(*args, **options)
        parser = args[0] if args else options[first]
        rest = parser.finish_streaming() if hasattr(parser, "finish_streaming") else None
        if rest is not None:
            parts = [{"reasoning": rest.reasoning}, {"content": rest.content}]
            parts = [part for part in parts if any(part.values())]
            deltas = [type(rest)(**part) for part in parts] if len(parts) > 1 else [rest]
            for delta in deltas:
                found.append_delta(delta)
        return found

    return ran
