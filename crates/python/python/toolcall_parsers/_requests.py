"""The request side: what a server is asked for, and a client whose answers are clean."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _native
from ._native import ChatGuard
from ._streams import guard_chunks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from typing_extensions import Self, Unpack

    from ._settings import Settings

Server = Literal["vllm", "sglang", "llama.cpp", "ollama"]
"""The kind of an inference server."""

ToolsIn = Literal["request", "prompt"]
"""Where a model finds its tools. `prompt` is for models whose chat template declares none."""

_Client = TypeVar("_Client")

# Arguments of `create` that are not part of the body.
_OPTIONS = {"extra_body", "extra_headers", "extra_query", "timeout"}

# Fields that a request may have to say how its answer is read.
_READ = (
    "model",
    "messages",
    "tools",
    "functions",
    "tool_choice",
    "parallel_tool_calls",
    "stop",
    "n",
    "reasoning",
    "reasoning_effort",
    "chat_template_kwargs",
    "enable_thinking",
    "continue_final_message",
    # An answer in a form is content from its first character on.
    "response_format",
    "guided_json",
    "json_schema",
    "structured_outputs",
)


def forward_request(
    body: Mapping[str, Any],
    *,
    server: Server = "vllm",
    tools_in: ToolsIn = "request",
    **settings: Unpack[Settings],
) -> dict[str, Any]:
    """Return the body of a chat-completion request that `server` answers with raw text.

    Special tokens are kept, and the server's parsers are off: a server that was started without
    them would refuse tools otherwise. If the request demands calls, the server is held to their
    grammar. Pass the original body as the setting `request` of the guard for the answer: the new one
    no longer names the tool to call.

    With `tools_in="prompt"`, tools and earlier calls and results become text of the messages, in the
    syntax of the family, and the body has no tools.

    >>> tools = [{"type": "function", "function": {"name": "ring"}}]
    >>> body = {"model": "Qwen/Qwen3-8B", "messages": [], "tools": tools}
    >>> sent = forward_request(body, server="vllm")
    >>> sent["tool_choice"], sent["skip_special_tokens"]
    ('none', False)
    """
    given: dict[str, Any] = {"request": body, **settings}
    if tools_in == "prompt":
        body = _native.move_tools_to_prompt(body, **given)
    sent, _, no_grammar = _native.forward_request(body, server, **given)
    if no_grammar is not None:
        warnings.warn(f"the server is not held to calls: {no_grammar}", stacklevel=2)
    return sent


def guarded(
    client: _Client,
    *,
    server: Server = "vllm",
    tools_in: ToolsIn = "request",
    **settings: Unpack[Settings],
) -> _Client:
    """Return a copy of an `openai` client whose chat completions are clean.

    `client` is an `OpenAI` or `AsyncOpenAI`, and `server` the kind of server that it asks. Requests
    are changed as by `forward_request`, which explains `tools_in`, and answers are guarded, streams and whole ones. Without
    settings, the model of each request names the family; the answers of unknown models pass
    unchanged.

    ```python
    client = guarded(OpenAI(base_url="http://127.0.0.1:8000/v1", api_key="none"))
    for chunk in client.chat.completions.create(model="Qwen/Qwen3-8B", stream=True, ...):
        ...
    ```
    """
    copy: Any = client.with_options()  # type: ignore[attr-defined]
    completions = copy.chat.completions
    completions.create = _Create(completions.create, (server, tools_in), settings)
    return copy  # type: ignore[no-any-return]


class _Create:
    """The method `create` of chat completions, with a guard around it."""

    def __init__(self, create: Any, asks: tuple[Server, ToolsIn], settings: Settings) -> None:
        self._create = create
        self._server, self._tools_in = asks
        self._settings = settings
        # Frameworks look at the signature and the name.
        self.__signature__ = inspect.signature(create)
        self.__name__ = "create"
        self.__doc__ = create.__doc__

    def __call__(self, **arguments: Any) -> Any:
        body = {
            name: value
            for name, value in arguments.items()
            if name not in _OPTIONS and type(value).__name__ not in ("NotGiven", "Omit")
        }
        body.update(arguments.get("extra_body") or {})
        settings = reading_settings(body, self._settings)
        if settings is None:
            return self._create(**arguments)
        sent = forward_request(body, server=self._server, tools_in=self._tools_in, **settings)
        changed = {name: value for name, value in sent.items() if body.get(name) != value}
        more = {**(arguments.get("extra_body") or {}), **changed}
        arguments = {name: it for name, it in arguments.items() if name in sent or name not in body}
        # Fields of the server's own are not arguments, and those of the body win.
        arguments["extra_body"] = {name: it for name, it in more.items() if name in sent}
        answer = self._create(**arguments)
        if inspect.isawaitable(answer):
            return _later(answer, settings)
        return _clean(answer, settings)


def reading_settings(body: Mapping[str, Any], settings: Any) -> Any:
    """Return the settings for the answer to a request, or `None` for an unknown model."""
    request = {name: body[name] for name in _READ if body.get(name) is not None}
    try:
        profile = _native.profile(**{"request": request, **settings})
    except _native.SettingsError:
        if settings:
            raise
        return None
    if not profile.get("tools") and not profile.get("response_template"):
        # The family reads no calls; its reasoning is separated all the same.
        request.pop("tools", None)
    return {"request": request, **settings}


async def _later(answer: Any, settings: Any) -> Any:
    return _clean(await answer, settings)


def _clean(answer: Any, settings: Any) -> Any:
    """Return a clean answer: a completion, a stream, or a response that still is to be parsed."""
    if hasattr(answer, "choices"):
        return complete(answer, settings)
    if hasattr(answer, "__aiter__"):
        return _AsyncStream(answer, settings)
    if hasattr(answer, "__iter__"):
        return _Stream(answer, settings)
    if hasattr(answer, "parse"):
        return _Raw(answer, settings)
    return answer


def complete(response: Any, settings: Any) -> Any:
    """Return a clean completion of the same class."""
    clean = ChatGuard(**settings).complete(response)
    if not hasattr(type(response), "model_validate"):
        return clean
    return type(response).model_validate(clean)


class _Delegate:
    """An object that has the other attributes of another one."""

    def __init__(self, inner: Any, settings: Any) -> None:
        self._inner = inner
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Raw(_Delegate):
    """A response whose parsed answer is clean."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        return _clean(self._inner.parse(*args, **kwargs), self._settings)


class _Stream(_Delegate):
    """A stream whose chunks are clean."""

    def __init__(self, inner: Any, settings: Any) -> None:
        super().__init__(inner, settings)
        self._chunks: Iterator[Any] = guard_chunks(inner, **settings)

    def __iter__(self) -> Iterator[Any]:
        return self._chunks

    def __next__(self) -> Any:
        return next(self._chunks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._inner.close()


class _AsyncStream(_Delegate):
    """A stream whose chunks are clean, for `async for`."""

    def __init__(self, inner: Any, settings: Any) -> None:
        super().__init__(inner, settings)
        self._chunks: AsyncIterator[Any] = guard_chunks(inner, **settings)

    def __aiter__(self) -> AsyncIterator[Any]:
        return self._chunks

    async def __anext__(self) -> Any:
        return await anext(self._chunks)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._inner.close()
