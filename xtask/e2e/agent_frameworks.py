"""An agent made with a framework: NAME BASE_URL PICTURE. A line in is a prompt, a line out what became of it."""

import base64
import json
import os
import sys

# What they would tell or ask their makers is nobody's business here.
os.environ.update(
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    LITELLM_TELEMETRY="False",
    LANGCHAIN_TRACING_V2="false",
    OPENAI_AGENTS_DISABLE_TRACING="1",
    HF_HUB_OFFLINE="1",
)

NAME, BASE, PICTURE = sys.argv[1:]
MODEL = "gpt-4.1"
with open(PICTURE, "rb") as file:
    DATA = base64.b64encode(file.read()).decode()
URL = f"data:image/png;base64,{DATA}"
IMAGE = {"type": "image_url", "image_url": {"url": URL}}
# Arguments of the calls that were made.
called = []


def openai_agents(responses):
    from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, ToolOutputImage, function_tool
    from openai import AsyncOpenAI

    @function_tool
    def look(path: str) -> ToolOutputImage | str:
        """Shows a picture."""
        called.append(path)
        return ToolOutputImage(image_url=URL) if responses else "Here it is."

    client = AsyncOpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0)
    model = (OpenAIResponsesModel if responses else OpenAIChatCompletionsModel)(MODEL, client)
    agent = Agent("looks", instructions="You look at pictures.", model=model, tools=[look])
    history = []

    async def streamed(prompt):
        content = [{"type": "input_text", "text": prompt}]
        if not responses:
            # Its model for chat completions leaves pictures out of results.
            content.append({"type": "input_image", "image_url": URL, "detail": "auto"})
        result = Runner.run_streamed(agent, [*history, {"role": "user", "content": content}])
        async for _ in result.stream_events():
            pass
        history[:] = result.to_input_list()
        return result.final_output

    import asyncio

    loop = asyncio.new_event_loop()
    return lambda prompt: loop.run_until_complete(streamed(prompt))


def langgraph():
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    @tool
    def look(path: str) -> list:
        """Shows a picture."""
        called.append(path)
        return [{"type": "text", "text": "Here it is."}, IMAGE]

    chat = ChatOpenAI(model=MODEL, base_url=f"{BASE}/v1", api_key="none", max_retries=0, streaming=True).bind_tools([look])
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [chat.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([look]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    app = graph.compile(checkpointer=InMemorySaver())

    def turn(prompt):
        thread = {"configurable": {"thread_id": "one"}}
        for state in app.stream({"messages": [("user", prompt)]}, thread, stream_mode="values"):
            said = state["messages"][-1].content
        return said

    return turn


def smolagents():
    from io import BytesIO

    from PIL import Image
    from smolagents import ActionStep, OpenAIModel, ToolCallingAgent, tool

    @tool
    def look(path: str) -> str:
        """Shows a picture.

        Args:
            path: The file.
        """
        called.append(path)
        return "Here it is."

    def show(step, agent):
        # The way of the framework to show a model what a tool saw.
        if isinstance(step, ActionStep) and any(call.name == "look" for call in step.tool_calls or []):
            step.observations_images = [Image.open(BytesIO(base64.b64decode(DATA)))]

    model = OpenAIModel(MODEL, api_base=f"{BASE}/v1", api_key="none", client_kwargs={"max_retries": 0}, retry=False)
    agent = ToolCallingAgent([look], model, step_callbacks=[show], max_steps=3, stream_outputs=True, verbosity_level=0)
    first = [True]

    def turn(prompt):
        reset, first[0] = first[0], False
        result = agent.run(prompt, reset=reset, return_full_result=True)
        return result.output

    return turn


def litellm():
    import litellm

    litellm.suppress_debug_info = True
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tools = [{"type": "function", "function": {"name": "look", "description": "Shows a picture.", "parameters": schema}}]
    history = []

    def step():
        ask = {"model": f"openai/{MODEL}", "api_base": f"{BASE}/v1", "api_key": "none", "num_retries": 0}
        chunks = list(litellm.completion(**ask, messages=history, tools=tools, stream=True))
        built = litellm.stream_chunk_builder(chunks, messages=history).choices[0].message
        history.append(built.model_dump(exclude_none=True))
        return built

    def turn(prompt):
        history.append({"role": "user", "content": prompt})
        message = step()
        while message.tool_calls:
            for call in message.tool_calls:
                called.append(json.loads(call.function.arguments)["path"])
                result = {"role": "tool", "tool_call_id": call.id, "content": [{"type": "text", "text": "Here it is."}, IMAGE]}
                history.append(result)
            message = step()
        return message.content

    return turn


def instructor():
    import instructor
    import openai
    from pydantic import BaseModel, field_validator

    class Colour(BaseModel):
        """The colour of a picture."""

        name: str

        @field_validator("name")
        @classmethod
        def known(cls, name):
            called.append(name)
            if name != "red":
                raise ValueError("name it in lower case")
            return name

    client = openai.OpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0)
    guided = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
    history = []

    def turn(prompt):
        content = [{"type": "text", "text": prompt}, IMAGE]
        history.append({"role": "user", "content": content})
        found, raw = guided.chat.completions.create_with_completion(model=MODEL, messages=history, response_model=Colour, max_retries=2)
        history.append({"role": "assistant", "content": f"It is {found.name}."})
        return f"The picture is {found.name}."

    return turn


AGENTS = {
    "openai-agents-responses": lambda: openai_agents(True),
    "openai-agents-chat": lambda: openai_agents(False),
    "langgraph": langgraph,
    "smolagents": smolagents,
    "litellm": litellm,
    "instructor": instructor,
}

out = sys.stdout
sys.stdout = sys.stderr
turn = AGENTS[NAME]()
for line in sys.stdin:
    called.clear()
    try:
        said, failed = turn(json.loads(line)), False
    except Exception as error:
        said, failed = f"{type(error).__name__}: {error}", True
    print(json.dumps({"said": str(said), "failed": failed, "called": called}), file=out, flush=True)
