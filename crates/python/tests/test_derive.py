"""Families derived from chat templates, and families' files as settings."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import toolcall_parsers as tp

if TYPE_CHECKING:
    from pathlib import Path

TEMPLATE = (
    "{% for m in messages %}<s>{{ m.role }}: {{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}"
    "<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>"
    "{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)
# The arguments are changed.
LOSING = TEMPLATE.replace("| tojson", "| tojson | upper")
WIRE = 'Well. <do ring>{"times": 2}</do>'


@pytest.fixture(scope="module")
def file() -> str:
    return tp.derive(TEMPLATE)


def test_every_door_takes_a_derived_file(file: str) -> None:
    assert tp.parse(WIRE, family_file=file).calls[0].arguments == '{"times": 2}'
    events = [event.kind for event in tp.guard_text([WIRE[:9], WIRE[9:]], family_file=file)]
    assert "call_end" in events
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": WIRE}}]}
    answer["choices"][0]["finish_reason"] = "stop"
    choice = tp.ChatGuard(family_file=file).complete(answer)["choices"][0]
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "ring"
    assert tp.encode([{"name": "ring", "arguments": {"times": 2}}], family_file=file) in WIRE
    tools: list[Any] = [{"type": "function", "function": {"name": "ring"}}]
    assert "<do ring>" in json.dumps(tp.grammar("gbnf", tools=tools, family_file=file))
    assert tp.profile(family_file=file)["name"] == "own"
    request = {"messages": [], "tools": tools}
    assert tp.forward_request(request, server="vllm", family_file=file)["tool_choice"] == "none"


def test_columns_take_a_derived_file(file: str) -> None:
    pytest.importorskip("pyarrow")
    [row] = tp.parse_batch([WIRE], family_file=file).to_pylist()
    assert row["calls"][0]["name"] == "ring"


@pytest.mark.parametrize("named", [False, True])
def test_a_template_comes_from_files_or_a_tokenizer(
    tmp_path: Path, file: str, *, named: bool
) -> None:
    template: Any = {"default": "{{ 1 }}", "tool_use": TEMPLATE} if named else TEMPLATE
    tokenizer = SimpleNamespace(chat_template=template, get_added_vocab=lambda: {"<|end|>": 7})
    assert "<do {name}>" in tp.derive(tokenizer)
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"chat_template": TEMPLATE}))
    assert tp.derive(tmp_path) == tp.derive(str(config)) == file


def test_a_template_that_loses_calls_is_refused_with_its_renderings() -> None:
    with pytest.raises(tp.SettingsError, match="no family was derived") as raised:
        tp.derive(LOSING)
    assert len(str(raised.value).splitlines()) == 3, raised.value


def test_sources_without_a_template_are_refused(tmp_path: Path) -> None:
    with pytest.raises(tp.SettingsError, match="expected a path, a chat template"):
        tp.derive(7)  # type: ignore[arg-type]
    with pytest.raises(OSError, match="nowhere"):
        tp.derive(tmp_path / "nowhere")


def test_a_file_may_be_toml_or_json() -> None:
    toml = "[calls]\ncall = '<run>{object}</run>'\n"
    wire = '<run>{"name": "ring", "arguments": {}}</run>'
    mine = {"name": "mine", "calls": {"call": "<run>{object}</run>"}}
    for given in (toml, mine, json.dumps(mine)):
        assert tp.parse(wire, family_file=given).calls[0].name == "ring"
    with pytest.raises(tp.SettingsError, match=r"family_file: own\.toml:2: `calls\.call`"):
        tp.Guard(family_file="[calls]\ncall = 7\n")
