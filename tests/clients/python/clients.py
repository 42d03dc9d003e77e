"""Two steps with a tool through clients of PyPI: a call, its result, an answer; streamed and not.

Reads {"urls"} from standard input; prints one JSON line a server, client and way: what was noted and answered.
"""

import asyncio
import json
import os
import sys

# Else it asks for prices on the network, again and again.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

PROMPT = "Note: buy figs"


def langchain(base_url, stream):
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    notes = []

    @tool
    def add_note(text: str) -> str:
        """Keeps a note."""
        notes.append(text)
        return "kept as 7"

    model = ChatOpenAI(model="scripted", base_url=base_url, api_key="unused", max_retries=0).bind_tools([add_note])

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


def pydantic_ai(base_url, stream):
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    notes = []
    agent = Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=base_url, api_key="unused")))

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


def smolagents(base_url, stream):
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
    model = OpenAIServerModel(model_id="scripted", api_base=base_url, api_key="unused")

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


def litellm(base_url, stream):
    import litellm as library

    library.suppress_debug_info = True  # it prints to standard output

    tools = [{"type": "function", "function": {
        "name": "add_note",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    }}]
    notes = []

    def ask(messages):
        body = {"model": "openai/scripted", "api_base": base_url, "api_key": "unused", "messages": messages}
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


for url in json.load(sys.stdin)["urls"]:
    for run in (langchain, pydantic_ai, smolagents, litellm):
        for stream in (False, True):
            notes, answer = run(f"{url}/v1", stream)
            print(json.dumps({"url": url, "client": run.__name__, "stream": stream, "notes": notes, "answer": answer}))
