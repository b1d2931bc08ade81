"""Grammars for engines that constrain the output of a model."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import Settings


@overload
def grammar(
    language: Literal["gbnf", "lark", "regex"],
    *,
    choice: str = "required",
    parallel: bool = True,
    **settings: Unpack[Settings],
) -> str: ...
@overload
def grammar(
    language: Literal["structural_tag", "lazy_gbnf"],
    *,
    choice: str = "required",
    parallel: bool = True,
    **settings: Unpack[Settings],
) -> dict[str, Any]: ...
def grammar(
    language: Literal["gbnf", "lark", "regex", "structural_tag", "lazy_gbnf"],
    *,
    choice: str = "required",
    parallel: bool = True,
    **settings: Unpack[Settings],
) -> str | dict[str, Any]:
    r"""Return a grammar of the answers that a model may write, in the language of a target.

    | language | for |
    |---|---|
    | `gbnf` | llama.cpp and `llama-cpp-python` (`LlamaGrammar.from_string`), XGrammar |
    | `structural_tag` | vLLM and SGLang, `xgrammar.Grammar.from_structural_tag` |
    | `lark` | llguidance |
    | `regex` | `outlines-core`, for schemas that are not recursive |
    | `lazy_gbnf` | fields of a request to llama.cpp's server |

    `choice` is `required`, `auto`, `none`, or the name of the only tool; `parallel` is whether there
    may be several calls. A setting `request` that has these fields wins. What a grammar cannot check
    of the tools' schemas is a warning.

    >>> tools = [{"type": "function", "function": {"name": "ring"}}]
    >>> grammar("gbnf", tools=tools, family="hermes").startswith('root ::= "<tool_call>')
    True
    """
    named = choice not in ("required", "auto", "none")
    wanted: Any = {"type": "function", "function": {"name": choice}} if named else choice
    asked = {"tool_choice": wanted, "parallel_tool_calls": parallel}
    given: dict[str, Any] = {**settings, "request": {**asked, **(settings.get("request") or {})}}
    written: str | dict[str, Any]
    written, widened = _native.grammar(language, **given)
    if widened:
        warnings.warn(f"the grammar does not check {', '.join(widened)}", stacklevel=2)
    return written
