"""Registers the detectors of this package with SGLang, in every process of the engine."""

from __future__ import annotations

from ._families import names


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
