"""Two steps with a tool through clients of PyPI: a call, its result, an answer; streamed and not, on the wires that
each client speaks.

Reads {"urls"} from standard input; prints one JSON line a server, client and way: what was noted and answered.
"""

import asyncio
import json
import os
import sys

# Else it asks for prices on the network, again and again.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

PROMPT = "Note: buy figs"


def langchain(url, stream):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="scripted", base_url=f"{url}/v1", api_key="unused", max_retries=0)
    return langchain_loop(model, stream)


def langchain_messages(url, stream):
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model="scripted", base_url=url, api_key="unused", max_retries=0, max_tokens=1000)
    return langchain_loop(model, stream)


def langchain_responses(url, stream):
    from langchain_openai import ChatOpenAI

    target = {"model": "scripted", "base_url": f"{url}/v1", "api_key": "unused"}
    return langchain_loop(ChatOpenAI(**target, max_retries=0, use_responses_api=True), stream)


def langchain_loop(chat, stream):
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool

    notes = []

    @tool
    def add_note(text: str) -> str:
        """Keeps a note."""
        notes.append(text)
        return "kept as 7"

    model = chat.bind_tools([add_note])

    def ask(messages):
        if not stream:
            return model.invoke(messages)
        joined = None
        for chunk in model.stream(messages):
            joined = chunk if joined is None else joined + chunk
        return joined

    messages = [HumanMessage(PROMPT)]
    first = ask(messages)
    results = [ToolMessage(add_note.invoke(call["args"]), tool_call_id=call["id"]) for call in first.tool_calls]
    answer = ask([*messages, first, *results])
    return notes, answer.text if isinstance(answer.text, str) else answer.text()


def pydantic_ai(url, stream):
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{url}/v1", api_key="unused")
    return pydantic_ai_loop(OpenAIChatModel("scripted", provider=provider), stream)


def pydantic_ai_messages(url, stream):
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=url, api_key="unused")
    return pydantic_ai_loop(AnthropicModel("scripted", provider=provider), stream)


def pydantic_ai_responses(url, stream):
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{url}/v1", api_key="unused")
    return pydantic_ai_loop(OpenAIResponsesModel("scripted", provider=provider), stream)


def pydantic_ai_loop(model, stream):
    from pydantic_ai import Agent

    notes = []
    agent = Agent(model)

    @agent.tool_plain
    def add_note(text: str) -> str:
        """Keeps a note."""
        notes.append(text)
        return "kept as 7"

    async def run():
        if not stream:
            return (await agent.run(PROMPT)).output
        async with agent.run_stream(PROMPT) as result:
            return await result.get_output()

    return notes, asyncio.run(run())


def smolagents(url, stream):
    from smolagents import OpenAIServerModel, tool
    from smolagents.models import ChatMessage, MessageRole, agglomerate_stream_deltas

    notes = []

    @tool
    def add_note(text: str) -> str:
        """Keeps a note.

        Args:
            text: What to keep.
        """
        notes.append(text)
        return "kept as 7"

    # The library's own agent wants `final_answer` called; here its model alone is asked.
    model = OpenAIServerModel(model_id="scripted", api_base=f"{url}/v1", api_key="unused")

    def ask(messages):
        if not stream:
            return model.generate(messages, tools_to_call_from=[add_note], tool_choice="auto")
        deltas = list(model.generate_stream(messages, tools_to_call_from=[add_note], tool_choice="auto"))
        return agglomerate_stream_deltas(deltas)

    messages = [ChatMessage(MessageRole.USER, [{"type": "text", "text": PROMPT}])]
    first = ask(messages)
    (call,) = first.tool_calls
    given = call.function.arguments
    result = add_note(**(json.loads(given) if isinstance(given, str) else given))
    messages += [
        ChatMessage(MessageRole.ASSISTANT, [{"type": "text", "text": "I note it."}]),
        ChatMessage(MessageRole.USER, [{"type": "text", "text": f"{result}; go on"}]),
    ]
    return notes, ask(messages).content


def litellm(url, stream):
    return litellm_loop({"model": "openai/scripted", "api_base": f"{url}/v1"}, stream)


def litellm_messages(url, stream):
    return litellm_loop({"model": "anthropic/scripted", "api_base": url}, stream)


def litellm_loop(target, stream):
    import litellm as library

    library.suppress_debug_info = True  # it prints to standard output

    tools = [{"type": "function", "function": {
        "name": "add_note",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }}]
    notes = []

    def ask(messages):
        body = {**target, "api_key": "unused", "messages": messages}
        if not stream:
            return library.completion(**body, tools=tools, num_retries=0).choices[0].message
        chunks = list(library.completion(**body, tools=tools, num_retries=0, stream=True))
        return library.stream_chunk_builder(chunks, messages=messages).choices[0].message

    messages = [{"role": "user", "content": PROMPT}]
    first = ask(messages)
    messages.append(first.model_dump(exclude_none=True))
    for call in first.tool_calls:
        notes.append(json.loads(call.function.arguments)["text"])
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "kept as 7"})
    return notes, ask(messages).content


ADD_NOTE = {
    "type": "function",
    "name": "add_note",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
}


def litellm_responses(url, stream):
    import litellm as library

    library.suppress_debug_info = True

    def ask(items):
        answer = library.responses(
            model="openai/scripted", api_base=f"{url}/v1", api_key="unused", num_retries=0,
            input=items, tools=[ADD_NOTE], stream=stream,
        )
        return [event for event in answer][-1].response if stream else answer

    return responses_loop(ask)


def openai_responses(url, stream):
    from openai import OpenAI

    client = OpenAI(base_url=f"{url}/v1", api_key="unused", max_retries=0)

    def ask(items):
        body = {"model": "scripted", "input": items, "tools": [{**ADD_NOTE, "strict": False}]}
        if not stream:
            return client.responses.create(**body)
        with client.responses.stream(**body) as events:
            for event in events:
                if event.type == "response.output_text.delta":
                    assert event.snapshot.endswith(event.delta)
            return events.get_final_response()

    return responses_loop(ask)


def responses_loop(ask):
    notes = []
    items = [{"role": "user", "content": PROMPT}]
    for item in ask(items).output:
        item = item if isinstance(item, dict) else item.model_dump(exclude_none=True)
        # What the package has read of the arguments is its own.
        item.pop("parsed_arguments", None)
        items.append(item)
        if item["type"] == "function_call":
            notes.append(json.loads(item["arguments"])["text"])
            items.append({"type": "function_call_output", "call_id": item["call_id"], "output": "kept as 7"})
    answer = ask(items)
    return notes, "".join(part.text for item in answer.output if item.type == "message" for part in item.content)


def anthropic(url, stream):
    from anthropic import Anthropic

    client = Anthropic(base_url=url, api_key="unused", max_retries=0)
    tools = [{
        "name": "add_note",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }]
    notes = []

    def ask(messages):
        body = {"model": "scripted", "max_tokens": 1000, "messages": messages, "tools": tools}
        if not stream:
            return client.messages.create(**body)
        with client.messages.stream(**body) as events:
            return events.get_final_message()

    messages = [{"role": "user", "content": PROMPT}]
    first = ask(messages)
    results = []
    for block in first.content:
        if block.type == "tool_use":
            notes.append(block.input["text"])
            results.append({"type": "tool_result", "tool_use_id": block.id, "content": "kept as 7"})
    messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    answer = ask(messages)
    counted = client.messages.count_tokens(model="scripted", messages=messages, tools=tools).input_tokens
    assert counted == answer.usage.input_tokens + answer.usage.cache_read_input_tokens
    return notes, "".join(block.text for block in answer.content)


def anthropic_runner(url, stream):
    from anthropic import Anthropic, beta_tool

    notes = []

    @beta_tool
    def add_note(text: str) -> str:
        """Keeps a note.

        Args:
            text: What to keep.
        """
        notes.append(text)
        return "kept as 7"

    client = Anthropic(base_url=url, api_key="unused", max_retries=0)
    runner = client.beta.messages.tool_runner(
        model="scripted", max_tokens=1000, tools=[add_note], messages=[{"role": "user", "content": PROMPT}], stream=stream,
    )
    for turn in runner:
        last = turn.get_final_message() if stream else turn
    return notes, "".join(block.text for block in last.content if block.type == "text")


CLIENTS = (
    langchain, langchain_messages, langchain_responses, pydantic_ai, pydantic_ai_messages, pydantic_ai_responses,
    smolagents, litellm, litellm_messages, litellm_responses, openai_responses, anthropic, anthropic_runner,
)

for url in json.load(sys.stdin)["urls"]:
    for run in CLIENTS:
        for stream in (False, True):
            notes, answer = run(url, stream)
            print(json.dumps({"url": url, "client": run.__name__, "stream": stream, "notes": notes, "answer": answer}))
