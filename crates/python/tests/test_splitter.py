"""Reasoning apart from the rest, for parsers of calls that read next, and roles of tokens."""

from __future__ import annotations

import itertools

import pytest
from toolcall_parsers import _native

CALL = '<tool_call>\n{"name": "ring", "arguments": {"text": "<think>"}}\n</tool_call>'
WIRE = f"<think>\nhm\n</think>\n\nWell. {CALL}\n{CALL}<think>once more</think>Done."


def parts(wire: str, cuts: list[int], **settings: str) -> tuple[str, str]:
    splitter = _native.ReasoningSplitter(family="qwen3")
    bounds = [0, *cuts, len(wire)]
    pairs = [splitter.push(wire[a:b]) for a, b in itertools.pairwise(bounds)]
    pairs.append(splitter.finish(**settings))
    return "".join(pair[0] for pair in pairs), "".join(pair[1] for pair in pairs)


def test_reasoning_is_taken_out_at_every_cut() -> None:
    whole = ("hmonce more", f"Well. {CALL}\n{CALL}Done.")
    for cut in range(len(WIRE) + 1):
        assert parts(WIRE, [cut]) == whole, cut
    assert parts(WIRE, list(range(len(WIRE)))) == whole


def test_text_that_was_held_ends_in_its_channel() -> None:
    assert parts("<think>hm</th", [9]) == ("hm</th", "")
    assert parts("Well. <tool_c", [9]) == ("", "Well. <tool_c")


def test_a_lead_ends_with_the_first_text_of_the_rest() -> None:
    for size in (1, 5, len(WIRE)):
        splitter = _native.ReasoningSplitter(family="qwen3")
        reasoning = ""
        for at in range(0, len(WIRE), size):
            piece, rest = splitter.push_lead(WIRE[at : at + size])
            reasoning += piece
            if rest:
                rest += WIRE[at + size :]
                break
        assert (reasoning, rest) == ("hm", WIRE.partition("</think>\n\n")[2])


def test_a_call_inside_reasoning_is_handed_over_with_the_opener() -> None:
    splitter = _native.ReasoningSplitter(family="trinity", start="reasoning")
    reasoning, rest = splitter.push_lead(f"hm {CALL}")
    assert (reasoning, rest) == ("hm ", f"<think>{CALL}")


@pytest.mark.parametrize(
    ("prompt", "after"),
    [
        ("<|im_start|>assistant\n", None),
        ("<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("<think>a</think>b<|im_end|>\n<|im_start|>assistant\n", None),
    ],
)
def test_a_prompt_opens_or_closes_reasoning(prompt: str, after: bool | None) -> None:
    assert _native.reasoning_after(prompt, family="qwen3") is after


def test_each_token_has_a_role() -> None:
    tokens = ["<think>", "h", "m", "</think>", "Well.", "<tool_call>", '{"name": "', "ring"]
    tokens += ['", "arguments": ', "{}", "}", "</tool_call>"]
    roles = _native.token_roles(tokens, "stop", family="qwen3")
    assert roles[:5] == ["markup", "reasoning", "reasoning", "markup", "content"]
    assert roles[7] == "call_name"
    assert roles[9] == "arguments"
    assert roles[11] == "markup"


def test_a_structural_tag_admits_calls_alone_where_they_are_required() -> None:
    tool = {"type": "function", "function": {"name": "ring", "parameters": {"type": "object"}}}
    request = {"tools": [tool], "tool_choice": "required"}
    tag, _ = _native.grammar("structural_tag", family="qwen3", request=request)
    assert tag["type"] == "structural_tag"
    assert "ring" in str(tag)
    with pytest.raises(_native.SettingsError):
        _native.grammar("structural_tag", family="deepseek_r1", request=request)


def test_typed_tags_stay_in_their_part() -> None:
    splitter = _native.ReasoningSplitter(
        family="qwen3", marker_tokens={"<think>": 7, "</think>": 8, "<tool_call>": 9}
    )
    other = splitter.copy()
    parts = [splitter.push("<think>a </think>", [7, 40]), splitter.push("b", [41])]
    parts += [splitter.push("</think>c <think>", [8, 42, 43]), splitter.finish()]
    assert ["".join(part) for part in zip(*parts, strict=True)] == ["a </think>b", "c <think>"]
    assert other.push_lead("<think>a </think>", [7, 40]) == ("a </think>", "")
    # Text that waits for a marker belongs to what the other parser reads.
    assert other.push_lead("</think>c<tool_", [8, 42, 9]) == ("", "c<tool_")
