"""LiteLLM and LangChain, with their own packages."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL = '<tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>'
TEXT = f"<think>hm</think>Well. {CALL}"
TOOL = {"type": "function", "function": {"name": "ring", "parameters": {"type": "object"}}}


class TestLiteLlm:
    """The callback, with responses that LiteLLM makes itself."""

    def request(self, **more: Any) -> dict[str, Any]:
        messages = [{"role": "user", "content": "hi"}]
        model = "hosted_vllm/Qwen/Qwen3-8B"
        return {"model": model, "messages": messages, "tools": [TOOL], **more}

    def answer(self, request: dict[str, Any]) -> Any:
        litellm = pytest.importorskip("litellm")
        return litellm.acompletion(**request, mock_response=TEXT, api_key="none")

    def test_a_stream_is_clean(self) -> None:
        request = self.request(stream=True)
        stream = self.answer(request)

        async def read() -> list[Any]:
            from toolcall_parsers.litellm import guard

            clean = guard.async_post_call_streaming_iterator_hook(None, await stream, request)
            return [chunk async for chunk in clean]

        chunks = asyncio.run(read())
        kinds = {type(chunk).__name__ for chunk in chunks}
        assert kinds <= {"ModelResponseStream"}
        deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
        assert "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas) == "hm"
        assert "".join(delta.content or "" for delta in deltas) == "Well. "
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        assert "".join(call.function.arguments or "" for call in calls) == '{"times": 2}'
        reasons = [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices]
        assert "tool_calls" in reasons

    def test_a_whole_response_is_clean(self) -> None:
        request = self.request()
        response = self.answer(request)

        async def read() -> Any:
            from toolcall_parsers.litellm import guard

            return await guard.async_post_call_success_hook(request, None, await response)

        clean = asyncio.run(read())
        message = clean.choices[0].message
        assert (message.reasoning_content, message.content) == ("hm", "Well. ")
        assert message.tool_calls[0].function.name == "ring"
        assert clean.choices[0].finish_reason == "tool_calls"

    def test_models_of_the_configuration_have_settings(self) -> None:
        pytest.importorskip("litellm")
        from toolcall_parsers.litellm import GuardCallback, guard

        callback = GuardCallback({"mine": {"family": "kimi_k2"}})
        assert callback.settings({"model": "mine"})["family"] == "kimi_k2"
        assert guard.settings({"model": "nobody/nothing"}) is None
        request = {"model": "mine"}
        asyncio.run(callback.async_pre_call_hook(None, None, request, "completion"))
        assert request == {"model": "mine"}

    def test_a_request_with_tools_asks_the_server_for_raw_text(self) -> None:
        pytest.importorskip("litellm")
        from toolcall_parsers.litellm import GuardCallback

        callback = GuardCallback({"mine": {"family": "kimi_k2"}})
        request = self.request(model="mine", tool_choice="auto")
        sent = asyncio.run(callback.async_pre_call_hook(None, None, request, "completion"))
        # `auto` needs options of the server at its start, `none` does not.
        assert (sent["tool_choice"], sent["skip_special_tokens"]) == ("none", False)
        assert sent["tools"] == [TOOL]
        # The guard still reads the answer as the client asked for it.
        settings = callback.settings(sent)
        assert settings is not None
        assert settings["request"]["tool_choice"] == "auto"
        demanding = self.request(model="mine", tool_choice="required")
        sent = asyncio.run(callback.async_pre_call_hook(None, None, demanding, "completion"))
        assert "structural_tag" in sent["structured_outputs"]

    def test_calls_are_read_although_the_server_is_asked_for_none(self) -> None:
        request = self.request()

        async def read() -> Any:
            from toolcall_parsers.litellm import guard

            sent = await guard.async_pre_call_hook(None, None, request, "completion")
            assert sent["tool_choice"] == "none"
            mocked = {name: sent[name] for name in ("model", "messages", "tools")}
            return await guard.async_post_call_success_hook(sent, None, await self.answer(mocked))

        message = asyncio.run(read()).choices[0].message
        assert [call.function.name for call in message.tool_calls] == ["ring"]

    def test_a_form_that_a_grammar_holds_is_not_sent_twice(self) -> None:
        pytest.importorskip("litellm")
        from toolcall_parsers.litellm import GuardCallback

        callback = GuardCallback({"mine": {"family": "qwen3"}})
        request = self.request(model="mine", response_format={"type": "json_object"})
        del request["tools"]
        sent = asyncio.run(callback.async_pre_call_hook(None, None, request, "completion"))
        assert "response_format" not in sent
        assert "structural_tag" in sent["structured_outputs"]
        # The guard still knows that the answer is JSON.
        settings = callback.settings(sent)
        assert settings is not None
        assert settings["request"]["response_format"] == {"type": "json_object"}

    def test_a_client_that_demands_json_keeps_its_format(self) -> None:
        pytest.importorskip("litellm")
        from toolcall_parsers.litellm import GuardCallback

        callback = GuardCallback({"mine": {"family": "qwen3", "server": "sglang"}})
        format_ = {"type": "json_object"}
        request = self.request(model="mine", tool_choice="required", response_format=format_)
        sent = asyncio.run(callback.async_pre_call_hook(None, None, request, "completion"))
        assert sent["response_format"] == format_
        assert sent["separate_reasoning"] is False


def test_an_answer_in_json_is_content_where_the_prompt_opened_a_thought() -> None:
    from toolcall_parsers._requests import complete, reading_settings

    body = {"model": "deepseek-ai/DeepSeek-R1", "response_format": {"type": "json_object"}}
    message = {"role": "assistant", "content": '{"a": 1}'}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    clean = complete({"choices": [choice]}, reading_settings(body, {}))
    assert clean["choices"][0]["message"]["content"] == '{"a": 1}'


class ChatServer(BaseHTTPRequestHandler):
    """Answers requests for chat completions."""

    def answer(self, status: int, kind: str, sent: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(sent.encode())

    def complete(self, message: dict[str, Any]) -> None:
        """Send a whole answer with this message."""
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        sent = json.dumps({**BASE, "object": "chat.completion", "choices": [choice]})
        self.answer(200, "application/json", sent)

    def stream(self, choices: list[dict[str, Any]]) -> None:
        """Send a stream with one choice in each chunk."""
        base = {**BASE, "object": "chat.completion.chunk"}
        events = [json.dumps({**base, "choices": [choice]}) for choice in choices]
        sent = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
        self.answer(200, "text/event-stream", sent)

    def log_message(self, *_: Any) -> None:
        pass


BASE = {"id": "c", "created": 1, "model": "m"}


@contextmanager
def serving(handler: type[ChatServer]) -> Iterator[str]:
    """Run a server, and give the address for clients."""
    server = HTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


class RawServer(ChatServer):
    """Answers with raw text, and refuses tools as a vLLM without parsers does."""

    bodies: list[dict[str, Any]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append(body)
        if body.get("tools") and body.get("tool_choice", "auto") != "none":
            sent = json.dumps({"error": {"message": '"auto" tool choice requires more options'}})
            return self.answer(400, "application/json", sent)
        if body.get("stream"):
            cuts = [TEXT[at : at + 7] for at in range(0, len(TEXT), 7)]
            choices = [{"index": 0, "delta": {"content": cut}} for cut in cuts]
            choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
            return self.stream(choices)
        return self.complete({"role": "assistant", "content": TEXT})


@pytest.fixture
def raw_url() -> Iterator[str]:
    with serving(RawServer) as url:
        yield url


class TestOpenAi:
    """Clients of the `openai` package before a server without parsers."""

    REQUEST: dict[str, Any] = {  # noqa: RUF012
        "model": "Qwen/Qwen3-8B",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [TOOL],
    }

    def client(self, url: str, kind: str = "OpenAI", **settings: Any) -> Any:
        openai = pytest.importorskip("openai")
        from toolcall_parsers import guarded

        client = getattr(openai, kind)(base_url=url, api_key="none", max_retries=0)
        return guarded(client, **settings)

    def check(self, message: Any) -> None:
        assert (message.reasoning_content, message.content) == ("hm", "Well. ")
        assert message.tool_calls[0].function.arguments == '{"times": 2}'

    def test_a_server_without_parsers_refuses_the_request_itself(self, raw_url: str) -> None:
        openai = pytest.importorskip("openai")
        client = openai.OpenAI(base_url=raw_url, api_key="none", max_retries=0)
        with pytest.raises(openai.BadRequestError):
            client.chat.completions.create(**self.REQUEST)

    def test_a_whole_answer_is_clean(self, raw_url: str) -> None:
        client = self.client(raw_url)
        answer = client.chat.completions.create(**self.REQUEST, tool_choice="auto")
        self.check(answer.choices[0].message)
        assert answer.choices[0].finish_reason == "tool_calls"
        raw = client.chat.completions.with_raw_response.create(**self.REQUEST)
        self.check(raw.parse().choices[0].message)
        assert raw.status_code == 200

    def test_a_demand_for_calls_is_sent_as_a_grammar(self, raw_url: str) -> None:
        self.client(raw_url).chat.completions.create(**self.REQUEST, tool_choice="required")
        sent = RawServer.bodies[-1]
        assert (sent["tool_choice"], sent["skip_special_tokens"]) == ("none", False)
        assert "ring" in sent["structured_outputs"]["structural_tag"]

    def test_tools_are_moved_into_the_prompt(self, raw_url: str) -> None:
        client = self.client(raw_url, tools_in="prompt", family="json_in_tags")
        answer = client.chat.completions.create(**self.REQUEST, tool_choice="required")
        self.check(answer.choices[0].message)
        sent = RawServer.bodies[-1]
        assert not {"tools", "tool_choice"} & sent.keys()
        assert "structural_tag" in sent["structured_outputs"]
        assert [message["role"] for message in sent["messages"]] == ["system", "user"]
        assert '"name": "ring"' in sent["messages"][0]["content"]

    def test_a_stream_is_clean(self, raw_url: str) -> None:
        with self.client(raw_url).chat.completions.create(**self.REQUEST, stream=True) as stream:
            deltas = [chunk.choices[0].delta for chunk in stream]
        assert "".join(delta.content or "" for delta in deltas) == "Well. "
        calls = [call for delta in deltas for call in delta.tool_calls or []]
        assert "".join(call.function.arguments or "" for call in calls) == '{"times": 2}'

    def test_an_async_client_is_clean(self, raw_url: str) -> None:
        client = self.client(raw_url, "AsyncOpenAI")

        async def both() -> tuple[Any, list[Any]]:
            create = client.chat.completions.create
            answer = await create(**self.REQUEST)
            stream = await create(**self.REQUEST, stream=True)
            return answer, [chunk async for chunk in stream]

        answer, chunks = asyncio.run(both())
        self.check(answer.choices[0].message)
        assert chunks[-1].choices[0].finish_reason == "tool_calls"

    def test_an_unknown_model_passes_unchanged(self, raw_url: str) -> None:
        request = {**self.REQUEST, "model": "nobody/nothing", "tools": []}
        answer = self.client(raw_url).chat.completions.create(**request)
        assert answer.choices[0].message.content == TEXT


class Server(ChatServer):
    """Answers as the proxy does."""

    bodies: list[dict[str, Any]] = []  # noqa: RUF012

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append(body)
        if body.get("stream"):
            deltas = [{"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": "Well."}]
            return self.stream([{"index": 0, "delta": delta} for delta in deltas])
        message = {"role": "assistant", "content": "Well.", "reasoning_content": "hm"}
        return self.complete(message)


@pytest.fixture
def url() -> Iterator[str]:
    with serving(Server) as url:
        yield url


class TestLangChain:
    """The chat model, against a server of our own."""

    def model(self, url: str) -> Any:
        pytest.importorskip("langchain_openai")
        from toolcall_parsers.langchain import ChatGuardedOpenAI

        return ChatGuardedOpenAI(base_url=url, model="m", api_key="none", max_retries=0)

    def test_a_message_keeps_its_reasoning(self, url: str) -> None:
        message = self.model(url).invoke("hi")
        assert message.content == "Well."
        assert message.additional_kwargs["reasoning_content"] == "hm"

    def test_a_stream_keeps_its_reasoning(self, url: str) -> None:
        chunks = list(self.model(url).stream("hi"))
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        assert whole.content == "Well."
        assert whole.additional_kwargs["reasoning_content"] == "hm"

    def test_reasoning_of_earlier_messages_is_sent_back(self, url: str) -> None:
        model = self.model(url)
        first = model.invoke("hi")
        model.invoke([("human", "hi"), first, ("human", "and now?")])
        sent = Server.bodies[-1]["messages"]
        assert [message.get("reasoning_content") for message in sent] == [None, "hm", None]

    def test_calls_are_read_from_the_text_of_a_server_without_parsers(self, raw_url: str) -> None:
        pytest.importorskip("langchain_openai")
        from toolcall_parsers.langchain import ChatGuardedOpenAI

        model = ChatGuardedOpenAI(
            base_url=raw_url, model="m", api_key="none", max_retries=0, guard={"family": "qwen3"}
        ).bind_tools([TOOL])
        whole = model.invoke("hi")
        chunks = list(model.stream("hi"))
        streamed = chunks[0]
        for chunk in chunks[1:]:
            streamed += chunk
        for message in (whole, streamed):
            assert message.additional_kwargs["reasoning_content"] == "hm"
            assert [(call["name"], call["args"]) for call in message.tool_calls] == [
                ("ring", {"times": 2})
            ]
