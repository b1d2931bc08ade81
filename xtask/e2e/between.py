"""Between the proxy and a server: UPSTREAM. Stop strings do not go on, and answers come cut anywhere."""

import http.client
import http.server
import itertools
import json
import sys
import urllib.parse

HOST = urllib.parse.urlsplit(sys.argv[1]).netloc
SIZES = (1, 2, 3, 5, 8, 13, 1, 61)


class Between(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if body:
            asked = json.loads(body)
            asked.pop("stop", None)
            body = json.dumps(asked).encode()
        server = http.client.HTTPConnection(HOST)
        server.request(self.command, self.path, body, {"content-type": "application/json"})
        answer = server.getresponse()
        self.send_response(answer.status)
        self.send_header("content-type", answer.headers["content-type"])
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for size in itertools.cycle(SIZES):
            piece = answer.read1(size)
            try:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            except OSError:
                # Nobody is there any more; the server learns of it.
                self.close_connection = True
                break
            if not piece:
                break
        server.close()

    do_GET = do_POST = forward

    def log_message(self, *said):
        pass


between = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
print(f"http://127.0.0.1:{between.server_port} cuts http://{HOST}", flush=True)
between.serve_forever()
