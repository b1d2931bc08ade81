"""Parses columns of texts into columns of messages, with Arrow."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._native import RowError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from typing_extensions import Unpack

    from ._native import Role, Vocabulary
    from ._settings import ColumnSettings

# Levels of nested values, as in settings.
_MAX_DEPTH = 127

# Settings that may be a column, and their names in the native module.
_OF_ROWS = {
    "family": "family",
    "model": "model",
    "tools": "tools",
    "prompt": "prompt",
    "end": "finish",
    "key": "key",
}


def message_type(
    *, large: bool = False, roles: bool = False, loss_mask: bool = False
) -> pa.StructType:
    """Return the type of the rows that `parse_batch` makes.

    Texts are of type `large_string` if `large`. Rows of token ids have `roles`, and a `loss_mask` if
    `parse_batch` is told what to `learn`.

    >>> [message_type().field(at).name for at in range(8)]
    ['content', 'reasoning', 'calls', 'outcome', 'diagnostics', 'finish', 'open', 'error']
    """
    import pyarrow as pa

    text = pa.large_string() if large else pa.string()
    call = {"id": text, "name": text, "arguments": text, "outcome": pa.string()}
    notice = {"kind": pa.string(), "at": pa.uint64(), "bytes": pa.uint64(), "call": pa.uint32()}
    fields = {
        "content": text,
        "reasoning": text,
        "calls": pa.list_(pa.struct(call)),
        "outcome": pa.string(),
        "diagnostics": pa.list_(pa.struct(notice)),
        "finish": pa.string(),
        "open": pa.string(),
        "error": pa.string(),
    }
    if roles:
        fields["token_roles"] = pa.list_(pa.string())
    if loss_mask:
        fields["loss_mask"] = pa.list_(pa.bool_())
    return pa.struct(fields)


def parse_batch(
    texts: Any,
    *,
    threads: int = 1,
    on_error: Literal["row", "raise"] = "row",
    vocabulary: Vocabulary | None = None,
    learn: Sequence[Role] | None = None,
    **settings: Unpack[ColumnSettings],
) -> pa.StructArray:
    """Parse each text of a column, or each list of token ids.

    A column is an Arrow array of strings or bytes, which is read in place, a series of pandas or
    Polars, or a list. A null gives a null. The rows are the same for every number of threads and
    every division of a column.

    >>> import pyarrow as pa
    >>> column = pa.array(["<think>hm</think>Hi.", None])
    >>> rows = parse_batch(column, family="qwen3").to_pylist()
    >>> rows[0]["content"], rows[0]["reasoning"], rows[0]["outcome"], rows[1]
    ('Hi.', 'hm', 'complete', None)

    A row that cannot be read has an `error`, unless `on_error` is `raise`:

    >>> rows = parse_batch(pa.array([b"Hi.", bytes([255])]), family="qwen3")
    >>> rows.field("error").to_pylist()
    [None, 'the text is not UTF-8 at byte 0']

    `family`, `model`, `tools`, `prompt` and `end` may be columns, too: each row then has its own.
    Ids that the model did not write are made of the column `key`; without one, they count the calls
    of each message, unless `ids` is `unique`.

    >>> ends = pa.array(["length", "stop"])
    >>> rows = parse_batch(["<think>hm", "<think>hm</think>Hi."], end=ends, family="qwen3")
    >>> [(row["finish"], row["open"]) for row in rows.to_pylist()]
    [('length', 'reasoning'), ('stop', 'none')]

    Token ids need a `vocabulary`. The rows then have the field `token_roles`, the role of each
    token: `content`, `reasoning`, `call_name`, `arguments`, `markup` or `dropped`. If `learn` lists
    some of these roles, the field `loss_mask` says of each token whether it has one of them.

    >>> from toolcall_parsers import Vocabulary
    >>> vocabulary = Vocabulary(["<think>", "</think>", "hm", "Hi."])
    >>> rows = parse_batch(
    ...     [[0, 2, 1, 3]], vocabulary=vocabulary, learn=["content"], family="qwen3"
    ... )
    >>> rows.field("token_roles").to_pylist(), rows.field("loss_mask").to_pylist()
    ([['markup', 'reasoning', 'markup', 'content']], [[False, False, False, True]])
    """
    import pyarrow as pa

    column = _column(texts) if vocabulary is None else _tokens(texts)

    def parse(chunk: Any, how: _native.BatchHow, common: dict[str, Any]) -> list[Any]:
        if vocabulary is None:
            return _native.parse_batch(chunk, how, **common)
        names = None if learn is None else list(learn)
        return _native.parse_token_batch(chunk, (how, (vocabulary, names)), **common)

    how = (max(threads, 1), on_error == "raise")
    parts = [part for found in _each(column, how, settings, parse) for part in found]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def count_batch(
    texts: Any,
    *,
    threads: int = 1,
    on_error: Literal["row", "raise"] = "row",
    **settings: Unpack[ColumnSettings],
) -> dict[str, Any]:
    """Count the messages of a column by how they ended, without making them.

    The column and the settings are those of `parse_batch`.

    >>> counts = count_batch(["<think>hm", "Hi.", None], family="qwen3")
    >>> counts["rows"], counts["nulls"], counts["errors"], counts["open"]
    (3, 1, 0, {'none': 1, 'reasoning': 1})
    """
    how = (max(threads, 1), on_error == "raise")

    def count(chunk: Any, how: _native.BatchHow, common: dict[str, Any]) -> dict[str, Any]:
        return _native.count_batch(chunk, how, **common)

    all_counts: dict[str, Any] = {}
    for counts in _each(_column(texts), how, settings, count):
        _add(all_counts, counts)
    return all_counts


def _add(counts: dict[str, Any], more: dict[str, Any]) -> None:
    """Add counts to others, and counts by name to those of the same name."""
    for name, value in more.items():
        if isinstance(value, dict):
            _add(counts.setdefault(name, {}), value)
        else:
            counts[name] = counts.get(name, 0) + value


def _each(
    column: Any,
    how: tuple[int, bool],
    settings: Any,
    read: Callable[[Any, _native.BatchHow, dict[str, Any]], Any],
) -> Iterator[Any]:
    """Call `read` for each chunk of a column, with that part of the settings' columns."""
    import pyarrow as pa

    common = dict(settings)
    rows = {
        name: _setting(setting, common.pop(setting))
        for setting, name in _OF_ROWS.items()
        if setting == "key" or _is_column(common.get(setting))
        if common.get(setting) is not None
    }
    common.pop("key", None)
    end: Any = common.pop("end", None) or "stop"
    chunks: list[Any] = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if not chunks:
        chunks = [pa.array([], column.type)]
    for name, values in rows.items():
        if len(values) != len(column):
            raise ValueError(f"the column of `{name}` has another length than the texts")
    at = 0
    for chunk in chunks:
        of_chunk = [(name, _slice(values, at, len(chunk))) for name, values in rows.items()]
        try:
            found = read(chunk, (end, *how, of_chunk), common)
        except RowError as error:
            reason, row = error.args
            raise RowError(reason, at + row) from None
        yield found
        at += len(chunk)


def _is_column(value: Any) -> bool:
    """Tell whether a setting is a column: an array of Arrow, or a series of pandas or Polars."""
    names = ("__arrow_c_array__", "__arrow_c_stream__", "__arrow_array__", "to_numpy")
    return any(hasattr(value, name) for name in names)


def _arrow(values: Any) -> Any:
    """Return an array, a series or a list as an array of Arrow."""
    import pyarrow as pa

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if hasattr(values, "to_arrow"):
        return values.to_arrow()
    if not isinstance(values, list):
        values = values.tolist() if hasattr(values, "tolist") else list(values)
    # Some frameworks have NaN in place of null.
    values = [None if value != value else value for value in values]
    # Arrow follows nested values until its stack ends. Bytes that are not UTF-8 are an error of a row.
    values = [b"\xff" if _is_deep(value) else value for value in values]
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        # The bytes of a lone surrogate are not UTF-8, so that its row has an error.
        encoded = [
            value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
            for value in values
        ]
        return pa.array(encoded, pa.binary())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # A row that is no text has an error, and the others are read.
        return pa.array([_bytes(value) for value in values], pa.binary())


def _is_deep(value: Any) -> bool:
    """Tell whether lists or objects are nested deeper than settings may be."""
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, tuple, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _bytes(value: Any) -> bytes | None:
    """Return the bytes of a text, and bytes that are not UTF-8 in place of anything else."""
    if value is None or isinstance(value, bytes):
        return value
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b"\xff"


def _column(values: Any) -> Any:
    """Return a column of texts as bytes, so that each row is checked for itself."""
    import pyarrow as pa

    column = _arrow(values)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kinds = [(pa.string(), pa.binary()), (pa.large_string(), pa.large_binary())]
    if hasattr(pa, "string_view"):
        kinds.append((pa.string_view(), pa.binary_view()))
    kind = next((bytes_ for text, bytes_ in kinds if column.type == text), None)
    if kind is None:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)
    return column.view(kind)


def _tokens(values: Any) -> Any:
    """Return a column of lists of token ids."""
    import pyarrow as pa

    column = _arrow(values)
    try:
        return column.cast(pa.large_list(pa.int64()))
    except pa.ArrowNotImplementedError:
        raise TypeError(f"expected lists of token ids, found `{column.type}`") from None


def _setting(setting: str, values: Any) -> Any:
    """Return the column of a setting as texts, or numbers for keys."""
    import pyarrow as pa

    column = _arrow(values)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    if setting == "tools" and (pa.types.is_nested(column.type)):
        texts = [
            None if row is None else json.dumps(row, ensure_ascii=False)
            for row in column.to_pylist()
        ]
        return pa.array(texts, pa.large_string())
    if setting == "key" and pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    return _column(column)


def _slice(column: Any, at: int, length: int) -> Any:
    """Return a part of a column."""
    return column.slice(at, length)
