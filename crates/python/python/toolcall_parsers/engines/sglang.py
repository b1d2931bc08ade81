"""Registers the detectors of this package with SGLang, in every process of the engine."""

from __future__ import annotations

from typing import Any

from ._families import names

# The method of the server that converts a request, if it is there.
_CONVERT = (
    "sglang.srt.entrypoints.openai.serving_chat.OpenAIServingChat._convert_to_internal_request"
)


def register() -> None:
    """Register `guard` and `guard_<family>` as tool-call parsers and as reasoning parsers."""
    from sglang.srt.function_call.function_call_parser import FunctionCallParser
    from sglang.srt.parser.reasoning_parser import ReasoningParser

    from . import sglang_detectors as detectors

    for name, family in names():
        suffix = "" if family is None else f"__{family}"
        calls = getattr(detectors, f"GuardDetector{suffix}")
        FunctionCallParser.ToolCallParserEnum[name] = calls
        reasoning = getattr(detectors, f"GuardReasoningDetector{suffix}")
        # The engine looks reasoning parsers up by their names in lower case.
        ReasoningParser.DetectorMap[name.lower()] = reasoning
    _hook()


def _hook() -> None:
    """Let the engine's registry of hooks wrap the conversion of requests."""
    try:
        from sglang.srt.plugins.hook_registry import HookRegistry, HookType
    except ImportError:
        return

    def convert(theirs: Any, *args: Any, **kwargs: Any) -> Any:
        from .sglang_grammar import convert_with_grammar

        return convert_with_grammar(theirs, *args, **kwargs)

    HookRegistry.register(_CONVERT, convert, HookType.AROUND)
