"""Wires of the project's vectors, and what the guard alone makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance import cases
from engines import Answer
from toolcall_parsers import Guard, SettingsError, families
from toolcall_parsers._native import SealedArguments

if TYPE_CHECKING:
    from collections.abc import Iterator

# Lengths of the pieces of a stream, in characters.
PIECES = [1, 7, 1 << 20]

SPECIAL_BASE = 1 << 21

# Answers whose call must not run: malformed before and after its arguments, and cut.
BROKEN = [
    '<tool_call>\n{"name": "ring", "arguments": {"times": two}}\n</tool_call>',
    '<tool_call>\n{"name": "ring", "arguments": {"times": 2}, two}\n</tool_call>',
    '<tool_call>\n{"name": "ring", "arguments": {"times": 2',
    '<tool_call>\n{"name": "ring", "arguments": {"times": "tw',
]


def answer_of(message: Any, *, streamed: bool) -> Answer:
    """Return the answer of a message that the guard alone parsed.

    A stream has sent the beginning of a call before it shows that the call is cut.
    """
    calls = [(call.name, _sent(call)) for call in message.calls if streamed or call.runs]
    return Answer(message.reasoning, message.content, calls)


def _sent(call: Any) -> str:
    """Return the arguments of a call as a stream sends them."""
    arguments = SealedArguments()
    return arguments.push(call.arguments) + arguments.end(call.runs)


def alike(one: Answer, other: Answer) -> bool:
    """Whether two answers are equal up to white space at the ends of the content."""
    contents = one.content.strip() == other.content.strip()
    return contents and (one.reasoning, one.calls) == (other.reasoning, other.calls)


def wires(
    folder: str, *, tools: list[Any] | None = None, prompt: str | None = None
) -> Iterator[tuple[str, dict[str, Any], Guard]]:
    """Yield cases whose family an engine can name, with the guard of that family.

    `tools` are declared where a case declares none. Without a prompt, the first closer that nothing
    opened ends reasoning that the prompt may have opened.
    """
    known = set(families(aliases=True))
    for name, case in cases(folder):
        # Where a vector asks for another policy, its wire is read with the family's own.
        if "wire" not in case or case["family"] not in known:
            continue
        request = {"tools": case.get("tools") or tools or []}
        try:
            guard = Guard(family=case["family"], request=request, prompt=prompt)
        except SettingsError:
            continue
        yield name, case, guard


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


class Tokenizer:
    """A tokenizer of characters, and of the special tokens it was told."""

    def __init__(self, *special: str, name_or_path: str = "") -> None:
        self.special = list(special)
        self.name_or_path = name_or_path

    def get_vocab(self) -> dict[str, int]:
        return {text: SPECIAL_BASE + at for at, text in enumerate(self.special)}

    get_added_vocab = get_vocab

    def encode(self, text: str, **_: Any) -> list[int]:
        ids = []
        while text:
            found = next((s for s in self.special if text.startswith(s)), text[0])
            ids.append(self.get_vocab().get(found, ord(found[0])))
            text = text[len(found) :]
        return ids

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(
            self.special[one - SPECIAL_BASE] if one >= SPECIAL_BASE else chr(one) for one in ids
        )
