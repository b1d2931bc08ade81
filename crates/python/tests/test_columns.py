"""Ready functions for Ray, Spark, Polars and DuckDB: all give the rows of one process."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from conformance import cases
from toolcall_parsers import families, parse_batch
from toolcall_parsers.columns import (
    arrow_batches,
    openai_messages,
    polars_messages,
    ray_postprocess,
    register_duckdb,
    spark_batches,
    spark_schema,
)

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")

TEN = (
    "qwen3",
    "hermes",
    "qwen3_coder",
    "deepseek_v3_1",
    "glm45",
    "kimi_k2",
    "mistral",
    "llama3_json",
    "minimax_m2",
    "harmony",
)

# Completions of all families together. CI reads fewer; `ROWS=200000` is the whole number.
ROWS = int(os.environ.get("ROWS", "20000"))


def completions(family: str, count: int) -> list[str | None]:
    """Return completions of a family: its vectors, whole and cut, one after the other."""
    assert family in families()
    wires = [case["wire"] for _, case in cases("tools", "profiles") if case["family"] == family]
    assert len(wires) > 3, family
    texts: list[str | None] = []
    for number in range(count):
        wire = wires[number % len(wires)]
        texts.append(f"Answer {number}. {wire}" if number % 3 else wire[: len(wire) - number % 7])
    texts[count // 2] = None
    return texts


def by_family() -> dict[str, list[str | None]]:
    return {family: completions(family, ROWS // len(TEN)) for family in TEN}


def one_process(texts: list[str | None], family: str) -> list[Any]:
    rows: list[Any] = parse_batch(pa.array(texts, pa.string()), family=family).to_pylist()
    return rows


def as_bytes(rows: list[Any]) -> bytes:
    """Return rows as lines of JSON: unlike values, bytes differ where 1 and 1.0 do."""
    return "\n".join(json.dumps(row) for row in rows).encode()


def test_bytes_of_rows_differ_where_a_row_does() -> None:
    rows = one_process(["<think>hm</think>Hi.", None], "qwen3")
    assert as_bytes(rows) == as_bytes([*rows])
    assert as_bytes(rows) != as_bytes(rows[::-1])
    assert as_bytes(rows) != as_bytes([{**rows[0], "content": "Hi"}, None])


def test_ray_data_with_two_workers() -> None:
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        for family, texts in by_family().items():
            table = pa.table({"at": range(len(texts)), "text": pa.array(texts, pa.string())})
            dataset = ray.data.from_arrow(table).repartition(8)
            found = dataset.map_batches(
                arrow_batches("text", family=family),
                batch_format="pyarrow",
                batch_size=1000,
                zero_copy_batch=True,
                concurrency=2,
            )
            rows = pa.concat_tables(found.iter_batches(batch_format="pyarrow")).sort_by("at")
            one = one_process(texts, family)
            assert as_bytes(rows["message"].to_pylist()) == as_bytes(one), family
    finally:
        ray.shutdown()


def test_spark_in_local_mode(tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(tmp_path),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
    }.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start: {error}")
    try:
        for family, texts in by_family().items():
            table = pa.table({"at": range(len(texts)), "text": pa.array(texts, pa.string())})
            frame = session.createDataFrame(table.to_pandas()).repartition(4)
            schema = spark_schema(frame.schema)
            found = frame.mapInArrow(spark_batches("text", family=family), schema).orderBy("at")
            rows = found.toArrow()["message"].to_pylist()
            assert as_bytes(rows) == as_bytes(one_process(texts, family)), family
    finally:
        session.stop()


def test_a_postprocess_gives_the_rows_of_a_batch() -> None:
    texts = completions("qwen3", 100)
    postprocess = ray_postprocess(family="qwen3")
    rows = [postprocess({"generated_text": text, "id": 1}) for text in texts]
    assert [row["message"] for row in rows] == one_process(texts, "qwen3")
    assert rows[0]["id"] == 1


def test_rows_that_cannot_be_read_have_an_error_in_a_postprocess() -> None:
    texts: list[Any] = ["a", "\ud800", b"\xff", None, "b"]
    postprocess = ray_postprocess(family="qwen3")
    rows = [postprocess({"generated_text": text})["message"] for text in texts]
    assert rows == parse_batch(texts, family="qwen3").to_pylist()
    assert "expected a text" in postprocess({"generated_text": 7})["message"]["error"]


def test_settings_come_from_other_columns() -> None:
    table = pa.table({"text": ["<think>a", "b"], "why": ["length", "stop"], "n": [1, 2]})
    add = arrow_batches("text", family="qwen3", from_columns={"end": "why", "key": "n"})
    rows = add(table)["message"].to_pylist()
    assert [(row["finish"], row["open"]) for row in rows] == [
        ("length", "reasoning"),
        ("stop", "none"),
    ]


def test_openai_messages_have_the_calls_that_run() -> None:
    call = '<tool_call>{"name": "ring", "arguments": {"n": %d}}</tool_call>'
    texts = [
        call % 1 + call % 2,
        "<think>a</think>b",
        None,
        (call % 3)[:40],
        b"\xff",
        "c" + call % 4,
    ]
    rows = parse_batch(texts, family="qwen3", key=list("abcdef"))
    for part in (rows, pa.concat_arrays([rows, rows])[6:]):
        found = openai_messages(part).to_pylist()
        assert found[2] is None and found[4] is None
        assert [row and row["content"] for row in found] == [None, "b", None, None, None, "c"]
        assert found[1]["reasoning_content"] == "a"
        calls = [row and row["tool_calls"] for row in found]
        assert [call["function"]["arguments"] for call in calls[0]] == ['{"n": 1}', '{"n": 2}']
        assert calls[1] is None and calls[3] is None
        assert calls[5][0]["function"] == {"name": "ring", "arguments": '{"n": 4}'}
        assert calls[5][0]["id"] == rows.to_pylist()[5]["calls"][0]["id"]


def test_columns_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    texts = completions("qwen3", 100)
    frame = pandas.DataFrame({"text": texts})
    assert parse_batch(frame["text"], family="qwen3").to_pylist() == one_process(texts, "qwen3")


def test_a_series_of_polars() -> None:
    polars = pytest.importorskip("polars")
    texts = completions("qwen3", 100)
    series = polars.Series("text", texts)
    found = polars_messages(family="qwen3")(series)
    assert found.name == "text"
    assert found.struct.field("content").to_list() == [
        None if row is None else row["content"] for row in one_process(texts, "qwen3")
    ]


def test_a_function_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    register_duckdb(connection, family="qwen3")
    texts = [text or "" for text in completions("qwen3", 100)]
    connection.execute("create table answers (number integer, text varchar)")
    connection.executemany("insert into answers values (?, ?)", list(enumerate(texts)))
    query = "select parse_message(text) from answers order by number"
    rows = [row for (row,) in connection.execute(query).fetchall()]
    assert rows == one_process(list(texts), "qwen3")
