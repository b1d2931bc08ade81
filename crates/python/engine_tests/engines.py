"""The parsers of vLLM and SGLang, as the engines' servers call them, without a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import stubs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Modules that need a GPU, by engine.
GPU = {
    "vllm": ("torch", "torchaudio", "torchvision", "triton"),
    "sglang": (
        "torch",
        "torchaudio",
        "torchvision",
        "triton",
        # Layers and kernels ask the GPU while they are imported; the patches need a real model.
        "sglang.kernels",
        "sglang.srt.distributed",
        "sglang.srt.layers",
        "sglang.srt.model_executor",
        "sglang.srt.models",
        "sglang.srt.utils.hf_transformers_patches",
    ),
}


def without_gpu(engine: str) -> None:
    """Let an engine be imported: its modules that need a GPU are stand-ins from now on."""
    stubs.install(*GPU[engine])


@dataclass
class Answer:
    """A message as a client gets it."""

    reasoning: str = ""
    content: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    failure: str | None = None

    def add(self, index: int | None, name: str | None, arguments: str | None) -> None:
        """Add a piece of a call; one without an index is a further call."""
        index = len(self.calls) if index is None else index
        while len(self.calls) <= index:
            self.calls.append(("", ""))
        before = self.calls[index]
        self.calls[index] = (before[0] + (name or ""), before[1] + (arguments or ""))


def vllm_whole(parser: Any, request: Any, text: str, *, automatic: bool = True) -> Answer:
    """Return the answer to a request that is not streamed; `automatic` is the server's option."""
    parser.set_prompt_token_ids([])
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=automatic)
    answer = Answer(reasoning or "", content or "")
    for call in calls or []:
        answer.add(None, call.name, call.arguments)
    return answer


def vllm_deltas(parser: Any, request: Any, parts: Sequence[str]) -> Iterator[Any]:
    """Yield the deltas of a stream."""
    for at, part in enumerate(parts):
        delta = parser.parse_delta(
            part,
            parser.model_tokenizer.encode(part),
            request,
            prompt_token_ids=[],
            finished=at + 1 == len(parts),
        )
        if delta is not None:
            yield delta


def vllm_stream(parser: Any, request: Any, parts: Sequence[str]) -> Answer:
    """Return the answer of a stream."""
    answer = Answer()
    for delta in vllm_deltas(parser, request, parts):
        answer.reasoning += delta.reasoning or ""
        answer.content += delta.content or ""
        for call in delta.tool_calls or []:
            if call.function:
                answer.add(call.index, call.function.name, call.function.arguments)
    return answer


def sglang_steps(parser: Any, parts: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of a stream: texts of a reasoning parser, or text and calls."""
    for part in parts:
        yield parser.parse_stream_chunk(part)
    yield parser.parse_stream_end()
