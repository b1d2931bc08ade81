"""Chat completions over HTTP, as a client that keeps to the protocol reads them."""

import json
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass, field


@dataclass
class Answer:
    reasoning: str = ""
    content: str = ""
    # Names with the text of arguments.
    calls: list = field(default_factory=list)
    finish: str | None = None
    # Tokens of the reasoning, as the server counts them.
    counted: int | None = None
    # Why there is no answer.
    refused: str | None = None

    def brief(self):
        if self.refused:
            return self.refused
        parts = {"reasoning": self.reasoning, "content": self.content, "calls": self.calls, "finish": self.finish, "counted": self.counted}
        return json.dumps({name: it for name, it in parts.items() if it}, ensure_ascii=False)[:400]


def take_message(answer, message):
    """Adds a message, or the delta of one."""
    answer.reasoning += message.get("reasoning_content") or message.get("reasoning") or ""
    answer.content += message.get("content") or ""
    for at, call in enumerate(message.get("tool_calls") or []):
        at = call.get("index", at)
        while len(answer.calls) <= at:
            answer.calls.append(["", ""])
        function = call.get("function") or {}
        answer.calls[at][0] += function.get("name") or ""
        answer.calls[at][1] += function.get("arguments") or ""


def take_usage(answer, usage):
    details = (usage or {}).get("completion_tokens_details") or {}
    found = details.get("reasoning_tokens", (usage or {}).get("reasoning_tokens"))
    answer.counted = answer.counted if found is None else found


def asked_for(body, stream):
    """Returns the request for a whole answer, or a stream."""
    return {**body, "stream": True, "stream_options": {"include_usage": True}} if stream else {**body, "stream": False}


def take(answer, events):
    """Adds chunks, or a whole answer."""
    for event in events:
        if "error" in event:
            answer.refused = json.dumps(event["error"])[:200]
        take_usage(answer, event.get("usage"))
        for choice in event.get("choices") or []:
            take_message(answer, choice.get("delta") or choice.get("message") or {})
            answer.finish = choice.get("finish_reason") or answer.finish


class Client:
    """A program that asks in its own way: a request on each line of its input, an answer on each of its output."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(timeout=20)

    def chat(self, body, stream):
        """Asks for an answer, whole or streamed."""
        self.process.stdin.write(json.dumps(asked_for(body, stream)) + "\n")
        self.process.stdin.flush()
        answer, came = Answer(), json.loads(self.process.stdout.readline())
        if isinstance(came, dict):
            answer.refused = came["error"]
        else:
            take(answer, came)
        return answer


def chat(base, body, stream):
    """Asks for an answer over HTTP, whole or streamed."""
    body = asked_for(body, stream)
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{base}/v1/chat/completions", json.dumps(body).encode(), headers)
    answer = Answer()
    try:
        with urllib.request.urlopen(request, timeout=300) as came:
            if not stream:
                events = [json.load(came)]
            else:
                events = (json.loads(line[6:]) for line in came if line.startswith(b"data: {"))
            take(answer, events)
    except urllib.error.HTTPError as error:
        answer.refused = f"{error.code} {error.read().decode(errors='replace')[:200]}"
    except (OSError, ValueError) as error:
        answer.refused = str(error)
    return answer
