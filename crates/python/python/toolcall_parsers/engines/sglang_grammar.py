"""The grammar of the calls or of the form that a request to SGLang requires, from the first token.

SGLang applies a grammar after the tag that ends reasoning, so that a model that does not think, or
begins with a word, is never constrained, and blank lines after the tag are refused. Here the grammar
allows a thought before the calls or the form, if the prompt leaves room for one, and is applied from
the first token.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser

from ._families import Decoder, is_forced
from .sglang_detectors import (
    GuardDetector,
    GuardReasoningDetector,
    settings_in_engine,
    structural_tag_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

# The constraints of a request in the engine, of which one can be set.
_CONSTRAINTS = ("structural_tag", "json_schema", "regex", "ebnf")


def convert_with_grammar(
    convert: Callable[..., tuple[Any, Any]], server: Any, request: Any, *args: Any, **kwargs: Any
) -> tuple[Any, Any]:
    """Convert a request as the server does, and give its constraint the thought."""
    adapted, request = convert(server, request, *args, **kwargs)
    params = adapted.sampling_params or {}
    if adapted.require_reasoning and any(params.get(name) for name in _CONSTRAINTS):
        tokenizer = server.tokenizer_manager.tokenizer
        settings = _settings(server, tokenizer, forced=is_forced(request.tool_choice))
        if settings is not None:
            tag = structural_tag_of(settings, request, _prompt(adapted, tokenizer))
            if tag is not None:
                _apply(params, tag)
    return adapted, request


def _settings(server: Any, tokenizer: Any, *, forced: bool) -> dict[str, Any] | None:
    """Return the settings of this package's parser of calls, or else, of reasoning."""
    calls = FunctionCallParser.ToolCallParserEnum.get(server.tool_call_parser)
    if isinstance(calls, type) and issubclass(calls, GuardDetector):
        return calls(tokenizer).own_settings
    reasoning = ReasoningParser.DetectorMap.get(str(server.reasoning_parser).lower())
    own = isinstance(reasoning, type) and issubclass(reasoning, GuardReasoningDetector)
    return settings_in_engine(reasoning.family, tokenizer) if own and not forced else None


def _prompt(adapted: Any, tokenizer: Any) -> str:
    """Return the end of the prompt, which decides whether there may be a thought."""
    if isinstance(adapted.text, str):
        return adapted.text
    return Decoder(tokenizer).last(adapted.input_ids or [])


def _apply(params: dict[str, Any], tag: Any) -> None:
    """Let the engine apply the grammar from the first token, and count the reasoning in it."""
    try:
        from sglang.srt.sampling.sampling_params import set_request_reasoning_in_grammar
    except ImportError:
        return
    for name in _CONSTRAINTS:
        params.pop(name, None)
    params["structural_tag"] = json.dumps(tag.model_dump(by_alias=True))
    set_request_reasoning_in_grammar(params, True)
