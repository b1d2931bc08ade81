"""Vectors of the project: reading, cutting, and comparing as `families/vectors/README.md` says."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import toolcall_parsers
from toolcall_parsers import Guard, SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

VECTORS = Path(__file__).parents[3] / "families" / "vectors"

# Wires up to this length, in bytes, are split at every place.
SPLIT_IN_TWO = 2048
# Wires up to this length, in characters, are split at every pair of places.
SPLIT_IN_THREE = 24
RANDOM_CUTS = 64

# Options that Python has a setting for. The others are settings of the Rust library.
SETTINGS = {"token_suffix", "tool_ends_reasoning", "trim", "drop_ws_before_tools"}

Piece = tuple[str, bool]
Events = list[tuple[Any, ...]]


class NotInPythonError(Exception):
    """The case needs a setting that only the Rust library has."""


def cases(*folders: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the cases of these folders, each with a name."""
    for folder in folders:
        for path in sorted((VECTORS / folder).glob("*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip():
                    case = json.loads(line)
                    yield f"{folder}/{path.stem}:{case['id']}", case


def is_reasoning_format(family: str) -> bool:
    """Whether a reasoning format of that name is registered."""
    try:
        Guard(profile={"name": family, "reasoning": family})
    except SettingsError:
        return False
    return True


def profile_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the profile that the case's kind and family mean."""
    family, kind = case["family"], case["kind"]
    if kind == "tools":
        return {"name": family, "tools": family}
    if kind == "reasoning":
        return {"name": family, "reasoning": family}
    profile = toolcall_parsers.profile(family=family)
    if profile == toolcall_parsers.profile(profile={"name": family, "tools": family}):
        # A tool-call family alone: with the reasoning format of the same name, if there is one.
        profile["reasoning"] = family if is_reasoning_format(family) else None
    # A stream begins in content unless the vector decides otherwise.
    return {**profile, "start": "content", "switch": {}}


def settings_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the guard that runs the case."""
    if "template" in case:
        template = json.dumps(case["template"], ensure_ascii=False)
        return {
            "template": template,
            "prompt": case.get("prefix"),
            "tools": case.get("tools"),
            "ids": "counting",
        }
    profile = profile_of(case)
    whitespace = case.get("whitespace") or "framing"
    suffix = None
    for name, value in (case.get("options") or {}).items():
        if name not in SETTINGS:
            message = f"option `{name}` is a setting of the Rust library"
            raise NotInPythonError(message)
        if name == "token_suffix":
            suffix = value
        elif name == "tool_ends_reasoning":
            ends = profile.get("tool_in_reasoning") == "end"
            if value or ends:
                profile["tool_in_reasoning"] = "end" if value else "literal"
        elif name == "trim":
            whitespace = "reasoning_end" if value == "reasoning_end" else whitespace
        elif value:
            whitespace = "before_calls"
    return {
        "profile": profile,
        "tools": case.get("tools"),
        "start": case.get("start"),
        "whitespace": whitespace,
        "token_suffix": suffix,
        "marker_tokens": case.get("marker_tokens"),
        "ids": "counting",
    }


def wire_of(case: dict[str, Any]) -> list[Piece]:
    """Return the pieces of the case: texts, and whether each is a marker token."""
    if "pieces" in case:
        return [(text, bool(marker)) for text, marker in case["pieces"]]
    return [(case["wire"], False)]


def joined(pieces: Iterable[Piece]) -> list[Piece]:
    """Join neighbouring texts."""
    out: list[Piece] = []
    for text, marker in pieces:
        if out and not marker and not out[-1][1]:
            out[-1] = (out[-1][0] + text, False)
        else:
            out.append((text, marker))
    return out


def split(pieces: list[Piece], places: list[int]) -> list[Piece]:
    """Split texts at these places, counted in characters over all pieces."""
    out: list[Piece] = []
    at = 0
    for text, marker in pieces:
        end = at + len(text)
        inside = [] if marker else [place - at for place in places if at < place < end]
        bounds = [0, *inside, len(text)]
        out += [(text[a:b], marker) for a, b in pairwise(bounds)]
        at = end
    return out


def text_cuts(pieces: list[Piece], seed: str) -> Iterator[list[Piece]]:
    """Yield every cut that falls between characters."""
    whole = joined(pieces)
    length = sum(len(text) for text, _ in whole)
    size = sum(len(text.encode()) for text, _ in whole)
    single = split(whole, list(range(length)))
    yield whole
    yield pieces
    yield single
    yield [piece for one in single for piece in (("", False), one, ("", False))]
    if size <= SPLIT_IN_TWO:
        for place in range(1, length):
            yield split(whole, [place])
    if length <= SPLIT_IN_THREE:
        for first in range(1, length):
            for second in range(first + 1, length):
                yield split(whole, [first, second])
    chance = random.Random(seed)  # noqa: S311
    for _ in range(RANDOM_CUTS):
        count = chance.randint(0, min(length, 12))
        yield split(whole, sorted(chance.sample(range(length), count)))


def byte_cuts(text: str, seed: str) -> Iterator[list[bytes]]:
    """Yield cuts of a text that may fall inside characters."""
    wire = text.encode()
    yield [wire[at : at + 1] for at in range(len(wire))]
    inside = [at for at in range(1, len(wire)) if wire[at] & 0xC0 == 0x80]
    if len(wire) <= SPLIT_IN_TWO:
        for place in inside:
            yield [wire[:place], wire[place:]]
    chance = random.Random(seed)  # noqa: S311
    for _ in range(RANDOM_CUTS // 4):
        count = chance.randint(0, min(len(wire), 12))
        bounds = [0, *sorted(chance.sample(range(len(wire)), count)), len(wire)]
        yield [wire[a:b] for a, b in pairwise(bounds)]


def plain(events: Iterable[Any], out: Events) -> None:
    """Add events as tuples; neighbouring pieces of one text are joined."""
    for event in events:
        kind = event.kind
        if kind in ("content", "reasoning"):
            assert event.text, "no empty event"
            if out and out[-1][0] == kind:
                out[-1] = (kind, out[-1][1] + event.text)
            else:
                out.append((kind, event.text))
        elif kind == "call_arguments":
            assert event.fragment, "no empty event"
            if out and out[-1][:2] == (kind, event.index):
                out[-1] = (kind, event.index, out[-1][2] + event.fragment)
            else:
                out.append((kind, event.index, event.fragment))
        elif kind == "call_start":
            out.append((kind, event.index, event.id, event.name))
        elif kind == "call_end":
            out.append((kind, event.index, event.outcome))
        else:
            # Diagnostics are compared apart: some come at different places of the events.
            continue


def run(guard: Guard, pieces: Iterable[Piece | bytes], end: Any) -> Events:
    """Feed the pieces to the guard, which is as new afterwards."""
    out: Events = []
    for piece in pieces:
        if isinstance(piece, bytes):
            plain(guard.push(piece), out)
        elif piece[1]:
            plain(guard.push_token(piece[0], marker=True), out)
        else:
            plain(guard.push(piece[0]), out)
    plain(guard.finish(end), out)
    guard.reset()
    return out


def calls_of(events: Events) -> list[dict[str, Any]]:
    """Put the calls of the events together."""
    calls: list[dict[str, Any]] = []
    for event in events:
        if event[0] == "call_start":
            assert event[1] == len(calls)
            calls.append({"id": event[2], "name": event[3], "arguments": "", "outcome": None})
        elif event[0] == "call_arguments":
            calls[event[1]]["arguments"] += event[2]
        elif event[0] == "call_end":
            calls[event[1]]["outcome"] = event[2]
    return calls


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal. `true` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def without_blanks(text: str) -> str:
    """Remove whitespace outside strings."""
    out, in_string, escaped = [], False, False
    for char in text:
        blank = not in_string and char in " \t\r\n"
        if escaped:
            escaped = False
        elif char == "\\" and in_string:
            escaped = True
        elif char == '"':
            in_string = not in_string
        if not blank:
            out.append(char)
    return "".join(out)


def so_far(text: str) -> Any:
    """Return the value of JSON text that stops early, once everything open is closed."""
    if not text.strip():
        return {}
    opened: list[str] = []
    safe: tuple[int, list[str]] | None = None
    escapes: list[int] = []
    in_string, skip = False, False
    for at, char in enumerate(text):
        if skip:
            skip = False
        elif in_string:
            if char == "\\":
                escapes.append(at)
                skip = True
            elif char == '"':
                in_string, escapes = False, []
        elif char == '"':
            in_string = True
        elif char in "{[":
            opened.append("}" if char == "{" else "]")
            safe = (at + 1, list(opened))
        elif char in "}]":
            opened.pop()
        elif char == ",":
            safe = (at, list(opened))
    # A cut escape goes first, of a surrogate pair both halves.
    quote = '"' if in_string else ""
    tries = [
        text[:end] + quote + "".join(reversed(opened)) for end in [len(text), *escapes[:-3:-1]]
    ]
    if safe is not None:
        tries.append(text[: safe[0]] + "".join(reversed(safe[1])))
    for one in tries:
        try:
            value = json.loads(one)
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, UnicodeEncodeError):
            continue
        return value
    return None


def is_incomplete(call: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether a call that did not complete is the expected one."""
    if call["name"] != expected["name"]:
        return False
    if expected.get("arguments_prefix") is not None:
        return without_blanks(call["arguments"]) == without_blanks(expected["arguments_prefix"])
    if expected.get("arguments_so_far") is not None:
        return same(so_far(call["arguments"]), expected["arguments_so_far"])
    return True


def judge(case: dict[str, Any], events: Events) -> None:
    """Compare the events with the case's expectation."""
    expect = case["expect"]
    for channel in ("content", "reasoning"):
        text = "".join(event[1] for event in events if event[0] == channel)
        assert text == (expect.get(channel) or ""), channel
    calls = calls_of(events)
    # Calls that run: a repaired one has the arguments that the vector expects.
    whole = [call for call in calls if call["outcome"] in ("complete", "repaired")]
    broken = [call for call in calls if call not in whole]
    wanted = expect.get("calls") or []
    assert [call["name"] for call in whole] == [call["name"] for call in wanted]
    for got, call in zip(whole, wanted, strict=True):
        if call.get("id") is not None:
            assert got["id"] == call["id"]
        value = json.loads(got["arguments"])
        assert same(value, call["arguments"]), (value, call["arguments"])
    if expect.get("incomplete") is not None:
        assert any(is_incomplete(call, expect["incomplete"]) for call in broken), broken
