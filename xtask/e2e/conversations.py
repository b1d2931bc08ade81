"""Agents through the proxy, in front of a scripted upstream.

Each one looks at a picture with a tool, says what it shows, goes on with the conversation, and meets two answers that
end in the middle of a call. To be run where there is no way out: in a network namespace of its own.
"""

import argparse
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

from common import check, checks
from recorder import Recorder
from scripted import AGAIN, ANSWER, CUT, HALF, LOOK, MODEL, RESET, Scripted, images, picture, texts, unanswered

# Seconds for one turn.
PATIENCE = 120
# How agents tell the model that they made no call of such arguments. Others end the turn.
REFUSALS = ("tool_use_error", "Invalid input for tool")
HERE = pathlib.Path(__file__).parent
COMMANDS = ("claude-code", "codex", "codex-own-model")


def command_line(name, node, url, home):
    """The words before the prompt of a first turn and of a further one, and the variables."""
    if name == "claude-code":
        claude = [f"{node}/.bin/claude", "--output-format", "json", "--allowedTools=Read"]
        variables = {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        return [*claude, "-p"], [*claude, "--continue", "-p"], variables
    provider = f'{{name="guarded",base_url="{url}/v1",wire_api="responses",env_key="KEY",stream_max_retries=0,request_max_retries=0}}'
    codex = [f"{node}/.bin/codex", "exec", "--skip-git-repo-check", "-c", 'model_provider="guarded"', "-c", f"model_providers.guarded={provider}"]
    if name == "codex":
        codex += ["-m", MODEL]
    return codex, [*codex, "resume", "--last"], {"KEY": "none", "CODEX_HOME": home}


class Command:
    """An agent that is a command: started for each turn, its conversation in files."""

    def __init__(self, name, node, url, home):
        self.first, self.further, variables = command_line(name, node, url, home)
        self.started = {"env": {"PATH": os.environ["PATH"], "HOME": home} | variables, "cwd": home}

    def turn(self, prompt):
        words = self.further if prompt == AGAIN else self.first
        ran = subprocess.run([*words, prompt], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, **self.started)
        return {"said": ran.stdout if ran.returncode == 0 else ran.stdout + ran.stderr, "failed": ran.returncode != 0, "called": []}

    def end(self):
        pass


class Process:
    """An agent that is a process: a line for each turn."""

    def __init__(self, name, node, url, shown):
        script = [sys.executable, HERE / "agent_frameworks.py"]
        if name.startswith("ai-"):
            # Node looks for packages beside the script.
            script = ["node", shutil.copy(HERE / "agent_frameworks.mjs", pathlib.Path(node).parent)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([*script, name, url, shown], text=True, **pipes)

    def turn(self, prompt):
        timer = threading.Timer(PATIENCE, self.process.kill)
        timer.start()
        print(json.dumps(prompt), file=self.process.stdin, flush=True)
        said = self.process.stdout.readline()
        timer.cancel()
        return json.loads(said) if said else {"said": "it ended", "failed": True, "called": ["it ended"]}

    def end(self):
        self.process.kill()
        self.process.wait()


def asked(upstream, agent, prompt):
    """One turn: what the agent said, and the requests that it took."""
    upstream.seen.clear()
    turn = agent.turn(prompt)
    check(upstream.seen, prompt, turn)
    for body in upstream.seen:
        check(not unanswered(body["messages"]), prompt, turn, body["messages"])
    return turn, upstream.seen


def results_of_cut_calls(messages):
    """The results after the last prompt that is answered with half a call."""
    cut = [at for at, it in enumerate(messages) if it["role"] == "user" and any(prompt in texts(it) for prompt in (CUT, RESET))]
    return [texts(it) for it in messages[cut[-1] :] if it["role"] == "tool"] if cut else []


def converse(name, agent, upstream):
    turn, bodies = asked(upstream, agent, LOOK)
    check(not turn["failed"] and "picture is red" in turn["said"], name, turn)
    check(len(bodies) == 2, name, "asks again with the result", len(bodies))
    messages = bodies[-1]["messages"]
    # Vercel's provider for chat completions writes parts of results as text.
    seen = name == "ai-chat" and '"mediaType":"image/png"' in texts(messages[-1])
    check(images(messages) or seen, name, "the picture did not come", messages)
    turn, bodies = asked(upstream, agent, AGAIN)
    check(not turn["failed"] and "picture is red" in turn["said"], name, turn)
    said = json.dumps(bodies[0]["messages"])
    check(LOOK in said and AGAIN in said and len(bodies[0]["messages"]) >= 3, name, "forgot the first turn", said)
    for prompt in (CUT, RESET):
        turn, bodies = asked(upstream, agent, prompt)
        results = [it for body in bodies for it in results_of_cut_calls(body["messages"])]
        check(all(any(word in it for word in REFUSALS) for it in results), name, prompt, "half a call was made", results)
        # A request with such a result may come after the turn.
        asks = [body for body in bodies if not results_of_cut_calls(body["messages"])]
        check(turn["failed"] or results, name, prompt, turn)
        check(len(asks) == 1 and not any(HALF in str(it) for it in turn["called"]), name, prompt, "half a call was made", turn)


def served(upstream, home):
    """The proxy in front of `upstream`, which gets every model under the name of its own, and its address."""
    config = pathlib.Path(home, "proxy.toml")
    config.write_text(f'upstream = "{upstream.url}"\n[models]\n"*" = {{ model = "{MODEL}" }}\n')
    command = [options.program, "serve", "--config", config, "--listen", "127.0.0.1:0"]
    proxy = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return proxy, proxy.stdout.readline().split()[0]


def main():
    # Nothing but the loopback is there, so that no agent reaches anyone.
    check([name for _, name in socket.if_nameindex()] == ["lo"], "there is a way out")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as home:
        shown = picture(f"{home}/red.png")
        path = {"path": shown}
        # For models that it knows, Codex has a tool that runs programs in a language of its own.
        runs = {"input": f"const it = await tools.view_image({json.dumps(path)}); image(it.image_url ?? it);"}
        tools = {"Read": {"file_path": shown}, "view_image": path, "functions__exec": runs, "look": path, "Colour": {"name": "Red"}}
        upstream = Scripted(tools)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        proxy, base = served(upstream, home)
        for name in options.agents:
            # It listens in any case, and is asked only if requests are to be kept.
            recorder = Recorder(base)
            threading.Thread(target=recorder.serve_forever, daemon=True).start()
            url = recorder.url if options.record else base
            own = pathlib.Path(home, name)
            own.mkdir()
            before = checks()
            if name in COMMANDS:
                agent = Command(name, options.node_modules, url, str(own))
            else:
                agent = Process(name, options.node_modules, url, shown)
            converse(name, agent, upstream)
            agent.end()
            if options.record:
                lines = [json.dumps(it) + "\n" for it in recorder.kept]
                pathlib.Path(options.record, f"{name}.jsonl").write_text("".join(lines))
            print(f"{checks() - before} checks with {name}", flush=True)
        proxy.kill()
        proxy.wait()


arguments = argparse.ArgumentParser()
arguments.add_argument("--record", metavar="DIRECTORY", help="write the requests there, a file for each agent")
arguments.add_argument("program", help="the command of the proxy")
arguments.add_argument("node_modules")
arguments.add_argument("agents", nargs="+")
options = arguments.parse_args()
main()
