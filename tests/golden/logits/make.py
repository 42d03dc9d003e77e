"""Makes tiny random checkpoints and, with mlx-lm, the logits and greedy tokens that the core must reproduce.

Usage: make.py REPOSITORY [SMOLLM2_DIRECTORY]. Writes tests/golden/checkpoints/<model>/ and tests/golden/logits/*; with
the second argument also the goldens of the real model. `deno task golden:logits` runs it in an environment of its own
with the versions named in the README beside this file. Everything is computed in float32 on the CPU.
"""

import json
import shutil
import struct
import sys
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx.utils import tree_flatten, tree_map
from mlx_lm.models import llama, qwen3
from mlx_lm.models.cache import make_prompt_cache
from mlx_lm.utils import load_model

SEED = 20260831
PROMPT_LENGTHS = [2, 3, 17, 64, 129, 256, 511, 900]
STEPS = 64
VOCABULARY = 128

BASE = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "torch_dtype": "float32",
}

FAMILIES = {
    "llama": BASE | {"model_type": "llama", "intermediate_size": 128, "tie_word_embeddings": True},
    "mistral": BASE | {"model_type": "mistral", "tie_word_embeddings": False, "sliding_window": None, "head_dim": 16},
    "qwen3": BASE | {
        "model_type": "qwen3",
        "tie_word_embeddings": False,
        "head_dim": 32,
        "rope_theta": 1000000.0,
        "rms_norm_eps": 1e-6,
        "attention_bias": False,
        "use_sliding_window": False,
        "sliding_window": None,
    },
}

# Same weights, another config.json: members to add or replace.
CONFIGS = {
    "llama-plain": {
        "rope-linear": {"rope_scaling": {"type": "linear", "factor": 4.0}},
        "rope-llama3": {
            "rope_scaling": {
                "rope_type": "llama3",
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    },
    "qwen3-plain": {
        "rope-yarn": {
            "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}
        },
    },
    "mistral-plain": {"rope-traditional": {"rope_traditional": True}},
}


def mixed(path, module):
    """Per-module settings: every bit width that the other variants lack, one dense module, two group sizes."""
    if path.endswith("layers.0.mlp.down_proj"):
        return False
    for part, bits, group in [
        ("q_proj", 3, 64),
        ("k_proj", 5, 32),
        ("v_proj", 6, 64),
        ("o_proj", 2, 32),
        ("layers.1.mlp.down_proj", 6, 64),
        ("embed_tokens", 8, 32),
        ("lm_head", 6, 32),
    ]:
        if part in path:
            if part == "layers.1.mlp.down_proj" and module.weight.shape[-1] == 128:
                return {"group_size": 128, "bits": 4}
            return {"group_size": group, "bits": bits}
    return True


VARIANTS = {
    "plain": None,
    "4bit-g32": (4, 32, None),
    "4bit-g64": (4, 64, None),
    "8bit-g64": (8, 64, None),
    "mixed": (4, 64, mixed),
}
# Of one family each.
MODES = {
    "llama-mxfp4": (4, 32, None, "mxfp4"),
    "qwen3-mxfp8": (8, 32, None, "mxfp8"),
}


def build(config):
    """The mlx-lm graph of a config, without weights of its own."""
    module = qwen3 if config["model_type"] == "qwen3" else llama
    return module.Model(module.ModelArgs.from_dict(config))


def fill(model, seed):
    """Seeded normal weights, scaled so that logits spread over a few units; norms near one."""
    random = np.random.default_rng(seed)

    def draw(path, value):
        noise = random.standard_normal(value.shape).astype(np.float32)
        if "norm" in path:
            return mx.array(1 + 0.1 * noise)
        if "embed_tokens" in path:
            return mx.array(0.5 * noise)
        return mx.array(2.5 * noise / np.sqrt(value.shape[-1], dtype=np.float32))

    model.load_weights([(path, draw(path, value)) for path, value in tree_flatten(model.parameters())])


def quantize(model, config, variant):
    """Quantizes in place and notes it in the config as mlx-lm's converter does."""
    if variant is None:
        return config
    bits, group, predicate, *modes = variant
    mode = modes[0] if modes else "affine"
    settings = {"group_size": group, "bits": bits} | ({"mode": mode} if modes else {})

    def decide(path, module):
        if not hasattr(module, "to_quantized"):
            return False
        decided = predicate(path, module) if predicate else True
        if decided is not True:
            settings[path] = decided
        return decided

    nn.quantize(model, group_size=group, bits=bits, mode=mode, class_predicate=decide)
    return config | {"quantization": settings, "quantization_config": settings}


def greedy(model, ids, steps):
    """Last-row logits of the prompt, then greedy tokens and the gap between the best two logits at each step."""
    cache = make_prompt_cache(model)
    row = model(mx.array([ids]), cache=cache)[0, -1]
    mx.eval(row)
    first = np.array(row, dtype=np.float32)
    tokens, gaps = [], []
    for _ in range(steps):
        values = np.array(row, dtype=np.float32)
        best = int(values.argmax())
        second = np.partition(values, -2)[-2]
        tokens.append(best)
        gaps.append(round(float(values[best] - second), 6))
        row = model(mx.array([[best]]), cache=cache)[0, -1]
        mx.eval(row)
    return first, tokens, gaps


def expectations(model, prompts):
    results = []
    for ids in prompts:
        logits, tokens, gaps = greedy(model, ids, STEPS)
        results.append({"logits": [float(f"{value:.6g}") for value in logits], "tokens": tokens, "gaps": gaps})
    return results


def write_json(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")


def make_tiny(root):
    checkpoints, logits = root / "tests/golden/checkpoints", root / "tests/golden/logits"
    random = np.random.default_rng(SEED)
    prompts = [random.integers(0, VOCABULARY, length).tolist() for length in PROMPT_LENGTHS]
    write_json(logits / "prompts.json", prompts)
    for family, config in FAMILIES.items():
        modes = {name.removeprefix(f"{family}-"): mode for name, mode in MODES.items() if name.startswith(family)}
        for variant, settings in (VARIANTS | modes).items():
            name = f"{family}-{variant}"
            model = build(config)
            fill(model, SEED)
            stored = quantize(model, config, settings)
            folder = checkpoints / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            (folder / "config.json").write_text(json.dumps(stored, indent=1) + "\n")
            weights = dict(tree_flatten(model.parameters()))
            mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
            write_json(logits / f"{name}.json", {"checkpoint": name, "config": {}, "results": expectations(model, prompts)})
            for label, change in CONFIGS.get(name, {}).items():
                changed = build(stored | change)
                changed.load_weights(list(weights.items()))
                write_json(
                    logits / f"{name}-{label}.json",
                    {"checkpoint": name, "config": change, "results": expectations(changed, prompts)},
                )
            print(name, flush=True)


def smollm2_prompts(root, tokenizer):
    """Eight prompts of 2 to 900 tokens: bare words, chats, code, other scripts, a licence."""
    chat = lambda text: f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n"
    licence = (root / "LICENSE").read_text()
    texts = [
        "Hello,",
        "The capital of France is",
        chat("Name three colours."),
        chat("Schreib einen Satz über das Meer. 短い文で答えて 🙂"),
        "def fibonacci(n):\n    \"\"\"Returns the n-th number.\"\"\"\n",
        chat("Summarise this:\n" + licence[:900]),
        licence[:2200],
        licence,
    ]
    ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    ids[0] = ids[0][:2]
    ids[-1] = ids[-1][:900]
    return texts, ids


def make_smollm2(root, directory):
    from tokenizers import Tokenizer

    logits = root / "tests/golden/logits"
    model, _ = load_model(Path(directory))
    model.update(tree_map(lambda x: x.astype(mx.float32) if mx.issubdtype(x.dtype, mx.floating) else x, model.parameters()))
    _, prompts = smollm2_prompts(root, Tokenizer.from_file(str(Path(directory) / "tokenizer.json")))
    results = []
    for index, ids in enumerate(prompts):
        row, tokens, gaps = greedy(model, ids, STEPS)
        name = f"smollm2-{index}.f32"
        (logits / name).write_bytes(struct.pack(f"<{len(row)}f", *row))
        results.append({"ids": ids, "logits": name, "tokens": tokens, "gaps": gaps})
        print(name, len(ids), flush=True)
    write_json(logits / "smollm2.json", results)


if __name__ == "__main__":
    mx.set_default_device(mx.cpu)
    root = Path(sys.argv[1])
    make_tiny(root)
    if len(sys.argv) > 2:
        make_smollm2(root, sys.argv[2])
