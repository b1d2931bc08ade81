"""Random objects at every entry: wrong values raise a typed error, and nothing else happens."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import toolcall_parsers as tp
from toolcall_parsers import _native
from toolcall_parsers._settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 57
ROUNDS = 4_000

# Errors that a caller can expect: of Python, where a value has the wrong type or range, and those of
# the package, which are `ValueError` and `RuntimeError`.
TYPED = (TypeError, ValueError, OverflowError, tp.StreamError, OSError)

WORDS = [
    *("model", "family", "qwen3", "tools", "function", "name", "arguments", "choices", "delta"),
    *("content", "<think>", "</think>", "<tool_call>", "{", "}", "\ud800", "\udfff", "\0", "é", ""),
    *("stop", "length", "required", "text", "token_ids", "logprobs", "index", "message", "id"),
]


class Odd:
    """An object whose methods fail."""

    def __iter__(self) -> Any:
        raise ValueError("no iterator")

    def __repr__(self) -> str:
        return "\ud800"

    def model_dump(self, **_: Any) -> Any:
        return Odd


def text(chance: random.Random) -> str:
    return "".join(chance.choice(WORDS) for _ in range(chance.randrange(6)))


def deep(chance: random.Random) -> Any:
    """Return lists or objects that are too deep, or without an end."""
    value: Any = []
    if chance.random() < 0.2:
        value.append(value)
        return value
    for _ in range(chance.choice([100, 200, 5_000])):
        value = [value] if chance.random() < 0.5 else {"a": value}
    return value


LEAVES: list[Callable[[random.Random], Any]] = [
    text,
    deep,
    lambda chance: chance.choice(WORDS),
    lambda chance: text(chance).encode("utf-8", "surrogatepass"),
    lambda chance: chance.choice([0, 1, -1, 1 << 31, 1 << 64, -(1 << 70), True]),
    lambda chance: chance.choice([0.5, float("nan"), float("inf"), -0.0, 1e308]),
    lambda chance: chance.choice([None, Odd(), Odd, object(), {1}, 1j, bytearray(b"\xff")]),
]


def value(chance: random.Random, depth: int = 3) -> Any:
    """Return a random value of up to `depth` levels."""
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return chance.choice(LEAVES)(chance)
    many = range(chance.randrange(4))
    if kind < 0.7:
        keys = [chance.choice(WORDS) if chance.random() < 0.9 else chance.random() for _ in many]
        return {key: value(chance, depth - 1) for key in keys}
    return [value(chance, depth - 1) for _ in many]


def settings(chance: random.Random) -> dict[str, Any]:
    """Return settings, of which most are valid and some are random."""
    names = [*Settings.__annotations__, "nothing"]
    given: dict[str, Any] = {"family": "qwen3"} if chance.random() < 0.9 else {}
    if chance.random() < 0.5:
        given[chance.choice(names)] = value(chance)
    return given


def checkpoint(chance: random.Random) -> Any:
    """Return something that is no checkpoint. Templates would be rendered, which takes long."""
    given = value(chance)
    return given if not isinstance(given, str) else f"/nowhere/{given}"


ENTRIES: dict[str, Callable[[random.Random], Any]] = {
    "Guard": lambda c: tp.Guard(**settings(c)),
    "Guard.push": lambda c: tp.Guard(family="qwen3").push(value(c)),
    "Guard.push ids": lambda c: tp.Guard(family="qwen3", marker_tokens={"<think>": 1}).push(
        text(c), value(c)
    ),
    "Guard.push_token": lambda c: tp.Guard(family="qwen3").push_token(value(c), marker=True),
    "Guard.finish": lambda c: tp.Guard(family="qwen3").finish(value(c)),
    "Guard.parse": lambda c: tp.Guard(family="qwen3").parse(value(c), end=c.choice(["stop", "x"])),
    "parse": lambda c: tp.parse(value(c), **settings(c)),
    "guard_text": lambda c: list(tp.guard_text(value(c), **settings(c))),
    "ChatGuard.push": lambda c: tp.ChatGuard(**settings(c)).push(value(c)),
    "ChatGuard.complete": lambda c: tp.ChatGuard(family="qwen3").complete(value(c)),
    "ChatGuard.finish": lambda c: tp.ChatGuard(family="qwen3").finish(value(c)),
    "guard_chunks": lambda c: list(tp.guard_chunks([value(c), value(c)], family="qwen3")),
    "SseGuard.push": lambda c: tp.SseGuard(family="qwen3").push(value(c)),
    "guard_sse": lambda c: list(tp.guard_sse([value(c)], family="qwen3")),
    "splitter": lambda c: _native.ReasoningSplitter(family="qwen3").push(value(c), value(c)),
    "encode": lambda c: tp.encode([value(c)], family="hermes"),
    "forward_request": lambda c: tp.forward_request(value(c), server="vllm", family="qwen3"),
    "grammar": lambda c: tp.grammar("gbnf", tools=value(c), family="qwen3"),
    "profile": lambda c: tp.profile(**settings(c)),
    "detect": lambda c: tp.detect(value(c)),
    "identify": lambda c: tp.identify(checkpoint(c), render=False),
    "derive": lambda c: tp.derive(checkpoint(c)),
    "family_of": lambda c: tp.family_of(model=value(c)),
    "families": lambda c: tp.families(aliases=value(c)),
    "explain": lambda c: tp.explain(value(c), family="qwen3"),
    "token_roles": lambda c: _native.token_roles(value(c), "stop", family="qwen3"),
    "Vocabulary": lambda c: tp.Vocabulary(value(c)),
    "from_tokenizer": lambda c: tp.Vocabulary.from_tokenizer(value(c)),
    "collect": lambda c: tp.collect([value(c)]),
}
COLUMNS: dict[str, Callable[[random.Random], Any]] = {
    "parse_batch": lambda c: tp.parse_batch(value(c), **settings(c)),
    "count_batch": lambda c: tp.count_batch([value(c), "a"], **settings(c)),
    "parse_batch of ids": lambda c: tp.parse_batch(
        [value(c)], vocabulary=tp.Vocabulary(["a"]), family="qwen3"
    ),
}


@pytest.mark.parametrize("name", [*ENTRIES, *COLUMNS])
def test_random_values_raise_typed_errors_at_most(name: str) -> None:
    if name in COLUMNS:
        pytest.importorskip("pyarrow")
    entry = {**ENTRIES, **COLUMNS}[name]
    refused = 0
    for number in range(ROUNDS // len(ENTRIES)):
        chance = random.Random(f"{SEED} {name} {number}")  # noqa: S311
        try:
            entry(chance)
        except TYPED:
            refused += 1
        except BaseException as error:
            raise AssertionError(f"{name}, round {number}: {error!r}") from error
    assert refused or name in ("families", "family_of")
