"""The keyword arguments of all functions and classes that read text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._native import End


class Settings(TypedDict, total=False):
    """How text is read. One of the first five names the format, or the request's model does.

    A setting that is `None` counts as absent.
    """

    model: str | None
    """Id of the model, such as `Qwen/Qwen3-8B`."""
    family: str | None
    """Name of a family, such as `qwen3`, or of a tool-call family or reasoning format alone."""
    template: str | Mapping[str, Any] | None
    """A checkpoint's response template, or the `tokenizer_config.json` that holds one."""
    profile: Mapping[str, Any] | None
    """A profile, as `profile`, `identify` and `detect` return it."""
    family_file: str | Mapping[str, Any] | None
    """The text of a family's file, as `derive` returns it: TOML, or JSON."""
    tools: Sequence[Mapping[str, Any]] | None
    """The tools that the request declared, as chat-completions requests have them."""
    request: Mapping[str, Any] | None
    """The body of the chat-completions request that the text answers."""
    prompt: str | None
    """The rendered prompt, or its last turn: decides where the text begins."""
    start: Literal["content", "reasoning"] | None
    """Where the text begins, in place of the model's own start."""
    whitespace: Literal["framing", "verbatim", "trim", "before_calls", "reasoning_end"] | None
    """Policy for whitespace around markup, in place of the family's."""
    token_suffix: str | None
    """The suffix that the checkpoint's tokenizer puts into tags."""
    marker_tokens: Sequence[str] | Mapping[str, int] | None
    """Texts that are single added tokens of the tokenizer; see `Guard.push_token`. Chunks need their
    ids, too: a mapping, as `get_added_vocab` of a tokenizer returns it."""
    ids: Literal["unique", "counting"] | None
    """How generated ids of calls are made. `counting` gives each message the same ids."""
    delivery: Literal["streaming", "atomic"] | None
    """How the events of a call are delivered. `atomic` gives all of them at the call's end."""
    in_code: Literal["run", "text"] | None
    """Whether calls inside inline code and fenced blocks run. Under `text` they are text."""
    argument_types: Literal["written", "declared"] | None
    """Under `declared`, a string becomes the number, boolean or null that the tool declares, if its
    text is exactly one. The call is then `repaired`."""
    limits: Mapping[str, int] | None
    """Limits of held text: bytes of a `candidate` and of `whitespace`, and `depth` of channels."""


class ColumnSettings(TypedDict, total=False):
    """How a column of texts is read: the settings of texts, of which some may be columns.

    A column is an Arrow array, or a series of pandas or Polars. Where it is null, the row has no
    such setting.
    """

    model: str | Any | None
    """Id of the model, or a column of ids."""
    family: str | Any | None
    """Name of a family, or a column of names."""
    template: str | Mapping[str, Any] | None
    profile: Mapping[str, Any] | None
    family_file: str | Mapping[str, Any] | None
    tools: Sequence[Mapping[str, Any]] | Any | None
    """The tools that the request declared, or a column of them: lists, or their JSON text."""
    request: Mapping[str, Any] | None
    prompt: str | Any | None
    """The rendered prompt, or a column of prompts."""
    end: End | Any | None
    """How generation ended, or a column of the finish reasons of servers. Unknown reasons are read
    as an aborted answer."""
    key: Any
    """A column of keys, texts or integers, of which ids of calls are made."""
    start: Literal["content", "reasoning"] | None
    whitespace: Literal["framing", "verbatim", "trim", "before_calls", "reasoning_end"] | None
    token_suffix: str | None
    marker_tokens: Sequence[str] | Mapping[str, int] | None
    ids: Literal["unique", "counting"] | None
    delivery: Literal["streaming", "atomic"] | None
    limits: Mapping[str, int] | None
