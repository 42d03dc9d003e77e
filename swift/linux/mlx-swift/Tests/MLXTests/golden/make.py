"""Writes golden.safetensors: inputs, and what Python's MLX makes of them, one array for each case of the Swift tests.

Names: `in.<input>` for inputs, `<case>` for results. See README.md for the command and the versions.
"""

import pathlib
import sys

import mlx.core as mx
import numpy as np

VERSION = "0.31.1"
if mx.__version__ != VERSION:
    sys.exit(f"mlx {VERSION} is wanted, found {mx.__version__}")

random = np.random.default_rng(20260731)
golden = {}


def normal(*shape, scale=1.0):
    return mx.array((random.standard_normal(shape) * scale).astype(np.float32))


def integers(low, high, *shape, dtype=np.int32):
    return mx.array(random.integers(low, high, shape, dtype=dtype))


def put(name, value):
    assert name not in golden, name
    # MLX reads safetensors with bool as bool; everything else keeps its dtype.
    golden[name] = mx.contiguous(value)


inputs = {
    "x": normal(2, 3, 8),
    "y": normal(2, 3, 8),
    "row": normal(8),
    "positive": mx.abs(normal(2, 3, 8)) + 0.25,
    "unit": mx.clip(normal(2, 3, 8) * 0.4, -0.95, 0.95),
    "half": normal(2, 3, 8).astype(mx.bfloat16),
    "half16": normal(2, 3, 8).astype(mx.float16),
    "special": mx.array([1.0, float("nan"), float("inf"), -float("inf"), 0.0]),
    "int": integers(-20, 20, 2, 3, 8),
    "int2": integers(1, 7, 2, 3, 8),
    "bits": integers(0, 2**31, 2, 8, dtype=np.uint32),
    "shifts": integers(0, 8, 2, 8, dtype=np.uint32),
    "bool": mx.array(random.random((2, 3, 8)) < 0.5),
    "bool2": mx.array(random.random((2, 3, 8)) < 0.5),
    "a": normal(2, 4, 6),
    "b": normal(2, 6, 5),
    "c": normal(4, 5),
    "square": normal(6, 6),
    "positions": integers(0, 8, 2, 3, 2),
    "few": integers(0, 3, 4),
    "grid": normal(5, 6, 7),
    "update": normal(2, 2),
    "updateWide": normal(3, 7),
    "w": normal(48, 64, scale=0.3),
    "experts": normal(4, 32, 64, scale=0.3),
    "tokens": normal(3, 64),
    "tokensHalf": normal(3, 64).astype(mx.bfloat16),
    "tall": normal(3, 48),
    "expertOf": mx.array([[2], [0], [3]], mx.uint32),
    "signal": normal(2, 9, 6),
    "taps": normal(6, 4, 1),
    "image": normal(1, 5, 6, 3),
    "filters": normal(4, 3, 3, 3),
    "volume": normal(1, 2, 5, 5, 3),
    "filters3": normal(4, 2, 3, 3, 3),
    "queries": normal(2, 4, 3, 16),
    "keys": normal(2, 2, 5, 16),
    "values": normal(2, 2, 5, 16),
    "keep": mx.array(random.random((3, 5)) < 0.7),
    "bias": normal(3, 5),
    "sinks": normal(4),
    "heads": normal(2, 4, 5, 32),
    "scale": normal(8),
    "shift": normal(8),
    "freqs": mx.abs(normal(16)) + 0.5,
    "offsets": mx.array([3, 11], mx.int32),
    "logits": normal(3, 10),
    "key": mx.random.key(7),
}
for name, value in inputs.items():
    put(f"in.{name}", value)
globals().update({name: value for name, value in inputs.items() if name not in ("bool", "int", "key")})
whole, flag, key = inputs["int"], inputs["bool"], inputs["key"]

# ---- elements -------------------------------------------------------------------------------------------------------

for name in "abs ceil cos cosh erf exp expm1 floor negative sigmoid sign sin sinh square tan tanh".split():
    put(name, getattr(mx, name)(x))
for name in "log log2 log10 log1p reciprocal rsqrt sqrt arccosh".split():
    put(name, getattr(mx, name)(positive + 1 if name == "arccosh" else positive))
for name in "arccos arcsin arctan arcsinh arctanh erfinv".split():
    put(name, getattr(mx, name)(unit))
for name in "isfinite isinf isnan isneginf isposinf".split():
    put(name, getattr(mx, name)(special))
put("exp.half", mx.exp(half))
put("sigmoid.half16", mx.sigmoid(half16))
put("logical_not", mx.logical_not(flag))
put("bitwise_invert", mx.bitwise_invert(whole))
for name in "add subtract multiply divide remainder maximum minimum logaddexp".split():
    put(name, getattr(mx, name)(x, y))
for name in "equal not_equal less less_equal greater greater_equal".split():
    put(name, getattr(mx, name)(whole, inputs["int2"]))
for name in "logical_and logical_or".split():
    put(name, getattr(mx, name)(flag, inputs["bool2"]))
for name in "bitwise_and bitwise_or bitwise_xor".split():
    put(name, getattr(mx, name)(bits, shifts))
for name in "left_shift right_shift".split():
    put(name, getattr(mx, name)(bits, shifts))
put("add.row", x + row)
put("add.scalar.half", half + 1.5)
put("multiply.scalar.int", whole * 3)
put("divide.scalar", 1 / positive)
put("divide.int", whole / inputs["int2"])
put("remainder.int", whole % inputs["int2"])
put("power", mx.power(positive, y))
put("power.scalar", positive**3)
put("floor_divide", whole // inputs["int2"])
put("round", mx.round(x, decimals=2))
put("clip", mx.clip(x, -0.5, 0.75))
put("clip.low", mx.clip(x, -0.5, None))
put("clip.high", mx.clip(x, None, 0.75))
put("where", mx.where(flag, x, y))
put("where.scalar", mx.where(flag, half, mx.array(0, mx.bfloat16)))
put("softmax", mx.softmax(x, axis=-1))
put("softmax.precise", mx.softmax(half, axis=-1, precise=True))
put("softmax.all", mx.softmax(x))
put("softmax.axes", mx.softmax(x, axis=[0, 2]))
put("nan_to_num", mx.nan_to_num(special, nan=5.0, posinf=9.0, neginf=-9.0))
put("isclose", mx.isclose(x, x + 1e-4 * y, rtol=1e-4, atol=1e-5))

# ---- reductions -----------------------------------------------------------------------------------------------------

for name in "logsumexp max mean min prod sum var std".split():
    f = getattr(mx, name)
    put(f"{name}.axis", f(x, axis=1))
    put(f"{name}.axes", f(x, axis=[0, 2], keepdims=True))
    put(f"{name}.all", f(x))
for name in "all any".split():
    f = getattr(mx, name)
    put(f"{name}.axis", f(flag, axis=1))
    put(f"{name}.axes", f(flag, axis=[0, 2], keepdims=True))
    put(f"{name}.all", f(flag))
put("var.ddof", mx.var(x, axis=-1, ddof=1))
for name in "argmax argmin".split():
    put(f"{name}.axis", getattr(mx, name)(x, axis=-1, keepdims=True))
    put(f"{name}.all", getattr(mx, name)(x))
for name in "cumsum cumprod cummax cummin".split():
    put(f"{name}.axis", getattr(mx, name)(x, axis=1, reverse=True))
    put(f"{name}.flat", getattr(mx, name)(x, inclusive=False) if name == "cumsum" else getattr(mx, name)(x))

# ---- shapes ---------------------------------------------------------------------------------------------------------

put("reshape", mx.reshape(x, (4, -1)))
put("transpose", mx.transpose(x))
put("transpose.axes", mx.transpose(x, (1, 2, 0)))
put("swapaxes", mx.swapaxes(x, 0, -1))
put("moveaxis", mx.moveaxis(x, 0, 2))
put("expand_dims", mx.expand_dims(x, (0, -1)))
put("squeeze", mx.squeeze(x[:1]))
put("squeeze.axis", mx.squeeze(x[:, :1], axis=1))
put("flatten", mx.flatten(x, 1, 2))
put("unflatten", mx.unflatten(x, -1, (2, 4)))
put("broadcast_to", mx.broadcast_to(row, (2, 3, 8)))
put("concatenate", mx.concatenate([x, y], axis=1))
put("stack", mx.stack([x, y], axis=-1))
put("split.1", mx.split(x, 4, axis=-1)[1])
put("split.at.2", mx.split(x, [3, 5], axis=-1)[2])
put("repeat", mx.repeat(x, 2, axis=1))
put("repeat.flat", mx.repeat(row, 3))
put("tile", mx.tile(x, (2, 1, 2)))
put("roll", mx.roll(x, 3, axis=-1))
put("roll.flat", mx.roll(x, 5))
put("pad", mx.pad(x, [(0, 1), (2, 0), (0, 0)], constant_values=mx.array(7.0)))
put("pad.edge", mx.pad(x, 1, mode="edge"))
put("as_strided", mx.as_strided(row, (3, 3), (2, 1), 1))
put("view", mx.view(x, mx.uint32))
put("meshgrid.0", mx.meshgrid(few, row, indexing="ij")[0])
put("astype.int", (x * 10).astype(mx.int32))
put("astype.half", x.astype(mx.bfloat16))

# ---- selection ------------------------------------------------------------------------------------------------------

put("take", mx.take(grid, few, axis=0))
put("take.flat", mx.take(x, positions))
put("take_along_axis", mx.take_along_axis(x, positions, axis=-1))
put("put_along_axis", mx.put_along_axis(x, positions, mx.array(9.0), axis=-1))
put("argsort", mx.argsort(x, axis=1))
put("sort", mx.sort(x, axis=-1))
put("sort.flat", mx.sort(x, axis=None))
put("partition", mx.partition(logits, 3, axis=-1)[..., 3])
put("argpartition", mx.sort(mx.argpartition(logits, -3, axis=-1)[..., -3:], axis=-1))
put("topk", mx.sort(mx.topk(logits, 4, axis=-1), axis=-1))
put("tril", mx.tril(square, 1))
put("triu", mx.triu(square, -1))
put("diag", mx.diag(row, 1))
put("arange", mx.arange(3, 20, 4))
put("arange.float", mx.arange(0.5, 3.0, 0.5))
put("linspace", mx.linspace(-1, 2, 7))
put("eye", mx.eye(3, 5, 1))
put("tri", mx.tri(4, 5, -1, dtype=mx.int32))
put("full", mx.full((2, 3), 2.5, mx.float16))

# ---- brackets -------------------------------------------------------------------------------------------------------

put("index.int", grid[2])
put("index.negative", grid[-1, 3])
put("index.range", grid[1:3, :, 2:])
put("index.stride", grid[::2, ..., ::-3])
put("index.ellipsis", grid[..., 4])
put("index.newaxis", grid[:, None, 2, ..., None])
put("index.array", grid[few])
put("index.array.second", grid[:, few])
put("index.array.middle", grid[1:4, few, 2:5])
put("index.array.pair", grid[few, few + 1])
put("index.array.apart", grid[few, :, few])
put("index.array.int", grid[few, 2])
put("index.int.array", grid[2, few])
put("index.int.slice.array", grid[2, 1:4, few])
put("index.array.newaxis", grid[few, None, few])
put("index.array.2d", grid[:, positions[0] % 6, 1])


def updated(key_, value):
    copy = mx.array(grid)
    copy[key_] = value
    return copy


put("set.int", updated(2, mx.array(1.5)))
put("set.range", updated((slice(1, 3), slice(0, 2), 4), update))
put("set.row", updated((slice(2, 5), 3), inputs["updateWide"]))
put("set.stride", updated((slice(0, 5, 2), Ellipsis, slice(None, None, 3)), mx.array(-1.0)))
put("set.ellipsis", updated((Ellipsis, 0), mx.array(4.0)))
put("set.newaxis", updated((1, None, slice(0, 2)), inputs["grid"][0, None, 2:4]))
put("set.array", updated(mx.array([0, 3]), mx.array(2.0)))
put("set.array.range", updated((mx.array([4, 1, 0]), slice(2, 3)), inputs["updateWide"][:, None]))
put("set.array.pair", updated((mx.array([0, 3]), mx.array([1, 5])), inputs["updateWide"][:2]))
put("set.range.array", updated((slice(1, 3), mx.array([5, 0])), mx.array([[1.0], [2.0]])))
put("set.array.apart", updated((mx.array([0, 3]), slice(None), mx.array([1, 5])), inputs["grid"][:2, :, 0]))
put("set.int.array", updated((2, mx.array([1, 5])), inputs["updateWide"][:2]))

# ---- products -------------------------------------------------------------------------------------------------------

put("matmul", a @ b)
put("addmm", mx.addmm(c, a, b, alpha=0.5, beta=2.0))
put("inner", mx.inner(row, x))
put("outer", mx.outer(row, few))
put("tensordot", mx.tensordot(a, square, axes=1))
put("einsum", mx.einsum("bij,bjk->bik", a, b))
put("gather_mm", mx.gather_mm(tokens[:, None], mx.swapaxes(experts, 1, 2), None, inputs["expertOf"][:, 0]))
put("hadamard_transform", mx.hadamard_transform(tokens))
put("conv1d", mx.conv1d(signal, taps, padding=3, groups=6))
put("conv2d", mx.conv2d(image, filters, stride=(2, 1), padding=1))
put("conv3d", mx.conv3d(volume, filters3, stride=(2, 1, 1)))

for mode, group, bits_ in [("affine", 64, 4), ("affine", 32, 8), ("mxfp4", 32, 4), ("mxfp8", 32, 8), ("nvfp4", 16, 4)]:
    name = f"{mode}.{bits_}"
    parts = mx.quantize(w, group_size=group, bits=bits_, mode=mode)
    for part, label in zip(parts, ("wq", "scales", "biases")):
        put(f"quantize.{name}.{label}", part)
    biases = parts[2] if len(parts) > 2 else None
    put(f"dequantize.{name}", mx.dequantize(parts[0], parts[1], biases, group, bits_, mode))
    put(
        f"quantized_matmul.{name}",
        mx.quantized_matmul(tokens, parts[0], parts[1], biases, True, group, bits_, mode),
    )
    many = mx.quantize(experts, group_size=group, bits=bits_, mode=mode)
    many_biases = many[2] if len(many) > 2 else None
    put(
        f"gather_qmm.{name}",
        mx.gather_qmm(
            tokens[:, None, None], many[0], many[1], many_biases, None, inputs["expertOf"], True, group, bits_, mode
        ),
    )
put("quantized_matmul.plain", mx.quantized_matmul(inputs["tall"], *mx.quantize(w, 64, 4), False, 64, 4))
half_parts = mx.quantize(w.astype(mx.bfloat16), group_size=64, bits=4)
put("quantized_matmul.half", mx.quantized_matmul(inputs["tokensHalf"], *half_parts, True, 64, 4))

# ---- fused ----------------------------------------------------------------------------------------------------------

put("rms_norm", mx.fast.rms_norm(x, inputs["scale"], 1e-5))
put("rms_norm.half", mx.fast.rms_norm(half, inputs["scale"].astype(mx.bfloat16), 1e-5))
put("rms_norm.weightless", mx.fast.rms_norm(x, None, 1e-5))
put("layer_norm", mx.fast.layer_norm(x, inputs["scale"], inputs["shift"], 1e-5))
put("layer_norm.plain", mx.fast.layer_norm(x, None, None, 1e-5))
put("rope", mx.fast.rope(heads, 32, traditional=False, base=10000.0, scale=1.0, offset=5))
put("rope.traditional", mx.fast.rope(heads, 16, traditional=True, base=500000.0, scale=0.5, offset=0))
put("rope.freqs", mx.fast.rope(heads, 32, traditional=False, base=None, scale=1.0, offset=2, freqs=freqs))
put(
    "rope.offsets",
    mx.fast.rope(heads, 32, traditional=False, base=10000.0, scale=1.0, offset=inputs["offsets"]),
)
attention = mx.fast.scaled_dot_product_attention
put("attention", attention(queries, keys, values, scale=0.25))
put("attention.causal", attention(queries, keys, values, scale=0.25, mask="causal"))
put("attention.keep", attention(queries, keys, values, scale=0.25, mask=keep))
put("attention.bias", attention(queries, keys, values, scale=0.25, mask=inputs["bias"]))
put("attention.sinks", attention(queries, keys, values, scale=0.25, mask="causal", sinks=sinks))

# ---- random ---------------------------------------------------------------------------------------------------------

put("random.key", mx.random.key(1234567890123))
put("random.split", mx.random.split(key, 3))
put("random.uniform", mx.random.uniform(-1, 3, (2, 5), key=key))
put("random.normal", mx.random.normal((2, 5), loc=1.0, scale=0.5, key=key))
put("random.normal.half", mx.random.normal((6,), mx.bfloat16, key=key))
put("random.randint", mx.random.randint(-5, 50, (9,), key=key))
put("random.bernoulli", mx.random.bernoulli(0.3, (12,), key=key))
put("random.gumbel", mx.random.gumbel((5,), key=key))
put("random.categorical", mx.random.categorical(logits, key=key))
put("random.categorical.count", mx.random.categorical(logits, num_samples=4, key=key))
put("random.categorical.shape", mx.random.categorical(logits, shape=(2, 3), key=key))

mx.save_safetensors(str(pathlib.Path(__file__).with_name("golden.safetensors")), golden)
print(len(golden), "arrays")
