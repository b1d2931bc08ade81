"""Types of whole messages and of answers about families."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._partial import partial_json

if TYPE_CHECKING:
    from collections.abc import Mapping

Outcome = Literal["complete", "repaired", "malformed", "incomplete"]
Finish = Literal["stop", "length", "aborted"]
Open = Literal["none", "reasoning", "call"]
Certainty = Literal["unknown", "likely", "sure"]

# From the best outcome to the worst.
_OUTCOMES: tuple[Outcome, ...] = ("complete", "repaired", "incomplete", "malformed")
OUTCOMES_THAT_RUN: tuple[Outcome, ...] = ("complete", "repaired")


@dataclass(frozen=True)
class Diagnostic:
    """A notice about the input that is not an error."""

    kind: str
    """A short, stable name, such as `unknown_tool`."""
    at: int
    """Offset in the text, in bytes."""
    bytes: int
    """Number of input bytes concerned; 0 where none were dropped."""
    call: int | None = None
    """The call concerned, if any."""


@dataclass(frozen=True)
class Call:
    """A tool call of a message."""

    id: str
    """The wire's id, or a generated one."""
    name: str
    """Name of the called tool."""
    arguments: str
    """The arguments' JSON text; a prefix of it unless the outcome is complete or repaired."""
    outcome: Outcome = "complete"
    """How the call ended."""

    @property
    def runs(self) -> bool:
        """Whether the call is complete or repaired, so that it may be run."""
        return self.outcome in OUTCOMES_THAT_RUN

    @property
    def object(self) -> dict[str, Any]:
        """The arguments as an object. A call that does not run raises `ValueError`.

        >>> Call("call_0", "ring", '{"times": 2}').object
        {'times': 2}
        """
        if not self.runs:
            raise ValueError(f"the call of `{self.name}` is {self.outcome}")
        found: dict[str, Any] = json.loads(self.arguments)
        return found

    @property
    def partial_object(self) -> dict[str, Any]:
        """The arguments so far as an object, of which parts may still be missing: for display.

        >>> Call("call_0", "write", '{"path": "a.txt", "text": "On', "incomplete").partial_object
        {'path': 'a.txt', 'text': 'On'}
        """
        found = partial_json(self.arguments) if self.arguments else {}
        return found if isinstance(found, dict) else {}


class OpenAIFunction(TypedDict):
    """The function of a call, as the chat-completions API has it."""

    name: str
    arguments: str


class OpenAICall(TypedDict):
    """A call, as the chat-completions API has it."""

    id: str
    type: Literal["function"]
    function: OpenAIFunction


class _OpenAIMessage(TypedDict):
    role: Literal["assistant"]
    content: str | None


class OpenAIMessage(_OpenAIMessage, total=False):
    """An assistant message, as the chat-completions API has it."""

    reasoning_content: str
    tool_calls: list[OpenAICall]


@dataclass(frozen=True)
class Message:
    """A whole message.

    >>> from toolcall_parsers import parse
    >>> message = parse("<think>hm</think>Hello.", family="qwen3")
    >>> message.content, message.reasoning, message.calls, message.outcome
    ('Hello.', 'hm', [], 'complete')
    >>> message = parse("<think>hm", end="length", family="qwen3")
    >>> message.outcome, message.finish, message.open
    ('complete', 'length', 'reasoning')
    """

    content: str = ""
    """All visible text."""
    reasoning: str = ""
    """Text of all reasoning."""
    calls: list[Call] = field(default_factory=list)
    """The calls, in order, complete or not."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    """Diagnostics, in order."""
    finish: Finish = "stop"
    """How the message ended: the model stopped, a limit cut it, or it was aborted."""
    open: Open = "none"
    """The part that was open at the end."""

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the calls, or `complete` without calls."""
        return max((call.outcome for call in self.calls), key=_OUTCOMES.index, default="complete")

    def to_dict(self) -> dict[str, Any]:
        """Return the message as dictionaries and lists.

        >>> Message(content="Hi.").to_dict()["content"]
        'Hi.'
        """
        return asdict(self)

    def to_openai(self, *, broken: Literal["omit", "raise"] = "omit") -> OpenAIMessage:
        """Return the message as an assistant message of the chat-completions API.

        Malformed and incomplete calls must not run. They are omitted, or raise `ValueError` if
        `broken` is `raise`; `outcome` tells of them.

        >>> call = Call("call_0", "ring", "{}")
        >>> Message(calls=[call]).to_openai()["tool_calls"][0]["function"]
        {'name': 'ring', 'arguments': '{}'}
        """
        calls: list[OpenAICall] = []
        for call in self.calls:
            if call.runs:
                function: OpenAIFunction = {"name": call.name, "arguments": call.arguments}
                calls.append({"id": call.id, "type": "function", "function": function})
            elif broken == "raise":
                raise ValueError(f"the call of `{call.name}` is {call.outcome}")
        message: OpenAIMessage = {"role": "assistant", "content": self.content or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if calls:
            message["tool_calls"] = calls
        return message


@dataclass(frozen=True)
class Candidate:
    """Families that read a text in the same way, and the evidence for them."""

    families: list[str]
    """Names of the families, those with the most known models first."""
    calls: int
    """Number of calls that these families read."""
    broken: int
    """Number of calls that were malformed or cut."""
    markers: list[str]
    """Texts that are markup to these families."""
    leftovers: list[str]
    """Texts that look like markup and are ordinary text to these families."""
    start: str
    """Where the text begins: `content` or `reasoning`."""


@dataclass(frozen=True)
class Detection:
    """The families whose models may have written some text."""

    certainty: Certainty
    """Confidence in the first candidate; if `unknown`, candidates are guesses."""
    candidates: list[Candidate]
    """Groups of families, best first."""
    profile: dict[str, Any] | None
    """The profile that reads the text best: a setting of `Guard`."""

    @property
    def family(self) -> str | None:
        """Name of the best family, if the certainty is high enough."""
        return None if self.profile is None else str(self.profile["name"])


@dataclass(frozen=True)
class Identification:
    """How the model of a checkpoint writes."""

    certainty: Certainty
    """Confidence in the first family."""
    families: list[str]
    """Families that the model may belong to, best first."""
    profile: dict[str, Any] | None
    """The profile that reads the model's answers: a setting of `Guard`."""
    end_of_turn: list[str]
    """Tokens that end a turn, as the template writes them."""
    token_suffix: str | None
    """Text in the checkpoint's tags before their closing bracket: a setting of `Guard`."""
    string_arguments: bool | None
    """Whether the template expects arguments of calls as a string of JSON."""
    encode_equal: bool | None
    """Whether `encode` writes the same bytes as the template."""
    marker_tokens: dict[str, int]
    """Markup that the tokenizer writes as single tokens, and their ids: a setting of `Guard`."""
    response_template: Any
    """The checkpoint's response template, unchanged."""
    evidence: list[str]
    """The evidence for the answer, in words."""

    @property
    def family(self) -> str | None:
        """Name of the first family."""
        return self.families[0] if self.families else None


def identification(found: dict[str, Any]) -> Identification:
    """Convert the native module's answer into an identification."""
    markers = {token["text"]: token["id"] for token in found.pop("marker_tokens")}
    return Identification(marker_tokens=markers, **found)


def detection(found: tuple[Mapping[str, Any], dict[str, Any] | None]) -> Detection:
    """Convert the native module's answer into a detection."""
    answer, profile = found
    candidates = [Candidate(**candidate) for candidate in answer["candidates"]]
    return Detection(answer["certainty"], candidates, profile)
