"""Guards around streams, for `for` and for `async for`."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ._native import ChatGuard, Guard, SseGuard, StreamError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._events import Event
    from ._native import End
    from ._settings import Settings

_Chunk = TypeVar("_Chunk")

Notes = Callable[[dict[str, Any]], object]
"""Receives a note: a dictionary with `choice`, `kind` and what belongs to the kind."""

_Outputs = tuple[list[Any], StreamError | None]


class _Machine:
    """A guard whose outputs are collected in a list, with the error that followed them."""

    def push(self, chunk: Any) -> _Outputs:
        """Feed a chunk."""
        raise NotImplementedError

    def finish(self, end: End) -> _Outputs:
        """End the stream."""
        raise NotImplementedError


def _steps(chunks: Iterable[Any], machine: _Machine) -> Iterator[Any]:
    """Feed each chunk. If the source fails, held text is released before its error."""
    source = iter(chunks)
    failure: Exception | None = None
    while True:
        try:
            chunk = next(source)
        except StopIteration:
            outputs, failure = machine.finish("stop")
            break
        except Exception as error:
            outputs, failure = machine.finish("aborted")[0], error
            break
        outputs, failure = machine.push(chunk)
        if failure is not None:
            break
        yield from outputs
    yield from outputs
    if failure is not None:
        raise failure


async def _async_steps(chunks: AsyncIterable[Any], machine: _Machine) -> AsyncIterator[Any]:
    """Feed each chunk as `_steps` does."""
    source = aiter(chunks)
    failure: Exception | None = None
    while True:
        try:
            chunk = await anext(source)
        except StopAsyncIteration:
            outputs, failure = machine.finish("stop")
            break
        except Exception as error:
            outputs, failure = machine.finish("aborted")[0], error
            break
        outputs, failure = machine.push(chunk)
        if failure is not None:
            break
        for output in outputs:
            yield output
    for output in outputs:
        yield output
    if failure is not None:
        raise failure


class _Text(_Machine):
    """A guard of text."""

    def __init__(self, settings: Settings) -> None:
        self._guard = Guard(**settings)

    def push(self, chunk: str | bytes) -> _Outputs:
        try:
            return self._guard.push(chunk), None
        except StreamError as error:
            return error.released, error

    def finish(self, end: End) -> _Outputs:
        try:
            return self._guard.finish(end), None
        except StreamError as error:
            return error.released, error


class _Noting(_Machine):
    """A machine that forwards notes."""

    _guard: ChatGuard | SseGuard
    _on_note: Notes | None

    def _noted(self, step: Callable[[], Any]) -> tuple[Any, StreamError | None]:
        outputs, failure = None, None
        try:
            outputs = step()
        except StreamError as error:
            outputs, failure = error.released, error
        notes = self._guard.take_notes()
        if self._on_note is not None:
            for note in notes:
                self._on_note(note)
        return outputs, failure


class _Chunks(_Noting):
    """A guard of chunks, which are dictionaries or models with `model_dump`."""

    def __init__(self, settings: Settings, on_note: Notes | None) -> None:
        self._guard: ChatGuard = ChatGuard(**settings)
        self._on_note = on_note
        self._model: Any = None

    def push(self, chunk: Any) -> _Outputs:
        if hasattr(chunk, "model_dump"):
            self._model = type(chunk)
            chunk = chunk.model_dump(exclude_unset=True)
        return self._made(lambda: self._guard.push(chunk))

    def finish(self, end: End) -> _Outputs:
        # The chunks show whether a stream that ceased was cut.
        return self._made(lambda: self._guard.finish(None if end == "stop" else end))

    def _made(self, step: Callable[[], list[dict[str, Any]]]) -> _Outputs:
        chunks, failure = self._noted(step)
        if self._model is not None:
            chunks = [self._model.model_validate(chunk) for chunk in chunks]
        return chunks, failure


class _Sse(_Noting):
    """A guard of the bytes of an event stream."""

    def __init__(self, settings: Settings, on_note: Notes | None) -> None:
        self._guard: SseGuard = SseGuard(**settings)
        self._on_note = on_note

    def push(self, chunk: bytes) -> _Outputs:
        return self._made(lambda: self._guard.push(chunk))

    def finish(self, end: End) -> _Outputs:
        return self._made(lambda: self._guard.finish(end))

    def _made(self, step: Callable[[], bytes]) -> _Outputs:
        written, failure = self._noted(step)
        return [written] if written else [], failure


@overload
def guard_text(chunks: Iterable[str | bytes], **settings: Unpack[Settings]) -> Iterator[Event]: ...
@overload
def guard_text(
    chunks: AsyncIterable[str | bytes], **settings: Unpack[Settings]
) -> AsyncIterator[Event]: ...
def guard_text(
    chunks: Iterable[str | bytes] | AsyncIterable[str | bytes], **settings: Unpack[Settings]
) -> Iterator[Event] | AsyncIterator[Event]:
    """Yield the events of a stream of text.

    >>> for event in guard_text(["<think>hm</thi", "nk>Hi."], family="qwen3"):
    ...     print(event.kind, event.text)
    reasoning hm
    content Hi.
    """
    machine = _Text(settings)
    if isinstance(chunks, AsyncIterable):
        return _async_steps(chunks, machine)
    return _steps(chunks, machine)


@overload
def guard_chunks(
    chunks: Iterable[_Chunk], *, on_note: Notes | None = None, **settings: Unpack[Settings]
) -> Iterator[_Chunk]: ...
@overload
def guard_chunks(
    chunks: AsyncIterable[_Chunk], *, on_note: Notes | None = None, **settings: Unpack[Settings]
) -> AsyncIterator[_Chunk]: ...
def guard_chunks(
    chunks: Iterable[_Chunk] | AsyncIterable[_Chunk],
    *,
    on_note: Notes | None = None,
    **settings: Unpack[Settings],
) -> Iterator[_Chunk] | AsyncIterator[_Chunk]:
    """Yield clean chunks of a chat-completion stream whose text holds markup.

    Chunks are dictionaries, or objects of the `openai` package; clean ones are of the same kind.
    `on_note` is called with diagnostics, outcomes of calls and breaches of the protocol.

    >>> text = '<tool_call>{"name": "ring", "arguments": {}}</tool_call>'
    >>> chunks = [
    ...     {"choices": [{"index": 0, "delta": {"content": text}}]},
    ...     {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ... ]
    >>> clean = list(guard_chunks(chunks, family="hermes"))
    >>> clean[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["name"]
    'ring'
    >>> clean[-1]["choices"][0]["finish_reason"]
    'tool_calls'
    """
    machine = _Chunks(settings, on_note)
    if isinstance(chunks, AsyncIterable):
        return _async_steps(chunks, machine)
    return _steps(chunks, machine)


@overload
def guard_sse(
    chunks: Iterable[bytes], *, on_note: Notes | None = None, **settings: Unpack[Settings]
) -> Iterator[bytes]: ...
@overload
def guard_sse(
    chunks: AsyncIterable[bytes], *, on_note: Notes | None = None, **settings: Unpack[Settings]
) -> AsyncIterator[bytes]: ...
def guard_sse(
    chunks: Iterable[bytes] | AsyncIterable[bytes],
    *,
    on_note: Notes | None = None,
    **settings: Unpack[Settings],
) -> Iterator[bytes] | AsyncIterator[bytes]:
    r"""Yield the clean bytes of a chat-completion event stream.

    Bytes may be cut anywhere. Events that need no change keep their bytes.

    >>> event = b'data: {"choices":[{"index":0,"delta":{"content":"<think>hm</think>Hi."}}]}\n\n'
    >>> clean = b"".join(guard_sse([event[:30], event[30:], b"data: [DONE]\n\n"], family="qwen3"))
    >>> b'"reasoning_content":"hm"' in clean and clean.endswith(b"[DONE]\n\n")
    True
    """
    machine = _Sse(settings, on_note)
    if isinstance(chunks, AsyncIterable):
        return _async_steps(chunks, machine)
    return _steps(chunks, machine)
