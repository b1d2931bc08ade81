"""The filter for Open WebUI, with recorded and written chunks."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pydantic")

ROOT = Path(__file__).parents[3]
RECIPE = ROOT / "crates" / "python" / "recipes" / "open_webui.py"


def load() -> Any:
    spec = importlib.util.spec_from_file_location("open_webui_filter", RECIPE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recorded(name: str) -> list[dict[str, Any]]:
    lines = (ROOT / "docs" / "samples" / name).read_text(encoding="utf-8").splitlines()
    data = [line.removeprefix("data: ") for line in lines if line.startswith("data: {")]
    return [json.loads(line) for line in data]


def message(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Join deltas as a client does."""
    found: dict[str, Any] = {"content": "", "reasoning": "", "calls": [], "finish": None}
    for chunk in chunks:
        for choice in chunk["choices"]:
            delta = choice["delta"]
            found["content"] += delta.get("content") or ""
            found["reasoning"] += delta.get("reasoning_content") or ""
            for call in delta.get("tool_calls", []):
                if call["index"] == len(found["calls"]):
                    found["calls"].append([call["function"]["name"], ""])
                found["calls"][call["index"]][1] += call["function"].get("arguments", "")
            found["finish"] = choice.get("finish_reason") or found["finish"]
    return found


def chunk(text: str, finish: str | None = None, stream: str = "a") -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"id": stream, "model": "Qwen/Qwen3-8B", "choices": [choice]}


def test_recorded_stream_becomes_reasoning_content_and_call() -> None:
    guarded = load().Filter()
    guarded.valves.family = "qwen3"
    chunks = recorded("note.sse")
    clean = [guarded.stream(one) for one in chunks]
    assert len(clean) == len(chunks)
    found = message(clean)
    assert found["reasoning"].startswith("The user wants a note")
    assert found["content"].strip() == "I'll save that for you."
    [[name, arguments]] = found["calls"]
    assert name == "save_note"
    assert json.loads(arguments)["text"].startswith("Qwen3 ends every call with </tool_call>")
    assert found["finish"] == "tool_calls"
    assert not guarded.streams


def test_several_chunks_of_one_piece_are_merged() -> None:
    guarded = load().Filter()
    call = '<tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>'
    found = message([guarded.stream(chunk(f"<think>hm</think>Well. {call}{call}", "stop"))])
    assert (found["reasoning"], found["content"].strip()) == ("hm", "Well.")
    assert [[name, json.loads(text)] for name, text in found["calls"]] == [
        ["ring", {"times": 2}]
    ] * 2
    assert found["finish"] == "tool_calls"


def test_held_text_comes_with_the_last_chunk() -> None:
    guarded = load().Filter()
    clean = [guarded.stream(one) for one in [chunk("See <tool"), chunk("", "stop")]]
    assert [message([one])["content"] for one in clean] == ["See ", "<tool"]


def test_streams_at_once_do_not_mix() -> None:
    guarded = load().Filter()
    pieces = [("<think>one", "a"), ("two", "b"), ("</think>One", "a"), (" Two", "b")]
    clean = [guarded.stream(chunk(text, stream=stream)) for text, stream in pieces]
    of = {stream: message([one for one in clean if one["id"] == stream]) for stream in "ab"}
    assert (of["a"]["reasoning"], of["a"]["content"]) == ("one", "One")
    assert (of["b"]["reasoning"], of["b"]["content"]) == ("", "two Two")


def test_unknown_model_and_other_events_pass_unchanged() -> None:
    guarded = load().Filter()
    for event in [{"error": {"message": "no"}}, {"id": "a", "choices": [], "usage": {}}]:
        assert guarded.stream(event) == event
    event = {**chunk("<think>"), "model": "of-no-family"}
    assert guarded.stream(event) == event


def test_abandoned_streams_are_forgotten() -> None:
    module = load()
    guarded = module.Filter()
    for number in range(module.MAX_STREAMS + 10):
        guarded.stream(chunk("x", stream=str(number)))
    assert len(guarded.streams) == module.MAX_STREAMS
