"""Functions for data frames and distributed data: each reads a column of texts.

All call `parse_batch`, so that every division of the data gives the same rows. Settings are those of
`parse`, and `end` is how generation ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._batch import message_type, parse_batch
from ._native import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from typing_extensions import Unpack

    from ._native import End
    from ._settings import Settings

# The column that a function adds, unless told otherwise.
_INTO = "message"


def arrow_batches(
    column: str, *, into: str = _INTO, end: End = "stop", **settings: Unpack[Settings]
) -> Callable[[pa.Table], pa.Table]:
    """Return a function that adds the messages of a table's `column`.

    For Ray Data: `dataset.map_batches(arrow_batches("text", family="qwen3"),
    batch_format="pyarrow", zero_copy_batch=True)`.

    >>> import pyarrow as pa
    >>> add = arrow_batches("text", family="qwen3")
    >>> add(pa.table({"text": ["<think>hm</think>Hi."]})).to_pylist()[0]["message"]["content"]
    'Hi.'
    """

    def add(table: pa.Table) -> pa.Table:
        return table.append_column(into, parse_batch(table[column], end=end, **settings))

    return add


def ray_postprocess(
    column: str = "generated_text",
    *,
    into: str = _INTO,
    end: End = "stop",
    **settings: Unpack[Settings],
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a `postprocess` for `ray.data.llm.build_processor`, which gets one row at a time.

    >>> postprocess = ray_postprocess(family="qwen3")
    >>> postprocess({"generated_text": "<think>hm</think>Hi."})["message"]["reasoning"]
    'hm'
    """
    # Ids count the calls of each message, as in a batch.
    settings.setdefault("ids", "counting")
    # A guard does not go to other processes: each makes its own.
    guards: list[Guard] = []

    def postprocess(row: dict[str, Any]) -> dict[str, Any]:
        if not guards:
            guards.append(Guard(**settings))
        guard = guards[0]
        message = None if row[column] is None else guard.parse(row[column], end=end)
        fields = None if message is None else {**message.to_dict(), "outcome": message.outcome}
        return {**row, into: fields}

    return postprocess


def spark_batches(
    column: str, *, into: str = _INTO, end: End = "stop", **settings: Unpack[Settings]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for PySpark's `DataFrame.mapInArrow` that adds the messages of `column`.

    `spark_schema` returns the schema of its rows.

    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"text": ["<think>hm</think>Hi."]})
    >>> [found] = spark_batches("text", family="qwen3")([batch])
    >>> found.schema.names
    ['text', 'message']
    """

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            messages = parse_batch(batch[column], end=end, **settings)
            names = [*batch.schema.names, into]
            yield pa.record_batch([*batch.columns, _signed(messages)], names=names)

    return add


def spark_schema(schema: Any, *, into: str = _INTO) -> Any:
    """Return a Spark schema with the column that `spark_batches` adds."""
    from pyspark.sql.types import (
        ArrayType,
        LongType,
        StringType,
        StructField,
        StructType,
    )

    def struct(**fields: Any) -> Any:
        return StructType([StructField(name, kind) for name, kind in fields.items()])

    text, number = StringType(), LongType()
    call = struct(id=text, name=text, arguments=text, outcome=text)
    notice = struct(kind=text, at=number, bytes=number, call=number)
    message = struct(
        content=text,
        reasoning=text,
        calls=ArrayType(call),
        outcome=text,
        diagnostics=ArrayType(notice),
    )
    return StructType([*schema.fields, StructField(into, message)])


def _signed(messages: pa.StructArray) -> pa.StructArray:
    """Return messages with the signed numbers that Spark has."""
    import pyarrow as pa

    fields = {field.name: field.type for field in message_type()}
    notice = fields["diagnostics"].value_type
    fields["diagnostics"] = pa.list_(
        pa.struct([(field.name, _signed_type(field.type)) for field in notice])
    )
    return messages.cast(pa.struct(fields))


def _signed_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return pa.int64() if pa.types.is_integer(kind) else kind


def polars_messages(*, end: End = "stop", **settings: Unpack[Settings]) -> Callable[[Any], Any]:
    """Return a function from a series of texts to a series of messages, for Polars.

    `frame.with_columns(pl.col("text").map_batches(polars_messages(family="qwen3")))`; a series alone
    is passed to the function.
    """

    def messages(texts: Any) -> Any:
        import polars as pl

        found = pl.from_arrow(parse_batch(texts.to_arrow(), end=end, **settings))
        return found.alias(texts.name) if isinstance(found, pl.Series) else found

    return messages


def register_duckdb(
    connection: Any, name: str = "parse_message", *, end: End = "stop", **settings: Unpack[Settings]
) -> None:
    """Register a function of a text with a DuckDB connection: `select parse_message(text).content`."""
    call = dict.fromkeys(("id", "name", "arguments", "outcome"), "VARCHAR")
    notice = {"kind": "VARCHAR", "at": "UBIGINT", "bytes": "UBIGINT", "call": "UINTEGER"}
    lists = {
        field: connection.list_type(connection.struct_type(fields))
        for field, fields in (("calls", call), ("diagnostics", notice))
    }
    texts = dict.fromkeys(("content", "reasoning", "calls", "outcome", "diagnostics"), "VARCHAR")
    kind = connection.struct_type({**texts, **lists})

    # DuckDB evaluates the annotations.
    def parse(texts: Any) -> Any:
        return parse_batch(texts, end=end, **settings)

    connection.create_function(name, parse, ["VARCHAR"], kind, type="arrow")
