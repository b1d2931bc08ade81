"""Two instances behind a balancer as `docs/deploy/` has it, ports apart: PROGRAM nginx|ENVOY."""

import json
import pathlib
import re
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
    # Each call has an id of its own.
    return re.sub(r"call_[0-9a-z]+", "call", "".join(lines))


balancer = sys.argv[2]
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
demo, front, *ports = (free_port() for _ in range(4))
started = [start(sys.argv[1], "serve", "--demo", "--pace", "5ms", "--listen", f"127.0.0.1:{demo}")]
try:
    # The demo is itself guarded; the instances guard it again, which changes nothing.
    for port in ports:
        started.append(start(sys.argv[1], "serve", "--upstream", f"http://127.0.0.1:{demo}", "--listen", f"127.0.0.1:{port}"))
    nginx = balancer == "nginx"
    conf = (HERE.parents[1] / "docs" / "deploy" / ("nginx.conf" if nginx else "envoy.yaml")).read_text()
    lead = ":" if nginx else "port_value: "
    for old, new in zip((8080, 8081, 8082), (front, *ports)):
        check(f"{lead}{old}" in conf, "the configuration has another port", old)
        conf = conf.replace(f"{lead}{old}", f"{lead}{new}")
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(place, "conf")
        path.write_text(conf)
        for port in (demo, *ports):
            ready(f"http://127.0.0.1:{port}/healthz")
        if nginx:
            started.append(start("nginx", "-p", place, "-c", str(path), "-g", "daemon off;"))
        else:
            # The kind of a file is told by its name; its own process is what a signal reaches.
            path = path.rename(path.with_suffix(".yaml"))
            started.append(start(balancer, "-c", str(path), "--base-id", str(front), "--concurrency", "1"))
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
print(f"{checks()} checks of two instances behind {pathlib.Path(balancer).name}")
