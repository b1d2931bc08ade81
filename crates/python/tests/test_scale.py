"""Large columns with bad rows: no row is lost, and every division gives the same rows."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from toolcall_parsers import count_batch, parse_batch
from toolcall_parsers.columns import arrow_batches, spark_batches, spark_schema

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

ROWS = 200_000
CALL = '<tool_call>{"name": "ring", "arguments": {"times": %d}}</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "ring"}}]
DEEP = "[" * 200 + "]" * 200

# Ways in which a row is bad: its values in place of the good ones, and the beginning of its error. A
# row without an error is read, or is null.
BAD: list[tuple[dict[str, Any], str | None]] = [
    ({"text": b"\xff"}, "the text is not UTF-8"),
    ({"text": b"a\xc3"}, "the text is not UTF-8"),
    ({"text": "\ud800".encode("utf-8", "surrogatepass")}, "the text is not UTF-8"),
    ({"text": None}, None),
    ({"family": "nobody"}, "unknown family"),
    ({"tools": "{"}, "tools: "),
    ({"tools": "[7]"}, "tools: "),
    ({"tools": DEEP}, "tools: "),
    ({"text": CALL[:20].encode(), "end": "length"}, None),
    ({"family": None}, "the row names neither"),
]
BAD_ROWS = 1_000


def table() -> Any:
    """Return a table of rows, of which every two hundredth is bad."""
    columns: dict[str, list[Any]] = {"text": [], "family": [], "tools": [], "end": []}
    tools = json.dumps(TOOLS)
    for number in range(ROWS):
        text = f"<think>thought {number}</think>Answer {number}. {CALL % number}".encode()
        row = {"text": text, "family": "qwen3", "tools": tools, "end": "stop"}
        if number % (ROWS // BAD_ROWS) == 0:
            row.update(BAD[number // (ROWS // BAD_ROWS) % len(BAD)][0])
        for name, value in row.items():
            columns[name].append(value)
    made = pa.table({"text": pa.array(columns.pop("text"), pa.binary()), **columns})
    return made.append_column("n", pa.array(range(ROWS)))


OF_ROWS = {"family": "family", "tools": "tools", "end": "end", "key": "n"}


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    """Return the table and the rows of one process."""
    made = table()
    return made, arrow_batches("text", from_columns=OF_ROWS)(made)["message"].combine_chunks()


def test_bad_rows_fail_alone(rows: tuple[Any, Any]) -> None:
    made, messages = rows
    assert len(messages) == ROWS
    step = ROWS // BAD_ROWS
    bad = messages.take(pa.array(range(0, ROWS, step))).to_pylist()
    for number, message in enumerate(bad):
        values, error = BAD[number % len(BAD)]
        if "text" in values and values["text"] is None:
            assert message is None
        elif error is None:
            assert (message["error"], message["finish"]) == (None, "length")
        else:
            assert message["error"].startswith(error), (values, message["error"])
    good = messages.filter(pa.array([number % step != 0 for number in range(ROWS)]))
    assert len(good) == ROWS - BAD_ROWS
    assert pc.all(pc.is_null(pc.struct_field(good, "error"))).as_py()
    assert pc.all(pc.equal(pc.list_value_length(pc.struct_field(good, "calls")), 1)).as_py()
    expected = [f"Answer {number}. " for number in range(ROWS) if number % step]
    assert pc.struct_field(good, "content").to_pylist() == expected
    counts = count_batch(made["text"], **{name: made[of] for name, of in OF_ROWS.items()})
    failed = sum(1 for _, error in BAD if error) * BAD_ROWS // len(BAD)
    assert (counts["rows"], counts["errors"]) == (ROWS, failed)


@pytest.mark.parametrize(("size", "threads"), [(ROWS, 2), (7_919, 1)])
def test_divisions_give_the_same_rows(rows: tuple[Any, Any], size: int, threads: int) -> None:
    made, messages = rows
    parts = []
    for at in range(0, ROWS, size):
        part = made.slice(at, size)
        settings = {name: part[of] for name, of in OF_ROWS.items()}
        found = parse_batch(part["text"], threads=threads, **settings)
        parts.append(found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found)
    assert pa.concat_arrays(parts).equals(messages)


def test_datasets_in_two_processes_give_the_same_rows(rows: tuple[Any, Any]) -> None:
    datasets = pytest.importorskip("datasets")
    made, messages = rows
    datasets.disable_progress_bars()
    found = (
        datasets.Dataset(made)
        .with_format("arrow")
        .map(
            arrow_batches("text", from_columns=OF_ROWS),
            batched=True,
            batch_size=10_000,
            num_proc=2,
            load_from_cache_file=False,
            keep_in_memory=False,
        )
    )
    column = found.with_format("arrow")[:]["message"].combine_chunks()
    assert len(column) == ROWS
    assert column.cast(messages.type).equals(messages)


def same(found: Any, messages: Any) -> None:
    """Check the rows that a framework made, in the order of the table."""
    if isinstance(found, pa.ChunkedArray):
        found = found.combine_chunks()
    assert len(found) == ROWS
    # Frameworks have types of their own for texts and numbers.
    assert found.cast(messages.type).equals(messages)


def test_two_workers_of_ray_give_the_same_rows(rows: tuple[Any, Any]) -> None:
    ray = pytest.importorskip("ray")
    made, messages = rows
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    try:
        found = (
            ray.data.from_arrow(made)
            .repartition(8)
            .map_batches(
                arrow_batches("text", from_columns=OF_ROWS),
                batch_format="pyarrow",
                batch_size=10_000,
                zero_copy_batch=True,
                concurrency=2,
            )
        )
        table = pa.concat_tables(found.iter_batches(batch_format="pyarrow"))
        same(table.sort_by("n")["message"], messages)
    finally:
        ray.shutdown()


def test_spark_gives_the_same_rows(rows: tuple[Any, Any], tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql")
    parquet = pytest.importorskip("pyarrow.parquet")
    made, messages = rows
    parquet.write_table(made, tmp_path / "rows.parquet", row_group_size=10_000)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.maxResultSize", "0")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path))
    try:
        session = builder.getOrCreate()
    except Exception as error:
        pytest.skip(f"Spark does not start: {error}")
    try:
        frame = session.read.parquet(str(tmp_path / "rows.parquet")).repartition(4)
        add = spark_batches("text", from_columns=OF_ROWS)
        found = frame.mapInArrow(add, spark_schema(frame.schema)).select("n", "message")
        same(found.toArrow().sort_by("n")["message"], messages)
    finally:
        session.stop()


def test_batches_of_duckdb_give_the_same_rows(rows: tuple[Any, Any]) -> None:
    duckdb = pytest.importorskip("duckdb")
    made, messages = rows
    add = arrow_batches("text", from_columns=OF_ROWS)
    with duckdb.connect() as connection:
        reader = connection.from_arrow(made).to_arrow_reader(10_000)
        parts = [add(pa.Table.from_batches([batch]))["message"] for batch in reader]
    assert len(parts) > 1
    same(pa.chunked_array([chunk for part in parts for chunk in part.chunks]), messages)


def test_slices_of_polars_give_the_same_rows(rows: tuple[Any, Any]) -> None:
    polars = pytest.importorskip("polars")
    made, messages = rows
    add = arrow_batches("text", from_columns=OF_ROWS)
    slices = polars.from_arrow(made).iter_slices(10_000)
    frame = polars.concat([polars.from_arrow(add(part.to_arrow())) for part in slices])
    same(frame["message"].to_arrow(), messages)


def test_series_of_pandas_give_the_same_rows(rows: tuple[Any, Any]) -> None:
    pytest.importorskip("pandas")
    made, messages = rows
    frame = made.to_pandas()
    same(parse_batch(frame["text"], **{name: frame[of] for name, of in OF_ROWS.items()}), messages)
