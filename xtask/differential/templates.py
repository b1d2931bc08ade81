"""Random templates: boundaries of the safe set, every way to read content, transforms and ways to combine."""

import re

MARKS = ["<a>", "</a>", "<b>", "<bb>", "</b>", "[x]", "[/x]", "||", "<a", "END", "ENDING", "~~", "{{", "\n--\n", "日", "<|c|>", "c|>"]
NAMES = ["f", "set", "f-1", "größe"]
TAGS = [(r"<(?P<key>\w+)>(?P<value>.*?)</>", "<{}>{}</>"), (r"@(?P<key>[^=\s]+)=\s*(?P<value>[^@]*)", "@{}= {}"),
    (r"-(?P<key>\w)(?::(?P<value>\S+))?", "-{}:{}"), (r"k:(?P<key>\w+)\s*v:(?P<value>.*?)\s*;", "k:{} v:{} ;")]
LOOSE = {"name": "json", "args": {"allow_non_json": True}}
VALUES = [None, None, {"name": "text"}, {"name": "text", "args": {"strip": False}}, {"name": "int"}, {"name": "json"}, {"name": "bool"},
    LOOSE, {"name": "json", "args": {"allow_non_json": True, "strip": False}}, {"name": "float"}]
DIALECTS = [{"unquoted_keys": True}, {"string_delims": [["«", "»"]]}, {"unquoted_keys": True, "string_delims": [["<q>", "<q>"]]},
    {"unquoted_keys": True, "string_delims": [["<q>", "</q>"], ["'", "'"]]}, {"string_delims": [["'", "'"], ["''", "''"]]}]
SHOWN = ["{a:1,b:<q>x<q>}", "{a:«y»}", "{\"a\":'z'}", "{s:<q>", "<q>", "</q>", "'", "{i:\"7\"}", "«", "»", "{\"i\":''7''}"]


def boundary(rng, marks, side):
    """A key and its value, and text that matches."""
    one, two = rng.choice(marks), rng.choice(marks)
    this, that, name = re.escape(one), re.escape(two), rng.choice(NAMES)
    ways = [(this + r"\s*", one + " "), (r"\s*" + this, " " + one), (rf"\s*{this}\s*", one), (r"\n?" + this, one), (f"{this}.*?{that}", one + "x" + two),
        (f"(?:{this}|{that})", two), (rf"{this}\s*{that}", one + "\n" + two), (rf"{this}(?={that}|\d)", one)]
    way = rng.random()
    if way < 0.45:
        return (side, one, one) if way < 0.3 else (side, [one, two], two)
    if way < 0.7:
        if side == "open":
            return "open_pattern", rf"{this}\s*(?P<name>[\w-]+){that}", one + name + two
        if way < 0.55:
            return "close_pattern", f"(?={this})", one
    pattern, text = rng.choice(ways)
    return side + "_pattern", pattern, text


def content(rng, bits):
    """How a field is read, and such texts."""
    strip = {} if rng.random() < 0.7 else {"strip": False}
    kind = rng.choice(["text", "text", "int", "float", "bool", "json", "json", "json", "xml-inline", "xml-inline", "kv-lines"])
    if kind == "json":
        args = rng.choice([{}, {}, {"allow_non_json": True, **strip}] + DIALECTS)
        return kind, args, bits if len(args) < 1 else bits + SHOWN
    if kind == "xml-inline":
        pattern, shown = rng.choice(TAGS)
        args = {"tag_pattern": pattern, **({"merge_duplicates": True} if rng.random() < 0.3 else {})}
        texts = [shown.format(key, value) for key, value in [("i", "7"), ("s", " x "), ("many", "1"), ("many", "b"), ("e", ""), ("o", '{"a": 1}')]]
    elif kind == "kv-lines":
        args, texts = rng.choice([({}, ["i: 7\n", "s:\n", " : x", "n\n"]), ({"line_sep": ";", "kv_sep": "=", **strip}, ["i=7;", "s= x ;", "=", ";", "b=true"])])
    else:
        return kind, strip, ["1", " 2 ", "1.5", "true", "_", "\n", "text"]
    value = rng.choice(VALUES)
    return kind, args if value is None else {**args, "value_parser": value}, texts + [a + b for a in texts for b in texts]


def field(rng, name, marks, calls, bits):
    """A field, and a text that it reads."""
    kind, args, texts = content(rng, bits)
    key, value, opener = boundary(rng, marks, "open")
    all = {key: value, "content": kind, "content_args": args}
    named, closer = "?P<" in str(value), ""
    if rng.random() < 0.9:
        key, value, closer = boundary(rng, marks, "close")
        all[key] = value
    if rng.random() < 0.5:
        all["repeats"] = True
    if named:
        all["transform"] = calls[0] if name == "tool_calls" else rng.choice([{"n": "{name}", "c": "{content}"}, ["{name}"], "{content}"])
    elif name == "tool_calls" and kind == "json":
        all["transform"] = rng.choice(calls[1:])
        if "{name}" in repr(all["transform"]):
            all["transform_each"] = True
    elif rng.random() < 0.1:
        all["transform"] = {"v": "{content}"}
    elif kind == "text" and all.get("repeats") and rng.random() < 0.5:
        all["join"] = rng.choice(["", "\n", "+"])
    return all, lambda rng: opener + rng.choice(texts) + closer


def random_template(rng, calls, bits):
    """A template, and pieces that wires for it are made of."""
    marks = rng.sample(MARKS, rng.randrange(3, 8))
    fields, pieces = {}, marks + [bits]
    for name in rng.sample(["thinking", "reasoning_content", "tool_calls", "tool_calls", "note"], rng.randrange(1, 4)):
        fields[name], text = field(rng, name, marks, calls, bits)
        pieces += [text] * len(marks)
    if rng.random() < 0.8:
        fields["content"] = {} if rng.random() < 0.5 else dict([boundary(rng, marks, "close")[:2]])
    return fields, pieces
