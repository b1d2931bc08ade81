"""Columns of texts to columns of messages, by way of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._native import End
    from ._settings import Settings


def message_type(*, large: bool = False) -> pa.StructType:
    """Return the type of the rows that `parse_batch` makes, of `large_string` if `large`.

    >>> [message_type().field(at).name for at in range(5)]
    ['content', 'reasoning', 'calls', 'outcome', 'diagnostics']
    """
    import pyarrow as pa

    text = pa.large_string() if large else pa.string()
    call = {"id": text, "name": text, "arguments": text, "outcome": pa.string()}
    notice = {"kind": pa.string(), "at": pa.uint64(), "bytes": pa.uint64(), "call": pa.uint32()}
    return pa.struct(
        {
            "content": text,
            "reasoning": text,
            "calls": pa.list_(pa.struct(call)),
            "outcome": pa.string(),
            "diagnostics": pa.list_(pa.struct(notice)),
        }
    )


def parse_batch(
    texts: pa.Array | pa.ChunkedArray,
    *,
    end: End = "stop",
    threads: int = 1,
    **settings: Unpack[Settings],
) -> pa.StructArray:
    """Parse each text of a column.

    The texts are read in place. A null gives a null. The rows are the same for every number of
    threads and every division of a column: generated ids count the calls of each message, unless
    `ids` is `unique`.

    >>> import pyarrow as pa
    >>> column = pa.array(["<think>hm</think>Hi.", None])
    >>> rows = parse_batch(column, family="qwen3").to_pylist()
    >>> rows[0]["content"], rows[0]["reasoning"], rows[0]["outcome"], rows[1]
    ('Hi.', 'hm', 'complete', None)
    """
    import pyarrow as pa

    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    chunks: list[Any] = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    if not chunks:
        chunks = [pa.array([], texts.type)]
    how = (end, max(threads, 1))
    parts = [part for chunk in chunks for part in _native.parse_batch(chunk, how, **settings)]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
