"""Ids and texts as the reference tokenizers give them.

Reads a JSON task from stdin: {"models": {name: folder}, "readable": [...], "mixtures": [...], "chunk": n,
"sequences": {name: [[id]]}}; writes the expected values as JSON to stdout. Run by tests/golden/update_text.ts.
"""

import hashlib
import json
import sys

import tokenizers
from tokenizers import Tokenizer


def digest(value):
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def chunks(values, size):
    return [digest(values[i : i + size]) for i in range(0, len(values), size)]


def expect(folder, task, sequences):
    tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
    size = max(tokenizer.get_vocab(True).values()) + 1

    def ids(texts, special):
        return [encoding.ids for encoding in tokenizer.encode_batch(texts, add_special_tokens=special)]

    mixtures = ids(task["mixtures"], False)
    return {
        "size": size,
        "readable": ids(task["readable"], False),
        "readableSpecial": digest(ids(task["readable"], True)),
        "mixtures": chunks(mixtures, task["chunk"]),
        "decoded": chunks([tokenizer.decode(i, skip_special_tokens=True) for i in mixtures], task["chunk"]),
        "sequences": digest([tokenizer.decode(i, skip_special_tokens=True) for i in sequences]),
        "tokens": digest([tokenizer.decode([i], skip_special_tokens=False) for i in range(size)]),
    }


task = json.load(sys.stdin)
models = {name: expect(folder, task, task["sequences"][name]) for name, folder in task["models"].items()}
json.dump({"tokenizers": tokenizers.__version__, "models": models}, sys.stdout)
