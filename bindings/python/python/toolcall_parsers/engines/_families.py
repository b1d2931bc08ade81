"""Settings of a guard, from an engine's information about its model."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _native
from .._families import identify

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


PREFIX = "guard"
"""The name that finds the family by the model; names of families follow it after `_`."""

# Tokens at the end of a prompt that can tell whether it opens reasoning.
_LAST_TOKENS = 512


def names() -> Iterator[tuple[str, str | None]]:
    """Yield the names to register, each with its family or `None`."""
    yield PREFIX, None
    for family in _native.families(aliases=True):
        # Command lines name parsers, so that names with blanks are left out.
        if " " not in family:
            yield f"{PREFIX}_{family}", family


def class_of(name: str, bases: dict[str, type[Any]], module: str) -> type[Any]:
    """Return the class called `name`: a base with a family's name after `__`.

    An engine asks a module for a class. Hundreds of families have no class of their own before.
    """
    base, _, family = name.partition("__")
    if base not in bases or family not in _native.families(aliases=True):
        message = f"module {module!r} has no attribute {name!r}"
        raise AttributeError(message)
    return type(name, (bases[base],), {"family": family, "__module__": module})


@lru_cache(maxsize=64)
def _named(model: str) -> str | None:
    """Return the JSON text of the settings for a model's id or folder."""
    folder = Path(model)
    if folder.is_dir():
        found = identify(folder)
        if found.profile is not None and found.certainty == "sure":
            return json.dumps({"profile": found.profile})
        model = folder.name
    try:
        _native.profile(model=model)
    except _native.SettingsError:
        return None
    return json.dumps({"model": model})


def settings_of(family: str | None, models: Iterable[str | None]) -> dict[str, Any]:
    """Return settings that name the family of the first known model.

    A model is an id or a folder.
    """
    if family is not None:
        return {"family": family}
    tried = []
    for model in models:
        if not model:
            continue
        found = _named(model)
        if found is not None:
            settings: dict[str, Any] = json.loads(found)
            return settings
        tried.append(model)
    message = (
        f"no family is known for the model {' or '.join(map(repr, tried)) or 'without a name'}; "
        f"name one, as in `{PREFIX}_qwen3`"
    )
    raise ValueError(message)


def without_reasoning(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings that leave the markup of reasoning in the content."""
    profile = _native.profile(**settings)
    if profile.get("response_template") is not None or profile.get("reasoning") is None:
        return settings
    return {"profile": {**profile, "reasoning": None, "start": "content"}}


def reads_calls(settings: dict[str, Any]) -> bool:
    """Return whether the family has tool calls."""
    profile = _native.profile(**settings)
    return profile.get("tools") is not None or profile.get("response_template") is not None


def request_of(
    tools: Iterable[dict[str, Any]], choice: Any = None, *, parallel: bool | None = None
) -> dict[str, Any]:
    """Return a chat-completions request with only the fields that matter for calls.

    Tools and choices of the Responses API are written as those of chat completions.
    """
    request: dict[str, Any] = {
        "tools": [tool if "function" in tool else _nested(tool) for tool in tools]
    }
    if choice is not None:
        named = isinstance(choice, dict) and "name" in choice and "function" not in choice
        request["tool_choice"] = (
            {"type": "function", "function": {"name": choice["name"]}} if named else choice
        )
    if parallel is not None:
        request["parallel_tool_calls"] = parallel
    return request


def _nested(tool: dict[str, Any]) -> dict[str, Any]:
    if tool.get("type") != "function":
        return tool
    function = {name: value for name, value in tool.items() if name not in ("type", "strict")}
    return {"type": "function", "function": function}


def is_forced(choice: Any) -> bool:
    """Return whether a tool choice requires a call."""
    return choice == "required" or (choice is not None and not isinstance(choice, str))


class Decoder:
    """A decoder of tokens with an engine's tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        """Keep the tokenizer."""
        self._tokenizer = tokenizer

    def __call__(self, ids: Iterable[int]) -> str:
        """Return the text of tokens, including special tokens."""
        ids = list(ids)
        if not ids:
            return ""
        try:
            text = self._tokenizer.decode(ids, skip_special_tokens=False)
        except TypeError:
            text = self._tokenizer.decode(ids)
        return str(text)

    def last(self, ids: Iterable[int]) -> str:
        """Return the text of the last tokens of a prompt."""
        return self(list(ids)[-_LAST_TOKENS:])

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Return the text that each token adds. A character belongs to its last token."""
        pieces: list[str] = []
        waiting: list[int] = []
        for token in ids:
            waiting.append(token)
            text = self(waiting)
            # A character has at most four bytes, so a longer wait is for damaged text.
            if text.endswith("\ufffd") and len(waiting) < 4:
                pieces.append("")
            else:
                pieces.append(text)
                waiting.clear()
        return pieces


def joined(texts: Iterable[str]) -> str | None:
    """Return the joined texts, or `None` if the result is empty."""
    return "".join(texts) or None
