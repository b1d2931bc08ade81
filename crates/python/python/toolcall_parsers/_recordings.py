"""Explanations of how a recording was read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import End
    from ._settings import Settings


Recording = str | Iterable[str | tuple[float, str]]
"""A text, or its chunks: each a text, or its time in seconds and its text."""


@overload
def explain(
    recording: Recording,
    *,
    output: Literal["dict"] = "dict",
    end: End = "stop",
    **settings: Unpack[Settings],
) -> dict[str, Any]: ...
@overload
def explain(
    recording: Recording,
    *,
    output: Literal["html"],
    end: End = "stop",
    **settings: Unpack[Settings],
) -> str: ...
def explain(
    recording: Recording,
    *,
    output: Literal["dict", "html"] = "dict",
    end: End = "stop",
    **settings: Unpack[Settings],
) -> dict[str, Any] | str:
    """Return the fate of each part of a recording, and what each chunk did.

    A recording is a text, or its chunks. A chunk is a text, or its time in seconds and its text.
    With `output="html"` the answer is a page that needs no other file.

    >>> report = explain(["Let me see.</thi", "nk>[TOOL_CALLS]f{}"], family="qwen3")
    >>> [finding["kind"] for finding in report["summary"]["findings"]]
    ['wrong_family', 'prompt_opened_reasoning']
    """
    pieces = [recording] if isinstance(recording, str) else recording
    chunks = [_chunk(piece) for piece in pieces]
    if output == "html":
        return _native.explain(chunks, (end, "recording"), **settings)
    return _native.explain(chunks, (end, None), **settings)


def _chunk(piece: str | tuple[float, str]) -> tuple[str, float | None]:
    """Return the text of a chunk, and its time."""
    if isinstance(piece, str):
        return piece, None
    try:
        at, text = piece
    except (TypeError, ValueError):
        kind = type(piece).__name__
        raise TypeError(f"expected a text, or its time and its text, found `{kind}`") from None
    return text, at
