"""LiteLLM and LangChain, with their own packages."""

from __future__ import annotations

import asyncio
import json
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
        assert request == {"model": "mine", "skip_special_tokens": False}


class Server(BaseHTTPRequestHandler):
    """Answers as the proxy does."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": "Well.", "reasoning_content": "hm"}
        base = {"id": "c", "created": 1, "model": "m"}
        if body.get("stream"):
            kind = "text/event-stream"
            deltas = [{"reasoning_content": "h"}, {"reasoning_content": "m"}, {"content": "Well."}]
            base["object"] = "chat.completion.chunk"
            events = [json.dumps({**base, "choices": [{"index": 0, "delta": d}]}) for d in deltas]
            sent = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
        else:
            kind = "application/json"
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            sent = json.dumps({**base, "object": "chat.completion", "choices": [choice]})
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(sent.encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


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
