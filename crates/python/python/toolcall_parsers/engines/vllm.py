"""Registers the parsers of this package with vLLM, in every process of the engine."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ._families import names

if TYPE_CHECKING:
    from vllm.parser.abstract_parser import Parser

_MODULE = "toolcall_parsers.engines.vllm_parsers"


def register() -> None:
    """Register `guard` and `guard_<family>` as tool parsers and as reasoning parsers.

    Parsers are imported when they are used. An engine that composes a parser of both composes one
    of this package, which reads an answer once.
    """
    from vllm.reasoning import ReasoningParserManager
    from vllm.tool_parsers import ToolParserManager

    for name, family in names():
        suffix = "" if family is None else f"__{family}"
        ToolParserManager.register_lazy_module(name, _MODULE, f"GuardToolParser{suffix}")
        ReasoningParserManager.register_lazy_module(name, _MODULE, f"GuardReasoningParser{suffix}")
    _compose()


def _compose() -> None:
    """Let the engine's `get_parser` return the parser of this package in place of a pair of them."""
    try:
        from vllm.parser.parser_manager import ParserManager
    except ImportError:
        return
    theirs = getattr(ParserManager.get_parser, "__func__", None)
    if theirs is None or hasattr(theirs, "__wrapped__"):
        return

    @functools.wraps(theirs)
    def get_parser(cls: type, *args: Any, **kwargs: Any) -> type[Parser] | None:
        composed = theirs(cls, *args, **kwargs)
        if composed is None:
            return None
        from .vllm_unified import unified

        return unified(composed)

    ParserManager.get_parser = classmethod(get_parser)
