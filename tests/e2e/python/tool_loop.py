"""Two steps with a tool through the `openai` package: a call, its result, an answer; whole, iterated and by `stream()`.

Reads {"url", "rounds", "tool"} from standard input; prints one JSON line a round and way: what was called and answered.
"""

import json
import sys

from openai import OpenAI

job = json.load(sys.stdin)
TOOLS = [{"type": "function", "function": {
    "name": job.get("tool", "add_note"),
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
}}]
client = OpenAI(base_url=f"{job['url']}/v1", api_key="unused", max_retries=0)


def whole(body):
    choice = client.chat.completions.create(**body).choices[0]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    return choice.message.content, calls, choice.finish_reason


def iterated(body):
    content, calls, finish = "", [], None
    for chunk in client.chat.completions.create(**body, stream=True):
        choice = chunk.choices[0]
        content += choice.delta.content or ""
        for part in choice.delta.tool_calls or []:
            if part.index == len(calls):
                calls.append((part.id, part.function.name, ""))
            call_id, name, arguments = calls[part.index]
            calls[part.index] = (call_id, name, arguments + (part.function.arguments or ""))
        finish = choice.finish_reason or finish
    return content, calls, finish


def helped(body):
    with client.chat.completions.stream(**body) as stream:
        choice = stream.get_final_completion().choices[0]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    return choice.message.content, calls, choice.finish_reason


for _ in range(job["rounds"]):
    for ask in (whole, iterated, helped):
        messages = [{"role": "user", "content": "Note: buy figs"}]
        _, calls, finish = ask({"model": "scripted", "messages": messages, "tools": TOOLS})
        (call_id, name, arguments), = calls
        messages.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}},
        ]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": "kept as 7"})
        answer, more, end = ask({"model": "scripted", "messages": messages, "tools": TOOLS})
        print(json.dumps({
            "way": ask.__name__, "name": name, "arguments": json.loads(arguments), "finish": finish,
            "answer": answer, "more": len(more), "end": end,
        }))
