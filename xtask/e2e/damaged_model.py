"""A model whose answers have damaged calls: a name and a script for each case of `damaged.py`.

The model's name in a request selects the case: `NousResearch/Hermes-3-Llama-3.1-8B/CASE`, or the name alone.
A case is a list of deltas of a chat completion and a finish reason.
"""

import http.server
import json
import sys

MODEL = "NousResearch/Hermes-3-Llama-3.1-8B"


def call(name, arguments):
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


def texts(text, size=3):
    return [{"content": text[at : at + size]} for at in range(0, len(text), size)]


def own(index, call_id=None, name=None, arguments=None, **beside):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    delta = {"index": index, "type": "function", **beside}
    delta |= {"id": call_id} if call_id else {}
    delta |= {"function": function} if function else {}
    return {"tool_calls": [delta]}


GOOD = call("ping", '{"port": "Bergen"}')
CASES = {
    "good": (texts("Hi. " + GOOD), "stop"),
    "malformed": (texts(call("rm", '{"path": "/home", "all": ]}') + GOOD), "stop"),
    "malformed_last": (texts(GOOD + call("rm", '{"path": "/home", "all": ]}')), "stop"),
    "no_arguments": (texts(call("rm", "]") + GOOD), "stop"),
    "cut_in_text": (texts(GOOD + call("say", '{"text": "Par')[: -len("}</tool_call>")]), "length"),
    "cut_at_start": (texts('<tool_call>{"name": "rm", "argu'), "length"),
    "own_good": ([own(0, "a", "ping", '{"port": '), own(0, arguments='"Bergen"}')], "tool_calls"),
    "own_cut": ([own(0, "a", "say", '{"text": "Par')], "length"),
    "own_malformed": ([own(0, "a", "say", '{"text": "Par')], "tool_calls"),
    "own_nothing": ([own(0, "a", "rm", "")], "length"),
    "late_name": ([own(0, "a", arguments='{"port"'), own(0, name="ping", arguments=': "Bergen"'), own(0, arguments="}")], "tool_calls"),
    "no_name": ([own(0, "a", arguments='{"path": "/home"}'), own(1, "b", "ping", '{"port": "Bergen"}')], "tool_calls"),
    "beside": ([own(0, "a", **{"name": "ping", "arguments": '{"port": "Bergen"}'})], "tool_calls"),
    "interleaved": (
        [own(0, "a", "ping", '{"port": '), own(1, "b", "pong", '{"n"'), {"content": "So."}, own(0, arguments='"Bergen"}'), own(1, arguments=": 1}")],
        "tool_calls",
    ),
    "text_inside": (
        [own(0, "a", "ping", '{"port": '), {"content": "So."}, {"reasoning_content": "hm"}, own(0, arguments='"Bergen"}')],
        "tool_calls",
    ),
    "thought_inside": ([*texts(GOOD[:30]), {"reasoning_content": "hm"}, *texts(GOOD[30:])], "stop"),
}


def whole(deltas):
    """The message of these deltas, as a server would send it."""
    message, calls = {"role": "assistant", "content": ""}, {}
    for delta in deltas:
        message["content"] += delta.get("content", "")
        if "reasoning_content" in delta:
            message["reasoning_content"] = message.get("reasoning_content", "") + delta["reasoning_content"]
        for piece in delta.get("tool_calls", []):
            kept = calls.setdefault(piece["index"], {})
            for key, value in piece.items():
                if key == "function":
                    function = kept.setdefault("function", {})
                    for name, text in value.items():
                        function[name] = function.get(name, "") + text
                elif key != "index":
                    kept[key] = value
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    return message


def events(case):
    deltas, reason = CASES[case]
    deltas = [{"role": "assistant", **deltas[0]}, *deltas[1:]]
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": reason})
    chunks = [{"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, "choices": [it]} for it in choices]
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}), "application/json")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        case = body["model"].removeprefix(MODEL).strip("/") or "good"
        if body.get("stream"):
            return self.answer(events(case), "text/event-stream")
        deltas, reason = CASES[case]
        choice = {"index": 0, "message": whole(deltas), "finish_reason": reason}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage}
        self.answer(json.dumps(answer), "application/json")

    def answer(self, text, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *said):
        pass


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.stdout.write(events(sys.argv[1]))
    else:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        print(f"http://127.0.0.1:{server.server_port} plays {len(CASES)} cases", flush=True)
        server.serve_forever()
