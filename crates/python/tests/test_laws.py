"""Laws of [docs/laws.md](../../../docs/laws.md) over the project's vectors, through the package."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from conformance import (
    Events,
    NotInPythonError,
    calls_of,
    cases,
    joined,
    run,
    settings_of,
    split,
    wire_of,
)
from toolcall_parsers import EncodeError, Guard, SettingsError, encode

ALL = {
    name: case for name, case in cases("tools", "profiles", "tokens") if case["kind"] != "reasoning"
}

# Cuts of each wire, and of each wire that a value quotes.
CUTS = 24

OUTER = [
    {
        "type": "function",
        "function": {
            "name": "write_note",
            "parameters": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "text": {"type": "string"}},
            },
        },
    }
]


def settings(case: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the case, or skip the test."""
    try:
        return settings_of(case)
    except NotInPythonError as reason:
        pytest.skip(str(reason))


def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object, each of whose keys must be unique."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def complete(events: Events) -> list[tuple[str, str]]:
    """Return names and arguments of the complete calls, none of which has a key twice."""
    calls = [call for call in calls_of(events) if call["outcome"] == "complete"]
    for call in calls:
        json.loads(call["arguments"], object_pairs_hook=no_key_twice)
    return [(call["name"], call["arguments"]) for call in calls]


def places(length: int, seed: str) -> list[int]:
    """Return the lengths at which a wire is cut."""
    chance = random.Random(seed)  # noqa: S311
    return sorted(chance.sample(range(length), min(length, CUTS)))


@pytest.mark.parametrize("name", sorted(ALL))
def test_complete_calls_of_a_cut_message_are_the_first_of_the_whole(name: str) -> None:
    case = ALL[name]
    guard = Guard(**settings(case))
    pieces = joined(wire_of(case))
    whole = complete(run(guard, pieces, case.get("finish") or "stop"))
    single = split(pieces, list(range(sum(len(text) for text, _ in pieces))))
    for place in places(len(single), name):
        for end in ("length", "aborted"):
            calls = complete(run(guard, single[:place], end))
            assert calls == whole[: len(calls)], (place, end)


@pytest.mark.parametrize("name", ALL)
def test_atomic_delivery_gives_the_same_calls(name: str) -> None:
    case = ALL[name]
    given = settings(case)
    pieces = wire_of(case)
    end = case.get("finish") or "stop"
    streamed, atomic = (
        calls_of(run(Guard(**given, delivery=delivery), pieces, end))
        for delivery in ("streaming", "atomic")
    )
    # A generated id is the same, and only a late one of the wire is used.
    assert [(one["name"], one["arguments"], one["outcome"]) for one in streamed] == [
        (one["name"], one["arguments"], one["outcome"]) for one in atomic
    ]


@pytest.mark.parametrize("name", ALL)
def test_call_that_only_a_value_contains_never_starts(name: str) -> None:
    case = ALL[name]
    quoted = "".join(text for text, _ in wire_of(case))
    given = {"profile": settings(case)["profile"], "tools": OUTER}
    arguments = {"title": "see", "text": f"so: {quoted} and more"}
    try:
        wire = encode([{"name": "write_note", "arguments": arguments}], **given)
    except (EncodeError, SettingsError) as reason:
        pytest.skip(str(reason))
    guard = Guard(**given)
    [(outer, read)] = complete(run(guard, [(wire, False)], "stop"))
    assert (outer, json.loads(read)) == ("write_note", arguments)
    for place in places(len(wire), name):
        for end in ("length", "aborted"):
            calls = calls_of(run(guard, [(wire[:place], False)], end))
            assert {call["name"] for call in calls} <= {"write_note"}, (place, end)


def test_some_wires_are_quoted_and_a_broken_law_is_seen() -> None:
    start = ("call_start", 0, "1", "f")
    twice = [start, ("call_arguments", 0, '{"a": 1, "a": 2}'), ("call_end", 0, "complete")]
    with pytest.raises(AssertionError):
        complete(twice)
    case = ALL["tools/hermes:hermes/single"]
    assert complete(run(Guard(**settings(case)), wire_of(case), "stop"))
    arguments = {"title": "see", "text": case["wire"]}
    given = {"profile": settings(case)["profile"], "tools": OUTER}
    assert encode([{"name": "write_note", "arguments": arguments}], **given)
