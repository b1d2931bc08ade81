"""Events, and the message that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ._native import CallArguments, CallEnd, CallStart, Content, Notice, Reasoning
from ._types import Call, Diagnostic, Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._types import Finish, Open, Outcome

Event: TypeAlias = Content | Reasoning | CallStart | CallArguments | CallEnd | Notice
"""An event of a message. `event.kind` tells the classes apart, and `isinstance` does."""


class Collector:
    """Collects the events of a message while they arrive.

    >>> from toolcall_parsers import guard_text
    >>> collector = Collector()
    >>> for event in guard_text(["<think>hm</think>", "Hi."], family="qwen3"):
    ...     collector.add(event)
    >>> collector.message().content, collector.message().reasoning
    ('Hi.', 'hm')
    """

    def __init__(self) -> None:
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, _OpenCall] = {}
        self._diagnostics: list[Diagnostic] = []

    def add(self, event: Event) -> None:
        """Add the next event."""
        if isinstance(event, Content):
            self._content.append(event.text)
        elif isinstance(event, Reasoning):
            self._reasoning.append(event.text)
        elif isinstance(event, CallStart):
            self._calls[event.index] = _OpenCall(event)
        elif isinstance(event, CallArguments):
            self._open(event.index).arguments.append(event.fragment)
        elif isinstance(event, CallEnd):
            self._open(event.index).outcome = event.outcome
        elif isinstance(event, Notice):
            self._diagnostics.append(event.diagnostic)
        else:
            raise TypeError(f"expected an event, found `{type(event).__name__}`")

    def _open(self, index: int) -> _OpenCall:
        if index not in self._calls:
            raise ValueError(f"the events have no start of call {index}")
        return self._calls[index]

    def message(self, *, finish: Finish = "stop", open: Open | None = None) -> Message:  # noqa: A002
        """Return the message so far. Calls that have not ended are incomplete.

        `open` is what the guard reports after its end, `Guard.open`.
        """
        return Message(
            content="".join(self._content),
            reasoning="".join(self._reasoning),
            calls=[call.call() for call in self._calls.values()],
            diagnostics=list(self._diagnostics),
            finish=finish,
            open=open or "none",
        )


class _OpenCall:
    """A call whose arguments arrive."""

    def __init__(self, start: CallStart) -> None:
        self.start = start
        self.arguments: list[str] = []
        self.outcome: Outcome = "incomplete"

    def call(self) -> Call:
        return Call(self.start.id, self.start.name, "".join(self.arguments), self.outcome)


def collect(
    events: Iterable[Event],
    *,
    finish: Finish = "stop",
    open: Open | None = None,  # noqa: A002
) -> Message:
    """Return the message of all events.

    >>> from toolcall_parsers import guard_text
    >>> collect(guard_text("<think>hm</think>Hi.", family="qwen3")).content
    'Hi.'
    """
    collector = Collector()
    for event in events:
        collector.add(event)
    return collector.message(finish=finish, open=open)
