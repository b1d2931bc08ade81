"""Parser of vLLM that reads an answer once, by the ids of its tokens.

vLLM composes one parser of a reasoning parser and a tool parser. Where both are of this package, or
one is and there is no other, the composed parser is `GuardParser`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vllm.entrypoints.generate.base.protocol import FunctionCall
from vllm.parser.abstract_parser import DelegatingParser
from vllm.parser.metrics import record_tool_parser_invocation

from .. import _native
from .._events import collect
from ._families import marker_tokens, without_reasoning
from .vllm_parsers import (
    GuardReasoningParser,
    GuardToolParser,
    is_constrained,
    request_fields,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vllm.entrypoints.generate.base.protocol import DeltaMessage
    from vllm.parser.abstract_parser import Parser

    from .._native import Guard
    from .._types import Message
    from ._families import Piece


def unified(composed: type[Parser]) -> type[Parser]:
    """Return the parser in place of one that the engine composed, or that one."""
    parts = [composed.reasoning_parser_cls, composed.tool_parser_cls]
    given = [part for part in parts if part is not None]
    own = all(issubclass(part, (GuardToolParser, GuardReasoningParser)) for part in given)
    families = {getattr(part, "family", None) for part in given}
    if not issubclass(composed, DelegatingParser) or not own or len(families) != 1:
        return composed
    members = {
        "reasoning_parser_cls": composed.reasoning_parser_cls,
        "tool_parser_cls": composed.tool_parser_cls,
        "tool_strict_level": composed.tool_strict_level,
    }
    return type(GuardParser.__name__, (GuardParser,), members)


class GuardParser(DelegatingParser):
    """Reads reasoning, content and calls in one pass.

    Its parts find the family and change requests. Without a tool parser, the reasoning parser reads
    the answer, because calls then stay in the content.
    """

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        """Find the family, and the tokens that are its markers."""
        super().__init__(tokenizer, *args, **kwargs)
        self._markers = marker_tokens(tokenizer, self._settings)
        self._stream: Guard | None = None
        self._by_ids = False

    @property
    def _settings(self) -> dict[str, Any]:
        """The settings of the part that knows most: the reasoning parser also has the prompt."""
        if self._reasoning_parser is not None:
            settings: dict[str, Any] = self._reasoning_parser.settings
            return settings
        return {**without_reasoning(self._tool_parser.settings), "start": "content"}

    def _guard(self, request: Any, *, by_ids: bool) -> Guard:
        settings = self._settings
        switches = settings.get("request", {})
        settings = {**settings, "request": {**switches, **request_fields(request)}}
        return _native.Guard(**settings, **(self._markers.settings if by_ids else {}))

    def _reads_ids(self, request: Any, ids: Sequence[int]) -> bool:
        """Return whether an answer is read by the ids of its tokens, and note it for the count."""
        by_text = is_constrained(request)
        if self._reasoning_parser is not None:
            self._reasoning_parser.by_text = by_text
        return bool(self._markers and ids) and not by_text

    def parse(
        self,
        model_output: str,
        request: Any,
        enable_auto_tools: bool = False,  # noqa: ARG002
        model_output_token_ids: Sequence[int] = (),
    ) -> tuple[str | None, str | None, list[FunctionCall] | None]:
        """Parse a whole answer."""
        pieces: list[Piece] | None = None
        if self._reads_ids(request, model_output_token_ids):
            pieces = self._markers.divide(model_output, model_output_token_ids)
        if self._tool_parser is None:
            reasoning, content = self._reasoning_parser.split(model_output, request, pieces)
            return reasoning, content, []
        message = self._message(model_output, request, pieces)
        calls = [
            FunctionCall(id=call.id, name=call.name, arguments=call.arguments)
            for call in message.calls
            if call.runs and request.tool_choice != "none"
        ]
        self._count(request, called=bool(calls), streaming=False)
        content = message.content
        if self._reasoning_parser is None:
            content = message.reasoning + content
        content = content if content.strip() or not calls else ""
        reasoning = message.reasoning if self._reasoning_parser is not None else ""
        return reasoning or None, content or None, calls

    def _message(self, text: str, request: Any, pieces: list[Piece] | None) -> Message:
        guard = self._guard(request, by_ids=pieces is not None)
        if pieces is None:
            return guard.parse(text)
        events = [event for piece, ids in pieces for event in guard.push(piece, ids)]
        return collect(events + guard.finish(), open=guard.open)

    def parse_delta(
        self,
        delta_text: str,
        delta_token_ids: list[int],
        request: Any,
        prompt_token_ids: list[int] | None = None,
        *,
        finished: bool,
    ) -> DeltaMessage | None:
        """Parse the next text of a stream."""
        if self._tool_parser is None:
            return super().parse_delta(
                delta_text, delta_token_ids, request, prompt_token_ids, finished=finished
            )
        if self._stream is None:
            if prompt_token_ids is not None:
                self.set_prompt_token_ids(prompt_token_ids)
            self._by_ids = self._reads_ids(request, delta_token_ids)
            self._stream = self._guard(request, by_ids=self._by_ids)
        pieces: list[Piece] = [(delta_text, None)]
        if self._by_ids:
            pieces = self._markers.divide(delta_text, delta_token_ids)
        events = [event for piece in pieces for event in self._stream.push(*piece)]
        if finished:
            events += self._stream.finish()
            self._stream = None
        delta = self._tool_parser.delta_of(events)
        self._count(request, called=bool(delta and delta.tool_calls), streaming=True)
        if delta is None:
            return None
        if request.tool_choice == "none":
            delta.tool_calls = []
        if not request.include_reasoning:
            delta.reasoning = None
        return delta if delta.content or delta.reasoning or delta.tool_calls else None

    def _count(self, request: Any, *, called: bool, streaming: bool) -> None:
        """Count the answer in the engine's metrics."""
        record_tool_parser_invocation(
            is_tool_called=called, is_streaming=streaming, request=request
        )
