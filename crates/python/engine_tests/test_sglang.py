"""The detectors inside SGLang: its registries, its parser classes, its server."""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any

import pytest
from engines import Answer, without_gpu
from toolcall_parsers import families
from toolcall_parsers._partial import partial_json
from wires import BROKEN, PIECES, SPECIAL_BASE, Tokenizer, alike, answer_of, pieces, wires

try:
    version("sglang")
except PackageNotFoundError:
    pytest.skip("sglang is not installed", allow_module_level=True)

without_gpu("sglang")

from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest, Tool, ToolChoice
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins import load_plugins
from sglang.srt.sampling.sampling_params import REQUEST_REASONING_IN_GRAMMAR_KEY
from sglang.srt.server_args import _reasoning_parser_choices, _tool_call_parser_choices

load_plugins()

from toolcall_parsers.engines.sglang_grammar import convert_with_grammar

RING = {
    "type": "function",
    "function": {
        "name": "ring",
        "parameters": {"type": "object", "properties": {"times": {"type": "integer"}}},
    },
}
CALL = '<tool_call>\n{"name": "ring", "arguments": {"times": 2}}\n</tool_call>'


def tools_of(tools: list[Any] | None) -> list[Tool]:
    """Return tools as SGLang has them. Without tools, it parses no calls."""
    return [Tool(**tool) for tool in tools or [RING]]


def parsers_of(name: str, tools: list[Tool], *, calls: bool = True) -> tuple[Any, Any]:
    tokenizer = Tokenizer()
    reasoning = ReasoningParser(name, tokenizer=tokenizer, tool_call_parser_active=calls)
    if not calls:
        return reasoning, None
    return reasoning, FunctionCallParser(tools, name, tokenizer=tokenizer)


def whole(parsers: tuple[Any, Any], text: str) -> Answer:
    reasoning, content = parsers[0].parse_non_stream(text)
    calls = []
    if parsers[1] is not None:
        content, calls = parsers[1].parse_non_stream(content)
    return Answer(reasoning, content, [(call.name, call.parameters) for call in calls])


def streamed(parsers: tuple[Any, Any], text: str, size: int) -> Answer:
    answer = Answer()
    parts = pieces(text, size) or [""]
    for at, part in enumerate(parts):
        last = at + 1 == len(parts)
        steps = [parsers[0].parse_stream_chunk(part)]
        steps += [parsers[0].parse_stream_end()] if last else []
        answer.reasoning += "".join(step[0] for step in steps)
        content = "".join(step[1] for step in steps)
        if parsers[1] is None:
            answer.content += content
            continue
        found = [parsers[1].parse_stream_chunk(content)]
        found += [parsers[1].parse_stream_end()] if last else []
        answer.content += "".join(text for text, _ in found)
        for call in (item for _, items in found for item in items):
            assert bool(call.name) == (call.tool_index == len(answer.calls))
            answer.add(call.tool_index, call.name, call.parameters)
    return answer


class TestRegistry:
    def test_all_families_are_registered(self) -> None:
        names = {"guard", *(f"guard_{family}" for family in families())}
        assert names <= set(FunctionCallParser.ToolCallParserEnum)
        assert {name.lower() for name in names} <= set(ReasoningParser.DetectorMap)

    def test_the_command_line_accepts_the_names(self) -> None:
        assert "guard_qwen3" in _tool_call_parser_choices()
        assert "guard" in _reasoning_parser_choices()

    def test_the_model_names_the_family(self) -> None:
        tokenizer = Tokenizer(name_or_path="Qwen/Qwen3-8B")
        parser = FunctionCallParser(tools_of([RING]), "guard", tokenizer=tokenizer)
        assert parser.parse_non_stream(CALL)[1][0].name == "ring"

    def test_an_unknown_model_is_refused(self) -> None:
        tokenizer = Tokenizer(name_or_path="nobody/nothing-7b")
        with pytest.raises(ValueError, match="no family is known for the model"):
            FunctionCallParser(tools_of([RING]), "guard", tokenizer=tokenizer)


# Where the engine's two passes give another answer than the guard alone; docs/engines.md has the
# reasons.
SUFFIXES = {
    f"profiles/{family}:{family}/{case}"
    for family in ("hy_v3", "hy_v4")
    for case in ("suffix-of-others", "suffix-missing")
}
# The case declares no tools, so that SGLang gets another one.
UNDECLARED = {"profiles/tagged:trinity/suspended"} | {
    f"profiles/calls_in_reasoning:{family}/call-in-reasoning"
    for family in ("apertus", "gemma4", "kimi_k2", "minimax_m3", "reka_flash", "trinity")
}
DIFFER = SUFFIXES | UNDECLARED
# SGLang asks whether a whole answer has calls without the tools, whose names are the tags of this
# family. A cut call is text then.
WHOLE = {"tools/xml_tools:xml_tools/cut-arguments"}


@pytest.mark.parametrize("size", [None, *PIECES])
@pytest.mark.parametrize("folder", ["tools", "profiles"])
def test_vectors_give_the_answer_of_the_guard(folder: str, size: int | None) -> None:
    count, differ = 0, set()
    for name, case, guard in wires(folder, tools=[RING]):
        expected = answer_of(guard.parse(case["wire"]), streamed=size is not None)
        parsers = parsers_of(f"guard_{case['family']}", tools_of(case.get("tools")))
        got = (
            whole(parsers, case["wire"]) if size is None else streamed(parsers, case["wire"], size)
        )
        count += 1
        if not alike(got, expected):
            differ.add(name)
    assert count > 300
    known = DIFFER if size is not None else DIFFER | WHOLE
    assert differ == {name for name in known if name.startswith(folder)}


@pytest.mark.parametrize("size", [None, *PIECES])
def test_a_reasoning_parser_alone_gives_the_answer_of_the_guard(size: int | None) -> None:
    count = 0
    differ = set()
    for name, case, guard in wires("reasoning"):
        message = guard.parse(case["wire"])
        parsers = parsers_of(f"guard_{case['family']}", [], calls=False)
        got = (
            whole(parsers, case["wire"]) if size is None else streamed(parsers, case["wire"], size)
        )
        count += 1
        if message.calls:
            got.content = message.content
        if not alike(got, Answer(message.reasoning, message.content)):
            differ.add(name)
    assert count > 500
    assert differ == set()


def converted(name: str, choice: Any, params: dict[str, Any], prompt: str, **form: Any) -> Any:
    """Return what the plug-in makes of a request that the server has converted."""
    adapted = SimpleNamespace(
        sampling_params=params, require_reasoning=True, text=prompt, input_ids=None
    )
    server = SimpleNamespace(
        tool_call_parser=name if choice else None,
        reasoning_parser=name,
        tokenizer_manager=SimpleNamespace(tokenizer=Tokenizer()),
    )
    request = ChatCompletionRequest(
        model="m",
        messages=[{"role": "user", "content": "hi"}],
        **({"tools": [RING], "tool_choice": choice} if choice else {}),
        **form,
    )
    return convert_with_grammar(lambda _, request: (adapted, request), server, request)[0]


def test_without_a_reasoning_parser_its_markup_is_content() -> None:
    parser = FunctionCallParser(tools_of([RING]), "guard_qwen3", tokenizer=Tokenizer())
    content, calls = parser.parse_non_stream(f"<think>hm</think>{CALL}")
    assert content == "<think>hm</think>"
    assert calls[0].parameters == '{"times": 2}'


@pytest.mark.parametrize("size", PIECES)
@pytest.mark.parametrize("text", BROKEN)
def test_a_stream_ends_a_broken_call_so_that_it_does_not_parse(text: str, size: int) -> None:
    got = streamed(parsers_of("guard_qwen3", tools_of([RING])), text, size)
    for _, arguments in got.calls:
        with pytest.raises(ValueError, match=r"not JSON|Expecting"):
            partial_json(arguments)
    assert whole(parsers_of("guard_qwen3", tools_of([RING])), text).calls == []


class TestRequests:
    @pytest.mark.parametrize("choice", ["required", ToolChoice(function={"name": "ring"})])
    def test_forced_calls_are_constrained_and_read_in_the_familys_syntax(self, choice: Any) -> None:
        parser = FunctionCallParser(
            tools_of([RING]), "guard_qwen3", tokenizer=Tokenizer(), tool_choice=choice
        )
        kind, tag = parser.get_structure_constraint(choice)
        assert kind == "structural_tag"
        assert "<tool_call>" in json.dumps(tag.model_dump())
        assert parser.owns_tool_format()
        assert parser.parse_non_stream(CALL)[1][0].parameters == '{"times": 2}'

    def test_an_automatic_choice_is_not_constrained(self) -> None:
        parser = FunctionCallParser(tools_of([RING]), "guard_qwen3", tokenizer=Tokenizer())
        assert parser.get_structure_constraint("auto") is None

    def test_forced_calls_may_follow_a_thought_unless_the_prompt_closed_it(self) -> None:
        from xgrammar import Grammar
        from xgrammar.testing import _is_grammar_accept_string as accepts

        opened, closed = "<|im_start|>assistant\n", "<|im_start|>assistant\n<think>\n\n</think>\n\n"
        for choice in ("required", ToolChoice(function={"name": "ring"})):
            for prompt, thought in [(opened, True), (closed, False)]:
                params = {"structural_tag": "that of the server", "custom_params": {"own": 1}}
                request = converted("guard_qwen3", choice, params, prompt)
                assert request.sampling_params["custom_params"] == {
                    "own": 1,
                    REQUEST_REASONING_IN_GRAMMAR_KEY: True,
                }
                grammar = Grammar.from_structural_tag(params["structural_tag"])
                assert accepts(grammar, CALL)
                assert accepts(grammar, f"<think>\nhm\n</think>\n\n{CALL}") == thought
                assert not accepts(grammar, f"Well. {CALL}")

    @pytest.mark.parametrize("choice", ["auto", None])
    def test_a_form_may_follow_a_thought_unless_the_prompt_closed_it(self, choice: Any) -> None:
        from xgrammar import Grammar
        from xgrammar.testing import _is_grammar_accept_string as accepts

        schema = RING["function"]["parameters"]
        wanted = {"type": "json_schema", "json_schema": {"name": "ring", "schema": schema}}
        answer, opened = '{"times": 2}', "<|im_start|>assistant\n"
        for form, params in [
            ({"response_format": wanted}, {"json_schema": json.dumps(schema)}),
            ({"regex": r'\{"times": 2\}'}, {"regex": r'\{"times": 2\}'}),
        ]:
            closed = converted(
                "guard_qwen3", choice, dict(params), f"{opened}<think>\n\n</think>\n\n", **form
            )
            assert closed.sampling_params == params
            given = converted("guard_qwen3", choice, dict(params), opened, **form).sampling_params
            assert given.keys() == {"structural_tag", "custom_params"}
            grammar = Grammar.from_structural_tag(given["structural_tag"])
            assert accepts(grammar, answer)
            assert accepts(grammar, f"<think>\nhm\n</think>\n\n{answer}")
            assert not accepts(grammar, f"Well. {answer}")

    def test_other_requests_keep_the_grammar_of_the_server(self) -> None:
        for name, choice, params in [
            ("guard_qwen3", "auto", {"structural_tag": "x"}),
            ("guard_qwen3", "required", {}),
            ("hermes", "required", {"structural_tag": "x"}),
        ]:
            assert converted(name, choice, dict(params), "").sampling_params == params

    def test_the_conversion_of_requests_is_hooked(self) -> None:
        convert = OpenAIServingChat._convert_to_internal_request
        assert convert.__wrapped__.__qualname__ == convert.__qualname__

    def test_reasoning_that_a_template_opened_is_heard(self) -> None:
        parser = ReasoningParser("guard_qwen3", force_reasoning=True, tokenizer=Tokenizer())
        assert parser.parse_non_stream("hm</think>Well.") == ("hm", "Well.")
        assert parser.detector.get_think_end_token_ids(Tokenizer("</think>")) == [SPECIAL_BASE]

    def test_reasoning_that_no_prompt_of_the_template_opens_needs_its_opener(self) -> None:
        for end, answer in [("", ("", "Well.")), ("<think>\n", ("Well.", ""))]:
            tokenizer = Tokenizer()
            prompt = f"<|im_start|>assistant\n{end}"
            tokenizer.apply_chat_template = lambda *_, prompt=prompt, **__: prompt
            parser = ReasoningParser("guard_qwen3", force_reasoning=True, tokenizer=tokenizer)
            assert parser.parse_non_stream("Well.") == answer

    def test_reasoning_that_is_not_streamed_comes_at_once(self) -> None:
        parser = ReasoningParser("guard_qwen3", stream_reasoning=False, tokenizer=Tokenizer())
        steps = [parser.parse_stream_chunk(text) for text in ("<think>h", "m</think>", "Well.")]
        assert steps == [("", ""), ("", ""), ("hm", "Well.")]

    def test_reasoning_without_an_answer_becomes_the_answer_on_request(self) -> None:
        request = ChatCompletionRequest(
            model="m", messages=[], chat_template_kwargs={"force_nonempty_content": True}
        )
        parser = ReasoningParser("guard_qwen3", request=request, tokenizer=Tokenizer())
        assert parser.parse_non_stream("<think>hm")[1] == "hm"


class TestServer:
    """The code of the server that makes responses of the engine's outputs."""

    def server(self) -> Any:
        server = object.__new__(OpenAIServingChat)
        server.__dict__.update(
            tool_call_parser="guard",
            reasoning_parser="guard",
            tokenizer_manager=SimpleNamespace(tokenizer=Tokenizer(name_or_path="Qwen/Qwen3-8B")),
            template_manager=SimpleNamespace(
                force_reasoning=False, reasoning_config=None, chat_template_name=None
            ),
            _reasoning_detector=None,
        )
        return server

    def request(self, **more: Any) -> Any:
        messages = [{"role": "user", "content": "hi"}]
        return ChatCompletionRequest(model="m", messages=messages, tools=[RING], **more)

    @pytest.mark.parametrize("choice", ["auto", "required"])
    def test_a_stream_of_responses(self, choice: str) -> None:
        server, request = self.server(), self.request(tool_choice=choice)
        reasoning_parsers: dict[int, Any] = {}
        call_parsers: dict[int, Any] = {}
        content = {"meta_info": {"id": "r"}}
        parts = pieces(f"<think>hm</think>Well. {CALL}", 5)

        async def read() -> list[Any]:
            deltas = []
            for at, part in enumerate(parts):
                last = at + 1 == len(parts)
                reasoning, text = server._process_reasoning_stream(
                    0, part, reasoning_parsers, content, request, "stop" if last else None
                )
                deltas.append({"reasoning_content": reasoning})
                stream = server._process_tool_call_stream(
                    0, text, call_parsers, content, request, {}, created=0, flush=last
                )
                async for event in stream:
                    chunk = json.loads(event.removeprefix("data: "))
                    deltas.append(chunk["choices"][0]["delta"])
            rest = server._check_for_unstreamed_tool_args(call_parsers[0], content, request, 0, 0)
            assert rest is None
            return deltas

        deltas = asyncio.run(read())
        assert "".join(delta.get("reasoning_content") or "" for delta in deltas) == "hm"
        assert "".join(delta.get("content") or "" for delta in deltas) == "Well. "
        calls = [call for delta in deltas for call in delta.get("tool_calls") or []]
        assert [call["function"]["name"] for call in calls if call["id"]] == ["ring"]
        assert "".join(call["function"]["arguments"] or "" for call in calls) == '{"times": 2}'

    @pytest.mark.parametrize("choice", ["auto", "required", ToolChoice(function={"name": "ring"})])
    def test_a_whole_response(self, choice: Any) -> None:
        found = self.server()._process_tool_calls(
            f"Well. {CALL}", tools_of([RING]), {"type": "stop"}, choice
        )
        assert found.remaining_text.strip() == "Well."
        assert found.tool_calls[0].function.arguments == '{"times": 2}'
        assert found.finish_reason["type"] == "tool_calls"
