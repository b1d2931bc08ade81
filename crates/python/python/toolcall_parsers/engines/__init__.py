"""Plug-ins for inference engines: `vllm` and `sglang`.

The entry points of the package register them: `guard` finds the family by the model, and
`guard_qwen3` reads the family `qwen3`.
"""
