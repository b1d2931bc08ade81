"""Time of an engine's own parsers, of the guard in their place, and of regular expressions.

    python bench/engines.py vllm
    python bench/engines.py sglang

All read the same messages in the same pieces: a thought, an answer and two calls. Times are those of a
processor, the best of several runs. A parser whose answer differs from the guard's is marked.
"""

# ruff: noqa: T201 - a script prints

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1] / "engine_tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from engines import Answer, without_gpu
from events import ANSWER, PIECE, THOUGHT, best_of
from toolcall_parsers import Guard, encode
from wires import Tokenizer, pieces

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 20
RUNS = 5

TOOL = {
    "type": "function",
    "function": {
        "name": "lookup_tide",
        "parameters": {
            "type": "object",
            "properties": {"port": {"type": "string"}, "day": {"type": "integer"}},
        },
    },
}
CALLS = [{"name": "lookup_tide", "arguments": {"port": "Brest", "day": day}} for day in (3, 4)]

# The family, then the names of the engine's parsers: of calls, and of reasoning.
NAMES = {
    "vllm": [
        ("qwen3", "hermes", "qwen3"),
        ("qwen3_coder", "qwen3_coder", "qwen3"),
        ("deepseek_v3_1", "deepseek_v31", "deepseek_r1"),
    ],
    "sglang": [
        ("qwen3", "hermes", "qwen3"),
        ("qwen3_coder", "qwen3_coder", "qwen3"),
        ("deepseek_v3_1", "deepseekv31", "deepseek-v3"),
    ],
}

TAGS = re.compile(r"<[^\s<>=]+>")
THINK = re.compile(r"<think>(.*?)</think>|<think>(.*)", re.DOTALL)
PARAMETER = re.compile(r"<parameter=(.*?)>\n(.*?)\n</parameter>", re.DOTALL)


def parts_of(text: str) -> list[str]:
    """Divide a text like a tokenizer: a tag is one piece, other text has pieces of one length."""
    parts, at = [], 0
    for tag in TAGS.finditer(text):
        parts += [*pieces(text[at : tag.start()], PIECE), tag.group()]
        at = tag.end()
    return parts + pieces(text[at:], PIECE)


def json_call(found: re.Match[str]) -> Any:
    """Return a call that is one JSON object."""
    return json.loads(found.group(1))


def tagged_call(found: re.Match[str]) -> Any:
    """Return a call with a tag for each parameter."""
    return {"name": found.group(1), "arguments": dict(PARAMETER.findall(found.group(2)))}


def named_call(found: re.Match[str]) -> Any:
    """Return a call whose name precedes its arguments."""
    return {"name": found.group(1), "arguments": json.loads(found.group(2))}


# By family: a complete call, and what reads it.
CALL = {
    "qwen3": (r"<tool_call>\s*(\{.*?\})\s*</tool_call>", json_call),
    "qwen3_coder": (
        r"<tool_call>\s*<function=(.*?)>(.*?)</function>\s*</tool_call>",
        tagged_call,
    ),
    "deepseek_v3_1": (
        "<\uff5ctool▁call▁begin\uff5c>(.*?)<\uff5ctool▁sep\uff5c>(.*?)<\uff5ctool▁call▁end\uff5c>",
        named_call,
    ),
}


class Expressions:
    """A parser that searches the text so far after each piece."""

    def __init__(self, family: str) -> None:
        pattern, self.read = CALL[family]
        self.call = re.compile(pattern, re.DOTALL)
        self.text = ""
        self.sent = [0, 0, 0]

    def push(self, piece: str) -> list[Any]:
        """Feed a piece, and return what is new."""
        self.text += piece
        think = THINK.search(self.text)
        rest = self.text[think.end() :] if think else self.text
        reasoning = (think.group(1) or think.group(2) or "") if think else ""
        calls = [self.read(found) for found in self.call.finditer(rest)]
        content = rest.split("<", 1)[0]
        parts = [reasoning, content, calls]
        new = [part[sent:] for part, sent in zip(parts, self.sent, strict=True)]
        self.sent = [len(part) for part in parts]
        return [part for part in new if part]


class Vllm:
    """vLLM's parser of a request, with pieces whose tokens are known."""

    def __init__(self, calls: str, reasoning: str, text: str) -> None:
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.parser_manager import ParserManager

        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        self.request = ChatCompletionRequest(**body, tools=[TOOL], tool_choice="auto")
        self.tokenizer = Tokenizer(*sorted(set(TAGS.findall(text))))
        self.kind = ParserManager.get_parser(
            tool_parser_name=calls,
            reasoning_parser_name=reasoning,
            enable_auto_tools=True,
            tokenizer=self.tokenizer,
        )
        self.text = text
        self.parts = [(part, self.tokenizer.encode(part)) for part in parts_of(text)]

    def parser(self) -> Any:
        """Make the parser of a request."""
        return self.kind(self.tokenizer, self.request.tools)

    def stream(self) -> Answer:
        """Return the answer of a stream."""
        parser, answer, last = self.parser(), Answer(), len(self.parts) - 1
        for at, (part, ids) in enumerate(self.parts):
            delta = parser.parse_delta(
                part, ids, self.request, prompt_token_ids=[], finished=at == last
            )
            if delta is not None:
                answer.reasoning += delta.reasoning or ""
                answer.content += delta.content or ""
                for call in delta.tool_calls or []:
                    answer.add(call.index, call.function.name, call.function.arguments)
        return answer

    def whole(self) -> Answer:
        """Return the answer to a whole text."""
        parser = self.parser()
        parser.set_prompt_token_ids([])
        reasoning, content, calls = parser.parse(self.text, self.request, enable_auto_tools=True)
        found = [(call.name, call.arguments) for call in calls or []]
        return Answer(reasoning or "", content or "", found)


class Sglang:
    """SGLang's detectors, the one of calls after the one of reasoning."""

    def __init__(self, calls: str, reasoning: str, text: str) -> None:
        from sglang.srt.entrypoints.openai.protocol import Tool

        self.names, self.tools, self.text = (calls, reasoning), [Tool(**TOOL)], text
        self.parts = parts_of(text)

    def parsers(self) -> tuple[Any, Any]:
        """Make the parsers of a request."""
        from sglang.srt.function_call.function_call_parser import FunctionCallParser
        from sglang.srt.parser.reasoning_parser import ReasoningParser

        tokenizer, (calls, reasoning) = Tokenizer(), self.names
        first = ReasoningParser(reasoning, tokenizer=tokenizer, tool_call_parser_active=True)
        return first, FunctionCallParser(self.tools, calls, tokenizer=tokenizer)

    def stream(self) -> Answer:
        """Return the answer of a stream."""
        (reasoning, calls), answer = self.parsers(), Answer()

        def add(thought: str | None, rest: str | None) -> None:
            answer.reasoning += thought or ""
            text, found = calls.parse_stream_chunk(rest) if rest else ("", [])
            add_calls(text, found)

        def add_calls(text: str | None, found: list[Any]) -> None:
            answer.content += text or ""
            for call in found:
                answer.add(call.tool_index, call.name, call.parameters)

        for part in self.parts:
            add(*reasoning.parse_stream_chunk(part))
        add(*reasoning.parse_stream_end())
        add_calls(*calls.parse_stream_end())
        return answer

    def whole(self) -> Answer:
        """Return the answer to a whole text."""
        reasoning, calls = self.parsers()
        thought, rest = reasoning.parse_non_stream(self.text)
        content, found = calls.parse_non_stream(rest)
        return Answer(thought, content, [(call.name, call.parameters) for call in found])


def same(one: Answer, other: Answer) -> bool:
    """Whether answers are equal, up to white space around texts and in arguments."""
    calls = [[(name, json.loads(text)) for name, text in it.calls] for it in (one, other)]
    texts = [(it.reasoning.strip(), it.content.strip()) for it in (one, other)]
    return calls[0] == calls[1] and texts[0] == texts[1]


def seconds(work: Callable[[], object]) -> float:
    """Return the time of one run of some work."""
    return best_of(RUNS, lambda: [work() for _ in range(ROUNDS)]) / ROUNDS


def main() -> None:
    """Print a table."""
    engine = sys.argv[1]
    logging.disable(logging.CRITICAL)
    without_gpu(engine)
    if engine == "vllm":
        from vllm.plugins import load_general_plugins as load
    else:
        from sglang.srt.plugins import load_plugins as load
    load()
    make = Vllm if engine == "vllm" else Sglang
    print("| family | parser | whole text, µs | stream, µs a piece | |")
    print("|---|---|---|---|---|")
    for family, calls, reasoning in NAMES[engine]:
        text = f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}\n" + encode(CALLS, family=family)
        parts = parts_of(text)
        request = {"tools": [TOOL]}
        guard = Guard(family=family, request=request, prompt="")
        message = guard.parse(text)
        expected = Answer(
            message.reasoning, message.content, [(it.name, it.arguments) for it in message.calls]
        )

        def alone(guard: Guard = guard, parts: list[str] = parts) -> None:
            for part in parts:
                guard.push(part)
            guard.finish()
            guard.reset()

        def expressions(
            family: str = family, parts: list[str] = parts, size: int = len(parts)
        ) -> None:
            parser = Expressions(family)
            for part in parts[:size]:
                parser.push(part)

        rows: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
            ("guard alone", lambda guard=guard, text=text: guard.parse(text), alone),
        ]
        for name, names in [
            (f"`guard_{family}` in {engine}", (f"guard_{family}", f"guard_{family}")),
            (f"{engine}: `{calls}`, `{reasoning}`", (calls, reasoning)),
        ]:
            parser = make(*names, text)
            rows.append((name, parser.whole, parser.stream))
        rows.append(
            (
                "regular expressions",
                lambda family=family, text=text: Expressions(family).push(text),
                expressions,
            )
        )
        for name, whole, stream in rows:
            found = [it for it in (whole(), stream()) if isinstance(it, Answer)]
            note = "" if all(same(it, expected) for it in found) else "another answer"
            times = seconds(whole) * 1e6, seconds(stream) * 1e6 / len(parts)
            print(f"| `{family}` | {name} | {times[0]:.1f} | {times[1]:.2f} | {note} |", flush=True)


if __name__ == "__main__":
    main()
