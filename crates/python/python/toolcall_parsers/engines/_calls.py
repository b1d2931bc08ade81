"""Arguments of the calls that an engine streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._native import SealedArguments
from .._types import OUTCOMES_THAT_RUN

if TYPE_CHECKING:
    from .._native import CallArguments, CallEnd, CallStart


class StreamedArguments:
    """The arguments of a stream's calls, of which a client can only parse those that may run.

    An engine ends a stream with `tool_calls` once a call has begun in it, and clients complete JSON
    that was cut. The last bracket of arguments is therefore sent at the end of their call, and those
    of a malformed call or one that was cut end with text that no reader of JSON accepts.
    """

    def __init__(self) -> None:
        """Begin without calls."""
        self._open: dict[int, SealedArguments] = {}

    def text_of(self, event: CallStart | CallArguments | CallEnd) -> str:
        """Return the text of arguments to send for an event of a call."""
        match event.kind:
            case "call_start":
                self._open[event.index] = SealedArguments()
                return ""
            case "call_arguments":
                return self._open[event.index].push(event.fragment)
            case _:
                return self._open.pop(event.index).end(event.outcome in OUTCOMES_THAT_RUN)
