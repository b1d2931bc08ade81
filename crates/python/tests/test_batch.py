"""Columns of texts."""

from __future__ import annotations

import json
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
            row["outcome"], row["error"] = message.outcome, None
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


# A string column whose second row is not UTF-8, which Arrow itself does not check.
BAD_STRINGS = pa.StringArray.from_buffers(
    3, pa.array([0, 1, 3, 4], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff\xfeb")
)


@pytest.mark.parametrize(
    "column",
    [
        BAD_STRINGS,
        BAD_STRINGS.view(pa.binary()),
        pa.chunked_array([BAD_STRINGS[:2], BAD_STRINGS[2:]]),
        ["a", "\ud800", "b"],
        ["a", 7, "b"],
    ],
)
def test_a_row_that_cannot_be_read_has_an_error(column: Any) -> None:
    rows = tp.parse_batch(column, family="qwen3")
    assert rows.type == tp.message_type()
    found = rows.to_pylist()
    assert [row["content"] for row in found] == ["a", "", "b"]
    assert [row["outcome"] for row in found] == ["complete", None, "complete"]
    assert found[1]["error"] == "the text is not UTF-8 at byte 0"
    with pytest.raises(tp.RowError) as raised:
        tp.parse_batch(column, family="qwen3", on_error="raise")
    assert raised.value.args == ("the text is not UTF-8 at byte 0", 1)
    assert tp.count_batch(column, family="qwen3")["errors"] == 1


@pytest.mark.parametrize(
    "kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string(), pa.null()]
)
def test_every_kind_of_column_is_read(kind: Any) -> None:
    values = [None, None] if kind == pa.null() else ["<think>a</think>b", None]
    rows = tp.parse_batch(pa.array(values, kind), family="qwen3")
    large = kind in (pa.large_binary(), pa.large_string())
    assert rows.type == tp.message_type(large=large)
    assert [row and row["content"] for row in rows.to_pylist()] == [values[0] and "b", None]


def test_settings_of_rows() -> None:
    coder = "<tool_call><function=f><parameter=a>1</parameter></function></tool_call>"
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": schema}}]
    texts = [coder, coder, "<think>x", "x", "x", "x"]
    settings: dict[str, Any] = {
        "family": pa.array(["qwen3_coder", "qwen3_coder", "qwen3", "qwen3", "nobody", None]),
        "tools": pa.array([tools, None, None, None, None, None]),
        "end": pa.array(["tool_calls", "stop", "length", "content_filter", "stop", None]),
        "prompt": pa.array([None, None, None, "<|im_start|>assistant\n<think>\n", None, None]),
        "key": list(range(6)),
    }
    rows = tp.parse_batch(texts, **settings).to_pylist()
    assert rows[0]["calls"][0]["arguments"] == '{"a": 1}'
    assert rows[1]["calls"][0]["arguments"] == '{"a": "1"}'
    assert rows[0]["calls"][0]["id"] != rows[1]["calls"][0]["id"]
    assert [row["finish"] for row in rows[:4]] == ["stop", "stop", "length", "aborted"]
    assert rows[2]["open"] == "reasoning"
    assert (rows[3]["reasoning"], rows[3]["open"]) == ("x", "reasoning")
    assert "nobody" in rows[4]["error"]
    assert rows[5]["error"] == "the row names neither a family nor a model"
    divided = pa.chunked_array([texts[:1], texts[1:4], texts[4:]])
    assert tp.parse_batch(divided, threads=2, **settings).to_pylist() == rows
    json_tools = pa.array([json.dumps(tools), *[None] * 5])
    assert tp.parse_batch(texts, **{**settings, "tools": json_tools}).to_pylist() == rows


def test_a_column_of_settings_has_the_length_of_the_texts() -> None:
    with pytest.raises(ValueError, match="finish"):
        tp.parse_batch(["a", "b"], end=pa.array(["stop"]), family="qwen3")


def test_ids_of_keys_differ_between_rows_and_not_between_runs() -> None:
    texts = [f"{CALL}{CALL}"] * 1000
    keys = [f"row {number}" for number in range(1000)]

    def ids(part: slice) -> list[str]:
        rows = tp.parse_batch(texts[part], key=keys[part], family="qwen3").to_pylist()
        return [call["id"] for row in rows for call in row["calls"]]

    whole = ids(slice(None))
    assert len(set(whole)) == 2000
    assert ids(slice(300)) + ids(slice(300, None)) == whole


def test_counts_are_those_of_the_rows() -> None:
    column = pa.array([*TEXTS, "<think>open"])
    counts = tp.count_batch(column, family="qwen3", threads=3)
    rows = tp.parse_batch(column, family="qwen3").to_pylist()
    assert (counts["rows"], counts["nulls"]) == (len(rows), rows.count(None))
    for name in ("outcome", "finish", "open"):
        values = [row[name] for row in rows if row]
        assert counts[name] == {value: values.count(value) for value in values}
    calls = [call["outcome"] for row in rows if row for call in row["calls"]]
    assert counts["calls"] == {value: calls.count(value) for value in calls}


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

    def test_unknown_tokens_are_errors_of_their_row(self) -> None:
        rows = self.rows([[3], [99], [-100, 3], [3, None], [3]]).to_pylist()
        errors = [row["error"] for row in rows]
        assert errors[:3] == [
            None,
            "the vocabulary has no token 99",
            "the vocabulary has no token -100",
        ]
        assert [row["content"] for row in rows] == ["Hi", "", "", "", "Hi"]
        with pytest.raises(tp.RowError, match="no token 99"):
            self.rows([[99]], on_error="raise")

    def test_a_loss_mask_has_the_tokens_with_learnt_roles(self) -> None:
        rows = self.rows([[0, 2, 1, 3], [], None], learn=["content", "reasoning"])
        assert rows.type == tp.message_type(roles=True, loss_mask=True)
        masks = [row and row["loss_mask"] for row in rows.to_pylist()]
        assert masks == [[False, True, False, True], [], None]
        with pytest.raises(tp.SettingsError, match="`answer` is not one of content"):
            self.rows([[3]], learn=["answer"])
