"""Grammars of all families under the packages that engines use: FILE COUNT OUT.

FILE has a JSON object a line: a family with its grammars, and texts that these admit and refuse.
llguidance and XGrammar must take the grammars and agree about the texts. COUNT random texts that
llguidance makes of each grammar are written to OUT, for the parser."""

import importlib.util
import json
import random
import re
import sys
import types

import llguidance

END = 256
# Characters that end values; taken often, so that texts end.
CLOSERS = frozenset(b"\"'}])>\n,`")
# The longest expression that the engine is given.
LONGEST = 20_000


def xgrammar():
    """Imports XGrammar. Two packages of gigabytes that it names in signatures only may be missing."""
    import tvm_ffi  # noqa: F401, it looks for the real package

    class Anything(type):
        def __getattr__(cls, _):
            return cls

    class Stub(metaclass=Anything):
        def __init__(self, *_, **__):
            pass

    for name in ("torch", "transformers"):
        if importlib.util.find_spec(name) is None:
            module = types.ModuleType(name)
            module.__getattr__ = lambda _: Stub
            sys.modules[name] = module
    import xgrammar

    return xgrammar


class Bytes:
    """A tokenizer of bytes and special tokens."""

    def __init__(self, special=()):
        self.eos_token_id, self.bos_token_id = END, None
        special = [token.encode() for token in special]
        self.tokens = [bytes([byte]) for byte in range(END)] + [b"</s>", *special]
        self.special_token_ids = list(range(END, len(self.tokens)))

    def __call__(self, text):
        return list(text.encode() if isinstance(text, str) else text)


def tokenizer(special=()):
    return llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes(special)))


PLAIN = tokenizer()


def matcher(grammar, tokens=PLAIN):
    made = llguidance.LLMatcher(tokens, grammar, log_level=0)
    if made.is_error():
        raise ValueError(made.get_error())
    return made


def admits(made, tokens):
    made.reset()
    return made.validate_tokens(tokens) == len(tokens) and (not tokens or made.consume_tokens(tokens)) and made.is_accepting()


def special_tokens(text, special):
    """The tokens of a text: special ones, and bytes."""
    longest = sorted(special, key=len, reverse=True)
    parts = re.split("(" + "|".join(map(re.escape, longest)) + ")", text)
    tokens = []
    for part in parts:
        tokens += [END + 1 + special.index(part)] if part in special else part.encode()
    return tokens


def set_bits(mask):
    return [at * 8 + bit for at, byte in enumerate(mask) if byte for bit in range(8) if byte >> bit & 1]


def walked(made, chance, models):
    """A random text of a grammar; nothing if it grows too long. Pieces of model texts bring the tags
    that single characters would hardly ever spell."""
    made.reset()
    text = bytearray()

    def take(tokens):
        made.consume_tokens(tokens)
        text.extend(tokens)

    for step in range(4000):
        only = [token for token in made.compute_ff_tokens() if token < END]
        if only:
            take(only)
        if made.is_stopped() or made.is_accepting() and chance.random() < 0.6:
            return bytes(text)
        if chance.random() < 0.25:
            model = chance.choice(models)
            at = chance.randrange(len(model))
            piece = list(model[at : at + chance.randrange(8, 60)])
            fitting = made.validate_tokens(piece)
            if fitting > 0:
                take(piece[:fitting])
                continue
        ways = [token for token in set_bits(made.compute_bitmask()) if token < END]
        if not ways:
            return bytes(text) if made.is_accepting() else None
        closers = [token for token in ways if token in CLOSERS]
        plain = [token for token in ways if 32 <= token < 127]
        if closers and chance.random() < (0.4 if step < 300 else 0.9):
            ways = closers
        elif plain and chance.random() < 0.9:
            ways = plain
        take([chance.choice(ways)])
    return None


def engines_agree(line, xgr, compiler):
    """Why an engine does not agree about the texts of a family; nothing if both do."""
    good, bad = line["admitted"] + line["encoded"], line["refused"]
    special, lark = line["special"], llguidance.LLMatcher.grammar_from_lark
    grammars = {"Lark": matcher(lark(line["lark"]))}
    if special:
        # Values of the encoder's texts are without tokens.
        made = matcher(lark(line["lark_special"]), tokenizer(special))
        for text in line["encoded"]:
            if not admits(made, special_tokens(text, special)):
                return f"Lark with tokens does not admit {text!r}"
    if line["regex"] and len(line["regex"]) <= LONGEST:
        grammars["expression"] = matcher(llguidance.LLMatcher.grammar_from_regex(line["regex"]))
    for name, made in grammars.items():
        for wanted, texts in ((True, good), (False, bad)):
            for text in texts:
                if admits(made, list(text.encode())) != wanted:
                    return f"{name}, admitted should be {wanted}: {text!r}"
    tag = json.dumps(line["structural_tag"])
    for name, grammar in (("GBNF", xgr.Grammar.from_ebnf(line["gbnf"])), ("structural tag", xgr.Grammar.from_structural_tag(tag))):
        compiled = compiler.compile_grammar(grammar)
        for wanted, texts in ((True, good), (False, bad)):
            for text in texts:
                made = xgr.GrammarMatcher(compiled)
                if (made.accept_string(text) and made.accept_token(END)) != wanted:
                    return f"{name}, admitted should be {wanted}: {text!r}"
    return None


def main():
    lines = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    count = int(sys.argv[2])
    xgr = xgrammar()
    vocabulary = Bytes().tokens
    info = xgr.TokenizerInfo(vocabulary, xgr.VocabType.RAW, vocab_size=len(vocabulary), stop_token_ids=[END])
    compiler = xgr.GrammarCompiler(info, max_threads=1)
    faults, texts, given_up = [], 0, 0
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        for line in lines:
            family = line["family"]
            if "error" in line:
                print(f"{family}: not exported: {line['error']}")
                continue
            try:
                fault = engines_agree(line, xgr, compiler)
                made = matcher(llguidance.LLMatcher.grammar_from_lark(line["lark"]))
            except (RuntimeError, ValueError) as error:
                fault, made = f"refused: {error}", None
            if fault:
                faults.append(f"{family}: {fault}")
            if made is None:
                continue
            models = [text.encode() for text in line["admitted"]]
            chance, written = random.Random(family), 0
            while written < count and given_up < count:
                text = walked(made, chance, models)
                if text is None:
                    given_up += 1
                    continue
                out.write(json.dumps({"family": family, "text": text.decode()}) + "\n")
                written += 1
            texts += written
    agreed = sum("gbnf" in line for line in lines) - len(faults)
    print(f"{agreed} families: llguidance and XGrammar take the grammars and agree about the texts")
    print(f"{texts} random texts; {given_up} grew too long")
    if faults or given_up >= count:
        sys.exit("\n".join(faults) or "too many texts grew too long")


main()
