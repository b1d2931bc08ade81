"""Time per event of the guard, and of a parser made of regular expressions.

`python bench/events.py` prints a table. The cost of the border is the time that Python adds to an
event over Rust: the difference between pushing pieces one by one and parsing the same text in Rust
alone (`parse_batch`), divided by the number of events.
"""

# ruff: noqa: T201 - a script prints

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from toolcall_parsers import Guard, parse_batch

if TYPE_CHECKING:
    from collections.abc import Callable

THOUGHT = "The user asks for the tide in Brest. I look it up first. " * 8
ANSWER = "The tide in Brest turns at six in the evening; cast off before that. " * 8
CALL = (
    '<tool_call>\n{"name": "lookup_tide", "arguments": {"port": "Brest", "day": 3}}\n</tool_call>'
)
WIRE = f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}\n{CALL}\n{CALL}"

# Characters in a token, about.
PIECE = 4
MESSAGES = 2000

TOOL_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>|<tool_call>(.*)", re.DOTALL)
THINK = re.compile(r"<think>(.*?)</think>|<think>(.*)", re.DOTALL)


class RegexParser:
    """A streaming parser as many engines have it: it searches the text so far after each piece."""

    def __init__(self) -> None:
        self.text = ""
        self.sent = 0
        self.calls = 0

    def push(self, piece: str) -> list[dict[str, Any]]:
        """Feed a piece."""
        self.text += piece
        events: list[dict[str, Any]] = []
        think = THINK.search(self.text)
        rest = self.text[think.end() :] if think else self.text
        if think and think.group(1) is None:
            return [{"kind": "reasoning", "text": piece}]
        for number, call in enumerate(TOOL_CALL.finditer(rest)):
            if number >= self.calls and call.group(1):
                self.calls += 1
                events.append({"kind": "call", "call": json.loads(call.group(1))})
        visible = TOOL_CALL.sub("", rest)
        if not visible.endswith(("<", "<t", "<to", "<tool")) and len(visible) > self.sent:
            events.append({"kind": "content", "text": visible[self.sent :]})
            self.sent = len(visible)
        return events


def regex_whole(text: str) -> tuple[str, str, list[Any]]:
    """Parse a whole text."""
    think = THINK.search(text)
    reasoning = (think.group(1) or think.group(2) or "").strip() if think else ""
    rest = text[think.end() :] if think else text
    calls = [json.loads(call.group(1)) for call in TOOL_CALL.finditer(rest) if call.group(1)]
    return reasoning, TOOL_CALL.sub("", rest).strip(), calls


def best_of(count: int, work: Callable[[], object]) -> float:
    """Return the shortest time of several runs, in seconds of the processor."""
    times = []
    for _ in range(count):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print the table."""
    pieces = [WIRE[at : at + PIECE] for at in range(0, len(WIRE), PIECE)]
    guard = Guard(family="qwen3")
    rounds = 200

    def stream() -> int:
        events = 0
        for piece in pieces:
            events += len(guard.push(piece))
        events += len(guard.finish())
        guard.reset()
        return events

    def regex_stream() -> int:
        parser = RegexParser()
        return sum(len(parser.push(piece)) for piece in pieces)

    events = stream()
    column = pa.array([WIRE] * MESSAGES)
    texts = column.to_pylist()
    stream_time = best_of(5, lambda: [stream() for _ in range(rounds)]) / rounds
    regex_time = best_of(3, lambda: [regex_stream() for _ in range(5)]) / 5
    batch_time = best_of(3, lambda: parse_batch(column, family="qwen3")) / MESSAGES
    whole_time = best_of(3, lambda: [guard.parse(text) for text in texts]) / MESSAGES
    regex_whole_time = best_of(3, lambda: [regex_whole(text) for text in texts]) / MESSAGES
    border = (stream_time - batch_time) / events
    size = len(WIRE.encode())
    print(
        f"{size} bytes a message, {len(pieces)} pieces, {events} events, {sys.version.split()[0]}"
    )
    rows = [
        ("stream, Guard", stream_time),
        ("stream, regular expressions", regex_time),
        ("whole, parse_batch", batch_time),
        ("whole, Guard.parse", whole_time),
        ("whole, regular expressions", regex_whole_time),
    ]
    for name, seconds in rows:
        print(f"{name:32} {seconds * 1e6:10.1f} us a message {size / seconds / 1e6:8.1f} MB/s")
    print(f"{'the border':32} {border * 1e6:10.3f} us an event")


if __name__ == "__main__":
    main()
