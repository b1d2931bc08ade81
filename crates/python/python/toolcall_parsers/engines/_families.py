"""Settings of a guard, from an engine's information about its model."""

from __future__ import annotations

import json
from dataclasses import asdict, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

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
    tools: Iterable[Any], choice: Any = None, *, parallel: bool | None = None
) -> dict[str, Any]:
    """Return a chat-completions request with only the fields that matter for calls.

    Tools and choices may be the engine's objects. Those of the Responses API are written as those of
    chat completions.
    """
    given, choice = [_plain(tool) for tool in tools], _plain(choice)
    request: dict[str, Any] = {
        "tools": [tool if "function" in tool else _nested(tool) for tool in given]
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


def format_of(request: Any) -> dict[str, Any]:
    """Return the fields by which a request sets the form of its answer."""
    fields = {name: _plain(getattr(request, name, None)) for name in _native.REQUEST_FORMATS}
    return {name: value for name, value in fields.items() if value is not None}


def _plain(value: Any) -> Any:
    """Return an object of an engine as JSON has it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_none=True, by_alias=True)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: field for name, field in asdict(value).items() if not name.startswith("_")}
    return value


def is_forced(choice: Any) -> bool:
    """Return whether a tool choice requires a call."""
    return choice == "required" or (choice is not None and not isinstance(choice, str))


def marker_tokens(tokenizer: Any, settings: dict[str, Any]) -> MarkerTokens:
    """Return the marker tokens of a tokenizer and the family that settings name."""
    named: dict[str, Any] = {
        name: settings[name] for name in ("model", "family", "profile") if name in settings
    }
    try:
        return _cached(tokenizer, json.dumps(named, sort_keys=True))
    except TypeError:
        # The tokenizer has no hash.
        return MarkerTokens(tokenizer, named)


@lru_cache(maxsize=64)
def _cached(tokenizer: Any, named: str) -> MarkerTokens:
    return MarkerTokens(tokenizer, json.loads(named))


def _used(added: dict[str, int], settings: dict[str, Any]) -> list[str]:
    """Return the added tokens that are markers of the family."""
    try:
        return _native.Guard(**settings, marker_tokens=added).marker_tokens
    except _native.SettingsError:
        # A response template is not read by tokens.
        return []


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


Piece: TypeAlias = "tuple[str, list[int] | None]"
"""A piece of text, with the ids of its tokens if they are known."""


class MarkerTokens:
    """The added tokens of an engine's tokenizer, and those of them that a family uses as markers."""

    def __init__(self, tokenizer: Any, settings: dict[str, Any]) -> None:
        """Find the tokens. `settings` name the family."""
        added: dict[str, int] = getattr(tokenizer, "get_added_vocab", dict)()
        self._texts = {number: text for text, number in added.items()}
        self._decode = Decoder(tokenizer)
        used = _used(added, settings)
        self._used = {added[text] for text in used}
        self.settings: dict[str, Any] = {"marker_tokens": {text: added[text] for text in used}}
        """The setting of a guard that is fed with ids."""

    def __bool__(self) -> bool:
        """Return whether ids tell anything that the text does not."""
        return bool(self._used)

    def divide(self, text: str, ids: Iterable[int]) -> list[Piece]:
        """Divide a text at its added tokens. Return pieces, each with its ids.

        If the texts of the tokens are not those of the text, the result is one piece.
        """
        pieces: list[Piece] = []
        ids, at = list(ids), 0
        if len(ids) < 2 or self._used.isdisjoint(ids):
            return [(text, ids)]
        for part in self._runs(ids):
            piece, rest = self._text_of(part), text[at:]
            if rest.startswith(f" {piece}"):
                # Some tokenizers drop a blank at the beginning of what they decode.
                piece = f" {piece}"
            elif piece.startswith(rest):
                # A stop string has cut the text, or the rest comes later.
                piece = rest
            elif not rest.startswith(piece):
                if part[0] not in self._texts or part[0] in self._used:
                    return [(text, ids)]
                # The server leaves such tokens out of the text.
                continue
            pieces.append((piece, part))
            at += len(piece)
        return pieces if at == len(text) else [(text, ids)]

    def _runs(self, ids: list[int]) -> Iterator[list[int]]:
        """Yield each added token alone, and the other tokens in runs."""
        run: list[int] = []
        for token in ids:
            if token not in self._texts:
                run.append(token)
                continue
            if run:
                yield run
            yield [token]
            run = []
        if run:
            yield run

    def _text_of(self, part: list[int]) -> str:
        return self._texts.get(part[0]) or self._decode(part)


def joined(texts: Iterable[str]) -> str | None:
    """Return the joined texts, or `None` if the result is empty."""
    return "".join(texts) or None
