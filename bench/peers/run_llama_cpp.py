"""llama.cpp as a peer, by the plain calls of llama-cpp-python: no sampler chain and no list handling weighs on it.

    run_llama_cpp.py FILE.gguf THREADS CONTEXT_TOKENS STREAMS

A step is llama_decode and an argmax over the logits. KV is float16, llama.cpp's default.
"""
import ctypes
import sys
import time

import llama_cpp as L
import numpy as np

from protocol import serve

CHUNK_TOKENS = 512

path, threads, context_tokens, streams_max = sys.argv[1], *map(int, sys.argv[2:5])
# The callback must live as long as the library may log.
quiet = L.llama_log_callback(lambda level, text, data: None)
L.llama_log_set(quiet, None)
L.llama_backend_init()
model = L.llama_model_load_from_file(path.encode(), L.llama_model_default_params())
params = L.llama_context_default_params()
params.n_ctx, params.n_batch, params.n_ubatch = context_tokens, CHUNK_TOKENS, CHUNK_TOKENS
params.n_threads = params.n_threads_batch = threads
params.n_seq_max, params.kv_unified = streams_max, True
context = L.llama_init_from_model(model, params)
if not model or not context:
    sys.exit(f"llama.cpp can't open {path}")
memory = L.llama_get_memory(context)
vocabulary_size = L.llama_vocab_n_tokens(L.llama_model_get_vocab(model))
batch = L.llama_batch_init(CHUNK_TOKENS, 0, 1)


def run(rows):
    """One step. rows: (token, position, stream, whether its logits are wanted). Returns the drawn tokens, in order."""
    batch.n_tokens = len(rows)
    for i, (token, position, stream, wanted) in enumerate(rows):
        batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, position, 1, wanted
        batch.seq_id[i][0] = stream
    if L.llama_decode(context, batch) != 0:
        raise RuntimeError("llama_decode failed")
    return [draw(i) for i, row in enumerate(rows) if row[3]]


def draw(row):
    logits = ctypes.cast(L.llama_get_logits_ith(context, row), ctypes.POINTER(ctypes.c_float))
    return int(np.ctypeslib.as_array(logits, (vocabulary_size,)).argmax())


def prefill(prompt, stream):
    """Returns the first drawn token."""
    for begin in range(0, len(prompt), CHUNK_TOKENS):
        part = prompt[begin:begin + CHUNK_TOKENS]
        last = len(prompt) - 1
        drawn = run([(token, begin + i, stream, begin + i == last) for i, token in enumerate(part)])
    return drawn[0]


def generate(question):
    prompts, count = question["prompt"], question["tokens"]
    L.llama_memory_clear(memory, False)
    start = time.perf_counter()
    tokens = [prefill(prompt, stream) for stream, prompt in enumerate(prompts)]
    first = time.perf_counter()
    for i in range(count - 1):
        tokens = run([(token, len(prompts[s]) + i, s, True) for s, token in enumerate(tokens)])
    return {"prefill_ms": (first - start) * 1e3, "decode_ms": (time.perf_counter() - first) * 1e3,
            "decode_tokens": (count - 1) * len(prompts)}


def rows(question):
    times = []
    for _ in range(question["times"]):
        L.llama_memory_clear(memory, False)
        start = time.perf_counter()
        prefill(question["prompt"], 0)
        times.append((time.perf_counter() - start) * 1e3)
    return {"step_ms": times}


serve({"generate": generate, "rows": rows})
