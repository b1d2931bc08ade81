"""What llama.cpp's `--special` does to answers that must be JSON: PROGRAM.

Such a server cannot serve a schema itself, as `docs/servers.md` says. For models that think, the proxy sends a grammar
in its place.
"""

import json
import sys
import urllib.error
import urllib.request

from common import check, checks, free_port, ready, start

HERE = sys.path[0]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 12}}, "required": ["city"], "additionalProperties": False}
ASK = {
    "model": "Qwen/Qwen3-8B",
    "messages": [{"role": "user", "content": "Name a city."}],
    "temperature": 0,
    "max_tokens": 60,
    "response_format": {"type": "json_schema", "json_schema": {"name": "c", "schema": SCHEMA}},
}


def ask(port):
    """The status and the content of the answer from this port."""
    body = json.dumps(ASK).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as came:
            return came.status, json.load(came)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def is_whole(answer):
    status, said = answer
    try:
        return status == 200 and "city" in json.loads(said)
    except ValueError:
        return False


def answers(*words):
    """The answers through the proxy, and without it, from a server with these options."""
    upstream, port = free_port(), free_port()
    started = [start(sys.executable, f"{HERE}/llama_server.py", str(upstream), "jinja", *words)]
    try:
        ready(f"http://127.0.0.1:{upstream}/health")
        started.append(start(sys.argv[1], "serve", "--upstream", f"http://127.0.0.1:{upstream}", "--listen", f"127.0.0.1:{port}"))
        ready(f"http://127.0.0.1:{port}/healthz")
        return ask(port), ask(upstream)
    finally:
        for process in started:
            process.kill()


for words in [(), ("special",)]:
    guarded, direct = answers(*words)
    check(is_whole(guarded), words, guarded)
    check(is_whole(direct) == (not words), "the manual says which server cannot answer itself", words, direct)
print(f"{checks()} checks")
