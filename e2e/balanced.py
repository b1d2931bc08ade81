"""Two instances behind nginx, as `deploy/nginx.conf` has it, ports apart: PROGRAM."""

import json
import pathlib
import signal
import sys
import tempfile
import threading
import time
import urllib.request

from common import check, checks, free_port, start

HERE = pathlib.Path(__file__).parent


def get(url):
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.read().decode()


def ready(url):
    for _ in range(200):
        try:
            return get(url)
        except OSError:
            time.sleep(0.1)
    sys.exit(f"{url} does not answer")


def ask(port, times):
    body = json.dumps({"model": "Qwen/Qwen3-8B", "stream": True}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body)
    with urllib.request.urlopen(request, timeout=60) as answer:
        lines = []
        for line in answer:
            lines.append(line.decode())
            times.append(time.monotonic())
    return "".join(lines)


signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
demo, front, *ports = (free_port() for _ in range(4))
started = [start(sys.argv[1], "serve", "--demo", "--pace", "5ms", "--listen", f"127.0.0.1:{demo}")]
try:
    # The demo is itself guarded; the instances guard it again, which changes nothing.
    for port in ports:
        started.append(start(sys.argv[1], "serve", "--upstream", f"http://127.0.0.1:{demo}", "--listen", f"127.0.0.1:{port}"))
    conf = (HERE.parent / "deploy/nginx.conf").read_text()
    for old, new in zip((8080, 8081, 8082), (front, *ports)):
        check(f":{old}" in conf, "the configuration has another port", old)
        conf = conf.replace(f":{old}", f":{new}")
    with tempfile.TemporaryDirectory() as place:
        pathlib.Path(place, "nginx.conf").write_text(conf)
        for port in (demo, *ports):
            ready(f"http://127.0.0.1:{port}/healthz")
        started.append(start("nginx", "-p", place, "-c", f"{place}/nginx.conf", "-g", "daemon off;"))
        ready(f"http://127.0.0.1:{front}/healthz")
        answers, times = [], []
        asks = [threading.Thread(target=lambda: answers.append(ask(front, times))) for _ in range(8)]
        [it.start() for it in asks]
        [it.join() for it in asks]
        check(len(answers) == 8 and len(set(answers)) == 1, "answers differ", len(set(answers)))
        check(answers[0].rstrip().endswith("data: [DONE]") and "get_weather" in answers[0], answers[0][-500:])
        check(max(times) - min(times) > 0.3, "what comes in pieces left at once")
        for port in ports:
            counts = get(f"http://127.0.0.1:{port}/metrics")
            check('streams_total{end="complete"}' in counts, "an instance had nothing to do", port)
        started[1].kill()
        started[1].wait()
        for _ in range(4):
            check("get_weather" in ask(front, []), "one instance left is one too few")
        started.pop().terminate()
        time.sleep(0.5)
finally:
    for process in started:
        process.kill()
print(f"{checks()} checks of two instances behind nginx")
