"""
title: llm-stream-guard
description: Thoughts and tool calls that a server left in the text become reasoning and calls.
version: 0.1.0
"""

# ruff: noqa: D205, D212, D400, D415 - the form of the lines above is Open WebUI's

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from pydantic import BaseModel
from toolcall_parsers import ChatGuard, SettingsError

# Streams that Open WebUI never ended, such as those that a user stopped, are forgotten beyond this number.
MAX_STREAMS = 1024


class Filter:
    """A filter function of Open WebUI. One object serves all streams at once."""

    class Valves(BaseModel):
        """The settings that Open WebUI shows."""

        family: str = ""  # a family, such as `qwen3`; without one the model's id names it

    def __init__(self) -> None:
        self.valves = self.Valves()
        self.streams: OrderedDict[str, ChatGuard | None] = OrderedDict()

    def guard(self, event: dict[str, Any]) -> ChatGuard | None:
        """Return the guard of the chunk's stream, or None for a model of no known family."""
        stream = event["id"]
        if stream not in self.streams:
            family = self.valves.family
            try:
                guard = ChatGuard(family=family) if family else ChatGuard(model=event["model"])
            except (KeyError, SettingsError):
                guard = None
            self.streams[stream] = guard
            if len(self.streams) > MAX_STREAMS:
                self.streams.popitem(last=False)
        return self.streams[stream]

    def stream(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return the chunk with what became certain with it."""
        choices = event.get("choices")
        if not choices or not event.get("id"):
            return event
        guard = self.guard(event)
        ended = any(choice.get("finish_reason") for choice in choices)
        if ended:
            self.streams.pop(event["id"])
        if guard is None:
            return event
        chunks = guard.push(event)
        if ended:
            # No chunk may follow, so that nothing may wait for one.
            chunks += guard.finish()
        return merged(event, chunks)


def merged(event: dict[str, Any], chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return one chunk in place of several. Without any, the event's own without text."""
    parts: dict[int, dict[str, Any]] = {}
    for choice in event["choices"]:
        parts[choice["index"]] = {**choice, "delta": {}, "finish_reason": None}
    for chunk in chunks:
        for choice in chunk.get("choices", []):
            part = parts.setdefault(choice["index"], {**choice, "delta": {}})
            delta = part["delta"]
            part.update(choice, delta=delta)
            for key, value in choice.get("delta", {}).items():
                if key == "tool_calls":
                    add_calls(delta.setdefault(key, []), value)
                elif isinstance(value, str) and key != "role":
                    delta[key] = (delta.get(key) or "") + value
                else:
                    delta[key] = value
    more = {key: value for chunk in chunks for key, value in chunk.items()}
    return {**event, **more, "choices": list(parts.values())}


def add_calls(calls: list[dict[str, Any]], more: list[dict[str, Any]]) -> None:
    """Add pieces of calls. Arguments of a call that has a piece already are appended to that."""
    for piece in more:
        known = next((call for call in calls if call["index"] == piece["index"]), None)
        if known is None:
            calls.append({**piece, "function": dict(piece.get("function", {}))})
        else:
            function = known["function"]
            arguments = piece.get("function", {}).get("arguments", "")
            function["arguments"] = (function.get("arguments") or "") + arguments
