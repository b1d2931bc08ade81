"""Writes vectors with what the `transformers` package makes of random wires: one JSON object a line.

Usage: generate.py SEED COUNT BINARY. The result of a wire is that of the whole text with its end known: the
package's own result while it streams may depend on the pieces, but not for families that BINARY writes as
templates. Regions that raise are left out, and parsing goes on after them. Templates with patterns that the
project refuses are vectors that must be refused.
"""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

from transformers.utils.chat_parsing.response_parser import ResponseParser
from transformers.utils.chat_parsing.response_templates import load_response_template

from templates import random_template

CALL = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
WRAP = {"type": "function", "function": "{content}"}
PATHS = {"type": "function", "function": {"name": "{content.name}", "arguments": "{content.arguments}"}}
EACH = {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}

JSON_BITS = [
    '{"name": "f", "arguments": {"a": 1}}', '{"name": "set", "arguments": {"i": "7", "s": "x", "many": ["1", "b"]}}',
    '{"arguments": {"i": "3.0", "q": [1, {"z": null}]}, "name": "set", "id": "c9"}', '{"name": "f"}', '{"name": 3, "arguments": {}}',
    '{"a": "x\\u00e9\\ud83d\\ude00", "b": 1e2, "c": -0, "d": 1.50}', '{"i": "1e3", "n": "1_0", "b": "True", "o": "{\\"k\\": 1}"}',
    "[]", "{}", '{"a": {"b": {"c": [[], {}]}}}', '{"name": "g", "arguments": "{\\"x\\": 1}"}', '{"name": "g", "arguments": [1]}',
    '[{"name": "f", "arguments": {"a": "</c>"}}, {"name": "set", "arguments": {"z": "null"}}]', "true", "12", '"s"', "01", "{a:1}",
    '{"x": "line\nbreak"}', '{"k": 1,}', '{"d": 1, "d": 2}', '{"name": "f", "arguments": {}, "arguments": {"l": 2}}',
    '{"big": 123456789012345678901234567890, "e": 1E400}'[:-12] + "}", "{", '{"name": "f", "argum', " \n", '{"": ""}',
    '{"n": "٣", "b": " false ", "z": "None", "one": "0", "a": "[1]", "si": "7"}',
]
TEXT_BITS = ["Hello", " ", "\n", "\n\n", "\u00a0", "\x1c", "\u200b", "a<b", "é", "日本", "🌟", "tab\t", "</", "<", "x y", "1", "end.", "\r\n", "$", "_"]

TOOLS = [{"type": "function", "function": {"name": "set", "parameters": {"type": "object", "properties": {
    "s": {"type": "string"}, "i": {"type": "integer"}, "n": {"type": "number"}, "b": {"type": "boolean"}, "a": {"type": "array"},
    "o": {"type": "object"}, "si": {"type": ["string", "integer"]}, "z": {"type": "integer", "nullable": True},
    "one": {"oneOf": [{"type": "boolean"}, {"type": "integer"}]}, "many": {"type": "integer"}, "e": {"enum": [1]},
    "u": {"anyOf": [{"type": "null"}, {"type": "number"}]}}}}}]

ARGS = ["i=7", "s= x ", "many=1", "many=2", "b=true", "n=1e3", "n=-0", "z=None", "o={\"a\": 1}", "a=[1]", "k", "=v", "é=ü", "u=1.0"]


def tagged(opener, middle, closer):
    def one(rng):
        key, _, value = rng.choice(ARGS).partition("=")
        return opener + (key or "e") + middle + value + closer
    return one


# Name, template, pieces that wires are made of.
def shapes():
    lines = {"open": "<m>", "close": "</m>", "content": "kv-lines"}
    think = {"open": "<t>", "close": "</t>"}
    yield "plain", {"thinking": think, "tool_calls": {"open": "<c>", "close": "</c>", "repeats": True, "content": "json",
        "transform": WRAP}, "content": {"close": ["<e>", "<eos>"]}}, ["<t>", "</t>", "<c>", "</c>", "<e>", "<eos>", JSON_BITS, JSON_BITS]
    yield "eaten blanks", {"reasoning_content": {"open_pattern": r"\s*<t>\s*", "close_pattern": r"\s*</t>\s*"},
        "tool_calls": {"open_pattern": r"\s*<c>\s*<f=(?P<name>[^>\n]+)>", "close_pattern": r"</f>\s*</c>", "repeats": True,
        "content": "xml-inline", "content_args": {"tag_pattern": r"<p=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</p>",
        "value_parser": {"name": "json", "args": {"allow_non_json": True}}}, "transform": CALL}, "content": {"close_pattern": r"\s*<e>\s*"}}, [
        "<t>", "</t>", "<c>", "<f=set>", "<f=f>", "</f>", "</c>", "<e>", tagged("<p=", ">", "</p>"), tagged("<p=", ">\n", "\n</p>")]
    yield "raw parameters", {"tool_calls": {"open_pattern": r"<f=(?P<name>\w+)>", "close": "</f>", "repeats": True,
        "content": "xml-inline", "content_args": {"tag_pattern": r"<p=(?P<key>[^>]*)>(?P<value>.*?)</p>", "merge_duplicates": True},
        "transform": CALL}, "content": {}}, ["<f=set>", "</f>", tagged("<p=", ">", "</p>"), tagged("<p=", ">", "</p>")]
    yield "or the end", {"thinking": {"open": "<t>", "close_pattern": r"</t>|$"}, "tool_calls": {"open_pattern": r"<c>(?P<name>\S+)\n?",
        "close_pattern": r"\s*</c>|$", "repeats": True, "content": "xml-inline", "content_args": {"tag_pattern":
        r"<k>(?P<key>[^<]+)</k>\s*<v>(?P<value>.*?)</v>"}, "transform": CALL}, "content": {"close_pattern": r"\s*(?:<e>|$)"}}, [
        "<t>", "</t>", "<c>set", "<c>f\n", "</c>", "<e>", tagged("<k>", "</k><v>", "</v>"), tagged("<k>", "</k>\n<v>", "</v>")]
    yield "optional tail", {"tool_calls": {"open_pattern": r"(?:<cs>\s*)?<c>(?P<name>\w+)\n", "close_pattern": r"</c>(?:\s*</cs>)?",
        "repeats": True, "content": "json", "transform": CALL}, "content": {"close": "<e>"}}, [
        "<cs>", "<c>set\n", "<c>f\n", "</c>", "</cs>", "<e>", "\n", JSON_BITS, JSON_BITS]
    yield "infix", {"aside": {"open": ["<abcX>", "bc"], "close": ["</a>", "a>b"]}, "other": {"open_pattern": r"<a>.*?</b>|<c>", "close": "</"},
        "content": {}}, ["<abc", "<abcX>", "bc", "</a>", "<a>", "</b>", "<c>", "X>", "a>b"]
    yield "look ahead", {"reasoning_content": {"open_pattern": r"(?=[\s\S]*?</t>)", "close_pattern": r"</t>\s*"}, "tool_calls": {
        "open": "<c>", "close": "</c>", "repeats": True, "content": "json", "transform": WRAP}, "content": {"close_pattern": r"<e>\s*"}}, [
        "</t>", "<c>", "</c>", "<e>", JSON_BITS]
    yield "next opens", {"tool_calls": {"open_pattern": r"\[C\](?P<name>[^\[{]+)\[A\]", "close_pattern": r"(?=\[C\])|</s>", "repeats": True,
        "content": "json", "transform": CALL}, "content": {"close": "</s>"}}, ["[C]", "[A]", "[C]set[A]", "[C]f[A]", "</s>", JSON_BITS, JSON_BITS]
    yield "caret", {"thinking": {"open_pattern": r"(?:<t>\s*|^)", "close": "</t>"}, "content": {"open": "<s>\n", "close_pattern": r"\n?</s>"}}, [
        "<t>", "</t>", "<s>\n", "</s>", "\n</s>"]
    yield "caret first", {"thinking": {"open_pattern": r"(?:^|<t>\s*)", "close": "</t>"}, "content": {}}, ["<t>", "</t>"]
    yield "not followed", {"thinking": {"open_pattern": r"<t>(?!raw)", "close_pattern": r"</t>(?=\n|$)"}, "content": {"close_pattern": r"(?<!\\)<e>"}}, [
        "<t>", "raw", "ra", "</t>", "</t>\n", "<e>", "\\<e>", "\\"]
    yield "words", {"thinking": {"open_pattern": r"\bthink\b:?", "close_pattern": r"\bdone\b"}, "content": {"close_pattern": r"\Bstop\Z"}}, [
        "think", "think:", "done", "think ", " done", "stop", "_", "é"]
    yield "any case", {"thinking": {"open_pattern": r"(?i)<think>", "close_pattern": r"</(?i:THINK)>\s*"}, "content": {}}, [
        "<think>", "<THINK>", "<Think>", "</think>", "</tHINK>", "</Think>"]
    yield "counted", {"aside": {"open_pattern": r"a{2,3}b?", "close_pattern": r"(?:x|xy){1,2}?z"}, "content": {"close_pattern": r"-{3,}\n"}}, [
        "a", "aa", "aaa", "b", "x", "xy", "z", "-", "--", "---", "\n"]
    yield "lazy", {"tool_calls": {"open_pattern": r"<h>tool (?P<name>[\w-]+).*?<b>", "close": "<k>", "repeats": True, "content": "json", "transform": CALL},
        "thinking": {"open": "<h>in<b>", "close_pattern": r"<n>\s*", "repeats": True, "join": "\n"}, "content": {"open": "<h>out<b>", "close": ["<n>", "<r>"]}}, [
        "<h>tool f", "<h>tool set <x>", "<b>", "<h>in<b>", "<h>out<b>", "<n>", "<r>", "<k>", JSON_BITS]
    yield "heads", {"thinking": {"open_pattern": r"(?:<m>)?[^<]*<t>", "close": "<d>", "repeats": True, "join": "", "content_args": {"strip": False}},
        "content": {"open_pattern": r"(?:<m>)?[^<]*<x>", "close": "<d>", "repeats": True, "join": "+", "content_args": {"strip": False}},
        "tool_calls": {"open_pattern": r"(?:<m>)?[^<]*<c>", "close": "<d>", "repeats": True, "content": "json",
        "transform": {"type": "function", "function": {"name": "{content.name}", "arguments": "{content.arguments}"}}}}, [
        "<m>", "<t>", "<x>", "<c>", "<d>", "me", JSON_BITS]
    yield "each", {"tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "transform_each": True, "transform": {"type": "function",
        "function": {"name": "{name}", "arguments": "{arguments}"}}}, "content": {"open": "<s>", "close": "</s>"}}, ["<c>", "</c>", "<s>", "</s>",
        JSON_BITS, '[{"name": "set", "arguments": {"i": "1", "n": NaN}}]'.replace("NaN", "2"), '[{"name": "f", "arguments": {"x": "\\ud83d\\ude00"}}]',
        "<c>[" + JSON_BITS[0] + "," + JSON_BITS[2] + "]</c>"]
    yield "bare keys", {"tool_calls": {"open_pattern": r"<c>run:(?P<name>\w+)", "close": "<c/>", "repeats": True, "content": "json", "content_args": {
        "unquoted_keys": True, "string_delims": [["<q>", "<q>"], ["«", "»"]]}, "transform": CALL}, "content": {"close": ["<e>", "<eos>"]}}, [
        "<c>run:f", "<c>run:set", "<c/>", "{", "}", "a:1", ",", "s:<q>x\"y<q>", "k:«<q>»", "größe:[1,{b:2}]", "\"p\":\"q,r:s\"", "\x01", "<e>", "{i:<q>7<q>}", "{a:1,b:{c:<q>\n<q>}}"]
    yield "own quotes", {"tool_calls": {"open_pattern": r"<c>run:(?P<name>\w+)", "close": "<c/>", "repeats": True, "content": "json", "content_args": {
        "unquoted_keys": True, "string_delims": [["<q>", "<q>"]]}, "transform": CALL}, "content": {"close": "<e>"}}, [
        "<c>run:f{", "<c>run:set{", "}<c/>", "{", "}", "a:1", ",", "s:<q>x\"y\n<q>", "größe:[1,{b:2}]", "\"p\":\"q,r:s\"", "i:<q>7<q>", "many:[<q>1<q>]", "<q>", ", ", "<e>"]
    yield "own quotes or text", {"tool_calls": {"open_pattern": r"<c>(?P<name>\w+)", "close": "</c>", "repeats": True, "content": "json", "content_args": {
        "string_delims": [["«", "»"]], "allow_non_json": True}, "transform": CALL}, "content": {}}, [
        "<c>f{", "<c>set{", "}</c>", "</c>", "\"a\":1", ",", "\"s\":«x»", "\"i\":«7»", "x", "»", JSON_BITS]
    yield "calls in lines", {"tool_calls": {"open_pattern": r"<c (?P<name>\w+)>", "close": "</c>", "repeats": True, "content": "kv-lines",
        "transform": CALL}, "content": {}}, ["<c set>", "<c f>", "</c>", "i: 7\n", "s : x \n", "b:true", "\r\n", "k\n", ": v\n", "i: 8"]
    yield "calls in words", {"tool_calls": {"open_pattern": r"<c (?P<name>\w+)>", "close": "</c>", "repeats": True, "content": "kv-lines",
        "content_args": {"line_sep": " ; ", "kv_sep": "=>", "strip": False, "value_parser": {"name": "json"}}, "transform": CALL}, "content": {}}, [
        "<c set>", "<c f>", "</c>", "i=>\"7\"", " ; ", " ;", "; ", "n=>1", "a=>[1]", "x", "=>", "b=>tru"]
    yield "calls in pairs", {"tool_calls": {"open_pattern": r"<c (?P<name>\w+)>", "close": "</c>", "repeats": True, "content": "kv-lines",
        "content_args": {"line_sep": ",", "kv_sep": " = ", "value_parser": {"name": "json", "args": {"allow_non_json": True}}}, "transform": CALL}, "content": {}}, [
        "<c set>", "<c f>", "</c>", "i = 7", ",", " ", "=", " = ", "s = x y", "o = {\"a\"", "a = [1 ", "b = true", "\n"]
    yield "values without an end", {"tool_calls": {"open_pattern": r"<c (?P<name>\w+)>", "close": "</c>", "repeats": True, "content": "xml-inline",
        "content_args": {"tag_pattern": r"@(?P<key>\w+)\s*(?P<value>[^@]*)(?:@@)?"}, "transform": CALL}, "content": {}}, [
        "<c set>", "<c f>", "</c>", "@i 7", "@", "@@", "@s x ", " ", "\n", "@b", "text"]
    yield "names again", {"tool_calls": {"open_pattern": r"<c n=([\"'])(?P<name>\w+)\1>|<c=(?P<x>\w)(\w)\4>", "close": "</c>",
        "repeats": True, "content": "xml-inline", "content_args": {"tag_pattern": r"<(?P<key>\w+)(?: (\w+)=\2)*>(?P<value>.*?)</(?P=key)>"},
        "transform": {"type": "function", "function": {"name": "set", "arguments": "{content}"}}}, "content": {"close_pattern": r"(\*+)end\1"}}, [
        "<c n=\"set\">", "<c n='f'>", "<c n='f\">", "<c=abb>", "<c=abc>", "</c>", "<i>", "</i>", "7", "<many>", "</many>", "<s a=a b=b>", "</s>",
        "<s a=b>", "<x>y</x>", "*end*", "**end**", "*", "**end*"]
    yield "scalars", {"n": {"open": "<n>", "close": "</n>", "content": "int"}, "r": {"open": "<r>", "close": "</r>", "content": "float", "repeats": True},
        "b": {"open": "<b>", "close": "</b>", "content": "bool", "content_args": {"strip": False}}, "m": {**lines, "content_args": {"kv_sep": "="}},
        "w": {"open": "<w>", "close": "</w>", "content": "kv-lines", "content_args": {"line_sep": ";", "strip": False, "value_parser": {"name": "int"}}},
        "d": {"open": "<d>", "close": "</d>", "content": "json", "content_args": {"allow_non_json": True}}, "content": {"optional": False}}, [
        "<n>", "</n>", "<r>", "</r>", "<b>", "</b>", "<m>", "</m>", "<w>", "</w>", "<d>", "</d>", JSON_BITS, "k=v\n", "a:1;", "b: 2", "true", "1_0", "+7", "1.5e3", "٣", "=\n", "inf"[:2]]
    yield "flags", {"o": {"open": "<o>", "close": "</o>", "content": "xml-inline", "content_args": {"tag_pattern": r"--(?P<key>[\w-]+)(?:=(?P<value>\S+))?"}},
        "p": {"open": "<p>", "close": "</p>", "content": "xml-inline", "repeats": True, "content_args": {"tag_pattern": r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>",
        "value_parser": {"name": "xml-inline", "args": {"tag_pattern": r"(?P<key>\w)(?P<value>\d)?"}}}}, "content": {}}, [
        "<o>", "</o>", "<p>", "</p>", "--a", "--b=1", "--é=ü ", "<k>", "</k>", "<kk>", "</kk>", "a1", "b"]
    yield "empty closers", {"a": {"open": "<a>", "close_pattern": r"(?=<)|\n*"}, "content": {"close_pattern": r"(?=<z>)", "repeats": True}}, ["<a>", "<z>", "<", "b"]
    yield "ties", {"bb": {"open": "<x>", "close": ["E", "ENDING"]}, "aa": {"open_pattern": r"<x>", "close": "END"}, "cc": {"open": ["<x>y", "<z>"], "close": "END"},
        "content": {"close": "<x>", "repeats": True, "join": "|"}}, ["<x>", "<x>y", "<z>", "E", "END", "ENDING", "y"]
    yield "closing group", {"tool_calls": {"open": "<c>", "close_pattern": r"</c (?P<name>\w+)>", "content": "json", "repeats": True, "transform": CALL}, "content": {}}, [
        "<c>", "</c f>", "</c set>", JSON_BITS]
    yield "lines", {"x": {"open_pattern": r"(?m)^> ", "close_pattern": r"(?m)$"}, "y": {"open_pattern": r"(?<=: )\[", "close": "]"}, "content": {}}, ["> ", "\n", ": ", "[", "]", ":"]
    yield "nested groups", {"x": {"open_pattern": r"<(?P<a>\w+)(?: (?P<b>\w+))*(?P<c>/)?>", "close": "</>", "repeats": True, "transform": ["{a}", "{content}", {"k": "{a}"}]},
        "y": {"open_pattern": r"\[(?P<a>\w*)(?:=(?P<b>\w+))?\]", "close": "[/]", "repeats": True, "transform": {"b": "{b}", "t": "{content}", "l": "{}", "m": "{ a }"}}, "content": {}}, [
        "<a", "<a b c>", "<ab/>", " x", ">", "</>", "[", "[k]", "[k=v]", "[/]"]
    yield "scripts", {"x": {"open_pattern": r"\d+\.", "close_pattern": r"[;.\]]+"}, "y": {"open_pattern": r"[^\W\d_]{3}!", "close_pattern": r"\s{2,}"}, "content": {}}, [
        "1", "2.", "٣.", ";", "]", "abc!", "né!", "日本語!", "  ", "\u2003 ", "_"]
    yield "to the end", {"thinking": think, "content": {"open": "<rest>"}}, ["<t>", "</t>", "<rest>"]
    yield "one shot", {"content": {"close_pattern": r"\Z|<e>"}, "q": {"open_pattern": r"\A<q>|<qq>$", "close_pattern": r"</q>\n*$|</q>!"}}, ["<e>", "<q>", "<qq>", "</q>", "</q>!", "\n"]
    yield "call lists", {"tool_calls": {"open": "<c>", "close": "</c>", "content": "python-call-list", "repeats": True, "transform_each": True,
        "transform": EACH}, "content": {}}, ["<c>[", "]</c>", "<c>", "</c>", "f()", "set(", ")", ", ", "i=7", "s='x'", "many=[1, 2]", "a={'k': None}", "n=1.5e3",
        "<c>[set(i='7', s=\"x\\n\")]</c>", "<c>[f(a=-0, b=0.5), set(many=1, z=null)]</c>", "<c>[ f ( ) ]</c>", "<c>[set(o={'k': [True]})]</c>", "[f()]"]
    yield "groups of both", {"tool_calls": {"open_pattern": r"<c (?P<name>\w+)>", "close_pattern": r"</c(?: (?P<name>\w+))?>", "content": "json",
        "repeats": True, "transform": CALL}, "content": {}}, ["<c f>", "<c set>", "</c>", "</c g>", JSON_BITS, JSON_BITS]
    yield "merged lists", {"tool_calls": {"open_pattern": r"<f=(?P<name>\w+)>", "close": "</f>", "repeats": True, "content": "xml-inline", "content_args": {
        "tag_pattern": r"<p=(?P<key>[^>]*)>(?P<value>.*?)</p>", "merge_duplicates": True, "value_parser": {"name": "json", "args": {"allow_non_json": True}}},
        "transform": CALL}, "content": {}}, ["<f=set>", "</f>", "<p=a>[1]</p>", "<p=a>2</p>", "<p=many>[]</p>", "<p=many>3</p>", tagged("<p=", ">", "</p>")]


# Features of patterns that the project refuses: back-references, look-behinds, negative look-aheads.
REFUSED = re.compile(r"\\[1-9]|\(\?P=|\(\?<[=!]|\(\?!")


def is_refused(fields):
    """Whether a pattern has a feature that the project refuses."""
    if isinstance(fields, dict):
        return any(is_refused(value) for value in fields.values())
    return isinstance(fields, str) and REFUSED.search(fields) is not None


class Lenient(ResponseParser):
    """Leaves out regions that raise, and remembers all."""

    regions = None

    def _close_current(self, events):
        if self.regions is None:
            self.regions = []
        field, raw, opened = self._current, self._body, self._opened
        try:
            before = len(events)
            super()._close_current(events)
        except Exception as error:
            if len(events) > before:
                del events[before:]
            self._reset_to_implicit()
            self.regions.append({"field": field, "raw": raw, "malformed": True})
            return
        if field is not None and opened:
            self.regions.append({"field": field, "raw": raw, "value": events[-1]["value"]})


def one_shot(template, prefix, wire, tools):
    parser = Lenient(template, prefix="", tools=tools)
    parser._buffer = (template.truncate_past_last_anchor(prefix) if prefix else "") + wire
    message, _ = parser.finalize()
    return message, parser.regions or []


def text_of(value):
    if isinstance(value, str):
        return value
    return "".join(v for v in value if isinstance(v, str)) if isinstance(value, list) else ""


def calls_of(value, out):
    if isinstance(value, list):
        for item in value:
            calls_of(item, out)
    elif isinstance(value, dict):
        function = value.get("function", value)
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            out.append({"name": function["name"], "arguments": function.get("arguments")})
    return out


def wire_of(rng, pieces):
    def piece():
        one = rng.choice(pieces) if rng.random() < 0.72 else rng.choice(TEXT_BITS)
        if isinstance(one, list):
            one = rng.choice(one)
        text = one(rng) if callable(one) else one
        return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.06 else text
    return "".join(piece() for _ in range(rng.randrange(1, 14)))


def streamed(template, wire, tools, rng):
    parser = Lenient(template, prefix="", tools=tools)
    while wire:
        length = rng.randrange(1, 9)
        parser.feed(wire[:length])
        wire = wire[length:]
    message, _ = parser.finalize()
    return message, parser.regions or []


def exported(binary):
    """Families as templates, and what their vectors write."""
    for path in sorted(file for kind in ("tools", "profiles") for file in Path("families/vectors", kind).glob("*.jsonl")):
        made = subprocess.run([binary, "families", "--export", path.stem, "--anchor", "A:"], capture_output=True)
        if made.returncode == 0:
            fields = json.loads(made.stdout)["response_template"]["fields"]
            yield path.stem, fields, [json.loads(line)["wire"] for line in path.read_text().splitlines()]


def main():
    rng = random.Random(int(sys.argv[1]))
    count = int(sys.argv[2])
    known = list(shapes())
    families = list(exported(sys.argv[3]))
    written = 0
    while written < count:
        name, fields, pieces = rng.choice(known)
        if rng.random() < 0.5:
            name, (fields, pieces) = "random", random_template(rng, [CALL, WRAP, PATHS, EACH], JSON_BITS)
        anchor = rng.choice([{"start_anchor": "A:"}, {"start_anchor": ["A:", "AA:"]}, {"start_anchor_pattern": r"A+:\s*"}])
        spec = {**anchor, "fields": fields}
        if rng.random() < 0.4:
            spec["defaults"] = {"role": "assistant", **{name: ["d"] for name, one in fields.items() if one.get("repeats") and "join" not in one}}
        wire, safe = wire_of(rng, pieces), False
        if rng.random() < 0.2:
            (name, spec["fields"], wires), safe = rng.choice(families), True
            wire = "".join(rng.choice(wires)[: rng.choice([9999, 9999, rng.randrange(200)])] for _ in range(rng.randrange(1, 3)))
            spec.pop("defaults", None)
        earlier = wire_of(rng, pieces) if rng.random() < 0.5 else ""
        prefix = earlier + "A:" + wire_of(rng, pieces)[: rng.randrange(40)] if rng.random() < 0.3 else ""
        tools = TOOLS if rng.random() < 0.35 else None
        if is_refused(spec["fields"]):
            print(json.dumps({"id": f"{name}/{written}", "template": spec, "wire": wire, "fails": "load"}, ensure_ascii=False))
            written += 1
            continue
        try:
            message, regions = one_shot(load_response_template(spec), prefix, wire, tools)
            if safe and not prefix and (message, regions) != streamed(load_response_template(spec), wire, tools, rng):
                sys.exit(f"{name} depends on the pieces: {wire!r}")
            expect = {"message": message, "content": text_of(message.get("content")), "reasoning":
                text_of(message.get("reasoning_content", message.get("thinking"))), "calls": calls_of(message.get("tool_calls", []), []), "regions": regions}
        except ValueError as error:
            expect = {"error": {"type": "ValueError", "kind": str(error)}}
        case = {"id": f"{name}/{written}", "template": spec, "wire": wire, "expect": expect}
        if prefix:
            case["prefix"] = prefix
        if tools:
            case["tools"] = tools
        try:
            line = json.dumps(case, ensure_ascii=False, allow_nan=False)
            line.encode()  # halves of pairs of surrogates are replaced here
        except ValueError:
            continue
        print(line)
        written += 1


main()
