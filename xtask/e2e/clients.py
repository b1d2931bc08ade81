"""The official Python clients against the demo: BASE_URL."""

import json
import sys

import anthropic
import openai

from common import check, checks

base = sys.argv[1]
client = openai.OpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0)
USER = [{"role": "user", "content": "Hi"}]
# Models of the demo, with the calls and whether the recorded answer reasons.
MODELS = {
    "Qwen/Qwen3-8B": (["get_weather"], True),
    "NousResearch/Hermes-3-Llama-3.1-8B": (["get_weather", "get_time"], False),
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": (["write_file"], False),
    "mistralai/Mistral-7B-Instruct-v0.3": (["search", "search"], False),
    "meta-llama/Llama-3.1-8B-Instruct": (["get_weather"], False),
    "deepseek-ai/DeepSeek-V3.1": (["get_weather"], False),
}


def streamed(model):
    calls, reasoning, reasons, usage = {}, "", [], None
    stream = client.chat.completions.create(model=model, messages=USER, stream=True)
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            delta = choice.delta
            reasoning += getattr(delta, "reasoning_content", None) or ""
            check("tool_call" not in (delta.content or ""), model, delta)
            for call in delta.tool_calls or []:
                known = calls.setdefault(call.index, {"id": call.id, "name": "", "arguments": ""})
                known["name"] += call.function.name or ""
                known["arguments"] += call.function.arguments or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
    return calls, reasoning, reasons, usage


for model, (names, thinks) in MODELS.items():
    calls, reasoning, reasons, usage = streamed(model)
    check([call["name"] for call in calls.values()] == names, model, calls)
    for call in calls.values():
        check(call["id"] and isinstance(json.loads(call["arguments"]), dict), model, call)
    check(bool(reasoning) == thinks and reasons == ["tool_calls"], model, reasoning, reasons)
    check(usage and usage.total_tokens > 0, model, usage)

    whole = client.chat.completions.create(model=model, messages=USER).choices[0]
    check([call.function.name for call in whole.message.tool_calls] == names, model, whole)
    check(whole.finish_reason == "tool_calls", model, whole)

    with client.chat.completions.stream(model=model, messages=USER) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion().choices[0].message
    check([call.function.name for call in final.tool_calls] == names, model, final)

    with client.responses.stream(model=model, input="Hi") as stream:
        kinds = [event.type for event in stream]
        response = stream.get_final_response()
    check(kinds[0] == "response.created" and kinds[-1] == "response.completed", model, kinds)
    items = [item for item in response.output if item.type == "function_call"]
    check([item.name for item in items] == names, model, response)
    for item in items:
        check(isinstance(json.loads(item.arguments), dict), model, item)
    check(any(item.type == "reasoning" for item in response.output) == thinks, model)
    response = client.responses.create(model=model, input="Hi")
    check(response.status == "completed" and response.usage.total_tokens > 0, model, response)

    guarded = {"model": model, "prompt": "Hi", "extra_headers": {"x-llm-stream-guard": "on"}}
    text, thought, called, arguments = "", "", [], ""
    for chunk in client.completions.create(stream=True, **guarded):
        for choice in chunk.choices:
            text += choice.text
            thought += getattr(choice, "reasoning_content", None) or ""
            for call in getattr(choice, "tool_calls", None) or []:
                called += [call["function"]["name"]] if call["function"].get("name") else []
                arguments += call["function"].get("arguments") or ""
    check(called == names and "tool_call" not in text, model, called, text)
    check(bool(thought) == thinks, model, thought)
    choice = client.completions.create(**guarded).choices[0]
    check([call["function"]["name"] for call in choice.tool_calls] == names, model, choice)
    check("".join(call["function"]["arguments"] for call in choice.tool_calls) == arguments, model, choice)
    raw = client.completions.create(model=model, prompt="Hi").choices[0]
    check(not hasattr(raw, "tool_calls") and raw.text != choice.text, model, raw)

    claude = anthropic.Anthropic(base_url=base, api_key="none", max_retries=0)
    ask = {"model": model, "max_tokens": 999, "messages": USER}
    with claude.messages.stream(**ask) as stream:
        for _ in stream:
            pass
        message = stream.get_final_message()
    for message in (message, claude.messages.create(**ask)):
        uses = [block for block in message.content if block.type == "tool_use"]
        check([use.name for use in uses] == names, model, message)
        check(all(isinstance(use.input, dict) for use in uses), model, message)
        check(message.stop_reason == "tool_use", model, message)
        check(message.usage.output_tokens > 0 and message.usage.input_tokens > 0, model, message)
        thoughts = [block for block in message.content if block.type == "thinking"]
        check(bool(thoughts) == thinks, model, message)

try:
    client.chat.completions.create(model="Qwen/Qwen3-8B", messages=USER, n=1000)
    check(False, "n=1000 was answered")
except openai.BadRequestError as error:
    check(error.param == "n", error)


def blocks(*content):
    messages = [{"role": "user", "content": list(content)}]
    return claude.messages.with_raw_response.create(model="Qwen/Qwen3-8B", max_tokens=9, messages=messages)


noted = blocks({"type": "document", "source": {}}).headers.get("x-llm-stream-guard-note", "")
check("document" in noted, noted)
try:
    blocks({"type": "text"})
    check(False, "a text without its text was answered")
except anthropic.BadRequestError as error:
    check("messages[0].content[0].text" in str(error), error)

print(f"{checks()} checks with openai {openai.__version__}, anthropic {anthropic.__version__}")
