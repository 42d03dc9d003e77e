"""mlx-lm as a peer: the model folder of ours, its own generator for one stream, its model and cache for the rest.

    run_mlx_lm.py FOLDER checkpoint|float32

The second argument is the dtype of scales, norms and activations: as stored, or widened once after loading. On a CPU,
MLX's quantized product is many times faster in float32 than in float16 or bfloat16.
"""
import sys
import time

import mlx.core as mx
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model
from pathlib import Path

from protocol import serve

CHUNK_TOKENS = 512

model, _ = load_model(Path(sys.argv[1]))
if sys.argv[2] == "float32":
    model.set_dtype(mx.float32)
mx.eval(model.parameters())


def generate(question):
    prompts, count = question["prompt"], question["tokens"]
    return one_stream(prompts[0], count) if len(prompts) == 1 else streams(prompts, count)


def one_stream(prompt, count):
    start = time.perf_counter()
    times = []
    for _ in generate_step(mx.array(prompt), model, max_tokens=count, prefill_step_size=CHUNK_TOKENS):
        times.append(time.perf_counter())
    return {"prefill_ms": (times[0] - start) * 1e3, "decode_ms": (times[-1] - times[0]) * 1e3,
            "decode_tokens": len(times) - 1}


def streams(prompts, count):
    """Prompts of one length, all streams in each step."""
    cache = make_prompt_cache(model)
    start = time.perf_counter()
    token = step(mx.array(prompts), cache)
    first = time.perf_counter()
    for _ in range(count - 1):
        token = step(token[:, None], cache)
    return {"prefill_ms": (first - start) * 1e3, "decode_ms": (time.perf_counter() - first) * 1e3,
            "decode_tokens": (count - 1) * len(prompts)}


def step(tokens, cache):
    drawn = mx.argmax(model(tokens, cache=cache)[:, -1, :], axis=-1)
    mx.eval(drawn)
    return drawn


def rows(question):
    times = []
    for _ in range(question["times"]):
        cache = make_prompt_cache(model)
        start = time.perf_counter()
        hidden = model.model(mx.array([question["prompt"]]), cache=cache)[:, -1:, :]
        head = model.model.embed_tokens.as_linear if model.args.tie_word_embeddings else model.lm_head
        mx.eval(mx.argmax(head(hidden), axis=-1))
        times.append((time.perf_counter() - start) * 1e3)
    return {"step_ms": times}


serve({"generate": generate, "rows": rows})
