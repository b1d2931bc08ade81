"""The engines: how each is started, and how a request tells its model what to write."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from common import free_port, ready

# The id by which the proxy knows the family.
MODEL = "Qwen/Qwen3-8B"
PATIENCE = 900
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "PYTHONFAULTHANDLER": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that wait for each other are slow where others work, too.
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Server:
    """A program in the background, with what it prints in a file. It ends with all that it has started."""

    def __init__(self, log, *command, cwd=None, **environment):
        with open(log, "w", encoding="utf-8") as file:
            self.process = subprocess.Popen(
                command, stdout=file, stderr=file, start_new_session=True, cwd=cwd, env={**os.environ, **environment}
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(timeout=20)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass


class Engine:
    """An engine in its environment."""

    # Whether its model writes tokens that the request lists.
    writes_tokens = True
    # Whether a model may go on by itself after them.
    goes_on = True
    # Whether the server gives the proxy the ids of all tokens.
    gives_ids = False

    def __init__(self, cache, name):
        self.cache, self.checkpoint, self.home = cache, cache / "checkpoint", cache / "home"
        self.python = str(cache / name / "bin/python")

    def start(self, port, plugin, log):
        """Starts the engine, with the plug-in or for the proxy."""
        self.home.mkdir(exist_ok=True)
        path = f"{pathlib.Path(self.python).parent}:{os.environ['PATH']}"
        words = [*self.command(port), *(self.plugged if plugin else ())]
        return Server(log, *words, cwd=self.home, **QUIET, HOME=str(self.home), PATH=path, **self.environment())

    def wait(self, port, server):
        """Waits until the engine answers."""
        for _ in range(PATIENCE):
            if server.process.poll() is not None:
                sys.exit(f"{self.python}: the engine ended with {server.process.returncode}")
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}{self.health}", timeout=5):
                    return
            except OSError:
                time.sleep(1)
        sys.exit(f"{self.python}: the engine does not answer")

    def environment(self):
        return {}


class Vllm(Engine):
    health = "/health"
    gives_ids = True
    plugged = "--enable-auto-tool-choice --tool-call-parser guard --reasoning-parser guard".split()

    def command(self, port):
        return [
            *(str(pathlib.Path(self.python).parent / "vllm"), "serve", str(self.checkpoint), "--host", "127.0.0.1", "--port", str(port)),
            *("--served-model-name", MODEL, "--enforce-eager", "--max-model-len", "8192", "--max-num-seqs", "8", "--dtype", "bfloat16"),
            *("--logits-processors", "vllm_script:Script"),
        ]

    def environment(self):
        return {
            "PYTHONPATH": str(HERE),
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "VLLM_NO_USAGE_STATS": "1",
        }

    def scripted(self, body, ids, on):
        return {**body, "vllm_xargs": {"script": ids, "on": int(on)}}


class Sglang(Engine):
    health = "/health"
    plugged = "--tool-call-parser guard --reasoning-parser guard".split()

    def __init__(self, cache, name):
        super().__init__(cache, name)
        printed = subprocess.run([self.python, str(HERE / "sglang_script.py")], check=True, capture_output=True, text=True)
        self.processor = printed.stdout.strip()

    def command(self, port):
        return [
            *(self.python, "-m", "sglang.launch_server", "--model-path", str(self.checkpoint), "--host", "127.0.0.1", "--port", str(port)),
            *("--served-model-name", MODEL, "--device", "cpu", "--dtype", "bfloat16", "--attention-backend", "torch_native"),
            *("--sampling-backend", "pytorch", "--grammar-backend", "xgrammar", "--disable-cuda-graph", "--disable-radix-cache"),
            *("--context-length", "8192", "--max-total-tokens", "16384", "--max-running-requests", "8", "--skip-server-warmup"),
            *("--enable-custom-logit-processor",),
        ]

    def environment(self):
        return {"PYTHONPATH": str(HERE / "sglang_kernels"), "SGLANG_USE_CPU_ENGINE": "1"}

    def scripted(self, body, ids, on):
        return {**body, "custom_logit_processor": self.processor, "custom_params": {"script": ids, "on": int(on)}}


class Transformers(Engine):
    health = "/health"
    goes_on = False

    def command(self, port):
        self.file = self.cache / "script.json"
        self.write([])
        # It answers to the name only with which it was started, which is a path here.
        place = self.home / MODEL
        place.parent.mkdir(exist_ok=True)
        if not place.is_symlink():
            place.symlink_to(self.checkpoint)
        return [self.python, str(HERE / "transformers_script.py"), str(self.file), "serve", MODEL, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]

    def write(self, ids):
        self.file.write_text(json.dumps({"script": ids}), encoding="utf-8")

    def scripted(self, body, ids, _):
        self.write(ids)
        return body


class LlamaCpp(Engine):
    """Its model is a real one, which a grammar of the request makes write a text."""

    health = "/health"
    writes_tokens = goes_on = False

    def command(self, port):
        return [self.python, str(HERE.parent / "llama_server.py"), str(port), "jinja"]


ENGINES = {"vllm": Vllm, "sglang": Sglang, "transformers": Transformers, "llama.cpp": LlamaCpp}
# The columns of the table: an engine, and what reads its answers. Clients in a program read without ids.
COLUMNS = [
    ("vLLM, plug-in", "vllm", "plug-in"),
    ("vLLM, proxy", "vllm", "proxy"),
    ("vLLM, `guarded` client", "vllm", "openai"),
    ("vLLM, LiteLLM's callback", "vllm", "litellm"),
    ("vLLM, `guardFetch`", "vllm", "node"),
    ("SGLang, plug-in", "sglang", "plug-in"),
    ("SGLang, proxy", "sglang", "proxy"),
    ("transformers, proxy", "transformers", "proxy"),
    ("llama.cpp, proxy", "llama.cpp", "proxy"),
]


def proxy(program, upstream, checkpoint, log):
    """Starts the proxy in front of a server; returns it with its address."""
    port = free_port()
    server = Server(log, program, "serve", "--upstream", f"http://127.0.0.1:{upstream}", "--listen", f"127.0.0.1:{port}", *(("--checkpoint", str(checkpoint)) if checkpoint else ()))
    ready(f"http://127.0.0.1:{port}/healthz")
    return server, f"http://127.0.0.1:{port}"
