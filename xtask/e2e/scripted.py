"""An upstream that plays the same conversation with every agent.

The last prompt that it knows decides what it writes:

    LOOK    a call of the agent's own tool, then, when its result came, an answer
    AGAIN   an answer
    CUT     half a call, then the end of the body, as if all was said; an answer if the agent asks
            again with a result
    RESET   half a call, then the connection breaks
"""

import http.server
import json
import os

LOOK = "Look at the picture and name its colour."
AGAIN = "Which colour was it?"
CUT = "Look at the second picture."
RESET = "Look at the third picture."
PROMPTS = (LOOK, AGAIN, CUT, RESET)
ANSWER = "The picture is red."
MODEL = "Qwen/Qwen3-8B"
STREAM = "text/event-stream"
# Tools that take the answer itself.
FINAL = {"final_answer": {"answer": ANSWER}, "Colour": {"name": "red"}}
# What half a call ends with. No tool may be called with it.
HALF = "/etc/pa"


def texts(message):
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content if isinstance(part, dict))


def images(messages):
    parts = [part for message in messages if isinstance(message.get("content"), list) for part in message["content"]]
    return [part["image_url"]["url"] for part in parts if part.get("type") == "image_url"]


def unanswered(messages):
    """The ids of calls without exactly one result, and of results without a call before them."""
    made, answered, wrong = set(), set(), []
    for message in messages:
        made.update(call["id"] for call in message.get("tool_calls") or [])
        if message["role"] == "tool":
            it = message["tool_call_id"]
            wrong += [it] if it not in made or it in answered else []
            answered.add(it)
    return wrong + sorted(made - answered)


def call_text(name, arguments):
    call = json.dumps({"name": name, "arguments": arguments})
    return f"<think>\nI need the picture.\n</think>\n\n<tool_call>\n{call}\n</tool_call>"


class Scripted(http.server.ThreadingHTTPServer):
    """Serves in threads; `seen` has the bodies of the requests with a known prompt."""

    daemon_threads = True

    def __init__(self, tools):
        # Arguments of a call, by the name of the tool.
        self.tools = tools
        self.seen = []
        super().__init__(("127.0.0.1", 0), Answering)

    def handle_error(self, request, client_address):
        """An agent that leaves is no fault of the upstream's."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def plays(self, body):
        """What the model writes, and whether it ends `whole`, `cut` or `reset`."""
        messages = body["messages"]
        found = [(at, prompt) for at, it in enumerate(messages) if it["role"] == "user" for prompt in PROMPTS if prompt in texts(it)]
        if not found:
            return "Yes.", "whole"
        self.seen.append(body)
        at, prompt = max(found)
        names = [tool["function"]["name"] for tool in body.get("tools") or []]
        name = next((name for name in names if name in self.tools), None)
        after = messages[at + 1 :]
        if prompt in (CUT, RESET) and not any(it["role"] == "tool" for it in after):
            text = call_text(name, self.tools.get(name, {}) | {"path": HALF})
            return text[: text.index(HALF) + len(HALF)], "cut" if prompt == CUT else "reset"
        if prompt == LOOK and name and not any(it["role"] == "tool" or images([it]) for it in after):
            return call_text(name, self.tools[name]), "whole"
        final = next((name for name in names if name in FINAL), None)
        if final:
            return call_text(final, FINAL[final]), "whole"
        return f"<think>\nI know it.\n</think>\n\n{ANSWER}", "whole"


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        listed = [{"id": MODEL, "object": "model", "owned_by": "vllm"}]
        self.whole({"object": "list", "data": listed})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text, end = self.server.plays(body)
        if not body.get("stream"):
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop" if end == "whole" else None}
            usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
            self.whole({"id": "c1", "object": "chat.completion", "choices": [choice], "usage": usage}, end == "reset")
            return
        self.send_response(200)
        self.send_header("content-type", STREAM)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for at in range(0, len(text), 7):
            self.event({"index": 0, "delta": {"content": text[at : at + 7]}, "finish_reason": None})
        if end == "reset":
            self.close_connection = True
            return
        if end == "whole":
            self.event({"index": 0, "delta": {}, "finish_reason": "stop"})
            self.piece(b"data: [DONE]\n\n")
        self.piece(b"")

    def event(self, choice):
        chunk = {"id": "c1", "object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}
        self.piece(b"data: %b\n\n" % json.dumps(chunk).encode())

    def piece(self, piece):
        self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def whole(self, answer, broken=False):
        answer = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer[: len(answer) // 2] if broken else answer)
        self.close_connection = broken

    def log_message(self, *said):
        pass


def picture(path):
    """Writes a red picture of 64 by 64 pixels."""
    import struct
    import zlib

    def part(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0)
    rows = b"".join(b"\0" + b"\xff\0\0" * 64 for _ in range(64))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b""))
    return os.path.abspath(path)
