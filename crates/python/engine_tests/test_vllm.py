"""The parsers inside vLLM: its registry, its parser classes, its server."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from engines import Answer, vllm_deltas, vllm_whole, without_gpu
from toolcall_parsers import families
from toolcall_parsers._partial import partial_json
from toolcall_parsers.engines._families import MarkerTokens, reads_calls
from wires import BROKEN, PIECES, Tokenizer, alike, answer_of, pieces, wires

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

try:
    version("vllm")
except PackageNotFoundError:
    pytest.skip("vllm is not installed", allow_module_level=True)

without_gpu("vllm")

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.chat_completion.serving import OpenAIServingChat
from vllm.parser.parser_manager import ParserManager
from vllm.plugins import load_general_plugins
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager

load_general_plugins()

RING = {
    "type": "function",
    "function": {
        "name": "ring",
        "parameters": {"type": "object", "properties": {"times": {"type": "integer"}}},
    },
}
FORMS = [
    {"response_format": {"type": "json_object"}},
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "ring", "schema": RING["function"]["parameters"]},
        }
    },
    {"structured_outputs": {"regex": r'\{"times": 2\}'}},
]
CALL = '<tool_call>\n{"name": "ring", "arguments": {"times": 2}}\n</tool_call>'
THINK = ("<think>", "</think>")
TWO = 2


def request_for(tools: list[Any] | None = None, **more: Any) -> Any:
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], **more}
    if tools:
        body["tools"] = tools
    return ChatCompletionRequest(**body)


def parser_of(
    name: str,
    request: Any,
    tokenizer: Any = None,
    *,
    calls: bool = True,
    reasoning: bool = True,
    passes: int = 1,
) -> Any:
    tokenizer = tokenizer or Tokenizer()
    get_parser = ParserManager.get_parser
    if passes == TWO:
        # The engine's own, which reads an answer in two passes.
        get_parser = partial(get_parser.__func__.__wrapped__, ParserManager)
    kind = get_parser(
        tool_parser_name=name if calls else None,
        reasoning_parser_name=name if reasoning else None,
        enable_auto_tools=True,
        tokenizer=tokenizer,
    )
    return kind(tokenizer, request.tools, chat_template_kwargs=request.chat_template_kwargs)


def whole(parser: Any, text: str, request: Any) -> Answer:
    return vllm_whole(parser, request, text)


def streamed(parser: Any, text: str, request: Any, size: int) -> Answer:
    answer = Answer()
    for delta in vllm_deltas(parser, request, pieces(text, size) or [""]):
        answer.reasoning += delta.reasoning or ""
        answer.content += delta.content or ""
        for call in delta.tool_calls or []:
            # Only the first piece of a call has an id and a name.
            assert (call.id is not None) == (call.index == len(answer.calls))
            assert (call.function.name is not None) == (call.id is not None)
            answer.add(call.index, call.function.name, call.function.arguments)
    return answer


class TestRegistry:
    def test_all_families_are_registered(self) -> None:
        names = {"guard", *(f"guard_{family}" for family in families())}
        assert names <= set(ToolParserManager.list_registered())
        assert names <= set(ReasoningParserManager.list_registered())

    def test_a_class_knows_its_family(self) -> None:
        parser = ToolParserManager.get_tool_parser("guard_qwen3")
        assert parser.family == "qwen3"
        assert ToolParserManager.get_tool_parser("guard").family is None

    def test_the_model_names_the_family(self) -> None:
        tokenizer = Tokenizer(*THINK, name_or_path="Qwen/Qwen3-8B")
        request = request_for([RING])
        parser = parser_of("guard", request, tokenizer)
        assert whole(parser, f"<think>hm</think>{CALL}", request).calls == [
            ("ring", '{"times": 2}')
        ]

    def test_an_unknown_model_is_refused_at_the_start(self) -> None:
        tokenizer = Tokenizer(name_or_path="nobody/nothing-7b")
        with pytest.raises(TypeError, match="no family is known for the model"):
            parser_of("guard", request_for(), tokenizer)

    def test_a_family_without_calls_is_refused_as_a_tool_parser(self) -> None:
        with pytest.raises(TypeError, match="has no tool calls"):
            parser_of("guard_deepseek_r1", request_for())


# Where two passes give another answer than the guard alone; docs/engines.md has the reasons.
SUFFIXES = {
    f"profiles/{family}:{family}/{case}"
    for family in ("hy_v3", "hy_v4")
    for case in ("suffix-of-others", "suffix-missing")
}
# The family has no calls.
REASONING_ALONE = {"profiles/glm41v:glm41v/answer"}
WHOLE = SUFFIXES | {"profiles/inkling:inkling/any-order"}
ONE_PIECE = {
    "profiles/calls_in_reasoning:trinity/call-in-reasoning",
    "profiles/calls_in_reasoning:apertus/call-in-reasoning",
    "profiles/tagged:trinity/suspended",
    "profiles/think_tools:qwen3/call-between-thoughts",
}


@pytest.mark.parametrize("passes", [1, TWO])
@pytest.mark.parametrize("size", [None, *PIECES])
@pytest.mark.parametrize("folder", ["tools", "profiles"])
def test_vectors_give_the_answer_of_the_guard(folder: str, size: int | None, passes: int) -> None:
    count, differ = 0, set()
    for name, case, guard in wires(folder, prompt=""):
        expected = answer_of(guard.parse(case["wire"]), streamed=size is not None)
        # With no choice and no tools, vLLM parses like with an automatic choice.
        choice = "auto" if case.get("tools") else None
        request = request_for(case.get("tools"), tool_choice=choice)
        parser = parser_of(
            f"guard_{case['family']}",
            request,
            calls=reads_calls({"family": case["family"]}),
            passes=passes,
        )
        if size is None:
            got = whole(parser, case["wire"], request)
        else:
            got = streamed(parser, case["wire"], request, size)
        count += 1
        if not alike(got, expected):
            differ.add(name)
    assert count > 300
    known = set() if size is None else REASONING_ALONE
    if passes == TWO:
        two = WHOLE if size is None else SUFFIXES | (ONE_PIECE if size == max(PIECES) else set())
        known = known | two
    assert differ == {name for name in known if name.startswith(folder)}


def test_a_reasoning_parser_alone_gives_the_reasoning_of_the_guard() -> None:
    count = 0
    for name, case, guard in wires("reasoning", prompt=""):
        message = guard.parse(case["wire"])
        request = request_for()
        got = whole(
            parser_of(f"guard_{case['family']}", request, calls=False), case["wire"], request
        )
        count += 1
        assert got.reasoning == message.reasoning, name
        if not message.calls:
            assert got.content.strip() == message.content.strip(), name
    assert count > 500


@pytest.mark.parametrize("size", PIECES)
def test_a_stream_of_a_reasoning_parser_alone_begins_with_the_reasoning(size: int) -> None:
    count = 0
    for name, case, guard in wires("reasoning", prompt=""):
        expected = guard.parse(case["wire"]).reasoning
        request = request_for()
        parser = parser_of(f"guard_{case['family']}", request, calls=False)
        got = streamed(parser, case["wire"], request, size).reasoning
        # The server does not ask the parser again after the first text of the answer.
        count += got == expected
        assert expected.startswith(got), name
    assert count > 500


def test_without_a_reasoning_parser_its_markup_is_content() -> None:
    request = request_for([RING])
    for got in answers("guard_qwen3", f"<think>hm</think>{CALL}", request, reasoning=False):
        assert got.content == "<think>hm</think>"
        assert got.calls == [("ring", '{"times": 2}')]


def answers(name: str, text: str, request: Any, **how: bool) -> list[Answer]:
    """Return the answer to a whole text, and to streams of it."""
    got = [whole(parser_of(name, request, **how), text, request)]
    got += [streamed(parser_of(name, request, **how), text, request, size) for size in PIECES]
    return got


@pytest.mark.parametrize("passes", [1, TWO])
@pytest.mark.parametrize("size", PIECES)
@pytest.mark.parametrize("text", BROKEN)
def test_a_stream_ends_a_broken_call_so_that_it_does_not_parse(
    text: str, size: int, passes: int
) -> None:
    request = request_for([RING])
    got = streamed(parser_of("guard_qwen3", request, passes=passes), text, request, size)
    for _, arguments in got.calls:
        with pytest.raises(ValueError, match=r"not JSON|Expecting"):
            partial_json(arguments)
    assert whole(parser_of("guard_qwen3", request, passes=passes), text, request).calls == []


class TestRequests:
    @pytest.mark.parametrize(
        "choice", ["required", {"type": "function", "function": {"name": "ring"}}]
    )
    def test_forced_calls_are_constrained_and_read_in_the_familys_syntax(self, choice: Any) -> None:
        request = request_for([RING], tool_choice=choice)
        request = parser_of("guard_qwen3", request).adjust_request(request)
        tag = json.loads(request.structured_outputs.structural_tag)
        assert "<tool_call>" in json.dumps(tag)
        for got in answers("guard_qwen3", f"<think>hm</think>{CALL}", request):
            assert got == Answer("hm", "", [("ring", '{"times": 2}')])

    def test_forced_calls_may_follow_a_thought_unless_it_is_switched_off(self) -> None:
        from xgrammar import Grammar
        from xgrammar.testing import _is_grammar_accept_string as accepts

        thought = f"<think>\nhm\n</think>\n\n{CALL}"
        for switch, allowed in [({}, True), ({"enable_thinking": False}, False)]:
            request = request_for([RING], tool_choice="required", chat_template_kwargs=switch)
            request = parser_of("guard_qwen3", request).adjust_request(request)
            assert request._grammar_from_parser
            grammar = Grammar.from_structural_tag(request.structured_outputs.structural_tag)
            assert accepts(grammar, CALL)
            assert accepts(grammar, thought) == allowed
            assert not accepts(grammar, f"Well. {CALL}")

    @pytest.mark.parametrize("form", FORMS)
    def test_a_form_may_follow_a_thought_and_a_blank_line(self, form: dict[str, Any]) -> None:
        from xgrammar import Grammar
        from xgrammar.testing import _is_grammar_accept_string as accepts

        for thinks in (True, False):
            switch = {} if thinks else {"enable_thinking": False}
            asked = request_for(chat_template_kwargs=switch, **form)
            request = asked.model_copy(deep=True)
            request = parser_of("guard_qwen3", request, calls=False).adjust_request(request)
            assert request._grammar_from_parser is thinks
            if not thinks:
                # The form that the server makes needs no thought.
                assert request.response_format == asked.response_format
                assert request.structured_outputs == asked.structured_outputs
                continue
            assert request.response_format is None
            grammar = Grammar.from_structural_tag(request.structured_outputs.structural_tag)
            for text in ('{"times": 2}', '<think>\nhm\n</think>\n\n{"times": 2}'):
                assert accepts(grammar, text), text
            for text in ("Well.", "<think>\nhm\n</think>\n\nWell.", "{"):
                assert not accepts(grammar, text), text

    def test_an_automatic_choice_is_not_constrained(self) -> None:
        request = request_for([RING], tool_choice="auto")
        request = parser_of("guard_qwen3", request).adjust_request(request)
        assert request.structured_outputs is None

    def test_calls_that_the_request_forbids_are_dropped(self) -> None:
        request = request_for([RING], tool_choice="none")
        for got in answers("guard_qwen3", f"Well.{CALL}", request):
            assert got == Answer("", "Well.", [])

    def test_special_tokens_are_kept_where_they_are_markers(self) -> None:
        request = request_for([RING])
        request = parser_of("guard_kimi_k2", request).adjust_request(request)
        assert request.skip_special_tokens is False
        assert request.spaces_between_special_tokens is False

    def test_a_template_without_thinking_is_heard(self) -> None:
        tokenizer = Tokenizer(*THINK, name_or_path="Qwen/Qwen3-8B")
        request = request_for()
        prompt = tokenizer.encode("<|im_start|>assistant\n<think>\n\n</think>\n\n")
        parser = parser_of("guard", request, tokenizer, calls=False)
        assert parser.is_reasoning_end(prompt)
        prompt = tokenizer.encode("<|im_start|>assistant\n")
        assert not parser.is_reasoning_end(prompt)


class TestTokens:
    def parser(self) -> tuple[Any, Tokenizer]:
        tokenizer = Tokenizer(*THINK, "<tool_call>", "</tool_call>")
        return ReasoningParserManager.get_reasoning_parser("guard_qwen3")(tokenizer), tokenizer

    def test_reasoning_tokens_are_counted(self) -> None:
        parser, tokenizer = self.parser()
        assert parser.count_reasoning_tokens(tokenizer.encode("<think>hmm</think>Yes")) == 3

    def test_content_begins_after_the_closer(self) -> None:
        parser, tokenizer = self.parser()
        ids = tokenizer.encode("hmm</think>Yes")
        assert parser.extract_content_ids(ids) == tokenizer.encode("Yes")
        assert parser.extract_content_ids(tokenizer.encode("hmm")) == []

    def test_the_closer_ends_reasoning(self) -> None:
        parser, tokenizer = self.parser()
        assert parser.reasoning_start_str, parser.reasoning_end_str == THINK
        ids = tokenizer.encode("<think>hmm</think>")
        assert parser.is_reasoning_end_streaming(ids, ids[-1:])
        assert not parser.is_reasoning_end_streaming(ids[:-1], ids[-2:-1])

    def test_text_without_an_opener_ends_reasoning(self) -> None:
        parser, tokenizer = self.parser()
        prompt = tokenizer.encode("<|im_start|>assistant\n")
        assert not parser.is_reasoning_end(prompt)
        for text, ended in [("{", True), ("<", False), ("<think>", False), ("<think>hm", False)]:
            ids = tokenizer.encode(text)
            assert parser.is_reasoning_end_streaming(prompt + ids, ids[-1:]) is ended, text
        ids = tokenizer.encode("<think>hm</think>")
        assert parser.is_reasoning_end_streaming(prompt + ids, ids[-1:])


# Parts of an answer: those that are markers are tokens, the others are typed letter by letter.
TYPED = [
    ("<think>", True),
    ("Not </think> yet. ", False),
    ("</think>", True),
    ("Say <tool_call> and <think>. ", False),
    ("<tool_call>", True),
    ('\n{"name": "ring", "arguments": {"times": "</tool_call>"}}\n', False),
    ("</tool_call>", True),
]


class TestTypedMarkers:
    """Markers that the model types as ordinary tokens do not act."""

    tokenizer = Tokenizer(*THINK, "<tool_call>", "</tool_call>", "<|im_end|>")
    expected = Answer(
        "Not </think> yet. ",
        "Say <tool_call> and <think>. ",
        [("ring", '{"times": "</tool_call>"}')],
    )

    def tokens(self) -> list[tuple[str, int]]:
        found = []
        for text, marker in TYPED:
            if marker:
                found.append((text, self.tokenizer.get_vocab()[text]))
            else:
                found += [(letter, ord(letter)) for letter in text]
        return found

    def request(self) -> Any:
        tools = [{"type": "function", "function": {"name": "ring"}}]
        return request_for(tools, tool_choice="auto")

    def test_whole_answers(self) -> None:
        text = "".join(text for text, _ in self.tokens())
        ids = [number for _, number in self.tokens()]
        end = self.tokenizer.get_vocab()["<|im_end|>"]
        for cut, more in [(0, []), (0, [end]), (len("</tool_call>"), [])]:
            request = self.request()
            parser = parser_of("guard_qwen3", request, self.tokenizer)
            parser.set_prompt_token_ids([])
            reasoning, content, calls = parser.parse(
                text[: len(text) - cut], request, True, [*ids, *more]
            )
            answer = Answer(reasoning, content, [(call.name, call.arguments) for call in calls])
            assert answer == self.expected

    def test_whole_answers_of_a_reasoning_parser_alone(self) -> None:
        text = "".join(text for text, _ in self.tokens())
        request = request_for()
        parser = parser_of("guard_qwen3", request, self.tokenizer, calls=False)
        parser.set_prompt_token_ids([])
        ids = [number for _, number in self.tokens()]
        reasoning, content, _ = parser.parse(text, request, True, ids)
        assert reasoning == self.expected.reasoning
        assert content.startswith(self.expected.content)

    @pytest.mark.parametrize("passes", [1, TWO])
    @pytest.mark.parametrize("size", [1, 3, 1000])
    @pytest.mark.parametrize("lag", [0, 5])
    def test_streams(self, size: int, passes: int, lag: int) -> None:
        if passes == TWO and (size > 1 or lag):
            pytest.skip("the second pass begins with text that is not that of its ids")
        tokens = self.tokens()
        parts = [tokens[at : at + size] for at in range(0, len(tokens), size)]
        request = self.request()
        parser = parser_of("guard_qwen3", request, self.tokenizer, passes=passes)
        answer, text, sent = Answer(), "", 0
        for at, part in enumerate(parts):
            text += "".join(text for text, _ in part)
            last = at + 1 == len(parts)
            # A server holds text back that may begin a stop string.
            until = len(text) if last else max(len(text) - lag, sent)
            delta = parser.parse_delta(
                text[sent:until],
                [number for _, number in part],
                request,
                prompt_token_ids=[],
                finished=last,
            )
            sent = until
            if delta is None:
                continue
            answer.reasoning += delta.reasoning or ""
            answer.content += delta.content or ""
            for call in delta.tool_calls or []:
                answer.add(call.index, call.function.name, call.function.arguments)
        assert answer == self.expected

    def test_markers_that_a_grammar_made_of_ordinary_tokens_act(self) -> None:
        text = f"<think>hm</think>{CALL}"
        ids = [ord(letter) for letter in text]
        for size in (3, len(text)):
            request = request_for([RING], tool_choice="required")
            parser = parser_of("guard_qwen3", request, self.tokenizer)
            request = parser.adjust_request(request)
            answer = Answer()
            for at in range(0, len(ids), size):
                delta = parser.parse_delta(
                    text[at : at + size],
                    ids[at : at + size],
                    request,
                    prompt_token_ids=[],
                    finished=at + size >= len(ids),
                )
                answer.reasoning += (delta and delta.reasoning) or ""
                for call in (delta and delta.tool_calls) or []:
                    answer.add(call.index, call.function.name, call.function.arguments)
            assert answer == Answer("hm", "", [("ring", '{"times": 2}')])
            assert parser.count_reasoning_tokens(ids) == len("hm")
            reasoning, content, calls = parser.parse(text, request, True, ids)
            assert (reasoning, content, len(calls)) == ("hm", None, 1)

    def test_reasoning_tokens_are_counted_exactly(self) -> None:
        parser = parser_of("guard_qwen3", self.request(), self.tokenizer)
        ids = [number for _, number in self.tokens()]
        assert parser.count_reasoning_tokens(ids) == len(self.expected.reasoning)

    def test_the_grammar_does_not_begin_at_a_typed_closer(self) -> None:
        parser = parser_of("guard_qwen3", self.request(), self.tokenizer).reasoning_parser
        opener, closer = (self.tokenizer.get_vocab()[tag] for tag in THINK)
        ids = [opener, *map(ord, "a </think>")]
        assert not parser.is_reasoning_end_streaming(ids, ids[-1:])
        assert parser.is_reasoning_end_streaming([*ids, closer], [closer])

    def test_text_that_is_not_that_of_the_tokens_is_one_piece(self) -> None:
        markers = MarkerTokens(self.tokenizer, {"family": "qwen3"})
        ids = [number for _, number in self.tokens()]
        assert markers.divide("Other text.", ids) == [("Other text.", ids)]


def test_parsers_of_two_families_stay_two() -> None:
    for tools, reasoning, kind in [
        ("guard_qwen3", "guard_qwen3", "GuardParser"),
        ("guard_qwen3", None, "GuardParser"),
        (None, "guard_qwen3", "GuardParser"),
        ("guard_qwen3", "guard_deepseek_r1", "_Parser"),
        ("guard_qwen3", "deepseek_r1", "_Parser"),
        ("hermes", "qwen3", "_Parser"),
    ]:
        found = ParserManager.get_parser(tools, reasoning, enable_auto_tools=True)
        assert found.__name__ == kind, (tools, reasoning)
    assert ParserManager.get_parser() is None


class TestServer:
    """The code of the server that makes responses of the engine's outputs."""

    def server(self, name: str) -> Any:
        server = object.__new__(OpenAIServingChat)
        kind = ParserManager.get_parser(
            tool_parser_name=name, reasoning_parser_name=name, enable_auto_tools=True
        )
        server.__dict__.update(
            parser_cls=kind,
            enable_auto_tools=True,
            enable_force_include_usage=False,
            enable_log_outputs=False,
            enable_log_deltas=False,
            enable_per_request_metrics=False,
            enable_prompt_tokens_details=False,
            request_logger=None,
            response_role="assistant",
            system_fingerprint=None,
            return_tokens_as_token_ids=False,
            model_config=SimpleNamespace(model="Qwen/Qwen3-8B"),
            _include_reasoning_tokens_details=True,
        )
        return server

    async def outputs(self, texts: list[str], tokenizer: Tokenizer) -> AsyncIterator[Any]:
        for at, text in enumerate(texts):
            last = at + 1 == len(texts)
            output = SimpleNamespace(
                index=0,
                text=text,
                token_ids=tokenizer.encode(text),
                logprobs=None,
                finish_reason="stop" if last else None,
                stop_reason=None,
                routed_experts=None,
                weight_versions=None,
                spec_decode_metrics=None,
            )
            yield SimpleNamespace(
                outputs=[output],
                prompt="",
                prompt_token_ids=tokenizer.encode("<|im_start|>assistant\n"),
                encoder_prompt_token_ids=None,
                num_cached_tokens=None,
                num_cache_creation_tokens=None,
                metrics=None,
                kv_transfer_params=None,
                ec_transfer_params=None,
                spec_decode_metrics=None,
                prompt_logprobs=None,
            )

    def arguments(self, texts: list[str], request: Any) -> tuple[Tokenizer, list[Any]]:
        tokenizer = Tokenizer(*THINK, name_or_path="Qwen/Qwen3-8B")
        outputs = self.outputs(texts, tokenizer)
        metadata = SimpleNamespace(final_usage_info=None)
        return tokenizer, [request, outputs, "id", "m", [], tokenizer, metadata]

    def test_a_stream_of_responses(self) -> None:
        request = request_for([RING], stream=True, stream_options={"include_usage": True})
        # Deltas have whole tokens.
        tokenizer = Tokenizer(*THINK)
        ids = tokenizer.encode(f"<think>hm</think>Well. {CALL}")
        texts = [tokenizer.decode(ids[at : at + 3]) for at in range(0, len(ids), 3)]
        _, arguments = self.arguments(texts, request)

        async def read() -> list[Any]:
            stream = self.server("guard").chat_completion_stream_generator_raw(*arguments)
            return [chunk async for chunk in stream]

        chunks = asyncio.run(read())
        choices = [chunk.choices[0] for chunk in chunks if chunk.choices]
        deltas = [choice.delta for choice in choices]
        assert "".join(delta.reasoning or "" for delta in deltas) == "hm"
        assert "".join(delta.content or "" for delta in deltas) == "Well. "
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        assert [call.function.name for call in calls if call.id] == ["ring"]
        assert "".join(call.function.arguments or "" for call in calls) == '{"times": 2}'
        assert choices[-1].finish_reason == "tool_calls"
        assert chunks[-1].usage.completion_tokens_details.reasoning_tokens == 2

    def test_a_whole_response(self) -> None:
        request = request_for([RING])
        tokenizer, arguments = self.arguments([f"<think>hm</think>Well. {CALL}"], request)
        server = self.server("guard")
        parser = server._make_parser(request, tokenizer, None)
        response = asyncio.run(server.chat_completion_full_generator(*arguments, parser))
        message = response.choices[0].message
        assert (message.reasoning, message.content) == ("hm", "Well. ")
        assert message.tool_calls[0].function.arguments == '{"times": 2}'
        assert response.choices[0].finish_reason == "tool_calls"
        assert response.usage.completion_tokens_details.reasoning_tokens == 2
