"""Dtype, shape and sha256 (128 bits) of the tensors of MLX's own GGUF loader, named and ordered as mlx-lm wants them.

Usage: make.py SMOLLM2.gguf TINY_LLAMA.gguf TINY_QWEN3.gguf > hashes.json
Needs mlx (made with 0.31.1, CPU) and numpy. `deno task golden:convert` runs it.

MLX 0.31.1 reads the quants of Q4_1 blocks two bytes too early (extract_q4_1_data calls unpack_32_4, which skips one
f16, but Q4_1 has two), so its Q4_1 weights are wrong, while scales and biases are right. The quants of Q4_1 and Q4_0
are packed alike, so the expected Q4_1 weights come from the same loader after each Q4_1 block was rewritten as the
Q4_0 block with the same quants.
"""

import hashlib
import json
import struct
import sys
import tempfile

import mlx.core as mx
import numpy as np

ROOT = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
Q4_0, Q4_1, BF16 = 2, 3, 30
SCALAR = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


class Reader:
    """Walks a GGUF header far enough to know where the tensors are."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        value = struct.unpack_from("<" + form, self.data, self.at)[0]
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size : self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, count = self.take("I"), self.take("Q")
            return [self.value(inner) for _ in range(count)]
        if kind == 4:
            return self.take("I")
        self.at += SCALAR[kind]
        return None


def header(data):
    """Metadata, and [name, shape outermost first, type, position of the type field, offset] of each tensor."""
    reader = Reader(data)
    reader.at = 8
    tensor_count, entry_count = reader.take("Q"), reader.take("Q")
    metadata = {}
    for _ in range(entry_count):
        key = reader.text()
        metadata[key] = reader.value(reader.take("I"))
    tensors = []
    for _ in range(tensor_count):
        name, dimensions = reader.text(), reader.take("I")
        shape = [reader.take("Q") for _ in range(dimensions)][::-1]
        at = reader.at
        tensors.append((name, shape, reader.take("I"), at, reader.take("Q")))
    return metadata, tensors, (reader.at + 31) // 32 * 32


def as_q4_0(data):
    """The same file with every Q4_1 tensor rewritten as Q4_0 at the same place: scale, then the same quants."""
    changed = bytearray(data)
    _, tensors, start = header(data)
    for _, shape, kind, at, offset in tensors:
        if kind != Q4_1:
            continue
        struct.pack_into("<I", changed, at, Q4_0)
        blocks = int(np.prod(shape)) // 32
        old = np.frombuffer(data, np.uint8, blocks * 20, start + offset).reshape(blocks, 20)
        new = np.concatenate([old[:, :2], old[:, 4:]], axis=1).tobytes()
        changed[start + offset : start + offset + len(new)] = new
    return bytes(changed)


def load(data):
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(data)
        file.flush()
        arrays = mx.load(file.name)
        mx.eval(arrays)
    return arrays


def to_bytes(array):
    kind = {mx.float16: mx.uint16, mx.float32: mx.uint32, mx.uint32: mx.uint32}[array.dtype]
    return np.array(array.view(kind)).tobytes()


def hashes(path):
    data = open(path, "rb").read()
    metadata, tensors, start = header(data)
    architecture = metadata["general.architecture"]
    heads = {
        "attn_q": metadata[f"{architecture}.attention.head_count"],
        "attn_k": metadata[f"{architecture}.attention.head_count_kv"],
    }
    arrays, same_quants = load(data), load(as_q4_0(data))
    kinds = {name: kind for name, _, kind, _, _ in tensors}
    result = {}
    for name, array in arrays.items():
        parts = name.split(".")
        module, parameter = parts[-2], parts[-1]
        weight = name if parameter == "bias" else ".".join(parts[:-1] + ["weight"])
        if kinds[weight] == BF16:
            continue  # MLX makes float16 of it; the test compares with the file
        if kinds[weight] == Q4_1 and parameter == "weight":
            array = same_quants[name]
        if architecture == "llama" and module in heads:
            count = heads[module]
            rows = array.reshape(count, array.shape[0] // count // 2, 2, -1)
            array = rows.swapaxes(1, 2).reshape(array.shape)
        path_of = ROOT[module] if len(parts) == 2 else f"model.layers.{parts[1]}.{BLOCK[module]}"
        dtype = {mx.float16: "F16", mx.float32: "F32", mx.uint32: "U32"}[array.dtype]
        digest = hashlib.sha256(to_bytes(array)).hexdigest()[:32]
        result[f"{path_of}.{parameter}"] = f"{dtype} {list(array.shape)} {digest}"
    return dict(sorted(result.items()))


names = ["smollm2-135m-instruct", "tiny-llama", "tiny-qwen3"]
print(json.dumps({name: hashes(path) for name, path in zip(names, sys.argv[1:], strict=True)}, indent=1))
