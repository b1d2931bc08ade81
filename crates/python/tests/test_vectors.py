"""The project's conformance vectors, at every cut."""

from __future__ import annotations

from typing import Any

import pytest
from conformance import (
    NotInPythonError,
    byte_cuts,
    cases,
    joined,
    judge,
    run,
    settings_of,
    text_cuts,
    wire_of,
)
from toolcall_parsers import Guard, SettingsError

ALL = dict(cases("tools", "reasoning", "profiles", "tokens"))
TEMPLATES = {name: case for name, case in cases("templates") if "expect" in case}
REFUSED = {name: case for name, case in cases("templates") if "fails" in case}


def at_every_cut(name: str, case: dict[str, Any], guard: Guard) -> list[tuple[Any, ...]]:
    """Run every cut; all give the events of the whole wire."""
    end = case.get("finish") or "stop"
    pieces = wire_of(case)
    whole = run(guard, joined(pieces), end)
    for cut in text_cuts(pieces, name):
        assert run(guard, cut, end) == whole, cut
    if not any(marker for _, marker in pieces):
        for parts in byte_cuts("".join(text for text, _ in pieces), name):
            assert run(guard, parts, end) == whole, parts
    return whole


@pytest.mark.parametrize("name", ALL)
def test_every_cut_gives_the_expected_message(name: str) -> None:
    case = ALL[name]
    try:
        settings = settings_of(case)
    except NotInPythonError as reason:
        pytest.skip(str(reason))
    judge(case, at_every_cut(name, case, Guard(**settings)))


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_cut_of_a_response_template_gives_the_same_events(name: str) -> None:
    case = TEMPLATES[name]
    settings = settings_of(case)
    try:
        guard = Guard(**settings)
    except SettingsError as error:
        if "reads no calls" not in str(error):
            raise
        guard = Guard(**{**settings, "tools": None})
    # The expected message has the last value of each field; events have all of them.
    at_every_cut(name, case, guard)


@pytest.mark.parametrize("name", REFUSED)
def test_templates_that_are_refused_raise(name: str) -> None:
    case = REFUSED[name]
    if case["fails"] == "load":
        with pytest.raises(SettingsError):
            Guard(**settings_of(case))
        return
    try:
        guard = Guard(**settings_of(case))
    except SettingsError:
        assert case["fails"] == "parse"
    else:
        at_every_cut(name, case, guard)
