"""Asks a server that parses nothing, through the Python package: openai|litellm BASE.

Reads a request from each line and writes a line for each: a list of what the client gets (the chunks of
a stream, or the completion), or an object with the error."""

import asyncio
import json
import os
import sys
import warnings

KIND, BASE = sys.argv[1:]
# LiteLLM asks the net for prices, and prints what it thinks of an error.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
ANSWERS, sys.stdout = sys.stdout, sys.stderr
PROVIDER = "hosted_vllm"


def by_openai(body):
    from openai import OpenAI
    from toolcall_parsers import guarded

    client = guarded(OpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0), server="vllm")
    known = ("model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens", "seed", "temperature", "stop")
    more = {name: it for name, it in body.items() if name not in known}
    answer = client.chat.completions.create(**{name: it for name, it in body.items() if name in known}, extra_body=more)
    return [it.model_dump() for it in answer] if body["stream"] else [answer.model_dump()]


async def by_litellm(body):
    import litellm
    from toolcall_parsers.litellm import guard

    data = {**body, "model": f"{PROVIDER}/{body['model']}"}
    data = await guard.async_pre_call_hook(None, None, data, "completion")
    answer = await litellm.acompletion(**data, api_base=f"{BASE}/v1", api_key="none", max_retries=0)
    if body["stream"]:
        stream = guard.async_post_call_streaming_iterator_hook(None, answer, data)
        return [it.model_dump() async for it in stream]
    return [(await guard.async_post_call_success_hook(data, None, answer)).model_dump()]


def main():
    warnings.simplefilter("ignore")
    with asyncio.Runner() as runner:
        for line in sys.stdin:
            body = json.loads(line)
            try:
                answer = by_openai(body) if KIND == "openai" else runner.run(by_litellm(body))
            except Exception as error:  # Clients raise what they like.
                answer = {"error": f"{type(error).__name__}: {error}"[:200]}
            print(json.dumps(answer), file=ANSWERS, flush=True)


main()
