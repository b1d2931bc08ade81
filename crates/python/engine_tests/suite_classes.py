"""The guard's classes, given what vLLM's own tests leave to the server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest


def tool_of(tool: Any) -> Any:
    """Return a tool, of a mock as JSON."""
    if not isinstance(tool, Mock):
        return tool
    function = {"name": tool.function.name, "parameters": tool.function.parameters}
    return {"type": "function", "function": function}


def request_of(request: Any, tools: list[Any]) -> Any:
    """Return a request with tools, for one of a test that may be a mock or `None`.

    The server asks no parser of calls about a request without tools, and the tests do: the guard then
    reads like with an automatic choice.
    """
    declared = getattr(request, "tools", None)
    choice = getattr(request, "tool_choice", None)
    if not isinstance(declared, list) or not declared:
        declared, choice = tools, None
    parallel = getattr(request, "parallel_tool_calls", None)
    return SimpleNamespace(
        tools=[tool_of(tool) for tool in declared],
        tool_choice=None if isinstance(choice, Mock) else choice,
        parallel_tool_calls=None if isinstance(parallel, Mock) else parallel,
    )


def of_calls(base: Any) -> Any:
    """Return a class that takes the tools of its constructor where a request has none."""

    class Tested(base):  # type: ignore[misc]
        def __init__(self, tokenizer: Any, tools: Any = None, **_: Any) -> None:
            super().__init__(tokenizer, tools)
            self.given = tools if isinstance(tools, list) else []

        def _guard(self, request: Any) -> Any:
            return super()._guard(request_of(request, self.given))

    return type(base.__name__, (Tested,), {"__module__": base.__module__})


def of_reasoning(base: Any, theirs: Any) -> Any:
    """Return a class that begins, until a prompt is given, where the engine's class begins."""

    class Tested(base):  # type: ignore[misc]
        def __init__(self, tokenizer: Any, *args: Any, **options: Any) -> None:
            super().__init__(tokenizer, *args, **options)
            request = ChatCompletionRequest(model="m", messages=[])
            first, _ = theirs(tokenizer, *args, **options).extract_reasoning("x", request)
            start = {"start": "reasoning"} if first else {"prompt": ""}
            self._settings.update(start)

        def set_prompt_token_ids(self, prompt_token_ids: Any) -> None:
            self._settings.pop("start", None)
            super().set_prompt_token_ids(prompt_token_ids)

        def extract_reasoning(self, model_output: str, request: Any) -> Any:
            return super().extract_reasoning(model_output, request_of(request, []))

        def extract_content_ids(self, input_ids: Any) -> Any:
            return super().extract_content_ids(self._ids(input_ids))

        def is_reasoning_end(self, input_ids: Any) -> Any:
            return super().is_reasoning_end(self._ids(input_ids))

        def _ids(self, tokens: Any) -> list[int]:
            """Return the ids of tokens, some of which are texts."""
            return [self.vocab[it] if isinstance(it, str) else it for it in tokens]

    return type(base.__name__, (Tested,), {"__module__": base.__module__})
