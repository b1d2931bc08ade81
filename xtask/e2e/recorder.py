"""Between an agent and the proxy: keeps the requests, without the words of their authors."""

import http.client
import http.server
import json
import urllib.parse

from scripted import ANSWER, PROMPTS, RESET

# Values that tell one kind of request from another stay as they are.
KEPT = {
    "$ref", "$schema", "detail", "effort", "enum", "format", "include", "media_type", "model", "name", "namespace",
    "required", "role", "status", "summary", "syntax", "tool_choice", "type",
}
# Texts of ours.
OURS = (*PROMPTS, ANSWER, "Here it is.")


class Recorder(http.server.ThreadingHTTPServer):
    """Passes requests on to `base`; `kept` has the guarded ones."""

    daemon_threads = True

    def __init__(self, base):
        self.host = urllib.parse.urlsplit(base).netloc
        self.kept = []
        self.ids = {}
        super().__init__(("127.0.0.1", 0), Passing)

    def handle_error(self, request, client_address):
        """An agent that leaves is no fault of the recorder's."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def plain(self, value, key=""):
        """A request with the same fields and other words: ours stay, the rest is `text`."""
        if isinstance(value, dict):
            if key in ("metadata", "client_metadata"):
                return {}
            # Names of parameters are no fields of the request.
            inner = key in ("properties", "$defs")
            return {name: self.plain(entry, "" if inner else name) for name, entry in value.items()}
        if isinstance(value, list):
            return [self.plain(entry, key) for entry in value]
        if not isinstance(value, str) or key in KEPT:
            return value
        return self.words(value, key)

    def words(self, value, key):
        for ours in OURS:
            if ours in value:
                return ours
        if value.startswith("data:image/"):
            return value.partition(",")[0] + ",AAAA"
        if key == "data":
            return "AAAA"
        if key == "definition":
            return 'start: "x"'
        if key == "arguments":
            return json.dumps({name: "a" for name in json.loads(value)})
        if key.endswith("id"):
            return self.ids.setdefault(value, f"{key}_{len(self.ids)}")
        return "text"


class Passing(http.server.BaseHTTPRequestHandler):
    disable_nagle_algorithm = True

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        # The last turn is asked for as the one before.
        if body and RESET.encode() not in body:
            self.server.kept.append({"path": self.path.partition("?")[0], "body": self.server.plain(json.loads(body))})
        server = http.client.HTTPConnection(self.server.host)
        server.request(self.command, self.path, body, dict(self.headers))
        answer = server.getresponse()
        self.send_response(answer.status)
        self.send_header("content-type", answer.headers.get("content-type", "text/plain"))
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(piece)

    do_GET = do_POST = forward

    def log_message(self, *said):
        pass

