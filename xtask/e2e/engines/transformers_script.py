"""`transformers serve` with a model that writes what a file lists: FILE, then the arguments of `transformers`.

The file has a JSON object: `script`, the ids of the tokens, and `on` as in `vllm_script.py`."""

import json
import pathlib
import sys

import torch
from transformers import LogitsProcessor
from transformers.cli.transformers import main
from transformers.generation.utils import GenerationMixin

END = 151645
FILE = pathlib.Path(sys.argv.pop(1))


class Script(LogitsProcessor):
    def __init__(self):
        self.script = json.loads(FILE.read_text(encoding="utf-8"))["script"]
        self.before = None

    def __call__(self, input_ids, scores):
        if self.before is None:
            self.before = input_ids.shape[1]
        at = input_ids.shape[1] - self.before
        token = self.script[at] if at < len(self.script) else END
        only = torch.full_like(scores, -torch.inf)
        only[:, token] = 0.0
        return only


theirs = GenerationMixin._get_logits_processor


def with_script(self, *args, **named):
    found = theirs(self, *args, **named)
    found.append(Script())
    return found


GenerationMixin._get_logits_processor = with_script
sys.argv[0] = "transformers"
main()
