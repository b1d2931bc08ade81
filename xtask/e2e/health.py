"""How long `/healthz` takes while clients receive hostile answers: PROGRAM.

The answers have 256 KiB of text that is hard to read, in one event, in small events, or as a whole answer. Reports the
99th percentile without such clients, with one, and with six, and fails if six delay it by more than 50 ms.
"""

import http.client
import http.server
import json
import multiprocessing
import subprocess
import sys
import time

from common import check

SIZE = 256 << 10
SECONDS = 8
MODEL = "Qwen/Qwen3-8B"
HARD = ("<tool_call>", "<think></think>", '<tool_call>{"name": "f", "arguments": {"a": "', "<", "[[{", '<tool_call>{"name": "')
STREAM = "text/event-stream"


def answer(text, form):
    """The body of an answer: `whole`, or a stream of events of `form` bytes."""
    if form == "whole":
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        return json.dumps({"id": "c", "choices": [choice]}).encode()
    pieces = [text[at : at + form] for at in range(0, len(text), form)]
    choices = [{"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    events = (b"data: %b\n\n" % json.dumps({"id": "c", "choices": [choice]}).encode() for choice in choices)
    return b"".join(events) + b"data: [DONE]\n\n"


def upstream(port):
    forms = ("whole", SIZE, 64)
    answers = [(form, answer((text * (SIZE // len(text) + 1))[:SIZE], form)) for text in HARD for form in forms]

    class Upstream(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send("application/json", json.dumps({"data": [{"id": MODEL, "owned_by": "vllm"}]}).encode())

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            form, body = answers[asked["seed"] % len(answers)]
            self.send("application/json" if form == "whole" else STREAM, body)

        def send(self, kind, body):
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    port.send(server.server_port)
    server.serve_forever()


def client(host, first, answered):
    seed = first
    connection = http.client.HTTPConnection(host)
    while True:
        whole = seed % 3 == 0
        asked = {"model": MODEL, "messages": [], "stream": not whole, "seed": seed}
        connection.request("POST", "/v1/chat/completions", json.dumps(asked))
        connection.getresponse().read()
        with answered.get_lock():
            answered.value += 1
        seed += 1


def quantiles(host, clients):
    """Half and 99 of 100 requests take no longer than this, in milliseconds, and how many answers came meanwhile."""
    answered = multiprocessing.Value("i", 0)
    crowd = [multiprocessing.Process(target=client, args=(host, n * 5, answered), daemon=True) for n in range(clients)]
    for it in crowd:
        it.start()
    connection = http.client.HTTPConnection(host)
    took, until = [], time.monotonic() + SECONDS
    while time.monotonic() < until:
        began = time.monotonic()
        connection.request("GET", "/healthz")
        check(connection.getresponse().read() == b"ok\n", "not alive")
        took.append(time.monotonic() - began)
        time.sleep(0.01)
    for it in crowd:
        it.kill()
        it.join()
    took.sort()
    return took[len(took) // 2] * 1000, took[len(took) * 99 // 100] * 1000, answered.value


def main():
    port, other = multiprocessing.Pipe()
    server = multiprocessing.Process(target=upstream, args=(other,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{port.recv()}"
    command = [sys.argv[1], "serve", "--upstream", url, "--listen", "127.0.0.1:0"]
    proxy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    host = proxy.stdout.readline().split()[0].removeprefix("http://")
    for clients in (0, 1, 6):
        half, most, answered = quantiles(host, clients)
        print(f"/healthz with {clients} hostile clients: p50 {half:.1f} ms, p99 {most:.1f} ms; {answered} answers", flush=True)
    proxy.kill()
    proxy.wait()
    server.kill()
    check(answered > 0, "no client was answered")
    check(most < 50, f"{most:.1f} ms")


main()
