"""Columns of texts."""

from __future__ import annotations

from typing import Any

import pytest
import toolcall_parsers as tp
from conformance import NotInPythonError, cases, settings_of

pa = pytest.importorskip("pyarrow")

CALL = '<tool_call>{"name": "ring", "arguments": {"times": 2}}</tool_call>'
TEXTS = [f"<think>a</think>b{CALL}", None, "", CALL[:40], "Übel"] * 100


def rows_one_by_one(texts: list[str | None], **settings: Any) -> list[dict[str, Any] | None]:
    rows: list[dict[str, Any] | None] = []
    for text in texts:
        message = None if text is None else tp.parse(text, ids="counting", **settings)
        row = None if message is None else message.to_dict()
        if row is not None and message is not None:
            row["outcome"] = message.outcome
        rows.append(row)
    return rows


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_are_those_of_parse(kind: Any, threads: int) -> None:
    rows = tp.parse_batch(pa.array(TEXTS, kind), family="qwen3", threads=threads)
    rows.validate(full=True)
    assert rows.to_pylist() == rows_one_by_one(TEXTS, family="qwen3")
    assert rows.type == tp.message_type(large=kind != pa.string())


def test_divided_and_sliced_columns_give_the_same_rows() -> None:
    whole = tp.parse_batch(pa.array(TEXTS), family="qwen3")
    divided = pa.chunked_array([TEXTS[:7], [], TEXTS[7:200], TEXTS[200:]])
    assert tp.parse_batch(divided, family="qwen3").equals(whole)
    assert tp.parse_batch(pa.array(["x", *TEXTS])[1:], family="qwen3").equals(whole)
    assert tp.parse_batch(pa.array(TEXTS).dictionary_encode(), family="qwen3").equals(whole)


@pytest.mark.parametrize("column", [pa.array([], pa.string()), pa.chunked_array([], pa.string())])
def test_an_empty_column_gives_no_rows(column: Any) -> None:
    rows = tp.parse_batch(column, family="qwen3")
    assert len(rows) == 0
    assert rows.type == tp.message_type()


def test_other_columns_are_refused() -> None:
    with pytest.raises(TypeError, match="expected an array of strings, found `Int64`"):
        tp.parse_batch(pa.array([1]), family="qwen3")


def test_a_cut_batch_has_incomplete_calls() -> None:
    rows = tp.parse_batch(pa.array([CALL[:50]]), family="hermes", end="length").to_pylist()
    assert rows[0]["outcome"] == rows[0]["calls"][0]["outcome"] == "incomplete"


def test_vectors_give_the_rows_of_parse() -> None:
    for name, case in cases("tools", "profiles", "reasoning"):
        try:
            settings = settings_of(case)
        except NotInPythonError:
            continue
        del settings["ids"]
        rows = tp.parse_batch(pa.array([case["wire"]] * 2), **settings).to_pylist()
        assert rows == rows_one_by_one([case["wire"]] * 2, **settings), name


class TestTokens:
    TEXTS = (
        "<think>",
        "</think>",
        "hm",
        "Hi",
        b"\xf0\x9f",
        b"\x8c\x8a",
        "<tool_call>",
        "</tool_call>",
    )

    def rows(self, ids: Any, **more: Any) -> Any:
        vocabulary = tp.Vocabulary(self.TEXTS)
        return tp.parse_batch(ids, vocabulary=vocabulary, family="qwen3", **more)

    def test_tokens_are_read_and_have_roles(self) -> None:
        rows = self.rows(pa.array([[0, 2, 1, 3, 4, 5], None, []]))
        assert rows.type == tp.message_type(roles=True)
        first, second, third = rows.to_pylist()
        assert (first["content"], first["reasoning"]) == ("Hi\U0001f30a", "hm")
        roles = first["token_roles"]
        assert roles[:4] == ["markup", "reasoning", "markup", "content"]
        # The bytes of a character count for its last token.
        assert roles[5] == "content" and len(roles) == 6
        assert second is None
        assert third["token_roles"] == []

    @pytest.mark.parametrize("threads", [1, 3])
    def test_rows_are_those_of_the_texts(self, threads: int) -> None:
        ids = [[0, 2, 2, 1, 3], [3, 3], [0, 2]] * 100
        texts = ["<think>hmhm</think>Hi", "HiHi", "<think>hm"] * 100
        rows = self.rows(pa.array(ids), threads=threads).to_pylist()
        for row in rows:
            del row["token_roles"]
        assert rows == tp.parse_batch(pa.array(texts), family="qwen3").to_pylist()

    def test_marker_tokens_act_alone(self) -> None:
        markers = ["<think>", "</think>"]
        rows = self.rows(pa.array([[0, 2, 1, 3]]), marker_tokens=markers).to_pylist()
        assert rows[0]["reasoning"] == "hm"

    def test_unknown_tokens_are_refused(self) -> None:
        with pytest.raises(IndexError, match="the vocabulary has no token 99"):
            self.rows(pa.array([[99]]))
