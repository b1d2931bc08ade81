"""The official Python clients over damaged calls: PROGRAM, then `node` and a script for Node if they are there.

For each case, each way of sending calls and each dialect, the calls that a client would run are compared with
those that the guard says are complete. A client may refuse a whole message that has a malformed call.
"""

import json
import subprocess
import sys
import tempfile
import threading
import http.server
from pathlib import Path

import anthropic
import openai

from common import check, checks, free_port, ready
from damaged_model import CASES, MODEL, Answering, events

program, *node = sys.argv[1:]
USER = [{"role": "user", "content": "Hi"}]
SETTINGS = {
    "streamed": '[output]\ncalls = "streamed"\nbroken_calls = "keep"\n',
    "whole": '[output]\ncalls = "whole"\n',
    "drop": '[output]\nbroken_calls = "drop"\n',
}


def guard_says(case):
    """The calls of a case: those that run, and whether others were cut or malformed."""
    line = [program, "parse", "--family", "hermes", "-"]
    lines = subprocess.run(line, input=events(case), capture_output=True, text=True).stdout.splitlines()
    calls = {}
    for it in map(json.loads, lines):
        if it["type"] == "call_start":
            calls[it["index"]] = [it["name"], "", None]
        elif it["type"] == "call_arguments":
            calls[it["index"]][1] += it["fragment"]
        elif it["type"] == "call_end":
            calls[it["index"]][2] = it["outcome"]
    runs = [(name, json.loads(arguments)) for name, arguments, outcome in calls.values() if outcome in ("complete", "repaired")]
    return runs, {outcome for *_, outcome in calls.values()}


def object_of(text):
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def chat_calls(calls):
    read = [(call.function.name, object_of(call.function.arguments)) for call in calls or []]
    return [(name, arguments) for name, arguments in read if arguments is not None]


def chat(client, model):
    calls = {}
    for chunk in client.chat.completions.create(model=model, messages=USER, stream=True):
        for delta in chunk.choices[0].delta.tool_calls or [] if chunk.choices else []:
            kept = calls.setdefault(delta.index, ["", ""])
            kept[0] += delta.function.name or ""
            kept[1] += delta.function.arguments or ""
    read = [(name, object_of(arguments)) for name, arguments in calls.values()]
    yield "chunks", [(name, arguments) for name, arguments in read if arguments is not None]
    whole = client.chat.completions.create(model=model, messages=USER).choices[0].message
    yield "whole", chat_calls(whole.tool_calls)


def chat_helper(client, model):
    """The helper raises an error for an answer that was cut."""
    try:
        with client.chat.completions.stream(model=model, messages=USER) as stream:
            for _ in stream:
                pass
            yield "helper", chat_calls(stream.get_final_completion().choices[0].message.tool_calls)
    except openai.LengthFinishReasonError:
        yield "helper", None


def blocks(message, runs):
    """The calls of a message that an agent runs. The last one of a message that was cut does not, unless the
    guard dropped the one that was cut."""
    calls = [block for block in message.content if block.type == "tool_use"]
    cut = message.stop_reason == "max_tokens" and message.content and message.content[-1].type == "tool_use"
    if cut and len(calls) > len(runs):
        calls = calls[:-1]
    return [(block.name, block.input) for block in calls if "INVALID_JSON" not in block.input]


def messages(client, model, runs):
    ask = {"model": model, "messages": USER, "max_tokens": 99}
    try:
        with client.messages.stream(**ask) as stream:
            yield "stream", blocks(stream.get_final_message(), runs)
    except ValueError:
        yield "stream", None
    yield "whole", blocks(client.messages.create(**ask), runs)


def items(response):
    calls = [item for item in response.output if item.type == "function_call" and item.status == "completed"]
    return [(item.name, json.loads(item.arguments)) for item in calls]


def responses(client, model):
    final = None
    for event in client.responses.create(model=model, input="Hi", stream=True):
        final = getattr(event, "response", None) or final
    yield "stream", items(final)
    yield "whole", items(client.responses.create(model=model, input="Hi"))


upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
upstream.daemon_threads = True
threading.Thread(target=upstream.serve_forever, daemon=True).start()
addresses, running = {}, []
for name, setting in SETTINGS.items():
    file = Path(tempfile.mkdtemp()) / "guard.toml"
    file.write_text(f'upstream = "http://127.0.0.1:{upstream.server_port}"\nlisten = "127.0.0.1:{free_port()}"\nprofile = "hermes"\n{setting}')
    running.append(subprocess.Popen([program, "serve", "--config", str(file)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
    addresses[name] = running[-1].stdout.readline().split()[0]
    ready(f"{addresses[name]}/healthz")

try:
    expected = {}
    for case in CASES:
        runs, outcomes = guard_says(case)
        expected[case] = {"runs": runs, "outcomes": sorted(outcomes)}
        may_fail = bool(outcomes - {"complete", "repaired"})
        for name, base in addresses.items():
            asked = openai.OpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0)
            messaged = anthropic.Anthropic(base_url=base, api_key="none", max_retries=0)
            model = f"{MODEL}/{case}"
            found = [*chat(asked, model), *chat_helper(asked, model), *messages(messaged, model, runs), *responses(asked, model)]
            for how, calls in found:
                # A client that raised an error ran nothing.
                right = may_fail if calls is None else calls == runs
                check(right, case, name, how, calls, runs)
    print(f"{checks()} checks with openai and anthropic over damaged calls")
    if node:
        line = [*node, json.dumps({"model": MODEL, "addresses": addresses, "expected": expected})]
        sys.exit(subprocess.run(line).returncode)
finally:
    for process in running:
        process.kill()
