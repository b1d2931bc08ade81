"""Detectors of tool calls and of reasoning for SGLang.

SGLang gives all text to the reasoning detector, and what that one returns as normal text to the
detector of calls. The reasoning detector therefore leaves calls as they are written.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.parser.reasoning_parser import BaseReasoningFormatDetector
from sglang.srt.parser.reasoning_parser import StreamingParseResult as ReasoningParseResult

from .. import _native
from ._calls import StreamedArguments
from ._families import (
    class_of,
    format_of,
    is_forced,
    reads_calls,
    request_of,
    settings_of,
    without_reasoning,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._events import Event
    from .._native import Guard, ReasoningSplitter


# A conversation that every template renders.
_QUESTION = [{"role": "user", "content": "hi"}]


def settings_in_engine(family: str | None, tokenizer: Any) -> dict[str, Any]:
    """Return the settings of a family, or of the engine's model."""
    models = [getattr(tokenizer, "name_or_path", None)]
    if family is None and models[0] is None:
        from sglang.srt.runtime_context import get_server_args

        models.append(getattr(get_server_args(), "model_path", None))
    return settings_of(family, models)


def structural_tag_of(settings: dict[str, Any], request: Any, prompt: str) -> Any:
    """Return the grammar of the calls that a request requires, or of the form that it sets.

    The prompt decides whether there may be a thought before them. `None` if no grammar is needed, or
    none can express the calls.
    """
    choice = request.tool_choice
    body = request_of(request.tools or [], choice, parallel=request.parallel_tool_calls)
    body["chat_template_kwargs"] = request.chat_template_kwargs or {}
    if is_forced(choice):
        return _written({**settings, "request": body, "prompt": prompt})
    body.update(format_of(request))
    return _in_form(_native.answer_format(**{**settings, "request": body, "prompt": prompt}))


def _written(settings: dict[str, Any]) -> Any:
    """Return the grammar of settings in the engine's form, if one can express the calls."""
    try:
        tag = _native.grammar("structural_tag", **settings)[0]
    except _native.SettingsError:
        return None
    return _in_form(tag)


def _in_form(tag: dict[str, Any] | None) -> Any:
    """Return a structural tag as the engine's object."""
    from xgrammar import StructuralTag

    return None if tag is None else StructuralTag.from_json(json.dumps(tag))


@lru_cache(maxsize=64)
def _opens_reasoning(tokenizer: Any, named: str) -> bool:
    """Return whether a prompt of the tokenizer's template can end inside reasoning.

    A template that cannot be rendered counts as one that can.
    """
    settings = json.loads(named)
    for switches in ({}, {"enable_thinking": True, "thinking": True}):
        try:
            prompt = tokenizer.apply_chat_template(
                _QUESTION, tokenize=False, add_generation_prompt=True, **switches
            )
            # A prompt that neither opens nor closes reasoning gives `None`.
            if _native.reasoning_after(prompt, **settings):
                return True
        except Exception:
            return True
    return False


class GuardDetector(BaseFormatDetector):
    """Reads tool calls with the guard of the model's family."""

    family: str | None = None
    """The family, if the parser's name says it."""

    def __init__(self, tokenizer: Any = None) -> None:
        """Find the family."""
        super().__init__()
        self.own_settings = settings_in_engine(self.family, tokenizer)
        self._settings = without_reasoning(self.own_settings)
        if not reads_calls(self._settings):
            message = f"the family {self.family!r} has no tool calls"
            raise ValueError(message)
        self._choice: Any = None
        self._arguments = StreamedArguments()
        self._stream: Guard | None = None

    def _guard(self, tools: Iterable[Any]) -> Guard:
        request = request_of(tools, self._choice)
        return _native.Guard(**{**self._settings, "request": request, "start": "content"})

    def get_required_tool_parser(self, tool_choice: Any) -> None:
        """Note the request's choice. This detector reads required and named calls."""
        self._choice = tool_choice

    def has_tool_call(self, text: str) -> bool:
        """Return whether the text has markup of calls. The server returns other text unchanged."""
        message = _native.Guard(**{**self._settings, "start": "content"}).parse(text)
        return bool(message.calls) or message.reasoning + message.content != text

    def detect_and_parse(self, text: str, tools: list[Any]) -> StreamingParseResult:
        """Parse a whole answer."""
        message = self._guard(tools).parse(text)
        places = self._get_tool_indices(tools)
        calls = [
            ToolCallItem(
                tool_index=places.get(call.name, -1), name=call.name, parameters=call.arguments
            )
            for call in message.calls
            if call.runs
        ]
        # Families that write in messages have reasoning that no setting turns off.
        return StreamingParseResult(normal_text=message.reasoning + message.content, calls=calls)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> StreamingParseResult:
        """Parse the next text of a stream."""
        if self._stream is None:
            self._stream = self._guard(tools)
        return self._result(self._stream.push(new_text))

    def finish(self, tools: list[Any]) -> StreamingParseResult:  # noqa: ARG002
        """Parse the held text at the end of the stream."""
        if self._stream is None:
            return StreamingParseResult()
        guard, self._stream = self._stream, None
        return self._result(guard.finish())

    def _result(self, events: Iterable[Event]) -> StreamingParseResult:
        texts: list[str] = []
        calls: list[ToolCallItem] = []
        for event in events:
            match event.kind:
                case "content" | "reasoning":
                    texts.append(event.text)
                case "call_start":
                    self._arguments.text_of(event)
                    self.current_tool_id = event.index
                    self.current_tool_name_sent = True
                    # The server compares these two for arguments that were not sent.
                    self.prev_tool_call_arr.append({"name": event.name, "arguments": ""})
                    self.streamed_args_for_tool.append("")
                    calls.append(
                        ToolCallItem(tool_index=event.index, name=event.name, parameters="")
                    )
                case "call_arguments" | "call_end":
                    self._grow(calls, event.index, self._arguments.text_of(event))
        return StreamingParseResult(normal_text="".join(texts), calls=calls)

    def _grow(self, calls: list[ToolCallItem], index: int, text: str) -> None:
        """Add arguments to the last item, and to the server's notes."""
        if not text:
            return
        self.prev_tool_call_arr[index]["arguments"] += text
        self.streamed_args_for_tool[index] += text
        if calls and calls[-1].tool_index == index:
            calls[-1].parameters += text
        else:
            calls.append(ToolCallItem(tool_index=index, parameters=text))

    def supports_structural_tag(self) -> bool:
        """Return `False`: the engine's own form of structural tags is not used."""
        return False

    def parses_required_natively(self) -> bool:
        """Return `True`: required calls are read in the family's syntax."""
        return True

    def get_structural_tag(
        self,
        tools: Any = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:
        """Return a grammar of the calls that the request requires, if one can express them."""
        if tool_choice == "auto":
            return None
        self.get_required_tool_parser(tool_choice)
        request = request_of(tools or [], self._choice, parallel=parallel_tool_calls)
        start = "reasoning" if thinking_mode else "content"
        return _written({**self._settings, "request": request, "start": start})

    def structure_info(self) -> Any:
        """Raise an error, because calls of many families do not begin with their name."""
        raise NotImplementedError


class GuardReasoningDetector(BaseReasoningFormatDetector):
    """Reads reasoning with the guard of the model's family."""

    family: str | None = None
    """The family, if the parser's name says it."""
    _in_reasoning: bool

    def __init__(
        self,
        tokenizer: Any = None,
        *,
        force_reasoning: bool | None = None,
        tool_call_parser_active: bool = False,
        **options: Any,
    ) -> None:
        """Find the family, and where the answer begins."""
        settings = settings_in_engine(self.family, tokenizer)
        opener, closer = _native.reasoning_tags(**settings)
        super().__init__(
            opener or "<think>",
            closer or "</think>",
            force_reasoning=bool(force_reasoning),
            # The server asks this where the chat template does not decide: the guard finds out.
            **{"reasoning_default": "explicit_enable_thinking", **options},
        )
        # The server also forces reasoning where the template only has a switch for it.
        if force_reasoning and _opens_reasoning(tokenizer, json.dumps(settings, sort_keys=True)):
            settings["start"] = "reasoning"
        elif options.get("continue_final_message"):
            settings["prompt"] = self.previous_content
        self._settings = settings
        self._feeds_detector = tool_call_parser_active
        self._stream: ReasoningSplitter | None = None
        self._kept: list[str] = []

    def _split(self) -> ReasoningSplitter:
        splitter = _native.ReasoningSplitter(**self._settings)
        splitter.keep_markup = self._feeds_detector
        return splitter

    def detect_and_parse(self, text: str) -> ReasoningParseResult:
        """Split a whole answer."""
        splitter = self._split()
        (reasoning, rest), (last, held) = splitter.push(text), splitter.finish()
        result = ReasoningParseResult(normal_text=rest + held, reasoning_text=reasoning + last)
        return self._maybe_apply_force_nonempty_content(result)

    def parse_streaming_increment(self, new_text: str) -> ReasoningParseResult:
        """Split the next text of a stream."""
        if self._stream is None:
            self._stream = self._split()
        return self._result(*self._stream.push(new_text))

    def finish(self) -> ReasoningParseResult:
        """Split the held text at the end of the stream."""
        if self._stream is None:
            return ReasoningParseResult()
        splitter, self._stream = self._stream, None
        result = self._result(*splitter.finish())
        kept, self._kept = "".join(self._kept), []
        if not self._in_reasoning or not kept:
            return result
        if self._force_nonempty_content:
            return ReasoningParseResult(normal_text=kept)
        if self.stream_reasoning:
            return result
        return ReasoningParseResult(normal_text=result.normal_text, reasoning_text=kept)

    def _result(self, reasoning: str, rest: str) -> ReasoningParseResult:
        """Return a result. Without streaming, reasoning is held until the text after it."""
        self._in_reasoning = self._in_reasoning or bool(reasoning)
        if self._force_nonempty_content or not self.stream_reasoning:
            self._kept.append(reasoning)
        if rest:
            if not self.stream_reasoning:
                reasoning = "".join(self._kept)
            self._kept.clear()
            self._in_reasoning = False
        elif not self.stream_reasoning:
            reasoning = ""
        return ReasoningParseResult(normal_text=rest, reasoning_text=reasoning)


def __getattr__(name: str) -> type[Any]:
    """Return the class of a family."""
    bases = {base.__name__: base for base in (GuardDetector, GuardReasoningDetector)}
    return class_of(name, bases, __name__)
