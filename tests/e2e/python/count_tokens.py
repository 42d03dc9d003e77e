"""Counts tokens with the reference tokenizer: Hugging Face's `tokenizers`, and its templates rendered by Jinja2.

Reads one JSON object from standard input: {"directory", "answers": [{"messages", "text", "tokens"}]}, where `tokens`
holds the bytes of each visible token. Prints one JSON line an answer: the tokens of the prompt, and whether the drawn
tokens are `equal` to what the tokenizer makes of the text, `other` spellings of it with tokens of the vocabulary, or `wrong`.
"""

import json
import sys
from pathlib import Path

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer


def byte_alphabet():
    """GPT-2's map from bytes to printable characters (openai/gpt-2, encoder.py, bytes_to_unicode), inverted."""
    kept = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in kept]
    return {chr(byte): byte for byte in kept} | {chr(256 + index): byte for index, byte in enumerate(others)}


job = json.load(sys.stdin)
folder = Path(job["directory"])
config = json.loads((folder / "tokenizer_config.json").read_text())
tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
template = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True).from_string(config["chat_template"])
alphabet = byte_alphabet()


def spelling(token):
    return bytes(alphabet[character] for character in token) if all(c in alphabet for c in token) else token.encode()


vocabulary = {spelling(token) for token in tokenizer.get_vocab()}


def judge(answer):
    drawn = [bytes(token) for token in answer["tokens"]]
    encoded = tokenizer.encode(answer["text"], add_special_tokens=False)
    if [spelling(token) for token in encoded.tokens] == drawn:
        return "equal"
    known = all(token in vocabulary for token in drawn)
    return "other" if known and b"".join(drawn).decode(errors="replace") == answer["text"] else "wrong"


for answer in job["answers"]:
    special = {name: config[name] for name in ("bos_token", "eos_token") if isinstance(config.get(name), str)}
    prompt = template.render(messages=answer["messages"], add_generation_prompt=True, **special)
    print(json.dumps({
        "prompt_tokens": len(tokenizer.encode(prompt, add_special_tokens=False).ids),
        "drawn": judge(answer),
    }))
