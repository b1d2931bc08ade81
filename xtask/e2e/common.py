"""What the scripts share: counted checks, free ports, programs in the background."""

import socket
import subprocess
import sys
import time
import urllib.request

_checks = 0


def check(what, *said):
    global _checks
    _checks += 1
    if not what:
        sys.exit(f"failed: {said}")


def checks():
    return _checks


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def start(*command, **more):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def ready(url, patience=120):
    for _ in range(patience * 4):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.25)
    sys.exit(f"{url} does not answer")
