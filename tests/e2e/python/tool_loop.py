"""Two steps with a tool through the `openai` package: a call, its result, an answer; whole, iterated and by `stream()`.

Reads {"servers": [{"url", "tool"}]} from standard input; prints one JSON line a server and way: what was called and
answered.
"""

import json
import sys

from openai import OpenAI

def whole(client, body):
    choice = client.chat.completions.create(**body).choices[0]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    return choice.message.content, calls, choice.finish_reason


def iterated(client, body):
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


def helped(client, body):
    with client.chat.completions.stream(**body) as stream:
        choice = stream.get_final_completion().choices[0]
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    return choice.message.content, calls, choice.finish_reason


for server in json.load(sys.stdin)["servers"]:
    client = OpenAI(base_url=f"{server['url']}/v1", api_key="unused", max_retries=0)
    tools = [{"type": "function", "function": {
        "name": server["tool"],
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    }}]
    for ask in (whole, iterated, helped):
        messages = [{"role": "user", "content": "Note: buy figs"}]
        _, calls, finish = ask(client, {"model": "scripted", "messages": messages, "tools": tools})
        (call_id, name, arguments), = calls
        messages.append({"role": "assistant", "content": None, "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}},
        ]})
        messages.append({"role": "tool", "tool_call_id": call_id, "content": "kept as 7"})
        answer, more, end = ask(client, {"model": "scripted", "messages": messages, "tools": tools})
        print(json.dumps({
            "url": server["url"], "way": ask.__name__, "name": name, "arguments": json.loads(arguments),
            "finish": finish, "answer": answer, "more": len(more), "end": end,
        }))
