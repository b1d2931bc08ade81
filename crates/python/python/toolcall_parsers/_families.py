"""Finds families by text and by checkpoint, and encodes calls."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

from . import _native
from ._types import Call, Detection, Identification, detection, identification

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Unpack

    from ._settings import Settings

# Loads the native module alone: the worker limits its own memory and time.
_WORKER = (
    "import sys, importlib.util as u; s = u.spec_from_file_location('_native', sys.argv[1]); "
    "m = u.module_from_spec(s); s.loader.exec_module(m); m.serve_renderings()"
)


def identify(path: str | PathLike[str], *, render: bool = True) -> Identification:
    """Identify the family of a checkpoint's model.

    `path` is the checkpoint's folder, or a file of it: `tokenizer_config.json`, a template, GGUF.
    A chat template is a program. It is rendered by another process with limits on memory and time,
    or not at all if `render` is false.

    >>> import json, pathlib, tempfile
    >>> template = "{% for m in messages %}<|tool_call:begin|>{% endfor %}"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "tokenizer_config.json")
    ...     _ = file.write_text(json.dumps({"chat_template": template}))
    ...     identify(folder, render=False).family
    'solar_open'
    """
    return identification(_native.identify(path, _command() if render else []))


def derive(source: str | PathLike[str] | _HasChatTemplate) -> str:
    """Return the text of the family's file that a chat template shows, for models of no known family.

    `source` is a checkpoint's folder, a file of it, the text of a template, or a tokenizer of
    `transformers`. The result is the setting `family_file` of all functions. It is proved: the
    encoder writes what the template renders, and the parser reads it back. Another process renders
    the template, with limits on memory and time.

    Raises `SettingsError` if the template shows no calls, or writes them in a way that a file cannot
    say. The error then has the two renderings that differ.

    >>> template = (
    ...     "{% for m in messages %}<s>{{ m.role }}: {{ m.content or '' }}"
    ...     "{% for c in m.tool_calls or [] %}"
    ...     "<do {{ c.function.name }}>{{ c.function.arguments | tojson }}</do>"
    ...     "{% endfor %}<|end|>{% endfor %}"
    ...     "{% if add_generation_prompt %}<s>assistant: {% endif %}"
    ... )
    >>> from toolcall_parsers import parse
    >>> parse('<do ring>{"times": 2}</do>', family_file=derive(template)).calls[0].arguments
    '{"times": 2}'
    """
    if not isinstance(source, (str, PathLike)):
        return _native.derive(_config_of(source), _command())
    # A path has no braces.
    if isinstance(source, str) and ("{%" in source or "{{" in source):
        return _native.derive({"chat_template": source}, _command())
    return _native.derive(source, _command())


class _HasChatTemplate(Protocol):
    """A tokenizer of `transformers`."""

    @property
    def chat_template(self) -> Any: ...


def _config_of(tokenizer: _HasChatTemplate) -> dict[str, Any]:
    """Return what the `tokenizer_config.json` of a tokenizer says about its template."""
    template = getattr(tokenizer, "chat_template", None)
    if template is None:
        kind = type(tokenizer).__name__
        message = f"expected a path, a chat template or a tokenizer with one, found `{kind}`"
        raise _native.SettingsError(message)
    if isinstance(template, Mapping):
        template = [{"name": name, "template": text} for name, text in template.items()]
    config: dict[str, Any] = {"chat_template": template}
    for name in ("bos_token", "eos_token", "name_or_path"):
        value = getattr(tokenizer, name, None)
        if isinstance(value, str):
            config[name] = value
    added: dict[str, int] = getattr(tokenizer, "get_added_vocab", dict)()
    config["added_tokens_decoder"] = {
        str(number): {"content": text} for text, number in added.items()
    }
    return config


def _command() -> list[str]:
    """Return the command that renders templates, or nothing where there is no interpreter."""
    if not sys.executable or not _native.__file__:
        return []
    return [sys.executable, "-I", "-S", "-c", _WORKER, _native.__file__]


def detect(text: str | Iterable[str]) -> Detection:
    """Return the families whose models may have written this text, or these messages.

    >>> found = detect("Sure. <function=ping>{}</function>")
    >>> found.certainty, found.candidates[0].families[0]
    ('sure', 'functionary_v31')
    """
    return detection(_native.detect([text] if isinstance(text, str) else list(text)))


def family_of(
    *,
    model: str | None = None,
    checkpoint: str | PathLike[str] | None = None,
    text: str | Iterable[str] | None = None,
) -> str | None:
    """Return the family of a model's id, of a checkpoint, or of a recording, or `None`.

    The evidence is in what `identify` returns for a checkpoint, and `detect` for a recording.

    >>> family_of(model="Qwen/Qwen3-8B"), family_of(model="nobody/nothing")
    ('qwen3', None)
    >>> family_of(text="<|channel|>analysis<|message|>hm<|end|>")
    'harmony'
    """
    given = [value for value in (model, checkpoint, text) if value is not None]
    if len(given) != 1:
        raise TypeError("expected one of `model`, `checkpoint` and `text`")
    if checkpoint is not None:
        return identify(checkpoint).family
    if text is not None:
        return detect(text).family
    try:
        name: str = _native.profile(model=model)["name"]
    except _native.SettingsError:
        return None
    return name


def encode(calls: Iterable[Call | Mapping[str, Any]], **settings: Unpack[Settings]) -> str:
    r"""Write calls as a model of the family would have written them.

    A call is a `Call`, a dictionary with `name` and `arguments`, or one of the chat-completions
    API. Arguments are a dictionary or JSON text. If the family writes no such ids, ids are left out,
    with a warning for ids that the caller has written itself.

    >>> encode([{"name": "ring", "arguments": {"times": 2}}], family="hermes")
    '<tool_call>\n{"name": "ring", "arguments": {"times": 2}}\n</tool_call>'
    """
    given = list(calls)
    text, without_ids = _native.encode([_call(call) for call in given], **settings)
    if without_ids and not all(isinstance(call, Call) for call in given):
        warnings.warn("the family has no place for these ids: they are left out", stacklevel=2)
    return text


def _call(call: Call | Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Return name, JSON text of the arguments, and id."""
    if isinstance(call, Call):
        return call.name, call.arguments, call.id
    function = call.get("function", call) if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not {"name", "arguments"} <= function.keys():
        raise TypeError("expected a call: an object with `name` and `arguments`")
    arguments = function["arguments"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return function["name"], arguments, call.get("id")
