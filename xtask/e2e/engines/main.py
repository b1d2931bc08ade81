"""Real engines, by case: CACHE PROGRAM [--column TEXT]... [--case TEXT]... [--times N] [--package FOLDER].

CACHE has the environments that `environments.py` made, PROGRAM is the proxy. Each case is asked for whole and
streamed. Prints a table in Markdown; below it are the differences. Fails if there are any."""

import argparse
import contextlib
import datetime
import functools
import json
import pathlib
import shutil
import subprocess
import sys

from ask import Client, chat
from cases import CASES, NO_THOUGHT, Typed, fault_of
from servers import COLUMNS, ENGINES, HERE, MODEL, free_port, proxy


def arguments():
    given = argparse.ArgumentParser()
    given.add_argument("cache", type=pathlib.Path)
    given.add_argument("program")
    given.add_argument("--column", action="append", default=[])
    given.add_argument("--case", action="append", default=[])
    given.add_argument("--times", type=int)
    given.add_argument("--package", type=pathlib.Path, help="a folder where npm installed `toolcall-parsers`")
    return given.parse_args()


class Words:
    """Turns a script into tokens."""

    def __init__(self, checkpoint):
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(checkpoint / "tokenizer.json"))

    def ids(self, script):
        found = []
        for part in script:
            # A letter alone never is an added token.
            for text in part if isinstance(part, Typed) else [part]:
                found += self.tokenizer.encode(text, add_special_tokens=False).ids
        return found


def literal(text):
    """Returns the grammar of one text, as llama.cpp has them."""
    return f"root ::= {json.dumps(text, ensure_ascii=False)}"


def body_of(case, engine, words, number):
    """Returns the request, or nothing if the engine has no way to run the case."""
    body = {"model": MODEL, "messages": [{"role": "user", "content": "How many trains are there?"}], "max_tokens": 220, "seed": number, "temperature": 1, **case.request}
    if not engine.writes_tokens:
        counts = "max_tokens" in case.request and not callable(case.expected)
        if counts or any(isinstance(part, Typed) for part in case.script):
            return None
        if case.on:
            return None if case.script else body
        if "response_format" in case.request:
            return None
        # It refuses tools beside a grammar. The proxy would admit a thought before the text of the script.
        body = {name: it for name, it in body.items() if name not in ("tools", "tool_choice")}
        return {**body, **NO_THOUGHT, "grammar": literal("".join(case.script))}
    if case.on and not engine.goes_on:
        return None
    return engine.scripted(body, words.ids(case.script), case.on) if case.script else body


def cell(case, asked, words, times):
    """Runs a case; returns its cell of the table and what differs."""
    engine, has_ids, chat = asked
    if not has_ids and engine.gives_ids and any(isinstance(part, Typed) for part in case.script):
        return "-", []
    faults, good, asked = [], 0, 0
    for stream in (False, True):
        for number in range(times or case.times if case.times > 1 else 1):
            body = body_of(case, engine, words, number)
            if body is None:
                return "-", []
            answer = chat(body, stream)
            if not (engine.gives_ids and has_ids):
                # The proxy estimates the count; SGLang counts by itself.
                answer.counted = None
            fault = fault_of(case, answer)
            asked += 1
            good += fault is None
            if fault:
                faults.append(f"{'stream' if stream else 'whole'}: {fault} | {answer.brief()}")
    if case.times > 1:
        return f"{good} of {asked}", faults
    return "yes" if not faults else "no: " + ", ".join(it.split(":")[0] for it in faults), faults


def reader(how, base, given):
    """Starts a program that asks the engine by itself."""
    if how == "node":
        return Client("node", shutil.copy(HERE / "client.mjs", given.package), base)
    return Client(str(given.cache / "clients/bin/python"), str(HERE / "client.py"), how, base)


def column(title, engine, how, given):
    """Runs the cases in front of one engine; returns the cells by case."""
    logs = given.cache / "logs"
    logs.mkdir(exist_ok=True)
    words = Words(given.cache / "checkpoint")
    port = free_port()
    cells = {}
    name = title.replace(", ", "-").replace(" ", "-")
    with contextlib.ExitStack() as running:
        engine.wait(port, running.enter_context(engine.start(port, how == "plug-in", logs / f"{name}.log")))
        base, ask = f"http://127.0.0.1:{port}", None
        if how not in ("plug-in", "proxy"):
            ask = running.enter_context(reader(how, base, given)).chat
        elif how == "proxy":
            checkpoint = engine.checkpoint if engine.writes_tokens else None
            server, base = proxy(given.program, port, checkpoint, logs / f"{name}-proxy.log")
            running.enter_context(server)
        asked = (engine, ask is None, ask or functools.partial(chat, base))
        for case in CASES:
            if given.case and not any(it in case.name for it in given.case):
                continue
            cells[case.name], faults = cell(case, asked, words, given.times)
            print(f"{title}: {case.name}: {cells[case.name]}", flush=True)
            for fault in dict.fromkeys(faults):
                print(f"    {fault}", flush=True)
    return cells


def main():
    given = arguments()
    checkpoint = given.cache / "checkpoint"
    if not (checkpoint / "tokenizer.json").is_file():
        subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "checkpoint.py"), str(checkpoint)], check=True)
    table = {}
    for title, name, how in COLUMNS:
        if given.column and not any(it in title for it in given.column):
            continue
        if not (given.cache / name / "packages.json").is_file():
            print(f"skipped {title}: it is not installed")
            continue
        if how == "node" and not given.package:
            print(f"skipped {title}: no `--package`")
            continue
        table[title] = column(title, ENGINES[name](given.cache, name), how, given)
    print(f"\n{datetime.date.today()}\n\n| case | {' | '.join(table)} |\n|{'---|' * (len(table) + 1)}")
    for case in CASES:
        cells = [cells.get(case.name) for cells in table.values()]
        if any(cells):
            print(f"| {case.name} | {' | '.join(it or '-' for it in cells)} |")
    bad = [it for cells in table.values() for it in cells.values() if it.startswith("no") or (" of " in it and len(set(it.split(" of "))) == 2)]
    if bad:
        sys.exit(f"{len(bad)} cells differ")


main()
