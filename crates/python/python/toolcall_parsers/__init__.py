"""Turns the raw text of open-weight models into typed events: content, reasoning, tool calls.

>>> from toolcall_parsers import Guard
>>> guard = Guard(model="Qwen/Qwen3-8B")
>>> events = guard.push("<think>look it up</thi")
>>> events += guard.push('nk><tool_call>{"name": "find", "arguments": {}}</tool_call>')
>>> events += guard.finish()
>>> [event.kind for event in events]
['reasoning', 'call_start', 'call_arguments', 'call_end']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._batch import count_batch, message_type, parse_batch
from ._events import Collector, Event, collect
from ._families import derive, detect, encode, family_of, identify
from ._grammars import grammar
from ._native import (
    CallArguments,
    CallEnd,
    CallStart,
    ChatGuard,
    Content,
    EncodeError,
    Guard,
    Notice,
    Reasoning,
    RowError,
    SettingsError,
    SseGuard,
    StreamError,
    Vocabulary,
    __version__,
    families,
    profile,
)
from ._recordings import explain
from ._requests import forward_request, guarded
from ._streams import guard_chunks, guard_sse, guard_text
from ._types import Call, Candidate, Detection, Diagnostic, Identification, Message, OpenAIMessage

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._native import End
    from ._settings import Settings

__all__ = [
    "Call",
    "CallArguments",
    "CallEnd",
    "CallStart",
    "Candidate",
    "ChatGuard",
    "Collector",
    "Content",
    "Detection",
    "Diagnostic",
    "EncodeError",
    "Event",
    "Guard",
    "Identification",
    "Message",
    "Notice",
    "OpenAIMessage",
    "Reasoning",
    "RowError",
    "SettingsError",
    "SseGuard",
    "StreamError",
    "Vocabulary",
    "__version__",
    "collect",
    "count_batch",
    "derive",
    "detect",
    "encode",
    "explain",
    "families",
    "family_of",
    "forward_request",
    "grammar",
    "guard_chunks",
    "guard_sse",
    "guard_text",
    "guarded",
    "identify",
    "message_type",
    "parse",
    "parse_batch",
    "profile",
]


def parse(text: str, *, end: End = "stop", **settings: Unpack[Settings]) -> Message:
    """Parse the whole text of a message.

    `end` is how generation ended: `stop`, `length` if a limit cut it, or `aborted`. For many texts
    with the same settings, make a `Guard` once and call `Guard.parse`.

    >>> text = '<tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>'
    >>> [(call.name, call.arguments) for call in parse(text, family="hermes").calls]
    [('ring', '{"times": 2}')]
    """
    return Guard(**settings).parse(text, end=end)
