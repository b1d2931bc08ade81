"""Tools in the prompt of a real model whose template knows none: PROGRAM [NODE SCRIPT].

A small model calls tools through the proxy, and through `guardFetch` if SCRIPT is given, in both
syntaxes that the project has for it. Calls that are not asked for are counted only."""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile

from common import check, checks, free_port, ready, start
from forcing import QUESTIONS, TOOLS, fault, named, post

HERE = pathlib.Path(__file__).parent
PROGRAM, *NODE = sys.argv[1:]
FAMILIES = ["json_in_tags", "xml_calls"]


def ask(port, family, number, choice):
    """Asks for a call, streamed in every second request, with a result in the history."""
    call = {"name": "cancel_room", "arguments": json.dumps({"number": 214})}
    history = [
        {"role": "user", "content": "Cancel room 214, please."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "a", "content": "cancelled"},
    ]
    body = {
        "model": family,
        "messages": [*history, {"role": "user", "content": QUESTIONS[number % len(QUESTIONS)]}],
        "tools": TOOLS,
        "tool_choice": choice,
        "parallel_tool_calls": False,
        "max_tokens": 300,
        "temperature": 0.7,
        "seed": number,
        "stream": number % 2 == 0,
    }
    return post(port, body)


# Whoever ends this ends what it started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
upstream, port = free_port(), free_port()
model = start(sys.executable, str(HERE / "llama_server.py"), str(upstream), "jinja")
lines = [f'"{family}" = {{ profile = "{family}", tools = "prompt" }}' for family in FAMILIES]
config = tempfile.NamedTemporaryFile("w", suffix=".toml")
config.write(f'upstream = "http://127.0.0.1:{upstream}"\n[models]\n' + "\n".join(lines) + "\n")
config.flush()
ready(f"http://127.0.0.1:{upstream}/health")
proxy = start(PROGRAM, "serve", "--config", config.name, "--listen", f"127.0.0.1:{port}")
try:
    ready(f"http://127.0.0.1:{port}/healthz")
    for family in FAMILIES:
        for number in range(8):
            choice, wanted = "required", None
            if number % 2:
                choice = named(number // 2)
                wanted = choice["function"]["name"]
            why = fault(ask(port, family, number, choice), wanted)
            check(not why, family, number, why)
        free = [ask(port, family, number, "auto") for number in range(4)]
        for choice in free:
            text = choice["message"].get("content") or ""
            check("<tool_call" not in text or choice["finish_reason"] == "length", family, text)
        called = sum(bool(choice["message"].get("tool_calls")) for choice in free)
        print(f"{family}, proxy: 8 of 8 demanded calls; {called} of 4 answers call by themselves", flush=True)
    if NODE:
        said = {"server": f"http://127.0.0.1:{upstream}/v1", "tools": TOOLS, "families": FAMILIES}
        done = subprocess.run([*NODE, json.dumps(said)], check=True, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            family, choice = json.loads(line)
            why = fault(choice)
            check(not why, "guardFetch", family, why)
        check(len(done.stdout.splitlines()) == 4 * len(FAMILIES), done.stdout, done.stderr)
        print(f"{4 * len(FAMILIES)} of {4 * len(FAMILIES)} demanded calls through guardFetch")
finally:
    for process in (proxy, model):
        process.kill()
print(f"{checks()} checks")
