"""What llama.cpp's `--special` does to answers that must be JSON: PROGRAM.

`docs/servers.md` tells users to start the server with it only for families that need special tokens."""

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


def answer(*words):
    """The status and the content of an answer through the proxy, from a server with these options."""
    upstream, port = free_port(), free_port()
    started = [start(sys.executable, f"{HERE}/llama_server.py", str(upstream), "jinja", *words)]
    try:
        ready(f"http://127.0.0.1:{upstream}/health")
        started.append(start(sys.argv[1], "serve", "--upstream", f"http://127.0.0.1:{upstream}", "--listen", f"127.0.0.1:{port}"))
        ready(f"http://127.0.0.1:{port}/healthz")
        body = json.dumps(ASK).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as came:
            return came.status, json.load(came)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    finally:
        for process in started:
            process.kill()


status, said = answer()
check(status == 200 and "city" in json.loads(said), status, said)
status, said = answer("special")
print(f"with --special: {status} {said[-80:]!r}")
try:
    whole = status == 200 and "city" in json.loads(said)
except ValueError:
    whole = False
check(not whole, "the manual says that such a server cannot answer", said)
print(f"{checks()} checks")
