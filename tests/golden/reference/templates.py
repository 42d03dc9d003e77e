"""Prompts as transformers renders them.

Reads a JSON task from stdin: {"templates": {name: {"template", "tokens"}}, "conversations" and "hostile": {name:
conversation}, "snippets": [source], "variables": JSON text, "folders": {name: folder with tokenizer.json}}; writes what
the reference makes of them as JSON to stdout. Run by tests/golden/update_text.ts.
"""

import datetime as real
import json
import sys

import jinja2
import transformers
from transformers.utils import chat_template_utils as reference


class FixedClock(real.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 30, 9, 5, 7)


reference.datetime = FixedClock


def arguments(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def message(turn, names):
    value = {"role": turn["role"], "content": "\n".join(part["text"] for part in turn["content"])}
    if "reasoning" in turn:
        value["reasoning_content"] = turn["reasoning"]
    if "toolCalls" in turn:
        value["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": arguments(c["arguments"])}}
            for c in turn["toolCalls"]
        ]
    if "toolCallId" in turn:
        value["tool_call_id"] = turn["toolCallId"]
        value["name"] = names[turn["toolCallId"]]
    return value


def parts(conversation):
    turns = conversation["messages"]
    names = {call["id"]: call["name"] for turn in turns for call in turn.get("toolCalls", [])}
    tools = [{"type": "function", "function": tool} for tool in conversation["tools"]]
    return turns, names, tools or None


def render(template, tokens, conversation):
    turns, names, tools = parts(conversation)
    texts, _ = reference.render_jinja_template(
        conversations=[[message(turn, names) for turn in turns]],
        tools=tools,
        chat_template=template,
        add_generation_prompt=conversation["addGenerationPrompt"],
        continue_final_message=not conversation["addGenerationPrompt"],
        **tokens,
        **conversation["templateArguments"],
    )
    return texts[0]


def attempt(template, tokens, conversation):
    try:
        return {"text": render(template, tokens, conversation)}
    except Exception as error:
        return {"error": type(error).__name__ + ": " + str(error).split("\nRendered chat")[0]}


def snippet(source, variables):
    try:
        return {"text": reference._compile_jinja_template(source).render(**variables)}
    except Exception as error:
        return {"error": type(error).__name__ + ": " + str(error)}


def ids(folder, config, conversations):
    """Ids of whole conversations, with the client's control tokens read as plain text."""
    tokens = {k: v for k, v in config["tokens"].items() if k in ("bos_token", "eos_token", "pad_token", "unk_token")}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json", **tokens)

    def encode(conversation):
        turns, names, tools = parts(conversation)
        return tokenizer.apply_chat_template(
            [message(turn, names) for turn in turns],
            tools=tools,
            chat_template=config["template"],
            add_generation_prompt=conversation["addGenerationPrompt"],
            continue_final_message=not conversation["addGenerationPrompt"],
            sanitize_control_tokens=True,
            return_dict=False,
            **conversation["templateArguments"],
        )

    results = {}
    for key, conversation in conversations.items():
        try:
            results[key] = " ".join(map(str, encode(conversation)))
        except Exception as error:
            results[key] = "error: " + str(error).split("\nRendered chat")[0]
    return results


task = json.load(sys.stdin)
variables = json.loads(task["variables"])
results = {
    "versions": {"transformers": transformers.__version__, "jinja2": jinja2.__version__},
    "templates": {
        name: {key: attempt(t["template"], t["tokens"], c) for key, c in task["conversations"].items()}
        for name, t in task["templates"].items()
    },
    "snippets": [snippet(source, variables) for source in task["snippets"]],
    "ids": {
        name: ids(folder, task["templates"][name], {**task["conversations"], **task["hostile"]})
        for name, folder in task["folders"].items()
    },
}
json.dump(results, sys.stdout)
