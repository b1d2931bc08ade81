"""Objects from the beginning of their JSON text."""

from __future__ import annotations

import json
from typing import Any

_CLOSERS = {"{": "}", "[": "]"}


def partial_json(text: str) -> Any:
    """Return the value of a JSON text of which the end is missing.

    Strings are cut where the text ends. A number, a word, or a key without its value is left out,
    because more text may change it. A text that is not JSON raises `ValueError`.

    >>> partial_json('{"city": "Par')
    {'city': 'Par'}
    >>> partial_json('{"city": "Paris", "days": 1')
    {'city': 'Paris'}
    """
    open_: list[str] = []
    # The end of the text that is certain, and the brackets that are open there.
    certain, closers = 0, ""
    at, quoted = 0, -1
    is_key = False
    while at < len(text):
        character = text[at]
        if quoted >= 0:
            if character == "\\":
                at += 2
                continue
            if character == '"':
                quoted = -1
                if not is_key:
                    certain, closers = at + 1, _closing(open_)
        elif character == '"':
            quoted = at
            is_key = bool(open_) and open_[-1] == "{" and _expects_key(text, at)
        elif character in _CLOSERS:
            open_.append(character)
            certain, closers = at + 1, _closing(open_)
        elif character in "}]":
            if not open_ or _CLOSERS[open_.pop()] != character:
                raise ValueError("the arguments are not JSON")
            certain, closers = at + 1, _closing(open_)
        elif character == "," and open_:
            # The value before the comma is whole.
            certain, closers = at, _closing(open_)
        at += 1
    if quoted >= 0 and not is_key:
        # An escape at the end may be a part of one.
        value = text[quoted:at]
        for cut in range(6):
            try:
                return json.loads(text[:quoted] + value[: len(value) - cut] + '"' + _closing(open_))
            except ValueError:
                continue
    return json.loads(text[:certain] + closers) if certain else {}


def _closing(open_: list[str]) -> str:
    return "".join(_CLOSERS[bracket] for bracket in reversed(open_))


def _expects_key(text: str, at: int) -> bool:
    """Tell whether a string at this place of an object is a key."""
    return text[:at].rstrip()[-1:] in ("{", ",")
