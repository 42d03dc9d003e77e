"""Chats through the real `openai` package and prints what it got, one JSON line a prompt.

Reads one JSON object from standard input: {"base_url", "model", "prompts": [{"messages", "parameters"}]}.
The stream is read with the plain iterator and once more with the package's own stream helper.
"""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from openai import LengthFinishReasonError, NotFoundError, OpenAI

job = json.load(sys.stdin)
client = OpenAI(base_url=job["base_url"], api_key="unused", max_retries=0, timeout=300)


def chat(prompt):
    request = {"model": job["model"], "messages": prompt["messages"], **prompt["parameters"]}
    whole = client.chat.completions.create(**request)
    stream = client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    choices = [choice for chunk in chunks for choice in chunk.choices]
    try:
        with client.chat.completions.stream(**request) as helper:
            final = helper.until_done().get_final_completion()
    except LengthFinishReasonError as error:  # the helper's word for an answer that max_tokens ended
        final = error.completion
    return {
        "whole": whole.choices[0].message.content,
        "whole_finish": whole.choices[0].finish_reason,
        "joined": "".join(choice.delta.content or "" for choice in choices),
        "helper": final.choices[0].message.content,
        "finishes": [choice.finish_reason for choice in choices if choice.finish_reason is not None],
        "ids": len({chunk.id for chunk in chunks}),
        "role": choices[0].delta.role,
        "usage": [whole.usage.prompt_tokens, whole.usage.completion_tokens],
        "stream_usage": [[chunk.usage.prompt_tokens, chunk.usage.completion_tokens] for chunk in chunks if chunk.usage],
    }


with ThreadPoolExecutor(4) as pool:
    for result in pool.map(chat, job["prompts"]):
        print(json.dumps(result))

try:
    client.chat.completions.create(model="nobody", messages=[{"role": "user", "content": "Hi"}])
    print(json.dumps({"error": "none"}))
except NotFoundError as error:
    print(json.dumps({"error": error.code, "models": [model.id for model in client.models.list()]}))
