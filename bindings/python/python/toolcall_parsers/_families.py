"""Finds families by text and by checkpoint, and encodes calls."""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING, Any

from . import _native
from ._types import Call, Detection, Identification, detection, identification

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

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
    command: list[str] = []
    if render and sys.executable and _native.__file__:
        command = [sys.executable, "-I", "-S", "-c", _WORKER, _native.__file__]
    return identification(_native.identify(path, command))


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
    function = call.get("function", call)
    arguments = function["arguments"]
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return function["name"], arguments, call.get("id")
