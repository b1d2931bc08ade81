"""The parsers, each by the functions that its own server calls."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import stubs
from engines import Answer, sglang_steps, vllm_stream, vllm_whole, without_gpu
from llama_cpp import LlamaCpp
from support import Tokenizer


def bare(*packages: str) -> None:
    """Make packages importable without running their `__init__`, which needs a GPU."""
    for package in packages:
        module = ModuleType(package)
        place = distribution(package.split(".")[0]).locate_file(package.replace(".", "/"))
        module.__path__ = [str(Path(place))]
        sys.modules[package] = module


class Vllm:
    """vLLM: the parser that its server makes of a request."""

    streams = True

    def __init__(self) -> None:
        without_gpu("vllm")
        from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
        from vllm.parser.parser_manager import ParserManager
        from vllm.reasoning import ReasoningParserManager
        from vllm.tool_parsers import ToolParserManager

        self.request_kind, self.manager = ChatCompletionRequest, ParserManager
        self.registries = ReasoningParserManager, ToolParserManager

    def names(self, *, calls: bool) -> Any:
        return set(self.registries[calls].list_registered())

    def parser(self, name: str, case: Any) -> tuple[Any, Any]:
        calls = case["kind"] == "tools"
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        if calls:
            body |= {"tools": case["declared"], "tool_choice": "auto"}
        if case["start"]:
            thinks = case["start"] == "reasoning"
            body["chat_template_kwargs"] = {"enable_thinking": thinks, "thinking": thinks}
        request = self.request_kind(**body)
        tokenizer = Tokenizer()
        kind = self.manager.get_parser(
            tool_parser_name=name if calls else None,
            reasoning_parser_name=None if calls else name,
            enable_auto_tools=calls,
            tokenizer=tokenizer,
        )
        options = request.chat_template_kwargs
        return kind(tokenizer, request.tools, chat_template_kwargs=options), request

    def whole(self, name: str, case: Any, text: str) -> Answer:
        parser, request = self.parser(name, case)
        return vllm_whole(parser, request, text, automatic=case["kind"] == "tools")

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        parser, request = self.parser(name, case)
        return vllm_stream(parser, request, pieces)


class Sglang:
    """SGLang: its parsers, and what its server does at the end of a stream."""

    streams = True

    def __init__(self) -> None:
        without_gpu("sglang")
        from sglang.srt.entrypoints.openai.protocol import Tool
        from sglang.srt.function_call.function_call_parser import FunctionCallParser
        from sglang.srt.parser.reasoning_parser import ReasoningParser

        self.tool, self.calls, self.reasoning = Tool, FunctionCallParser, ReasoningParser

    def names(self, *, calls: bool) -> Any:
        return self.calls.ToolCallParserEnum if calls else self.reasoning.DetectorMap

    def parser(self, name: str, case: Any) -> Any:
        if case["kind"] == "tools":
            tools = [self.tool(**tool) for tool in case["declared"]]
            return self.calls(tools, name, tokenizer=Tokenizer())
        force = case["start"] == "reasoning" or None
        return self.reasoning(name, force_reasoning=force, tokenizer=Tokenizer())

    def whole(self, name: str, case: Any, text: str) -> Answer:
        parser, answer = self.parser(name, case), Answer()
        if case["kind"] != "tools":
            reasoning, content = parser.parse_non_stream(text)
            answer.reasoning, answer.content = reasoning or "", content or ""
        elif not parser.has_tool_call(text):
            answer.content = text
        else:
            answer.content, calls = parser.parse_non_stream(text)
            for call in calls:
                answer.add(None, call.name, call.parameters)
        return answer

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        parser, answer = self.parser(name, case), Answer()
        for first, second in sglang_steps(parser, pieces):
            if case["kind"] == "tools":
                answer.content += first or ""
                for call in second:
                    answer.add(call.tool_index, call.name, call.parameters)
            else:
                answer.reasoning += first or ""
                answer.content += second or ""
        if case["kind"] == "tools":
            self.rest(parser.detector, answer)
        return answer

    def rest(self, detector: Any, answer: Answer) -> None:
        """Add the arguments that the server sends when the stream ends."""
        calls = getattr(detector, "prev_tool_call_arr", None) or []
        sent = getattr(detector, "streamed_args_for_tool", None) or []
        last = len(calls) - 1
        if 0 <= last < len(sent):
            whole = calls[last].get("arguments", {})
            text = whole if isinstance(whole, str) else json.dumps(whole, ensure_ascii=False)
            if text.startswith(sent[last]):
                answer.add(last, None, text[len(sent[last]) :])


class Lmdeploy:
    """LMDeploy: its default parser of responses."""

    streams = True

    def __init__(self) -> None:
        stubs.install("torch", "torchvision", "triton")
        bare("lmdeploy", "lmdeploy.serve", "lmdeploy.serve.openai")
        from lmdeploy.serve.openai.protocol import ChatCompletionRequest
        from lmdeploy.serve.parsers.reasoning_parser import ReasoningParserManager
        from lmdeploy.serve.parsers.response_parser import BaseResponseParser
        from lmdeploy.serve.parsers.tool_parser import ToolParserManager

        self.request, self.base = ChatCompletionRequest, BaseResponseParser
        self.registries = ReasoningParserManager, ToolParserManager

    def names(self, *, calls: bool) -> Any:
        return self.registries[calls].module_dict

    def parser(self, name: str, case: Any) -> Any:
        calls = case["kind"] == "tools"
        # The names are attributes of the class.
        kind = type("Parser", (self.base,), {})
        kind.set_parsers(None if calls else name, name if calls else None, Tokenizer())
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        if calls:
            body["tools"] = case["declared"]
        if case["start"]:
            body["chat_template_kwargs"] = {"enable_thinking": case["start"] == "reasoning"}
        return kind(self.request(**body))

    def whole(self, name: str, case: Any, text: str) -> Answer:
        answer = Answer()
        content, calls, reasoning = self.parser(name, case).parse_complete(text)
        answer.content, answer.reasoning = content or "", reasoning or ""
        for call in calls or []:
            answer.add(None, call.function.name, call.function.arguments)
        return answer

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        parser, answer = self.parser(name, case), Answer()
        ids = Tokenizer()
        for at, piece in enumerate(pieces):
            final = at + 1 == len(pieces)
            for message, _ in parser.stream_chunk(piece, ids.encode(piece), final=final):
                answer.content += message.content or ""
                answer.reasoning += message.reasoning_content or ""
                for call in message.tool_calls or []:
                    answer.add(call.index, call.function.name, call.function.arguments)
        return answer


class MlxLm:
    """mlx-lm: its state machine of text and its formatter of calls, as its server runs them."""

    streams = True

    def __init__(self) -> None:
        stubs.install("mlx")
        bare("mlx_lm")
        sys.modules["mlx_lm"].__version__ = ""
        from mlx_lm import generate, server

        self.machine, self.formatter = generate.TextStateMachine, server.ToolCallFormatter

    def names(self, *, calls: bool) -> Any:
        place = Path(sys.modules["mlx_lm"].__path__[0], "tool_parsers")
        return {path.stem for path in place.glob("*.py")} if calls else set()

    def parser(self, name: str, _: Any) -> Any:
        return import_module(f"mlx_lm.tool_parsers.{name}")

    def whole(self, name: str, case: Any, text: str) -> Answer:
        return self.stream(name, case, [text])

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        parser = self.parser(name, case)
        start, end = parser.tool_call_start, parser.tool_call_end
        machine = self.machine(
            {"normal": [(start, "tool")], "tool": [(end, "normal")] if end else []}
        )
        state, answer, call, calls, before = machine.make_state(), Answer(), "", [], "normal"
        for at, piece in enumerate(pieces):
            state, segments = self.machine.split(state, piece)
            if at + 1 == len(pieces):
                state, rest, now = self.machine.flush(state)
                segments.append((now, rest))
            for now, text in segments:
                if now == "tool":
                    call += text
                else:
                    if before == "tool":
                        calls.append(call)
                        call = ""
                    answer.content += text
                before = now
        if before == "tool" and call:
            calls.append(call)
        for found in self.formatter(parser.parse_tool_call, case["declared"])(calls):
            function = found["function"]
            answer.add(None, function["name"], function["arguments"])
        return answer


class Renderers:
    """renderers: its parsers of tokens. Calls with another status than `ok` are left out."""

    streams = False

    def __init__(self) -> None:
        from renderers import parsers

        self.parsers, self.tokenizer = parsers, Tokenizer()

    def names(self, *, calls: bool) -> Any:
        return self.parsers.TOOL_PARSERS if calls else self.parsers.REASONING_PARSERS

    def parser(self, name: str, case: Any) -> Any:
        calls = case["kind"] == "tools"
        get = self.parsers.get_tool_parser if calls else self.parsers.get_reasoning_parser
        return get(name, self.tokenizer)

    def whole(self, name: str, case: Any, text: str) -> Answer:
        parser, tokenizer, answer = self.parser(name, case), self.tokenizer, Answer()
        if case["kind"] != "tools":
            reasoning, answer.content = parser.extract(text)
            answer.reasoning = reasoning or ""
            return answer
        ids, calls = parser.extract(tokenizer.encode(text))
        answer.content = tokenizer.decode(ids)
        for call in calls:
            if call.status.value == "ok":
                answer.add(None, call.name, json.dumps(call.arguments))
        return answer


class DeepseekRecipe:
    """deepseek-recipe: its stream processor for DeepSeek V4."""

    streams = True

    def __init__(self) -> None:
        import deepseek_recipe

        self.recipe = deepseek_recipe

    def names(self, *, calls: bool) -> Any:
        # Its prompts always open the reasoning, which few vectors of its families do.
        return {"deepseek-v4"} if calls else set()

    def parser(self, _: str, case: Any) -> Any:
        recipe = self.recipe
        body = {"messages": [{"role": "user", "content": "hi"}], "tools": case["declared"]}
        body |= {"model": "DeepSeek-V4-Pro", "stream": True}
        request = recipe.ChatCompletionRequest(body).convert(recipe.ConversionOptions())
        generator = recipe.ChatCompletionRequest.chunk_generator(request, "id", "m")
        return recipe.StreamProcessor(generator, recipe.ParsingOptions(parse_tool_calls=True))

    def whole(self, name: str, case: Any, text: str) -> Answer:
        return self.stream(name, case, [text])

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        recipe, answer = self.recipe, Answer()
        processor, chunks = self.parser(name, case), []
        for piece in pieces:
            chunks += processor.push(recipe.InferenceChunk.text(piece, 1))
        stop = recipe.InferenceFinishReason.Stop
        chunks += processor.push(recipe.InferenceChunk.finish(stop))
        chunks += processor.finish()
        for chunk in chunks:
            for choice in json.loads(chunk.to_json())["choices"]:
                delta = choice["delta"]
                answer.content += delta.get("content") or ""
                answer.reasoning += delta.get("reasoning_content") or ""
                for call in delta.get("tool_calls") or []:
                    function = call["function"]
                    answer.add(call["index"], function.get("name"), function.get("arguments"))
        return answer


class Harmony:
    """openai-harmony: its parser of tokens. The vocabulary is a file of another package."""

    streams = True

    def __init__(self) -> None:
        # The file is named by the hash of its address.
        name = "fb374d419588a4632f3f557e76b4b70aebbca790"
        place = distribution("litellm").locate_file("litellm/litellm_core_utils/tokenizers")
        with TemporaryDirectory() as directory:
            copy = Path(directory, "o200k_base.tiktoken")
            copy.write_bytes(Path(str(place), name).read_bytes())
            os.environ["TIKTOKEN_ENCODINGS_BASE"] = directory
            import openai_harmony

            kind = openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS
            self.encoding = openai_harmony.load_harmony_encoding(kind)
        self.harmony = openai_harmony

    def names(self, *, calls: bool) -> Any:
        return {"harmony"} if calls else set()

    def parser(self, _: str, __: Any) -> Any:
        role = self.harmony.Role.ASSISTANT
        return self.harmony.StreamableParser(self.encoding, role=role)

    def whole(self, _: str, __: Any, text: str) -> Answer:
        answer, role = Answer(), self.harmony.Role.ASSISTANT
        tokens = self.encoding.encode(text, allowed_special="all")
        for message in self.encoding.parse_messages_from_completion_tokens(tokens, role):
            text = "".join(part.text for part in message.content)
            self.add(answer, message.channel, message.recipient, text, begins=True)
        return answer

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        parser, answer, count = self.parser(name, case), Answer(), -1
        for piece in pieces:
            for token in self.encoding.encode(piece, allowed_special="all"):
                parser.process(token)
                if text := parser.last_content_delta:
                    begins, count = len(parser.messages) != count, len(parser.messages)
                    channel, recipient = parser.current_channel, parser.current_recipient
                    self.add(answer, channel, recipient, text, begins=begins)
        parser.process_eos()
        return answer

    def add(
        self, answer: Answer, channel: str, recipient: str | None, text: str, *, begins: bool
    ) -> None:
        if recipient:
            name = recipient.removeprefix("functions.") if begins else None
            answer.add(None if begins else len(answer.calls) - 1, name, text)
        elif channel == "analysis":
            answer.reasoning += text
        else:
            answer.content += text


class Transformers:
    """transformers: the response templates of its server, and its parser of them."""

    streams = True

    def __init__(self) -> None:
        stubs.install("torch", "torchvision")
        from transformers.cli.serving import utils
        from transformers.utils.chat_parsing import ResponseParser

        templates = utils._RESPONSE_TEMPLATE_FALLBACKS  # noqa: SLF001
        self.templates = {name: one for names, one in templates.items() for name in names}
        self.make, self.utils = ResponseParser, utils

    def names(self, *, calls: bool) -> Any:
        del calls
        return self.templates

    def parser(self, name: str, case: Any) -> Any:
        template = self.templates[name]
        opened = template["fields"]["thinking"]["open"] if case["start"] == "reasoning" else ""
        anchor = template["start_anchor"]
        anchor = anchor if isinstance(anchor, str) else anchor[0]
        return self.make(template, prefix=anchor + opened)

    def whole(self, name: str, case: Any, text: str) -> Answer:
        parser = self.parser(name, case)
        parser.feed(text)
        message, _ = parser.finalize()
        answer = Answer(message.get("thinking") or "", message.get("content") or "")
        for call in message.get("tool_calls") or []:
            call = self.utils._normalize_tool_call(call)  # noqa: SLF001
            answer.add(None, call.name, call.arguments)
        return answer

    def stream(self, name: str, case: Any, pieces: list[str]) -> Answer:
        parser, answer = self.parser(name, case), Answer()
        for piece in pieces:
            self.read(parser.feed(piece), answer)
        self.read(parser.finalize()[1], answer)
        return answer

    def read(self, events: list[dict[str, Any]], answer: Answer) -> None:
        for item in self.utils.response_events_to_chunks(events):
            if isinstance(item, self.utils.ToolCall):
                answer.add(None, item.name, item.arguments)
            elif isinstance(item, self.utils.ReasoningText):
                answer.reasoning += item
            else:
                answer.content += item


READERS = {
    "llama_cpp": LlamaCpp,
    "openai_harmony": Harmony,
    "transformers": Transformers,
    "vllm": Vllm,
    "sglang": Sglang,
    "lmdeploy": Lmdeploy,
    "mlx_lm": MlxLm,
    "renderers": Renderers,
    "deepseek_recipe": DeepseekRecipe,
}
