"""A chat model for LangChain that keeps the reasoning of chat-completion servers.

`ChatOpenAI` drops the field `reasoning_content`, in which the proxy, vLLM and SGLang send reasoning.
"""

from __future__ import annotations

from typing import Any

from langchain_openai import ChatOpenAI
from pydantic import model_validator

from ._requests import guarded

# Names of the field, by server.
_FIELDS = ("reasoning_content", "reasoning")


def _reasoning_of(message: Any) -> str | None:
    """Return the reasoning of a message or delta, a dictionary or a model of the client."""
    fields = message if isinstance(message, dict) else message.model_dump()
    found = (fields.get(name) for name in _FIELDS)
    return next((text for text in found if isinstance(text, str) and text), None)


class ChatGuardedOpenAI(ChatOpenAI):
    """A `ChatOpenAI` whose messages have reasoning in `additional_kwargs["reasoning_content"]`.

    `ChatGuardedOpenAI(base_url="http://127.0.0.1:8080/v1", model="Qwen/Qwen3-8B", api_key="none")`
    is used like `ChatOpenAI`, streams included. Reasoning of earlier messages is sent back, which
    models need between the calls of a turn.

    Before a server without parsers, `guard` has the settings of `guarded`, such as
    `guard={"server": "vllm"}` or `guard={"family": "qwen3"}`: calls and reasoning are then read from
    the text of the model.
    """

    guard: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _guard_clients(self) -> Any:
        """Guard the clients that the class has made."""
        if self.guard is not None:
            made: Any = self
            made.root_client = guarded(made.root_client, **self.guard)
            made.client = made.root_client.chat.completions
            made.root_async_client = guarded(made.root_async_client, **self.guard)
            made.async_client = made.root_async_client.chat.completions
        return self

    def _get_request_payload(self, input_: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, *args, **kwargs)
        messages = self._convert_input(input_).to_messages()
        sent = payload.get("messages") or []
        if len(sent) == len(messages):
            for message, fields in zip(messages, sent, strict=True):
                reasoning = message.additional_kwargs.get("reasoning_content")
                if reasoning and fields.get("role") == "assistant":
                    fields["reasoning_content"] = reasoning
        return payload

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        made = super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)
        choices = chunk.get("choices") or chunk.get("chunk", {}).get("choices") or []
        if made is not None and choices and (text := _reasoning_of(choices[0].get("delta") or {})):
            made.message.additional_kwargs["reasoning_content"] = text
        return made

    def _create_chat_result(self, response: Any, *args: Any, **kwargs: Any) -> Any:
        result = super()._create_chat_result(response, *args, **kwargs)
        choices = response["choices"] if isinstance(response, dict) else response.choices
        for made, choice in zip(result.generations, choices, strict=False):
            message = choice["message"] if isinstance(choice, dict) else choice.message
            if text := _reasoning_of(message):
                made.message.additional_kwargs["reasoning_content"] = text
        return result
