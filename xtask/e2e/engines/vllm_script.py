"""Logits processor of vLLM: a request's `script` lists the ids of the tokens that the model writes.

After them the model ends its turn, or with `on` writes what its weights and a grammar make of it."""

import torch
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

END = 151645


class OneRequest:
    def __init__(self, script, on):
        self.script, self.on = script, on

    def __call__(self, written, logits):
        at = len(written)
        if at >= len(self.script) and self.on:
            return logits
        token = self.script[at] if at < len(self.script) else END
        only = torch.full_like(logits, -torch.inf)
        only[token] = 0.0
        return only


class Script(AdapterLogitsProcessor):
    @classmethod
    def validate_params(cls, params):
        pass

    def is_argmax_invariant(self):
        return False

    def new_req_logits_processor(self, params):
        extra = params.extra_args or {}
        if "script" not in extra:
            return None
        return OneRequest([int(it) for it in extra["script"]], bool(extra.get("on")))
