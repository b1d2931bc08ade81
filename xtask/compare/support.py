"""A tokenizer for parsers that read tokens."""

from __future__ import annotations

import re
from typing import Any

TAG = re.compile(r"<[^\s<>]{1,46}>|\[[A-Z_]+\]")
SPECIAL_BASE = 1 << 21


class NotAdmitted(Exception):  # noqa: N818
    """The parser's own model cannot write the text, so the case is not judged."""


class Vocabulary(dict[str, int]):
    """A vocabulary in which every tag is one special token."""

    def get(self, text: Any, default: Any = None) -> Any:
        if isinstance(text, str) and not super().__contains__(text) and TAG.fullmatch(text):
            self[text] = SPECIAL_BASE + len(self)
        return super().get(text, default)

    def __missing__(self, text: str) -> int:
        found = self.get(text)
        if found is None:
            raise KeyError(text)
        return found

    def __contains__(self, text: object) -> bool:
        return super().__contains__(text) or bool(isinstance(text, str) and TAG.fullmatch(text))


class Tokenizer:
    """A tokenizer of characters and tags."""

    name_or_path = ""
    unk_token_id = None
    is_fast = True
    all_special_tokens: tuple[str, ...] = ()
    all_special_ids: tuple[int, ...] = ()

    def __init__(self) -> None:
        self.vocab = Vocabulary()

    def get_vocab(self) -> Vocabulary:
        return self.vocab

    def convert_tokens_to_ids(self, token: str) -> int | None:
        return self.vocab.get(token)

    def encode(self, text: str, *_: Any, **__: Any) -> list[int]:
        ids, at = [], 0
        for tag in TAG.finditer(text):
            ids += map(ord, text[at : tag.start()])
            ids.append(self.vocab.get(tag.group()))
            at = tag.end()
        return ids + [ord(char) for char in text[at:]]

    def decode(self, ids: Any, *_: Any, **__: Any) -> str:
        texts = {at: text for text, at in self.vocab.items()}
        ids = [ids] if isinstance(ids, int) else ids
        return "".join(texts[one] if one >= SPECIAL_BASE else chr(one) for one in ids)
