"""Registers the parsers of this package with vLLM, in every process of the engine."""

from __future__ import annotations

from ._families import names

_MODULE = "toolcall_parsers.engines.vllm_parsers"


def register() -> None:
    """Register `guard` and `guard_<family>` as tool parsers and as reasoning parsers.

    Parsers are imported when they are used.
    """
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    for name, family in names():
        suffix = "" if family is None else f"__{family}"
        ToolParserManager.register_lazy_module(name, _MODULE, f"GuardToolParser{suffix}")
        ReasoningParserManager.register_lazy_module(name, _MODULE, f"GuardReasoningParser{suffix}")
