"""Tool parser and reasoning parser of vLLM.

A vLLM that composes no parser of its own (`vllm_unified`), or has another parser beside one of these,
reads an answer in two passes: the reasoning parser first, then the tool parser, which gets the rest.
The reasoning parser therefore leaves calls as they are written. In a stream it hands over at the
first text that is not reasoning; reasoning between calls is then read by the tool parser.

Streams come with token ids, and are read by them. Whole answers come without.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.reasoning.abs_reasoning_parsers import ReasoningParser
from vllm.sampling_params import StructuredOutputsParams
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from .. import _native
from ._calls import StreamedArguments
from ._families import (
    Decoder,
    class_of,
    format_of,
    is_forced,
    joined,
    marker_tokens,
    reads_calls,
    request_of,
    settings_of,
    without_reasoning,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .._events import Event
    from .._native import CallStart, Guard, ReasoningSplitter
    from ._families import Piece

# Tokens before the last ones that may hold the beginning of a tag.
_TAG_TOKENS = 32


def _model_of(tokenizer: Any) -> str | None:
    return getattr(tokenizer, "name_or_path", None)


def request_fields(request: Any) -> dict[str, Any]:
    """Return the fields of a request that concern calls."""
    tools = getattr(request, "tools", None) or []
    choice = getattr(request, "tool_choice", None)
    return request_of(tools, choice, parallel=getattr(request, "parallel_tool_calls", None))


def _with_special_tokens(request: Any, guard: Guard) -> None:
    """Keep the markers that are special tokens in the text, as the model wrote them."""
    if not guard.needs_special_tokens:
        return
    if hasattr(request, "skip_special_tokens"):
        request.skip_special_tokens = False
    if hasattr(request, "spaces_between_special_tokens"):
        request.spaces_between_special_tokens = False


def is_constrained(request: Any) -> bool:
    """Return whether a grammar of this package holds the whole answer.

    A grammar allows any tokens that spell a marker, so that such an answer is read by its text. Its
    free text has no markers.
    """
    return bool(getattr(request, "_grammar_from_parser", False))


def _begins_at_once(request: Any) -> bool:
    """Return whether the server applies a parser's grammar from the first token.

    Such a grammar has the thought in it. An earlier server begins after the thought.
    """
    return hasattr(request, "_grammar_from_parser")


def _hold(request: Any, tag: Any) -> None:
    """Hold the answer to a grammar, in place of the form that the request sets."""
    request.structured_outputs = StructuredOutputsParams(structural_tag=json.dumps(tag))
    if _begins_at_once(request):
        request._grammar_from_parser = True
    if isinstance(request, ChatCompletionRequest):
        request.response_format = None
    else:
        request.text = None


class GuardToolParser(ToolParser):
    """Reads tool calls with the guard of the model's family."""

    family: str | None = None
    """The family, if the parser's name says it."""
    # Required and named calls are read in the family's own syntax.
    supports_required_and_named = False
    # A text is read once, and `finish_streaming` is called at its end.
    engine_based_streaming = True
    # Set by the server where no reasoning parser is in use: reasoning is then content.
    skip_reasoning_parsing = False

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        """Find the family."""
        super().__init__(tokenizer, tools)
        self.settings = settings_of(self.family, [_model_of(tokenizer)])
        if not reads_calls(self.settings):
            message = f"the family {self.family!r} has no tool calls"
            raise ValueError(message)
        self._markers = marker_tokens(tokenizer, self.settings)
        self._arguments = StreamedArguments()
        self._stream: Guard | None = None
        self._by_ids = False

    def _guard(self, request: Any, *, by_ids: bool = False) -> Guard:
        settings = self.settings
        if self.skip_reasoning_parsing:
            settings = without_reasoning(settings)
        settings = {**settings, "start": "content", "request": request_fields(request)}
        return _native.Guard(**settings, **(self._markers.settings if by_ids else {}))

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens, and constrain the calls that the request requires."""
        if not request.tools or request.tool_choice == "none":
            return request
        _with_special_tokens(request, self._guard(request))
        if is_forced(request.tool_choice) and request.structured_outputs is None:
            self._constrain(request)
        return request

    def _constrain(self, request: Any) -> None:
        """Allow only calls in the family's syntax, if a grammar can express them."""
        asked = request_fields(request)
        arguments = getattr(request, "chat_template_kwargs", None)
        settings: dict[str, Any] = {
            **self.settings,
            "request": {**asked, "chat_template_kwargs": arguments or {}},
        }
        if not _begins_at_once(request):
            settings["start"] = "content"
        try:
            tag = _native.grammar("structural_tag", **settings)[0]
        except _native.SettingsError:
            return
        _hold(request, tag)

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:
        """Parse a whole answer."""
        message = self._guard(request).parse(model_output)
        calls = [
            ToolCall(id=call.id, function=FunctionCall(name=call.name, arguments=call.arguments))
            for call in message.calls
            if call.runs
        ]
        self.prev_tool_call_arr = [
            {"name": call.function.name, "arguments": call.function.arguments} for call in calls
        ]
        # Families that write in messages have reasoning that no setting turns off.
        content = message.reasoning + message.content
        return ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=content or None
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,  # noqa: ARG002
        current_text: str,  # noqa: ARG002
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002
        current_token_ids: Sequence[int],  # noqa: ARG002
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> DeltaMessage | None:
        """Parse the next text of a stream."""
        if self._stream is None:
            by_ids = bool(self._markers and delta_token_ids)
            self._by_ids = by_ids and not is_constrained(request)
            self._stream = self._guard(request, by_ids=self._by_ids)
        ids = list(delta_token_ids) if self._by_ids else None
        return self.delta_of(self._stream.push(delta_text, ids))

    def finish_streaming(self) -> DeltaMessage | None:
        """Parse the held text at the end of the stream."""
        if self._stream is None:
            return None
        guard, self._stream = self._stream, None
        return self.delta_of(guard.finish())

    def delta_of(self, events: Iterable[Event]) -> DeltaMessage | None:
        """Return a delta of events, and note its calls for the server."""
        content: list[str] = []
        reasoning: list[str] = []
        calls: list[DeltaToolCall] = []
        for event in events:
            match event.kind:
                case "content":
                    content.append(event.text)
                case "reasoning":
                    (content if self.skip_reasoning_parsing else reasoning).append(event.text)
                case "call_start":
                    self._arguments.text_of(event)
                    calls.append(self._started(event))
                case "call_arguments" | "call_end":
                    self._grow(calls, event.index, self._arguments.text_of(event))
        fields: dict[str, Any] = {
            "content": joined(content),
            "reasoning": joined(reasoning),
            "tool_calls": calls,
        }
        fields = {name: value for name, value in fields.items() if value}
        return DeltaMessage(**fields) if fields else None

    def _started(self, event: CallStart) -> DeltaToolCall:
        """Record the start of a call in the server's notes."""
        self.current_tool_id = event.index
        self.current_tool_name_sent = True
        self.prev_tool_call_arr.append({"name": event.name, "arguments": ""})
        self.streamed_args_for_tool.append("")
        function = DeltaFunctionCall(name=event.name, arguments="")
        return DeltaToolCall(id=event.id, type="function", index=event.index, function=function)

    def _grow(self, calls: list[DeltaToolCall], index: int, text: str) -> None:
        """Add arguments to the call's delta, and to the server's notes."""
        if not text:
            return
        self.prev_tool_call_arr[index]["arguments"] += text
        self.streamed_args_for_tool[index] += text
        if calls and calls[-1].index == index:
            calls[-1].function.arguments += text
            return
        function = DeltaFunctionCall(arguments=text)
        calls.append(DeltaToolCall(index=index, function=function))


class GuardReasoningParser(ReasoningParser):
    """Reads reasoning with the guard of the model's family."""

    family: str | None = None
    """The family, if the parser's name says it."""
    engine_based_streaming = True
    by_text = False
    """Whether the answer is read by its text, without the ids of its tokens."""

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        """Find the family, and where the chat template ends."""
        super().__init__(tokenizer, *args, **kwargs)
        model = getattr(kwargs.get("model_config"), "model", None)
        self.settings = settings_of(self.family, [model, _model_of(tokenizer)])
        if arguments := kwargs.get("chat_template_kwargs"):
            self.settings["request"] = {"chat_template_kwargs": arguments}
        self._tags = _native.reasoning_tags(**self.settings)
        self._decode = Decoder(tokenizer)
        self._markers = marker_tokens(tokenizer, self.settings)
        self._stream: ReasoningSplitter | None = None
        self._by_ids = False
        self._ended = False
        # The text that `is_reasoning_end` was last asked about, and its number of tokens: the
        # prompt, where a structured output waits for the reasoning.
        self._asked: tuple[str, int] | None = None

    def _splitter(self, *, by_ids: bool = False, **more: Any) -> ReasoningSplitter:
        settings: dict[str, Any] = {**self.settings, **more}
        if by_ids:
            settings.update(self._markers.settings)
        return _native.ReasoningSplitter(**settings)

    def adjust_request(self, request: Any) -> Any:
        """Keep markers that are special tokens in the text.

        Hold an answer whose form the request sets to a thought and that form.
        """
        _with_special_tokens(request, _native.Guard(**self.settings))
        if _begins_at_once(request) and (form := format_of(request)):
            asked = {**request_fields(request), **form}
            switches = self.settings.get("request") or {}
            tag = _native.answer_format(**{**self.settings, "request": {**asked, **switches}})
            if tag is not None:
                _hold(request, tag)
        return request

    @property
    def reasoning_start_str(self) -> str | None:
        """The tag before reasoning."""
        return self._tags[0]

    @property
    def reasoning_end_str(self) -> str | None:
        """The tag after reasoning."""
        return self._tags[1]

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Set the prompt, whose end decides where the answer begins."""
        self.settings["prompt"] = self._decode.last(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Return whether the tokens close reasoning: no reasoning follows a prompt that does."""
        text = self._decode.last(input_ids)
        self._asked = text, len(input_ids)
        return _native.reasoning_after(text, **self.settings) is False

    def is_reasoning_end_streaming(
        self, input_ids: Sequence[int], delta_ids: Iterable[int]
    ) -> bool:
        """Return whether the last tokens end reasoning, by its closer or by a call.

        Text that does not open reasoning after a prompt that did not either ends it too.
        """
        if self._asked is not None:
            prompt, length = self._asked
            output = list(input_ids)[length:]
            opened = _native.reasoning_after(prompt, **self.settings)
            if opened is None and len(output) <= _TAG_TOKENS:
                splitter = self._splitter(prompt=prompt, by_ids=True)
                rest = splitter.push_lead(self._decode(output), output)[1]
                return bool(rest) or splitter.thinking is False
        count = _TAG_TOKENS + len(list(delta_ids))
        splitter = self._splitter(start="reasoning", prompt=None, by_ids=True)
        last = list(input_ids)[-count:]
        splitter.push(self._decode(last), last)
        return splitter.thinking is False

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Return whether the stream has left the reasoning."""
        return self._ended

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """Return the tokens after the reasoning."""
        splitter = self._splitter(start="reasoning", prompt=None, by_ids=True)
        for at, piece in enumerate(self._decode.pieces(input_ids)):
            if splitter.push_lead(piece, [input_ids[at]])[1]:
                return input_ids[at:]
        return []

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        """Return the number of tokens that are reasoning."""
        settings = dict(self.settings)
        if not self.by_text:
            settings.update(self._markers.settings)
        roles = _native.token_roles(self._decode.pieces(token_ids), "stop", **settings)
        return roles.count("reasoning")

    def extract_reasoning(
        self,
        model_output: str,
        request: Any,
    ) -> tuple[str | None, str | None]:
        """Split a whole answer into reasoning and the rest."""
        return self.split(model_output, request, None)

    def split(
        self, text: str, request: Any, pieces: list[Piece] | None
    ) -> tuple[str | None, str | None]:
        """Split a whole answer into reasoning and the rest, by pieces with ids if there are any."""
        asked = request_fields(request)
        tools = [] if asked.get("tool_choice") == "none" else asked["tools"]
        splitter = self._splitter(tools=tools or None, by_ids=pieces is not None)
        splitter.keep_markup = bool(tools)
        parts = [splitter.push(*piece) for piece in pieces or [(text, None)]]
        parts.append(splitter.finish())
        return joined(part[0] for part in parts), joined(part[1] for part in parts)

    def extract_reasoning_streaming(
        self,
        previous_text: str,  # noqa: ARG002
        current_text: str,  # noqa: ARG002
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002
        current_token_ids: Sequence[int],  # noqa: ARG002
        delta_token_ids: Sequence[int],
    ) -> DeltaMessage | None:
        """Read the next text of the reasoning that leads the answer."""
        if self._ended:
            return DeltaMessage(content=delta_text) if delta_text else None
        if self._stream is None:
            self._by_ids = bool(self._markers and delta_token_ids)
            self._stream = self._splitter(by_ids=self._by_ids)
        ids = list(delta_token_ids) if self._by_ids else None
        return self._delta(*self._stream.push_lead(delta_text, ids))

    def finish_streaming(self) -> DeltaMessage | None:
        """Read the text that was held, at the end of a stream that never left the reasoning."""
        if self._ended or self._stream is None:
            return None
        return self._delta(*self._stream.finish_lead("stop"))

    def _delta(self, reasoning: str, rest: str) -> DeltaMessage | None:
        self._ended = self._ended or bool(rest)
        fields = {"reasoning": reasoning, "content": rest}
        fields = {name: text for name, text in fields.items() if text}
        return DeltaMessage(**fields) if fields else None


def __getattr__(name: str) -> type[Any]:
    """Return the class of a family."""
    bases = {base.__name__: base for base in (GuardToolParser, GuardReasoningParser)}
    return class_of(name, bases, __name__)
