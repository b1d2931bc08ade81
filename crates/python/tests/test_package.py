"""The package's functions."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import pickle
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest
import toolcall_parsers as tp
from toolcall_parsers._settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator
    from pathlib import Path

CALL = '<tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "ring", "parameters": {"type": "object"}}}]


def chunk(text: str | None = None, **more: Any) -> dict[str, Any]:
    delta = {} if text is None else {"role": "assistant", "content": text}
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, **more}],
    }


async def later(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item


async def collected(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]


class TestGuard:
    def test_events_have_the_fields_of_their_kind(self) -> None:
        guard = tp.Guard(family="qwen3", ids="counting")
        events = guard.push(f"<think>hm</think>Hi.{CALL}") + guard.finish()
        assert [event.to_dict() for event in events] == [
            {"kind": "reasoning", "text": "hm"},
            {"kind": "content", "text": "Hi."},
            {"kind": "call_start", "index": 0, "id": events[2].id, "name": "ring"},
            {"kind": "call_arguments", "index": 0, "fragment": '{"times": 2}'},
            {"kind": "call_end", "index": 0, "outcome": "complete"},
        ]
        with pytest.raises(AttributeError, match="no attribute 'index'"):
            _ = events[1].index  # type: ignore[union-attr]
        assert repr(events[1]) == "Content(text='Hi.')"
        assert isinstance(events[1], tp.Content) and isinstance(events[1], tp.Event)

    def test_events_are_matched_by_class(self) -> None:
        found: list[Any] = []
        for event in tp.Guard(family="qwen3", ids="counting").push(f"<think>hm</think>Hi.{CALL}"):
            match event:
                case tp.Content(text) | tp.Reasoning(text):
                    found.append(text)
                case tp.CallStart(index, _, name):
                    found.append((index, name))
        assert found == ["hm", "Hi.", (0, "ring")]

    def test_events_can_be_pickled_and_copied(self) -> None:
        guard = tp.Guard(family="qwen3")
        events = guard.push(f"<think>hm</think>Hi.{CALL}{CALL[:20]}") + guard.finish("length")
        assert {event.kind for event in events} == {
            "content",
            "reasoning",
            "call_start",
            "call_arguments",
            "call_end",
            "diagnostic",
        }
        assert pickle.loads(pickle.dumps(events)) == events  # noqa: S301
        assert copy.deepcopy(events) == events
        assert len(set(events)) == len(events)

    def test_events_are_collected_into_a_message(self) -> None:
        guard = tp.Guard(family="qwen3", ids="counting")
        text = f"<think>hm</think>Hi.{CALL}{CALL[:56]}"
        events = guard.push(text) + guard.finish("length")
        whole = tp.parse(text, end="length", family="qwen3", ids="counting")
        assert tp.collect(events, finish="length", open=guard.open) == whole
        collector = tp.Collector()
        for event in events:
            if event.kind != "call_end" or event.index == 0:
                collector.add(event)
        assert [call.outcome for call in collector.message().calls] == ["complete", "incomplete"]

    def test_equal_events_are_equal_and_hash_alike(self) -> None:
        first, second = (tp.Guard(family="qwen3").push("Hi.") for _ in range(2))
        assert first == second
        assert hash(first[0]) == hash(second[0])
        assert first[0] != tp.Guard(family="qwen3").push("Ho.")[0]

    def test_bytes_may_be_cut_inside_a_character(self) -> None:
        guard = tp.Guard(family="qwen3")
        wire = "Übel".encode()
        events = guard.push(wire[:1]) + guard.push(bytearray(wire[1:])) + guard.finish()
        assert "".join(event.text for event in events) == "Übel"

    def test_other_types_of_chunks_are_refused(self) -> None:
        with pytest.raises(TypeError, match="expected `str` or `bytes`, found `int`"):
            tp.Guard(family="qwen3").push(7)  # type: ignore[arg-type]

    def test_a_lone_surrogate_is_read_like_bytes_that_are_not_utf8(self) -> None:
        for piece in ("a\ud800b", b"a\xffb", memoryview(b"a\xffb")):
            guard = tp.Guard(family="qwen3")
            events = guard.push(piece) + guard.finish()
            assert "".join(event.text for event in events) == "a\ufffdb"  # type: ignore[union-attr]
            assert tp.Guard(family="qwen3").parse(piece).content == "a\ufffdb"

    def test_a_finished_guard_is_used_again_after_a_reset(self) -> None:
        guard = tp.Guard(family="qwen3")
        guard.finish()
        with pytest.raises(ValueError, match="the message is over"):
            guard.push("more")
        guard.reset()
        assert guard.push("more")[0].text == "more"

    def test_held_text_is_counted(self) -> None:
        guard = tp.Guard(family="qwen3")
        assert guard.push("Hi<tool_") and guard.held == len("<tool_")
        assert guard.held_kind == "marker"

    def test_a_copy_goes_on_independently(self) -> None:
        guard = tp.Guard(family="qwen3")
        guard.push("<think>hm")
        other = guard.copy()
        assert other.push("m")[0].kind == "reasoning"
        assert guard.push("</think>a")[-1].kind == "content"
        assert other.push("m")[0].kind == "reasoning"

    def test_marker_tokens_act_and_text_that_spells_them_does_not(self) -> None:
        guard = tp.Guard(family="qwen3", marker_tokens=["<think>", "</think>"])
        events = guard.push_token("<think>", marker=True)
        events += guard.push_token("a </think> b")
        events += guard.push_token("</think>", marker=True) + guard.push_token("c")
        events += guard.finish()
        kinds: dict[str, str] = {}
        for event in events:
            kinds[event.kind] = kinds.get(event.kind, "") + event.text
        assert kinds == {"reasoning": "a </think> b", "content": "c"}

    def test_marker_tokens_may_be_given_with_their_ids(self) -> None:
        guard = tp.Guard(family="qwen3", marker_tokens={"<think>": 7, "</think>": 8})
        events = guard.push_token("<think>", marker=True) + guard.push_token("a </think> b")
        assert {event.kind for event in events} == {"reasoning"}

    def test_text_is_read_by_the_ids_of_its_tokens(self) -> None:
        guard = tp.Guard(family="qwen3", marker_tokens={"<think>": 7, "</think>": 8, "<pad>": 9})
        assert sorted(guard.marker_tokens) == ["</think>", "<think>"]
        for _ in range(2):
            events = guard.push("<think>a </think> b", [7, 40, 41, 42])
            # The text of the closer comes in two pieces, after its id.
            events += guard.push("</th", [8]) + guard.push("ink>c <think>", [43, 44])
            message = tp.collect(events + guard.finish())
            assert (message.reasoning, message.content) == ("a </think> b", "c <think>")
            guard.reset()

    def test_text_that_waits_for_a_marker_is_released_at_the_end(self) -> None:
        guard = tp.Guard(family="qwen3", marker_tokens={"<think>": 7})
        message = tp.collect(guard.push("Hi. <thi", [40, 7]) + guard.finish())
        assert message.content == "Hi. <thi"

    def test_ids_need_marker_tokens_and_text(self) -> None:
        with pytest.raises(tp.SettingsError, match="`ids` need `marker_tokens` with ids"):
            tp.Guard(family="qwen3").push("a", [1])
        guard = tp.Guard(family="qwen3", marker_tokens={"<think>": 7})
        with pytest.raises(TypeError, match="`ids` are those of a `str`"):
            guard.push(b"a", [1])  # type: ignore[call-overload]
        with pytest.raises(OverflowError):
            guard.push("a", [-1])

    def test_long_pieces_are_parsed_without_the_interpreter(self) -> None:
        guards = [tp.Guard(family="qwen3") for _ in range(4)]
        wire = f"{CALL}x" * 5000
        counts: list[int] = []
        work = [
            threading.Thread(target=lambda g=guard: counts.append(len(g.push(wire))))
            for guard in guards
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
        assert len(set(counts)) == 1 and counts[0] > 5000


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "text"),
        [
            ({}, "expected one of `model`, `family`, `template`, `profile`"),
            ({"model": "qwen3:8b", "family": "qwen3"}, "expected only one of"),
            ({"family": "qwen33"}, "qwen3"),
            ({"model": "no-such-model"}, "no-such-model"),
            ({"template": "{}"}, "expected an object with at least one field"),
            ({"profile": {"nome": "x"}}, "profile: "),
            ({"family": "qwen3", "tools": [{}]}, "tools: tool 0: expected a string"),
            ({"family": "qwen3", "request": {"n": "two"}}, "n"),
            ({"family": "deepseek_r1", "request": {"tools": TOOLS}}, "reads no calls"),
            (
                {"family": "qwen3", "whitespace": "none"},
                "whitespace: expected one of `framing`, .*`reasoning_end`, found `none`",
            ),
            ({"family": "qwen3", "marker_tokens": ["<a>", 7]}, "marker_tokens: "),
            ({"family": "qwen3", "limits": {"depth": 0}}, "limits: limit `depth` is 0"),
            (
                {"family": "qwen3", "start": "end"},
                "start: expected one of `content`, `reasoning`, found `end`",
            ),
        ],
    )
    def test_errors_have_the_texts_of_the_library(
        self, settings: dict[str, Any], text: str
    ) -> None:
        with pytest.raises(tp.SettingsError, match=text):
            tp.Guard(**settings)

    def test_unknown_settings_are_named(self) -> None:
        with pytest.raises(TypeError, match="unexpected setting `famly`"):
            tp.Guard(famly="qwen3")  # type: ignore[call-arg]

    def test_every_setting_of_the_library_has_a_type(self) -> None:
        with pytest.raises(TypeError) as error:
            tp.Guard(famly="qwen3")  # type: ignore[call-arg]
        names = re.findall(r"`(\w+)`", str(error.value))[1:]
        assert names == list(Settings.__annotations__)

    def test_reserved_delimiters_are_remapped_in_requests(self) -> None:
        profile = {"name": "mine", "tools": "json_in_tags", "remap": "hermes"}
        messages = [{"role": "system", "content": "Write <tool_call>."}]
        body = {"model": "m", "messages": messages, "tools": TOOLS}
        sent = tp.forward_request(body, tools_in="prompt", profile=profile)
        text = sent["messages"][0]["content"]
        assert text.startswith("Write [[CALL]].")
        assert "[[/CALL]]" in text
        assert "<tool_call>" not in text
        assert messages[0]["content"] == "Write <tool_call>."
        answer = CALL.replace("<tool_call>", "[[CALL]]").replace("</tool_call>", "[[/CALL]]")
        assert tp.parse(answer, profile=profile, tools=TOOLS).calls[0].name == "ring"
        with pytest.warns(UserWarning, match="remapped"):
            tp.forward_request({**body, "tool_choice": "required"}, profile=profile)

    def test_the_request_decides(self) -> None:
        body = {"model": "Qwen/Qwen3-8B", "tools": TOOLS, "stop": ["END"]}
        guard = tp.Guard(request=body)
        assert guard.push(f"{CALL} END more")[0].name == "ring"
        assert guard.stop_string == "END"
        assert tp.parse(CALL, request={**body, "tool_choice": "none"}).calls == []

    def test_a_profile_is_a_setting(self) -> None:
        found = tp.profile(model="Qwen/Qwen3-8B")
        assert found["name"] == "qwen3"
        assert tp.parse("<think>a</think>b", profile=found).reasoning == "a"
        assert tp.parse(CALL, profile={"name": "mine", "tools": "hermes"}).calls[0].name == "ring"

    def test_a_response_template_is_a_setting(self) -> None:
        fields = {
            "content": {"close": "<over>"},
            "thinking": {"open": "<muse>", "close": "</muse>"},
        }
        template = {"version": 1, "start_anchor": "<go>", "fields": fields}
        for one in (template, json.dumps(template)):
            message = tp.parse("<muse>a</muse>b<over>", template=one)
            assert (message.reasoning, message.content) == ("a", "b")

    def test_families_have_aliases(self) -> None:
        assert {"qwen3", "hermes", "harmony", "deepseek_r1"} <= set(tp.families())
        assert "gpt-oss" not in tp.families()
        assert {"qwen3", "gpt-oss"} <= set(tp.families(aliases=True))
        for name in tp.families():
            assert tp.profile(family=name)["name"]


def recursive(depth: int | None) -> Any:
    """Return lists of this depth, or a list that holds itself."""
    value: list[Any] = []
    if depth is None:
        value.append(value)
        return value
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [None, 200, 20_000])
class TestDeepObjects:
    """Deep and recursive objects are refused at every entry; the interpreter goes on."""

    def test_settings(self, depth: int | None) -> None:
        deep = recursive(depth)
        tool = {"name": "f", "parameters": {"x": deep}}
        for settings in (
            {"family": "qwen3", "tools": [tool]},
            {"family": "qwen3", "tools": deep},
            {"family": "qwen3", "request": {"x": deep}},
            {"template": {"fields": deep}},
            {"profile": {"name": deep}},
        ):
            for make in (tp.Guard, tp.ChatGuard, tp.SseGuard, tp.profile):
                with pytest.raises(ValueError, match=r"deeper|recursive|tools: "):
                    make(**settings)

    def test_text_of_templates(self, depth: int | None) -> None:
        with pytest.raises(tp.SettingsError):
            tp.Guard(template="[" * (depth or 100_000))

    def test_chunks_and_answers(self, depth: int | None) -> None:
        deep = {"choices": [], "x": recursive(depth)}
        with pytest.raises(ValueError, match="deeper"):
            tp.ChatGuard(family="qwen3").push(deep)
        with pytest.raises(ValueError, match="deeper"):
            tp.ChatGuard(family="qwen3").complete(deep)
        with pytest.raises(ValueError, match="deeper"):
            tp.forward_request({"model": "qwen3:8b", **deep})

    def test_bytes_of_event_streams(self, depth: int | None) -> None:
        sse = tp.SseGuard(family="qwen3")
        count = depth or 100_000
        event = b'data: {"choices": [], "x": %s%s}\n\n' % (b"[" * count, b"]" * count)
        assert sse.push(event) == event

    def test_calls(self, depth: int | None) -> None:
        call = {"name": "f", "arguments": {"x": recursive(depth)}}
        with contextlib.suppress(ValueError, RecursionError):
            tp.encode([call], family="qwen3")


class TestNumbers:
    """Numbers that JSON cannot write."""

    def test_settings_are_refused(self) -> None:
        for number in (float("nan"), float("inf"), 1 << 64):
            tool = {"name": "f", "parameters": {"default": number}}
            with pytest.raises(tp.SettingsError, match="tools: "):
                tp.Guard(family="qwen3", tools=[tool])

    def test_floats_of_chunks_become_none(self) -> None:
        odd = chunk("Hi.", score=float("nan"))
        [clean] = tp.ChatGuard(family="qwen3").push(odd)
        assert clean["choices"][0]["delta"]["content"] == "Hi."
        with pytest.raises(ValueError, match="64 bits"):
            tp.ChatGuard(family="qwen3").push(chunk("Hi.", score=1 << 64))


class TestMessages:
    def test_a_cut_call_is_incomplete(self) -> None:
        message = tp.parse(CALL[:50], family="hermes", end="length")
        assert message.outcome == "incomplete"
        assert message.to_openai() == {"role": "assistant", "content": None}
        with pytest.raises(ValueError, match="the call of `ring` is incomplete"):
            message.to_openai(broken="raise")
        assert message.open == "call"

    def test_arguments_are_objects(self) -> None:
        [call] = tp.parse(CALL, family="hermes").calls
        assert call.object == call.partial_object == {"times": 2}
        text = CALL.replace("2", '2, "text": "a\\nb')[:-14]
        [cut] = tp.parse(text, family="hermes", end="length").calls
        assert cut.partial_object == {"times": 2, "text": "a\nb"}
        with pytest.raises(ValueError, match="incomplete"):
            _ = cut.object

    def test_a_message_can_be_pickled(self) -> None:
        message = tp.parse(f"Hi.{CALL}", family="hermes")
        assert pickle.loads(pickle.dumps(message)) == message  # noqa: S301
        assert message.to_dict()["calls"][0]["name"] == "ring"

    def test_an_unknown_end_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"end: unknown end `.*`; nearest: `stop`"):
            tp.parse("", family="hermes", end="over")  # type: ignore[arg-type]

    def test_guards_parse_many_messages(self) -> None:
        guard = tp.Guard(family="qwen3")
        assert [guard.parse(text).content for text in ("a", "<think>b</think>c")] == ["a", "c"]

    def test_generated_ids_are_unique_unless_they_count(self) -> None:
        ids = {tp.parse(CALL, family="hermes").calls[0].id for _ in range(20)}
        assert len(ids) == 20
        ids = {tp.parse(CALL, family="hermes", ids="counting").calls[0].id for _ in range(20)}
        assert len(ids) == 1


class TestStreams:
    def test_text_of_an_async_stream(self) -> None:
        events = asyncio.run(
            collected(tp.guard_text(later(["<thi", "nk>a</think>b"]), family="qwen3"))
        )
        assert [(event.kind, event.text) for event in events] == [
            ("reasoning", "a"),
            ("content", "b"),
        ]

    def test_a_failing_source_releases_what_was_held(self) -> None:
        def failing() -> Iterator[str]:
            yield "Hi<tool_"
            message = "gone"
            raise OSError(message)

        events = tp.guard_text(failing(), family="qwen3")
        assert next(events).text == "Hi"
        assert next(events).text == "<tool_"
        with pytest.raises(OSError, match="gone"):
            next(events)

    def test_chunks_are_clean(self) -> None:
        chunks = [chunk("<think>a</th"), chunk(f"ink>{CALL}"), chunk(finish_reason="stop")]
        notes: list[dict[str, Any]] = []
        clean = list(tp.guard_chunks(chunks, family="qwen3", on_note=notes.append))
        deltas = [one["choices"][0]["delta"] for one in clean]
        assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "a"
        assert clean[-1]["choices"][0]["finish_reason"] == "tool_calls"
        assert {"choice": 0, "kind": "call_end", "index": 0, "outcome": "complete"} in notes

    def test_chunks_with_ids_are_read_by_them(self) -> None:
        typed = [("<think>", 7), ("The </think>", 21), (" tag", 22), ("</think>", 8), ("Yes", 23)]
        chunks = [chunk(text, token_ids=[token]) for text, token in typed]
        chunks.append(chunk(finish_reason="stop"))
        ids = {"<think>": 7, "</think>": 8}

        def read(clean: Iterable[dict[str, Any]], field: str) -> str:
            deltas = (one["choices"][0]["delta"] for one in clean)
            return "".join(delta.get(field) or "" for delta in deltas)

        clean = list(tp.guard_chunks(chunks, family="qwen3", marker_tokens=ids))
        assert read(clean, "reasoning_content") == "The </think> tag"
        assert read(clean, "content") == "Yes"
        assert read(tp.guard_chunks(chunks, family="qwen3"), "reasoning_content") == "The "

        sse = tp.SseGuard(family="qwen3", marker_tokens=ids)
        wire = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks)
        lines = (sse.push(wire) + sse.finish()).decode().splitlines()
        clean = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
        assert read(clean, "reasoning_content") == "The </think> tag"

    def test_marker_tokens_of_chunks_need_ids(self) -> None:
        with pytest.raises(tp.SettingsError, match="a mapping from texts to ids"):
            tp.ChatGuard(family="qwen3", marker_tokens=["<think>"])

    def test_items_that_are_no_chunks_pass(self) -> None:
        odd = {"error": {"message": "busy"}}
        assert next(tp.guard_chunks([odd], family="qwen3")) == odd

    def test_an_error_ends_the_stream_after_its_text(self) -> None:
        error = {"error": {"message": "busy"}}
        clean = list(tp.guard_chunks([chunk("Hi<tool_"), error, chunk("more")], family="qwen3"))
        texts = [one["choices"][0]["delta"]["content"] for one in clean[:-1]]
        assert "".join(texts) == "Hi<tool_"
        assert clean[-1] == error

    def test_a_stream_that_was_cut_raises_after_its_text(self) -> None:
        stream = tp.guard_chunks([chunk("Hi<tool_")], family="qwen3")
        texts: list[str] = []

        def read() -> None:
            texts.extend(one["choices"][0]["delta"]["content"] for one in stream)

        with pytest.raises(tp.StreamError):
            read()
        assert "".join(texts) == "Hi<tool_"

    def test_openai_objects_stay_objects(self) -> None:
        types = pytest.importorskip("openai.types.chat")
        kind = types.ChatCompletionChunk
        chunks = [chunk(f"<think>a</think>b{CALL}"), chunk(finish_reason="stop")]
        chunks = [kind.model_validate(one) for one in chunks]
        clean = asyncio.run(collected(tp.guard_chunks(later(chunks), family="qwen3")))
        assert all(isinstance(one, kind) for one in clean)
        calls = [call for one in clean for call in one.choices[0].delta.tool_calls or []]
        assert calls[0].function.name == "ring"
        assert "a" in [getattr(one.choices[0].delta, "reasoning_content", None) for one in clean]

    def test_openai_answers_are_read(self) -> None:
        types = pytest.importorskip("openai.types.chat")
        message = {"role": "assistant", "content": f"<think>a</think>b{CALL}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        whole = {"id": "c", "created": 1, "model": "m", "object": "chat.completion"}
        answer = types.ChatCompletion.model_validate({**whole, "choices": [choice]})
        clean = tp.ChatGuard(family="qwen3").complete(answer)
        assert clean["choices"][0]["message"]["content"] == "b"

    def test_the_end_of_each_choice_is_noted(self) -> None:
        notes: list[dict[str, Any]] = []
        chunks = [chunk("<think>a"), chunk(finish_reason="length")]
        list(tp.guard_chunks(chunks, family="qwen3", on_note=notes.append))
        assert {"choice": 0, "kind": "end", "finish": "length", "open": "reasoning"} in notes

    def test_a_whole_response_is_clean(self) -> None:
        message = {"role": "assistant", "content": f"<think>a</think>b{CALL}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        clean = tp.ChatGuard(family="qwen3").complete({"id": "c", "choices": [choice]})
        assert clean["choices"][0]["finish_reason"] == "tool_calls"
        assert clean["choices"][0]["message"]["content"] == "b"
        del choice["finish_reason"]
        with pytest.raises(tp.StreamError):
            tp.ChatGuard(family="qwen3").complete({"choices": [choice], "usage": {"n": 1}})

    def test_an_event_stream_is_clean_at_every_cut(self) -> None:
        data = [json.dumps(chunk(text)) for text in ("<think>a</th", f"ink>b{CALL}")]
        data += [json.dumps(chunk(finish_reason="stop")), "[DONE]"]
        wire = "".join(f"data: {one}\n\n" for one in data).encode()
        settings: dict[str, Any] = {"family": "qwen3", "ids": "counting"}
        whole = b"".join(tp.guard_sse([wire], **settings))
        assert b'"reasoning_content":"a"' in whole
        for cut in range(1, len(wire)):
            assert b"".join(tp.guard_sse([wire[:cut], wire[cut:]], **settings)) == whole
        clean = asyncio.run(collected(tp.guard_sse(later([wire]), **settings)))
        assert b"".join(clean) == whole


class TestFamilies:
    def test_encoded_calls_are_read_back(self) -> None:
        call = tp.Call("call_7", "ring", '{"times": 2}')
        api = {"id": "x", "function": {"name": "ring", "arguments": '{"times": 2}'}}
        for one in (call, api, {"name": "ring", "arguments": {"times": 2}}):
            wire = tp.encode([one], family="qwen3", tools=None)
            assert json.loads(tp.parse(wire, family="qwen3").calls[0].arguments) == {"times": 2}

    def test_calls_of_a_message_are_written_without_ids_that_have_no_place(self) -> None:
        calls = tp.parse(CALL, family="hermes").calls
        wire = tp.encode(calls, family="qwen3_coder")
        assert tp.parse(wire, family="qwen3_coder").calls[0].name == "ring"
        own = {"id": "x", "name": "ring", "arguments": {}}
        with pytest.warns(UserWarning, match="left out"):
            tp.encode([own], family="qwen3_coder")

    def test_calls_that_cannot_be_written_raise(self) -> None:
        with pytest.raises(tp.EncodeError, match="ring"):
            tp.encode([{"name": "ring", "arguments": "[1]"}], family="hermes")
        with pytest.raises(tp.SettingsError, match="writes no tool calls"):
            tp.encode([], family="deepseek_r1")

    def test_a_recording_names_its_family(self) -> None:
        found = tp.detect(["<|channel|>analysis<|message|>a<|end|>"])
        assert found.family == "harmony"
        assert found.profile is not None
        assert tp.detect("It is raining.").family is None

    def test_a_checkpoint_is_identified_by_a_rendering(self, tmp_path: Path) -> None:
        template = (
            "{%- for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
            "{%- for c in m.tool_calls %}<tool_call>\n"
            '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}'
            "\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
        )
        file = tmp_path / "tokenizer_config.json"
        added = {"11": {"content": "<tool_call>"}, "12": {"content": "<pad>"}}
        file.write_text(json.dumps({"chat_template": template, "added_tokens_decoder": added}))
        found = tp.identify(tmp_path)
        assert "hermes" in found.families, found
        assert found.marker_tokens == {"<tool_call>": 11}
        assert tp.Guard(family="hermes", marker_tokens=found.marker_tokens).finish() == []
        assert found.string_arguments is not None, found.evidence
        still = tp.identify(tmp_path, render=False)
        assert still.string_arguments is None

    def test_a_hostile_template_does_not_harm_this_process(self, tmp_path: Path) -> None:
        template = (
            "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}"
        )
        file = tmp_path / "chat_template.jinja"
        file.write_text(template)
        assert tp.identify(tmp_path).string_arguments is None

    def test_a_missing_checkpoint_is_an_os_error(self, tmp_path: Path) -> None:
        with pytest.raises(OSError, match="nothing"):
            tp.identify(tmp_path / "nothing")


def test_an_explanation_has_the_fate_of_each_part() -> None:
    report = tp.explain([(0.0, "<think>hm</th"), (0.5, "ink>Hi.")], family="qwen3")
    fates = [region["fate"] for region in report["regions"]]
    assert fates == ["markup", "reasoning", "markup", "content"]
    assert report["steps"][1]["ms"] == 500
    page = tp.explain("<think>hm</think>Hi.", output="html", family="qwen3")
    assert page.startswith("<!") and "hm" in page
