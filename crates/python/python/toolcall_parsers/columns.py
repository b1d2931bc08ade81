"""Functions for data frames and distributed data: each reads a column of texts.

All call `parse_batch`, so that every division of the data gives the same rows. Settings are those of
`parse_batch`. `from_columns` takes settings of each row from other columns:
`{"end": "finish_reason", "tools": "tools", "key": "id"}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._batch import message_type, parse_batch
from ._native import Guard, StreamError
from ._types import OUTCOMES_THAT_RUN, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from typing_extensions import Unpack

    from ._native import End
    from ._settings import ColumnSettings, Settings

# The column that a function adds, unless told otherwise.
_INTO = "message"

# The fields of a message, in the order of `message_type`.
_FIELDS = (
    "content",
    "reasoning",
    "calls",
    "outcome",
    "diagnostics",
    "finish",
    "open",
    "error",
)


def arrow_batches(
    column: str,
    *,
    into: str = _INTO,
    from_columns: Mapping[str, str] | None = None,
    **settings: Unpack[ColumnSettings],
) -> Callable[[pa.Table], pa.Table]:
    """Return a function that adds the messages of a table's `column`.

    For Ray Data: `dataset.map_batches(arrow_batches("text", family="qwen3"),
    batch_format="pyarrow", zero_copy_batch=True)`.

    >>> import pyarrow as pa
    >>> add = arrow_batches("text", from_columns={"family": "of"})
    >>> table = pa.table({"text": ["<think>hm</think>Hi."], "of": ["qwen3"]})
    >>> add(table).to_pylist()[0]["message"]["content"]
    'Hi.'
    """

    def add(table: pa.Table) -> pa.Table:
        return table.append_column(into, _messages(table, column, from_columns, settings))

    return add


def _messages(
    table: Any, column: str, from_columns: Mapping[str, str] | None, settings: Any
) -> pa.StructArray:
    """Return the messages of a table's column."""
    rows = {setting: table[name] for setting, name in (from_columns or {}).items()}
    return parse_batch(table[column], **{**settings, **rows})


def openai_messages(messages: pa.StructArray) -> pa.StructArray:
    """Return the rows of `parse_batch` as assistant messages of the chat-completions API.

    Malformed and incomplete calls are left out, as they do not run; the row's `outcome` tells of
    them. A null, and a row with an error, gives null.

    >>> import pyarrow as pa
    >>> text = '<think>hm</think><tool_call>{"name": "ring", "arguments": {}}</tool_call>'
    >>> [message] = openai_messages(parse_batch([text], family="qwen3")).to_pylist()
    >>> message["role"], message["content"], message["reasoning_content"]
    ('assistant', None, 'hm')
    >>> message["tool_calls"][0]["function"]
    {'name': 'ring', 'arguments': '{}'}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def field(name: str) -> Any:
        return pc.struct_field(messages, name)

    def filled(texts: Any) -> Any:
        return pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)

    bad = pc.fill_null(pc.is_valid(field("error")), fill_value=True)
    missing = pc.or_(pc.is_null(messages), bad)
    calls = field("calls")
    runs = pc.is_in(pc.struct_field(calls.flatten(), "outcome"), pa.array(OUTCOMES_THAT_RUN))
    # The number of calls that run before each row's first.
    before = pa.concat_arrays([pa.array([0]), pc.cumulative_sum(pc.cast(runs, pa.int64()))])
    parents = pc.fill_null(pc.list_value_length(calls), 0)
    ends = pa.concat_arrays([pa.array([0]), pc.cumulative_sum(pc.cast(parents, pa.int64()))])
    offsets = pc.cast(pc.take(before, ends), pa.int32())
    kept = calls.flatten().filter(runs)
    function = pa.StructArray.from_arrays(
        [pc.struct_field(kept, "name"), pc.struct_field(kept, "arguments")], ["name", "arguments"]
    )
    kind = pa.array(["function"] * len(kept), pa.string())
    call = pa.StructArray.from_arrays(
        [pc.struct_field(kept, "id"), kind, function], ["id", "type", "function"]
    )
    lists = pa.ListArray.from_arrays(offsets, call)
    none = pc.equal(pc.list_value_length(lists), 0)
    lists = pc.if_else(none, pa.scalar(None, lists.type), lists)
    parts = {
        "role": pa.array(["assistant"] * len(messages), pa.string()),
        "content": filled(field("content")),
        "reasoning_content": filled(field("reasoning")),
        "tool_calls": lists,
    }
    return pa.StructArray.from_arrays(list(parts.values()), list(parts), mask=missing)


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
        text = row[column]
        return {**row, into: None if text is None else _fields(guards[0], text, end)}

    return postprocess


def _fields(guard: Guard, text: Any, end: End) -> dict[str, Any]:
    """Return the fields of a message, with the error of a text that cannot be read."""
    error = None
    message = Message()
    try:
        if isinstance(text, str):
            text = text.encode("utf-8", "surrogatepass")
        message = guard.parse(text.decode(), end=end)
    except UnicodeDecodeError as fault:
        error = f"the text is not UTF-8 at byte {fault.start}"
    except StreamError as fault:
        error = str(fault)
    except AttributeError:
        error = f"expected a text, found `{type(text).__name__}`"
    fields = {**message.to_dict(), "outcome": message.outcome, "error": error}
    if error is not None:
        fields.update(outcome=None, finish=None, open=None)
    # The fields have one order in all rows.
    return {name: fields[name] for name in _FIELDS}


def spark_batches(
    column: str,
    *,
    into: str = _INTO,
    from_columns: Mapping[str, str] | None = None,
    **settings: Unpack[ColumnSettings],
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
            messages = _messages(batch, column, from_columns, settings)
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
        finish=text,
        open=text,
        error=text,
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


def polars_messages(**settings: Unpack[ColumnSettings]) -> Callable[[Any], Any]:
    """Return a function from a series of texts to a series of messages, for Polars.

    `frame.with_columns(message=pl.col("text").map_batches(polars_messages(family="qwen3")))`; a
    series alone is passed to the function.
    """

    def messages(texts: Any) -> Any:
        import polars as pl

        found = pl.from_arrow(parse_batch(texts, **settings))
        return found.alias(texts.name) if isinstance(found, pl.Series) else found

    return messages


def register_duckdb(
    connection: Any, name: str = "parse_message", **settings: Unpack[ColumnSettings]
) -> None:
    """Register a function of a text with a DuckDB connection: `select parse_message(text).content`."""
    call = dict.fromkeys(("id", "name", "arguments", "outcome"), "VARCHAR")
    notice = {"kind": "VARCHAR", "at": "UBIGINT", "bytes": "UBIGINT", "call": "UINTEGER"}
    lists = {
        field: connection.list_type(connection.struct_type(fields))
        for field, fields in (("calls", call), ("diagnostics", notice))
    }
    kind = connection.struct_type({**dict.fromkeys(_FIELDS, "VARCHAR"), **lists})

    # DuckDB evaluates the annotations.
    def parse(texts: Any) -> Any:
        return parse_batch(texts, **settings)

    connection.create_function(name, parse, ["VARCHAR"], kind, type="arrow")
