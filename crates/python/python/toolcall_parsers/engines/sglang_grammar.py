"""The grammar of calls that a request to SGLang requires, from the first token.

SGLang applies a grammar after the tag that ends reasoning, so that a model that does not think, or
begins with a word, is never constrained. Here the grammar allows a thought before the calls, if the
prompt leaves room for one, and is applied from the first token.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sglang.srt.function_call.function_call_parser import FunctionCallParser

from ._families import Decoder, is_forced
from .sglang_detectors import GuardDetector, structural_tag_of

if TYPE_CHECKING:
    from collections.abc import Callable


def convert_with_grammar(
    convert: Callable[..., tuple[Any, Any]], server: Any, request: Any, *args: Any, **kwargs: Any
) -> tuple[Any, Any]:
    """Convert a request as the server does, and give forced calls a grammar with the thought."""
    adapted, request = convert(server, request, *args, **kwargs)
    params = adapted.sampling_params or {}
    detector = FunctionCallParser.ToolCallParserEnum.get(server.tool_call_parser)
    own = isinstance(detector, type) and issubclass(detector, GuardDetector)
    waits = adapted.require_reasoning and params.get("structural_tag")
    if own and waits and is_forced(request.tool_choice):
        tokenizer = server.tokenizer_manager.tokenizer
        tag = structural_tag_of(
            detector(tokenizer).own_settings, request, _prompt(adapted, tokenizer)
        )
        if tag is not None:
            _apply(params, tag)
    return adapted, request


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
    params["structural_tag"] = json.dumps(tag.model_dump(by_alias=True))
    set_request_reasoning_in_grammar(params, True)
