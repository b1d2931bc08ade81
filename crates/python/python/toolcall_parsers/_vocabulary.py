"""The bytes of a tokenizer's tokens, by their ids."""

from __future__ import annotations

import json
import re
from typing import Any

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")

# The character that stands for a space in tokens of SentencePiece.
_SPACE = "\u2581"


def tokens_of(tokenizer: Any) -> list[bytes | None]:
    """Return the bytes of each token, `None` for ids without a token.

    `tokenizer` is one of `transformers`, `tokenizers`, `tiktoken` or `sentencepiece`.
    """
    for attribute in ("backend_tokenizer", "_tokenizer"):
        inner = getattr(tokenizer, attribute, None)
        if hasattr(inner, "to_str"):
            return _of_tokenizers(inner)
    if hasattr(tokenizer, "to_str"):
        return _of_tokenizers(tokenizer)
    if hasattr(tokenizer, "decode_single_token_bytes"):
        return _of_tiktoken(tokenizer)
    if hasattr(tokenizer, "id_to_piece"):
        return _of_sentencepiece(tokenizer)
    for attribute in ("sp_model", "tokenizer", "model"):
        inner = getattr(tokenizer, attribute, None)
        if hasattr(inner, "id_to_piece") or hasattr(inner, "decode_single_token_bytes"):
            tokens = tokens_of(inner)
            added = getattr(tokenizer, "added_tokens_decoder", {})
            return _with_added(tokens, {at: str(token) for at, token in added.items()})
    raise TypeError(f"expected a tokenizer, found `{type(tokenizer).__name__}`")


def _with_added(tokens: list[bytes | None], added: dict[int, str]) -> list[bytes | None]:
    """Return tokens with those that were added to the tokenizer, whose text is literal."""
    tokens = tokens + [None] * (max(added, default=-1) + 1 - len(tokens))
    for at, text in added.items():
        tokens[at] = text.encode()
    return tokens


def _of_tokenizers(tokenizer: Any) -> list[bytes | None]:
    described = json.loads(tokenizer.to_str())
    added = {token["id"]: token["content"] for token in described.get("added_tokens", [])}
    parts = [described.get("decoder"), described.get("pre_tokenizer")]
    is_byte_level = any(_has_type(part, "ByteLevel") for part in parts)
    read = _byte_level if is_byte_level else _piece
    vocabulary: dict[str, int] = tokenizer.get_vocab(with_added_tokens=False)
    tokens: list[bytes | None] = [None] * (max(vocabulary.values(), default=-1) + 1)
    for text, at in vocabulary.items():
        tokens[at] = read(text)
    return _with_added(tokens, added)


def _has_type(part: Any, name: str) -> bool:
    """Tell whether a part of a tokenizer, or a part of it, has a type of this name."""
    if isinstance(part, dict):
        return part.get("type") == name or any(_has_type(inner, name) for inner in part.values())
    return isinstance(part, list) and any(_has_type(inner, name) for inner in part)


def _byte_characters() -> dict[str, int]:
    """Return the characters by which byte-level vocabularies write bytes.

    Printable bytes are their own characters; the others follow from U+0100 on.
    """
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in set(own)]
    characters = {chr(byte): byte for byte in own}
    characters.update({chr(0x100 + at): byte for at, byte in enumerate(others)})
    return characters


_CHARACTERS = _byte_characters()


def _byte_level(text: str) -> bytes:
    if all(character in _CHARACTERS for character in text):
        return bytes(_CHARACTERS[character] for character in text)
    return text.encode()


def _piece(text: str) -> bytes:
    byte = _BYTE.fullmatch(text)
    if byte:
        return bytes([int(byte[1], 16)])
    return text.replace(_SPACE, " ").encode()


def _of_tiktoken(encoding: Any) -> list[bytes | None]:
    tokens: list[bytes | None] = []
    for at in range(encoding.n_vocab):
        try:
            tokens.append(encoding.decode_single_token_bytes(at))
        except KeyError:
            tokens.append(None)
    return tokens


def _of_sentencepiece(processor: Any) -> list[bytes | None]:
    size = processor.get_piece_size()
    return [_piece(processor.id_to_piece(at)) for at in range(size)]
