"""What a peer in Python answers: one JSON line a question, on standard output. Questions come on standard input.

generate  {"prompt": [[id, ...], ...], "tokens": n}  one prompt a stream; n tokens for each, greedy, ends ignored
          -> {"prefill_ms": .., "decode_ms": .., "decode_tokens": ..}; decoding is what follows the first tokens
rows      {"prompt": [id, ...], "times": k}          one step over all ids after an empty context, k times
          -> {"step_ms": [..]}
"""
import json
import os
import sys


def serve(answers):
    """Answers questions until standard input ends. answers: name -> function of the question."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What libraries print goes to standard error.
    for line in sys.stdin:
        question = json.loads(line)
        out.write(json.dumps(answers[question["do"]](question)) + "\n")
        out.flush()
