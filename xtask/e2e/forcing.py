"""What the scripts about demanded calls share: tools, questions, requests, and a check of answers."""

import json
import urllib.request

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "book_room",
            "parameters": {
                "type": "object",
                "properties": {
                    "hotel": {"enum": ["Astoria", "Bristol", "Crown"]},
                    "nights": {"type": "integer", "minimum": 1, "maximum": 14},
                    "breakfast": {"type": "boolean"},
                },
                "required": ["hotel", "nights"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "cancel_room",
            "parameters": {
                "type": "object",
                "properties": {"number": {"type": "integer", "minimum": 100, "maximum": 999}},
                "required": ["number"],
            },
        },
    },
]
QUESTIONS = [
    "Book three nights at the Astoria for me.",
    "Cancel room 214, please.",
    "What is the capital of France?",
    "Write a poem about the sea.",
    "Two nights at the Crown, with breakfast.",
]


def valid(name, arguments):
    """Whether arguments satisfy the schema of their tool."""
    if name == "book_room":
        keys = set(arguments)
        return (
            {"hotel", "nights"} <= keys <= {"hotel", "nights", "breakfast"}
            and arguments["hotel"] in ("Astoria", "Bristol", "Crown")
            and type(arguments["nights"]) is int
            and 1 <= arguments["nights"] <= 14
            and type(arguments.get("breakfast", True)) is bool
        )
    if name == "cancel_room":
        number = arguments.get("number")
        return list(arguments) == ["number"] and type(number) is int and 100 <= number <= 999
    return False


def post(port, body):
    """Asks for a chat completion; returns its choice, of a stream, too."""
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=600) as answer:
        if not body.get("stream"):
            return json.load(answer)["choices"][0]
        calls, text, thought, reason = {}, "", "", None
        for line in answer:
            if not line.startswith(b"data: {"):
                continue
            for choice in json.loads(line[6:]).get("choices", []):
                delta = choice["delta"]
                text += delta.get("content") or ""
                thought += delta.get("reasoning_content") or ""
                for call in delta.get("tool_calls", []):
                    known = calls.setdefault(call["index"], {"name": "", "arguments": ""})
                    function = call.get("function", {})
                    known["name"] += function.get("name") or ""
                    known["arguments"] += function.get("arguments") or ""
                reason = choice.get("finish_reason") or reason
        calls = [{"function": call} for _, call in sorted(calls.items())]
        message = {"content": text, "reasoning_content": thought, "tool_calls": calls}
        return {"message": message, "finish_reason": reason}


def fault(choice, wanted=None):
    """Why an answer is not calls alone, valid, and of the wanted tool; nothing if it is."""
    calls = choice["message"].get("tool_calls") or []
    if not calls or (choice["message"].get("content") or "").strip():
        return f"expected calls alone: {choice}"
    for call in calls:
        function = call["function"]
        if wanted not in (None, function["name"]):
            return f"expected a call of {wanted}: {choice}"
        try:
            if not valid(function["name"], json.loads(function["arguments"])):
                return f"arguments that the schema does not admit: {choice}"
        except ValueError as error:
            return f"{error}: {choice}"
    return None


def named(number):
    name = TOOLS[number % 2]["function"]["name"]
    return {"type": "function", "function": {"name": name}}
