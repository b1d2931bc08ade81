"""A chat model for LangChain that keeps the reasoning of chat-completion servers.

`ChatOpenAI` drops the field `reasoning_content`, in which the proxy, vLLM and SGLang send reasoning.
"""

from __future__ import annotations

from typing import Any

from langchain_openai import ChatOpenAI

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
    is used like `ChatOpenAI`, streams included.
    """

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
