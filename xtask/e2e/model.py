"""The proxy in front of llama.cpp's server and a real model: PROGRAM.

A grammar forces each family's shape, markers in the model's own pieces; the rest are its words."""

import json
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.request

import openai

from common import check, checks, free_port, ready, start

HERE = pathlib.Path(__file__).parent
CITY = '{\\"city\\": \\"" word "\\"}'
OBJECT = '{\\"name\\": \\"get_weather\\", \\"arguments\\": ' + CITY + "}"
PARAMETERS = '{\\"name\\": \\"get_weather\\", \\"parameters\\": ' + CITY + "}"
# Models with what they write, calls first to last; quoted as GBNF quotes.
SHAPES = {
    "NousResearch/Hermes-3-Llama-3.1-8B": (f'free "<tool_call>\\n{OBJECT}\\n</tool_call>\\n<tool_call>\\n{OBJECT}\\n</tool_call>"', 2),
    "Qwen/Qwen3-8B": (f'"<think>\\n" free "\\n</think>\\n\\n<tool_call>\\n{OBJECT}\\n</tool_call>"', 1),
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": ('free "\\n<tool_call>\\n<function=get_weather>\\n<parameter=city>\\n" word "\\n</parameter>\\n</function>\\n</tool_call>"', 1),
    "mistralai/Mistral-7B-Instruct-v0.3": (f'"[TOOL_CALLS] [{OBJECT}, {OBJECT}]"', 2),
    "mistralai/Mistral-Small-3.2-24B-Instruct-2506": (f'"[TOOL_CALLS]get_weather[ARGS]{CITY}"', 1),
    "meta-llama/Llama-3.1-8B-Instruct": (f'"<|python_tag|>{PARAMETERS}"', 1),
    "deepseek-ai/DeepSeek-V3.1": (f'free "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{CITY}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"', 1),
    "moonshotai/Kimi-K2-Instruct": (f'free "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{CITY}<|tool_call_end|><|tool_calls_section_end|>"', 1),
    "zai-org/GLM-4.5-Air": ('"<think>" free "</think>\\n<tool_call>get_weather\\n<arg_key>city</arg_key>\\n<arg_value>" word "</arg_value>\\n</tool_call>"', 1),
    "MiniMaxAI/MiniMax-M2": ('free "</think>\\n\\n<minimax:tool_call>\\n<invoke name=\\"get_weather\\">\\n<parameter name=\\"city\\">" word "</parameter>\\n</invoke>\\n</minimax:tool_call>"', 1),
    "ibm-granite/granite-3.3-8b-instruct": (f'"<|tool_call|>[{OBJECT}]"', 1),
    "ByteDance-Seed/Seed-OSS-36B-Instruct": ('"<seed:think>" free "</seed:think>\\n<seed:tool_call>\\n<function=get_weather>\\n<parameter=city>" word "</parameter>\\n</function>\\n</seed:tool_call>"', 1),
    "openai/gpt-oss-20b": (f'"<|channel|>analysis<|message|>" free "<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{CITY}<|call|>"', 1),
    "nvidia/Llama-3.1-Nemotron-Nano-8B-v1": (f'free "<TOOLCALL>[{OBJECT}, {OBJECT}]</TOOLCALL>"', 2),
    "ai21labs/AI21-Jamba-1.5-Mini": (f'free "<tool_calls>[{OBJECT}]</tool_calls>"', 1),
    "internlm/internlm2_5-7b-chat": (f'free "<|action_start|><|plugin|>\\n{PARAMETERS}<|action_end|>"', 1),
}
# Models of which a whole answer is asked for, too.
WHOLE = {"Qwen/Qwen3-8B", "Qwen/Qwen3-Coder-30B-A3B-Instruct", "deepseek-ai/DeepSeek-V3.1"}


def grammar(shape):
    return f"root ::= {shape}\nfree ::= [A-Za-z] [a-z ]{{8,12}} [a-z]\nword ::= [A-Z] [a-z]{{2,6}}\n"


def llama(port):
    server = start(sys.executable, str(HERE / "llama_server.py"), str(port))
    ready(f"http://127.0.0.1:{port}/health")
    return server


# Whoever ends this ends what it started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
upstream, port = free_port(), free_port()
model = llama(upstream)
base = f"http://127.0.0.1:{port}"
proxy = start(sys.argv[1], "serve", "--upstream", f"http://127.0.0.1:{upstream}", "--listen", f"127.0.0.1:{port}")
# The same model behind what overlooks stop strings, and cuts answers anywhere.
between = subprocess.Popen([sys.executable, str(HERE / "between.py"), f"http://127.0.0.1:{upstream}"], stdout=subprocess.PIPE, text=True)
other = free_port()
second = start(sys.argv[1], "serve", "--upstream", between.stdout.readline().split()[0], "--listen", f"127.0.0.1:{other}")
try:
    ready(f"{base}/healthz")
    ready(f"http://127.0.0.1:{other}/healthz")
    careless = openai.OpenAI(base_url=f"http://127.0.0.1:{other}/v1", api_key="none", max_retries=0)
    client = openai.OpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0)
    ask = {"messages": [{"role": "user", "content": "How is the weather?"}], "temperature": 0, "max_tokens": 200}

    def forced(shape, **more):
        return {**ask, **more, "extra_body": {"grammar": grammar(shape)}}

    def gather(stream):
        choices = {}
        for chunk in stream:
            for choice in chunk.choices:
                seen = choices.setdefault(choice.index, {"content": "", "reasoning": "", "calls": {}, "reason": None})
                delta = choice.delta
                seen["content"] += delta.content or ""
                seen["reasoning"] += getattr(delta, "reasoning_content", None) or ""
                for call in delta.tool_calls or []:
                    known = seen["calls"].setdefault(call.index, [call.function.name, ""])
                    known[1] += call.function.arguments or ""
                seen["reason"] = choice.finish_reason or seen["reason"]
        return choices

    for name, (shape, count) in SHAPES.items():
        seen = gather(client.chat.completions.create(model=name, stream=True, **forced(shape)))[0]
        check(len(seen["calls"]) == count and seen["reason"] == "tool_calls", name, seen)
        for called, arguments in seen["calls"].values():
            check(called == "get_weather" and list(json.loads(arguments)) == ["city"], name, seen)
        check(any(it in shape for it in ("think", "analysis")) == bool(seen["reasoning"]), name, seen)
        text = seen["content"] + seen["reasoning"]
        check(not any(mark in text for mark in "<>[]{}"), name, seen)
        print(f"{name}: ok", flush=True)
        if not WHOLE.intersection([name]):
            continue
        whole = client.chat.completions.create(model=name, **forced(shape)).choices[0]
        called = [call.function.name for call in whole.message.tool_calls]
        check(called == ["get_weather"] * count and whole.finish_reason == "tool_calls", name, whole)

    hermes = "NousResearch/Hermes-3-Llama-3.1-8B"
    shape = SHAPES[hermes][0]
    cut = gather(client.chat.completions.create(model=hermes, stream=True, **forced(shape, max_tokens=25)))[0]
    check(cut["reason"] == "length", cut)
    chunks = list(client.chat.completions.create(model=hermes, stream=True, n=2, stream_options={"include_usage": True}, **forced(shape, temperature=1)))
    two = gather(chunks)
    check(sorted(two) == [0, 1], two)
    check(chunks[-1].usage and chunks[-1].usage.completion_tokens > 0, chunks[-1])
    for seen in two.values():
        check(len(seen["calls"]) == 2 and seen["reason"] == "tool_calls", two)
    def idle():
        for _ in range(40):
            with urllib.request.urlopen(f"{base}/slots", timeout=5) as slots:
                if not any(slot["is_processing"] for slot in json.load(slots)):
                    return True
            time.sleep(0.25)

    # Stop strings, heeded by the server and overlooked.
    for asked in (client, careless):
        stopped = gather(asked.chat.completions.create(model=hermes, stream=True, stop=["</tool_call>"], **forced(shape)))[0]
        check(len(stopped["calls"]) == 1 and stopped["reason"] in ("stop", "tool_calls"), stopped)
        stopped = gather(asked.chat.completions.create(model=hermes, stream=True, stop=["END"], **forced('free "END" [a-z ]{2000,2100}', max_tokens=2000)))[0]
        check(stopped["content"] and "END" not in stopped["content"] and stopped["reason"] == "stop", stopped)
        check(idle(), "the model went on behind a stop string")

    # A client that leaves: the model stops.
    long = forced('[a-z ]{2000,2100}', max_tokens=2000)
    stream = client.chat.completions.create(model=hermes, stream=True, **long)
    next(iter(stream))
    stream.close()
    check(idle(), "the model went on writing for nobody")

    # A server that dies in the middle of a call.
    stream = client.chat.completions.create(model=hermes, stream=True, **forced(f'"<tool_call>\\n{{\\"name\\": \\"f\\", \\"arguments\\": {{\\"a\\": \\"" [a-z ]{{2000,2100}}', max_tokens=2000))
    threading.Timer(2, model.kill).start()
    try:
        seen = gather(stream)
        check(False, "a broken answer looked whole", seen)
    except openai.APIError as error:
        check("upstream" in str(error), error)
    try:
        client.chat.completions.create(model=hermes, **ask)
        check(False, "nobody answered")
    except openai.InternalServerError as error:
        check(error.status_code == 502, error)
finally:
    for process in (proxy, second, between, model):
        process.kill()
print(f"{checks()} checks, {len(SHAPES)} models' shapes")
