"""The cases: what the request asks for, what the model writes, and what a client must get."""

import json
from dataclasses import dataclass, field

from ask import Answer


class Typed(str):
    """Text that the model writes in ordinary tokens, markers included."""


@dataclass
class Case:
    name: str
    # What the model writes, in parts. Without any it writes what it likes.
    script: list = field(default_factory=list)
    request: dict = field(default_factory=dict)
    # What the client must get: an answer, or a function that returns the fault of one.
    expected: object = None
    # After the script, the model goes on by itself.
    on: bool = False
    # Answers to ask for.
    times: int = 1


def tool(name, properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


# Every value has an end, because random weights seldom close a string.
TOOLS = [
    tool("pick_seat", {"coach": {"enum": ["quiet", "family", "bar"]}, "row": {"type": "integer", "minimum": 1, "maximum": 40}}),
    tool("set_lamps", {"levels": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 3}, "night": {"type": "boolean"}}),
]
SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}, "grade": {"enum": ["a", "b", "c"]}},
    "required": ["ready", "grade"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "result", "schema": SCHEMA}}
SEAT = '{"coach": "bar", "row": 7}'
LAMPS = '{"levels": [1, 9], "night": true}'
THOUGHT = ["<think>\n", "I look it up", "\n</think>\n\n"]
# Its tokens, without those of the markup.
COUNTED = 4
NAMED = {"type": "function", "function": {"name": "set_lamps"}}
NO_THOUGHT = {"chat_template_kwargs": {"enable_thinking": False}}


def call(name, arguments):
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def valid_call(name, arguments):
    """Whether a call satisfies the schema of its tool."""
    try:
        given = json.loads(arguments)
    except ValueError:
        return False
    if name == "pick_seat":
        return set(given) == {"coach", "row"} and given["coach"] in ("quiet", "family", "bar") and type(given["row"]) is int and 1 <= given["row"] <= 40
    if name == "set_lamps":
        levels = given.get("levels")
        return set(given) == {"levels", "night"} and len(levels) <= 3 and all(type(it) is int and 0 <= it <= 9 for it in levels) and type(given["night"]) is bool
    return False


def forced(name=None, least=1, thought=False):
    """Returns a check of calls that a request forces: nothing but valid calls."""

    def fault(answer):
        if answer.refused:
            return answer.refused
        if answer.content.strip():
            return f"content {answer.content[:40]!r}"
        if bool(answer.reasoning.strip()) != thought:
            return f"reasoning {answer.reasoning[:40]!r}"
        calls = answer.calls
        if answer.finish == "length":
            # The last one may be cut: the model chooses how many calls it writes.
            calls = calls if calls and valid_call(*calls[-1]) else calls[:-1]
        if len(calls) < least:
            return f"{len(calls)} calls, {answer.finish}"
        wrong = [it for it in calls if not valid_call(*it) or name not in (None, it[0])]
        return f"call {wrong[0]}" if wrong else None

    return fault


def no_call_runs(answer):
    """Returns a fault if a client would run a call of the answer."""
    if answer.refused:
        return answer.refused
    for name, arguments in answer.calls:
        try:
            json.loads(arguments)
        except ValueError:
            continue
        return f"{name} {arguments} with {answer.finish}"
    return None


def structured(thought=False):
    """Returns a check of an answer in JSON of the schema."""

    def fault(answer):
        if answer.refused:
            return answer.refused
        if bool(answer.reasoning.strip()) != thought:
            return f"reasoning {answer.reasoning[:40]!r}"
        if answer.finish == "length" and answer.content.startswith("{"):
            # Grammars of engines allow blanks between words, of which random weights find no end.
            return None
        try:
            given = json.loads(answer.content)
        except ValueError:
            return f"content {answer.content[:40]!r}, {answer.finish}"
        good = isinstance(given, dict) and set(given) == {"ready", "grade"} and type(given["ready"]) is bool and given["grade"] in ("a", "b", "c")
        return None if good else f"content {answer.content[:60]!r}"

    return fault


def an_object(answer):
    try:
        return None if isinstance(json.loads(answer.content), dict) else f"content {answer.content[:40]!r}"
    except ValueError:
        return answer.refused or f"content {answer.content[:40]!r}, {answer.finish}"


WITH_TOOLS = {"tools": TOOLS}
REQUIRED = {"tools": TOOLS, "tool_choice": "required"}
ONE = {"parallel_tool_calls": False}
FREE = {"on": True, "times": 8}
FEW = {"on": True, "times": 3}

CASES = [
    Case("content", ["Five <b>trains</b>."], {}, Answer(content="Five <b>trains</b>.", finish="stop")),
    Case("thought and content", [*THOUGHT, "Five."], {}, Answer("I look it up", "Five.", finish="stop", counted=COUNTED)),
    Case("thought switched off", ["Five."], NO_THOUGHT, Answer(content="Five.", finish="stop")),
    Case("call", [call("pick_seat", SEAT)], WITH_TOOLS, Answer(calls=[["pick_seat", SEAT]], finish="tool_calls")),
    Case("thought, text and call", [*THOUGHT, "I book.\n", call("pick_seat", SEAT)], WITH_TOOLS, Answer("I look it up", "I book.", [["pick_seat", SEAT]], "tool_calls", COUNTED)),
    Case("several calls", [*THOUGHT, call("pick_seat", SEAT), "\n", call("set_lamps", LAMPS)], WITH_TOOLS, Answer("I look it up", "", [["pick_seat", SEAT], ["set_lamps", LAMPS]], "tool_calls", COUNTED)),
    Case("call that ends the thought", ["<think>\nI look it up", call("pick_seat", SEAT)], WITH_TOOLS, Answer("I look it up", "", [["pick_seat", SEAT]], "tool_calls", COUNTED)),
    Case("choice none", [*THOUGHT, "Five."], {**WITH_TOOLS, "tool_choice": "none"}, Answer("I look it up", "Five.", finish="stop", counted=COUNTED)),
    Case("cut in the thought", THOUGHT, {"max_tokens": 4}, Answer("I look", "", finish="length", counted=2)),
    Case("call cut by the length", [call("pick_seat", SEAT)], {**WITH_TOOLS, "max_tokens": 12}, no_call_runs),
    Case("call cut by a stop string", [call("pick_seat", SEAT)], {**WITH_TOOLS, "stop": ["bar"]}, no_call_runs),
    Case("call cut after its arguments", [call("pick_seat", SEAT)], {**WITH_TOOLS, "stop": ["7}"]}, no_call_runs),
    Case("malformed call", [call("pick_seat", '{"coach": bar, "row": 7}')], WITH_TOOLS, no_call_runs),
    Case("malformed after its arguments", ['<tool_call>\n{"name": "pick_seat", "arguments": {"coach": "bar", "row": 7}, what}\n</tool_call>'], WITH_TOOLS, no_call_runs),
    Case("markers typed in content", [*THOUGHT, "Write ", Typed(call("pick_seat", SEAT)), " then."], WITH_TOOLS, Answer("I look it up", f"Write {call('pick_seat', SEAT)} then.", finish="stop", counted=COUNTED)),
    Case("closer typed in a thought", ["<think>\nI may write ", Typed("</think>"), " here\n</think>\n\nFive."], {}, Answer("I may write </think> here", "Five.", finish="stop")),
    Case("closer typed in an argument", ['<tool_call>\n{"name": "note", "arguments": {"text": "', Typed("</tool_call>"), '"}}\n</tool_call>'], {"tools": [tool("note", {"text": {"type": "string"}})]}, Answer(calls=[["note", '{"text": "</tool_call>"}']], finish="tool_calls")),
    Case("required, no thought allowed", [], {**REQUIRED, **NO_THOUGHT, **ONE}, forced(), **FREE),
    Case("required, at once", ["<tool_call>"], {**REQUIRED, **ONE}, forced(), **FREE),
    Case("required, after a thought", THOUGHT, {**REQUIRED, **ONE}, forced(thought=True), **FREE),
    Case("required, no blank line", ["<think>\nI look it up\n</think>"], {**REQUIRED, **ONE}, forced(thought=True), **FREE),
    Case("required, several", [*THOUGHT, call("pick_seat", SEAT)], REQUIRED, forced(thought=True), **FREE),
    Case("named, at once", ["<tool_call>"], {**WITH_TOOLS, **ONE, "tool_choice": NAMED}, forced("set_lamps"), **FREE),
    Case("named, after a thought", THOUGHT, {**WITH_TOOLS, **ONE, "tool_choice": NAMED}, forced("set_lamps", thought=True), **FREE),
    Case("schema, no thought allowed", [], {"response_format": FORMAT, "max_tokens": 40, **NO_THOUGHT}, structured(), **FEW),
    Case("schema, at once", ["{"], {"response_format": FORMAT, "max_tokens": 40}, structured(), **FEW),
    Case("schema, after a thought", THOUGHT, {"response_format": FORMAT, "max_tokens": 40}, structured(thought=True), **FEW),
    Case("schema, no blank line", ["<think>\nI look it up\n</think>"], {"response_format": FORMAT, "max_tokens": 40}, structured(thought=True), **FEW),
    Case("object, after a thought", [*THOUGHT, '{"a": 1}'], {"response_format": {"type": "json_object"}}, an_object),
]


def fault_of(case, answer):
    """Returns the first difference between an answer and what the case expects."""
    wanted = case.expected
    if callable(wanted):
        return wanted(answer)
    if answer.refused:
        return answer.refused
    for name in ("reasoning", "content"):
        got = getattr(answer, name).strip()
        if got != getattr(wanted, name):
            return f"{name} {got[:60]!r}"
    try:
        got, expected = ([[it[0], json.loads(it[1])] for it in side.calls] for side in (answer, wanted))
    except ValueError:
        return f"arguments {answer.calls}"
    if got != expected:
        return f"calls {answer.calls}"
    if answer.finish != wanted.finish:
        return f"finish {answer.finish}"
    if wanted.counted is not None and answer.counted is not None and answer.counted != wanted.counted:
        return f"counted {answer.counted} for {wanted.counted}"
    return None
