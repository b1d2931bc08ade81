"""Parses columns of texts into columns of messages, with Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Unpack

    from ._native import End, Vocabulary
    from ._settings import Settings


def message_type(*, large: bool = False, roles: bool = False) -> pa.StructType:
    """Return the type of the rows that `parse_batch` makes.

    Texts are of type `large_string` if `large`. Rows of token ids have `roles`.

    >>> [message_type().field(at).name for at in range(5)]
    ['content', 'reasoning', 'calls', 'outcome', 'diagnostics']
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
    }
    if roles:
        fields["token_roles"] = pa.list_(pa.string())
    return pa.struct(fields)


def parse_batch(
    texts: pa.Array | pa.ChunkedArray,
    *,
    end: End = "stop",
    threads: int = 1,
    vocabulary: Vocabulary | None = None,
    **settings: Unpack[Settings],
) -> pa.StructArray:
    """Parse each text of a column, or each list of token ids.

    The texts are read in place. A null gives a null. The rows are the same for every number of
    threads and every division of a column: generated ids count the calls of each message, unless
    `ids` is `unique`.

    >>> import pyarrow as pa
    >>> column = pa.array(["<think>hm</think>Hi.", None])
    >>> rows = parse_batch(column, family="qwen3").to_pylist()
    >>> rows[0]["content"], rows[0]["reasoning"], rows[0]["outcome"], rows[1]
    ('Hi.', 'hm', 'complete', None)

    Token ids need a `vocabulary`. The rows then have the field `token_roles`, the role of each
    token: `content`, `reasoning`, `call_name`, `arguments`, `markup` or `dropped`.

    >>> from toolcall_parsers import Vocabulary
    >>> vocabulary = Vocabulary(["<think>", "</think>", "hm", "Hi."])
    >>> rows = parse_batch(pa.array([[0, 2, 1, 3]]), vocabulary=vocabulary, family="qwen3")
    >>> rows.field("token_roles").to_pylist()
    [['markup', 'reasoning', 'markup', 'content']]
    """
    import pyarrow as pa

    if vocabulary is not None:
        texts = texts.cast(pa.list_(pa.uint32()))

    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    chunks: list[Any] = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    if not chunks:
        chunks = [pa.array([], texts.type)]
    how = (end, max(threads, 1))

    def parse(chunk: Any) -> list[Any]:
        if vocabulary is None:
            return _native.parse_batch(chunk, how, **settings)
        return _native.parse_token_batch(chunk, (*how, vocabulary), **settings)

    parts = [part for chunk in chunks for part in parse(chunk)]
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
