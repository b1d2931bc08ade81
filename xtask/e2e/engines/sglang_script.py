"""Logits processor of SGLang, printed as a request carries it.

`custom_params` of a request has `script` and `on` as in `vllm_script.py`. The server calls the class once for all
requests of a step, and the ids that it has noted for a request may be one step old: steps are counted here."""

import json

import dill


class Script:
    def __call__(self, logits, custom_param_list=None):
        import torch

        for row, params in enumerate(custom_param_list or []):
            request = params["__req__"]
            at = getattr(request, "steps_of_script", 0)
            request.steps_of_script = at + 1
            script = params["script"]
            if at >= len(script) and params.get("on"):
                continue
            token = script[at] if at < len(script) else 151645
            only = torch.full_like(logits[row], -torch.inf)
            only[token] = 0.0
            logits[row] = only
        return logits


print(json.dumps({"callable": dill.dumps(Script, byref=False, recurse=True).hex()}))
