"""Python frameworks that stand on the official clients, against the demo: BASE_URL."""

import json
import os
import sys
from collections.abc import Iterable
from importlib.metadata import version

# What they would tell or ask their makers is nobody's business here.
os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LANGCHAIN_TRACING_V2="false", LITELLM_TELEMETRY="False")

import instructor
import litellm
import openai
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import create_model

from common import check, checks

base = sys.argv[1]
USER = [{"role": "user", "content": "Hi"}]
MODELS = {
    "Qwen/Qwen3-8B": ["get_weather"],
    "NousResearch/Hermes-3-Llama-3.1-8B": ["get_weather", "get_time"],
    "mistralai/Mistral-7B-Instruct-v0.3": ["search", "search"],
    "deepseek-ai/DeepSeek-V3.1": ["get_weather"],
}


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return city


@tool
def get_time(zone: str = "") -> str:
    """The time in a zone."""
    return zone


@tool
def search(query: str = "", q: str = "") -> str:
    """Searches."""
    return query or q


# Of the name that the recorded call has.
Weather = create_model("get_weather", city=(str, ...))
litellm.suppress_debug_info = litellm.disable_hf_tokenizer_download = True

for model, names in MODELS.items():
    chat = ChatOpenAI(model=model, base_url=f"{base}/v1", api_key="none", max_retries=0)
    bound = chat.bind_tools([get_weather, get_time, search])
    whole = bound.invoke("Hi")
    check([call["name"] for call in whole.tool_calls] == names, model, whole)
    check(not whole.invalid_tool_calls, model, whole)
    total = None
    for chunk in bound.stream("Hi"):
        check("tool_call" not in str(chunk.content), model, chunk)
        total = chunk if total is None else total + chunk
    check([call["name"] for call in total.tool_calls] == names, model, total)
    check([call["args"] for call in total.tool_calls] == [call["args"] for call in whole.tool_calls], model)
    check(all(isinstance(call["args"], dict) for call in total.tool_calls), model, total)

    ask = {"model": f"openai/{model}", "messages": USER, "api_base": f"{base}/v1", "api_key": "none", "num_retries": 0}
    message = litellm.completion(**ask).choices[0].message
    check([call.function.name for call in message.tool_calls] == names, model, message)
    chunks = list(litellm.completion(**ask, stream=True))
    built = litellm.stream_chunk_builder(chunks, messages=USER).choices[0]
    check([call.function.name for call in built.message.tool_calls] == names, model, built)
    check(all(isinstance(json.loads(call.function.arguments), dict) for call in built.message.tool_calls), model, built)
    check(built.finish_reason == "tool_calls", model, built)
    if model.startswith("Qwen/"):
        check(message.reasoning_content and built.message.reasoning_content == message.reasoning_content, model, built)

client = openai.OpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0)
asked = {"model": "Qwen/Qwen3-8B", "messages": USER, "max_retries": 0}
for mode, wanted in ((instructor.Mode.TOOLS, Weather), (instructor.Mode.PARALLEL_TOOLS, Iterable[Weather])):
    guided = instructor.from_openai(client, mode=mode)
    found = guided.chat.completions.create(response_model=wanted, **asked)
    found = [found] if wanted is Weather else list(found)
    check([it.city for it in found] == ["Paris"], mode, found)

print(f"{checks()} checks with langchain-openai {version('langchain-openai')}, litellm {version('litellm')}, instructor {version('instructor')}")
