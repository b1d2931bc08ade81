"""Typical uses, for the checkers of types: `mypy --strict` and `pyright` accept them.

The file is not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import toolcall_parsers as tp
from toolcall_parsers.columns import arrow_batches, openai_messages, ray_postprocess

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable, Iterator


def text_of_events(pieces: Iterable[str]) -> str:
    texts = [
        event.text for event in tp.guard_text(pieces, family="qwen3") if event.kind == "content"
    ]
    return "".join(texts)


def calls_by_class(events: Iterable[tp.Event]) -> list[tuple[int, str]]:
    return [(event.index, event.name) for event in events if isinstance(event, tp.CallStart)]


def matched(event: tp.Event) -> str:
    match event:
        case tp.Content(text) | tp.Reasoning(text):
            return text
        case tp.CallStart(_, _, name):
            return name
        case tp.CallArguments(_, fragment):
            return fragment
        case tp.CallEnd(_, outcome):
            return outcome
        case tp.Notice(diagnostic):
            return diagnostic.kind


async def text_of_async_events(pieces: AsyncIterable[bytes]) -> str:
    found = ""
    async for event in tp.guard_text(pieces, model="Qwen/Qwen3-8B"):
        if event.kind == "reasoning":
            found += event.text
    return found


def by_hand(pieces: Iterable[bytes]) -> tp.Message:
    guard = tp.Guard(family="qwen3", tools=[{"type": "function", "function": {"name": "ring"}}])
    collector = tp.Collector()
    for piece in pieces:
        for event in guard.push(piece):
            collector.add(event)
    for event in guard.finish("length"):
        collector.add(event)
    return collector.message(finish="length", open=guard.open)


def collected(events: Iterable[tp.Event]) -> tp.Message:
    return tp.collect(events)


def whole(text: str) -> tp.Message:
    return tp.parse(text, end="length", family="qwen3", prompt="<|im_start|>assistant\n")


def is_whole(message: tp.Message) -> bool:
    return message.finish == "stop" and message.open == "none" and message.outcome == "complete"


def arguments(message: tp.Message) -> list[dict[str, Any]]:
    return [call.object for call in message.calls if call.runs]


def shown(call: tp.Call) -> str | None:
    found = call.partial_object.get("city")
    return found if isinstance(found, str) else None


def as_openai(message: tp.Message) -> tp.OpenAIMessage:
    made = message.to_openai(broken="raise")
    if "tool_calls" in made:
        names: list[str] = [call["function"]["name"] for call in made["tool_calls"]]
        assert names
    return made


def clean_chunks(chunks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return tp.guard_chunks(chunks, family="qwen3", on_note=print)


def clean_bytes(chunks: Iterable[bytes]) -> bytes:
    return b"".join(tp.guard_sse(chunks, request={"model": "qwen3:8b"}))


def sent(body: dict[str, Any]) -> dict[str, Any]:
    return tp.forward_request(body, server="sglang")


def grammar(tools: list[dict[str, Any]]) -> str:
    return tp.grammar("gbnf", tools=tools, family="qwen3", choice="ring")


def tag(tools: list[dict[str, Any]]) -> dict[str, Any]:
    return tp.grammar("structural_tag", tools=tools, family="qwen3")


def written(calls: list[tp.Call]) -> str:
    return tp.encode(calls, family="hermes")


def named() -> tuple[str | None, list[str]]:
    return tp.family_of(model="Qwen/Qwen3-8B"), tp.families(aliases=True)


def checkpoint(path: str) -> dict[str, int]:
    return tp.identify(path).marker_tokens


def column(texts: list[str], ends: Any) -> Any:
    counts = tp.count_batch(texts, family="qwen3")
    rows = tp.parse_batch(texts, family="qwen3", end=ends, on_error="raise")
    return openai_messages(rows), counts["open"], arrow_batches("text", family="qwen3")


def tokens(ids: list[list[int]], tokenizer: Any) -> Any:
    vocabulary = tp.Vocabulary.from_tokenizer(tokenizer)
    return tp.parse_batch(ids, vocabulary=vocabulary, learn=["content"], family="qwen3")


def rows(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    postprocess = ray_postprocess("text", family="qwen3")
    return [postprocess(row) for row in found]


def handled(text: str) -> str:
    try:
        return tp.parse(text, family="qwen3").content
    except tp.SettingsError as error:
        return str(error)
    except tp.StreamError as error:
        return str(error.released)


def derived(folder: str, text: str) -> tp.Message:
    return tp.parse(text, family_file=tp.derive(folder))


def by_ids(text: str, ids: list[int]) -> list[tp.Event]:
    return tp.Guard(family="qwen3", marker_tokens={"<think>": 7}).push(text, ids)
