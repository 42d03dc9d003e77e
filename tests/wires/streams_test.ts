/**
 * What streams of every wire are made of: their start, signs of life, shapes, calls and ends.
 *
 * @module
 */
import assert from "node:assert/strict";
import { KEEP_ALIVE_MS } from "../../src/http/sse.ts";
import { ManualPace } from "../support/manual_pace.ts";
import { serveScript } from "../support/scripted_server.ts";
import { openTestApp } from "../support/test_app.ts";
import { askBoth, CHAT, type Json, MESSAGES, post, RESPONSES, toEvents, type Turn, type Wire, WIRES } from "./wires.ts";

const USER: readonly Turn[] = [{ user: "Hi" }];
const PATH = { properties: { path: { type: "string" } }, required: ["path"] };
const CALL = '<tool_call>\n{"name": "look", "arguments": {"path": "a.txt"}}\n</tool_call>';
/** Thinking, text and two calls. */
const ALL = `<think>\nI look.\n</think>\nLooking.\n${CALL}\n${CALL}`;
/** Longest silence that every agent bears is 30 s; the tests wait for as long as the slowest prefill that was tried. */
const SILENCE_MS = 330_000;

/** A wire's body that asks for all that an answer can have. */
function askAll(wire: Wire, fields: object = {}): Record<string, unknown> {
  return wire.ask(USER, {
    tools: [wire.tool("look", PATH)],
    ...(wire === MESSAGES && { thinking: { type: "adaptive" } }),
    ...fields,
  });
}

async function eventsOf(url: string, wire: Wire, body: object): Promise<Json[]> {
  const response = await post(url + wire.path, { ...body, stream: true });
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  return toEvents(await response.text());
}

Deno.test("Headers and the first event come before the first step, and a silent prefill shows life every 15 s", async () => {
  assert.ok(KEEP_ALIVE_MS <= 30_000);
  for (const wire of WIRES) {
    const pace = new ManualPace();
    await using server = await openTestApp({ pace: pace.pace });
    const response = await server.post(wire.path, wire.ask(USER, { stream: true }));
    assert.equal(response.status, 200);
    const reader = response.body!.getReader();
    const read = async (): Promise<Json[]> => toEvents(new TextDecoder().decode((await reader.read()).value));
    const [first] = await read();
    assert.ok(first.type === OPENINGS[wire.name] || first.choices?.[0].delta.role === "assistant", wire.name);
    if (wire === RESPONSES) assert.equal((await read())[0].type, "response.in_progress");
    for (let silentMs = 0; silentMs < SILENCE_MS; silentMs += KEEP_ALIVE_MS) {
      const next = read();
      await new Promise((resolve) => setTimeout(resolve, 0));
      server.clock.advance(KEEP_ALIVE_MS);
      const events = await next;
      assert.ok(events.length === 1 && wire.isAlive(events[0]), `${wire.name}: ${JSON.stringify(events)}`);
    }
    pace.advance(50);
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      rest += new TextDecoder().decode(next.value);
    }
    assert.match(rest, /(\[DONE\]|"message_stop"\}|"status":"completed".*)\n\n$/);
  }
});

const OPENINGS: Record<Wire["name"], string> = {
  chat: "",
  messages: "message_start",
  responses: "response.created",
};

Deno.test("Each chunk of a chat has its head; role, calls and end stand where clients look; usage comes if asked for", async () => {
  await using server = await serveScript({
    tools: "hermes",
    reasoning: "qwen3",
    replies: [{ text: ALL }],
    repeat: true,
  });
  for (const asked of [false, true]) {
    const events = await eventsOf(
      server.url,
      CHAT,
      askAll(CHAT, asked ? { stream_options: { include_usage: true } } : {}),
    );
    assert.equal(events.pop(), "[DONE]");
    const usage = asked ? events.pop() : undefined;
    assert.deepEqual(usage?.choices, asked ? [] : undefined);
    if (asked) assert.ok(usage.usage.prompt_tokens > 0 && usage.usage.completion_tokens > 0);
    const [{ id, created, model }] = events;
    for (const event of [...events, ...(usage ? [usage] : [])]) {
      assert.deepEqual([event.id, event.object, event.created, event.model], [
        id,
        "chat.completion.chunk",
        created,
        model,
      ]);
      for (const choice of event.choices) assert.equal(choice.index, 0);
    }
    const choices = events.flatMap((event) => event.choices);
    assert.equal(choices[0].delta.role, "assistant");
    assert.deepEqual(choices.map(({ finish_reason }) => finish_reason).filter((reason) => reason !== null), [
      "tool_calls",
    ]);
    assert.equal(choices.at(-1).finish_reason, "tool_calls");
    const seen = new Set<number>();
    for (const call of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
      assert.equal(typeof call.index, "number");
      if (seen.has(call.index)) continue;
      seen.add(call.index);
      assert.deepEqual([typeof call.id, call.type, call.function.name], ["string", "function", "look"]);
    }
    assert.deepEqual([...seen], [0, 1]);
  }
});

Deno.test("However an answer ends by itself, a chat says why in its last chunk", async () => {
  const replies = [{ when: "cut", text: "one two three four" }, { when: "none", text: "" }, { text: "x" }];
  await using server = await serveScript({ tools: "hermes", reasoning: "qwen3", replies, repeat: true });
  for (
    const [user, fields, reason] of [["cut", { max_tokens: 2 }, "length"], ["none", {}, "stop"], ["x", {}, "stop"]]
  ) {
    const events = await eventsOf(server.url, CHAT, CHAT.ask([{ user: String(user) }], Object(fields)));
    const choices = events.slice(0, -1).flatMap((event) => event.choices);
    assert.equal(choices.at(-1).finish_reason, reason);
  }
});

Deno.test("A response has one id throughout; its items open, fill and close in order, and its end has all of them", async () => {
  await using server = await serveScript({
    tools: "hermes",
    reasoning: "qwen3",
    replies: [{ text: ALL }],
    repeat: true,
  });
  const events = await eventsOf(server.url, RESPONSES, askAll(RESPONSES));
  assert.deepEqual(events.map(({ sequence_number }) => sequence_number), events.map((_, index) => index));
  assert.deepEqual(events.slice(0, 2).map(({ type }) => type), ["response.created", "response.in_progress"]);
  const { response: last, type } = events.at(-1);
  assert.equal(type, "response.completed");
  assert.equal(new Set(events.flatMap(({ response }) => response?.id ?? [])).size, 1);
  assert.deepEqual(last.output.map((item: Json) => item.type), [
    "reasoning",
    "message",
    "function_call",
    "function_call",
  ]);
  assert.ok(last.usage.input_tokens > 0 && last.usage.total_tokens > last.usage.input_tokens);
  const closed = events.filter((event) => event.type === "response.output_item.done");
  assert.deepEqual(closed.map(({ item }) => item), last.output);
  last.output.forEach((item: Json, index: number) => {
    const own = events.filter((event) => event.output_index === index);
    assert.deepEqual([own[0].type, own.at(-1).type], ["response.output_item.added", "response.output_item.done"]);
    for (const event of own) assert.equal(event.item_id ?? event.item.id, item.id);
    assert.equal(own[0].item.status, "in_progress");
    const deltas = own.filter((event) => event.type.endsWith(".delta")).map(({ delta }) => delta).join("");
    const whole = item.arguments ?? (item.content ?? item.summary)[0].text;
    assert.equal(deltas, whole, item.type);
    const dones = own.filter((event) => /(text|arguments)\.done$/.test(event.type));
    assert.deepEqual(dones.map(({ text, arguments: json }) => text ?? json), [whole]);
  });
  const types = events.map((event) => event.type);
  assert.ok(types.includes("response.content_part.added") && types.includes("response.content_part.done"));
});

Deno.test("A response that was cut ends as incomplete, and says what cut it", async () => {
  await using server = await serveScript({ replies: [{ text: "one two three four" }], repeat: true });
  const events = await eventsOf(server.url, RESPONSES, RESPONSES.ask(USER, { max_output_tokens: 3 }));
  const { type, response } = events.at(-1);
  assert.deepEqual([type, response.status, response.incomplete_details], [
    "response.incomplete",
    "incomplete",
    { reason: "max_output_tokens" },
  ]);
  assert.ok(response.output.length === 1 && response.usage.output_tokens === 3);
});

Deno.test("Blocks of a message are strictly nested between a start with usage and an end with reason and usage", async () => {
  await using server = await serveScript({
    tools: "hermes",
    reasoning: "qwen3",
    replies: [{ text: ALL }],
    repeat: true,
  });
  const response = await post(server.url + MESSAGES.path, { ...askAll(MESSAGES), stream: true });
  const text = await response.text();
  for (const frame of text.trimEnd().split("\n\n")) assert.match(frame, /^event: \w+\ndata: /);
  const events = toEvents(text);
  assert.deepEqual([events[0].type, events.at(-2).type, events.at(-1).type], [
    "message_start",
    "message_delta",
    "message_stop",
  ]);
  assert.ok(events[0].message.usage.input_tokens > 0);
  assert.deepEqual([events.at(-2).delta.stop_reason, typeof events.at(-2).usage.output_tokens], ["tool_use", "number"]);
  let open: number | undefined;
  let count = 0;
  for (const { type, index } of events.slice(1, -2)) {
    if (type === "content_block_start") {
      assert.deepEqual([open, index], [undefined, count++]);
      open = index;
    } else {
      assert.equal(index, open, type);
      if (type === "content_block_stop") open = undefined;
      else assert.equal(type, "content_block_delta");
    }
  }
  assert.deepEqual([open, count], [undefined, 4]);
});

Deno.test("A request says the same streamed and whole on every wire, so that a client may fall back to either", async () => {
  const replies = [{ text: ALL }];
  await using server = await serveScript({ tools: "hermes", reasoning: "qwen3", replies, repeat: true });
  for (const wire of WIRES) {
    const said = await askBoth(server.url, wire, askAll(wire));
    assert.deepEqual([said.thought.trim(), said.text.trim(), said.end], ["I look.", "Looking.", "calls"], wire.name);
    assert.deepEqual(said.calls.map(({ name, arguments: json }) => [name, JSON.parse(json)]), [
      ["look", { path: "a.txt" }],
      ["look", { path: "a.txt" }],
    ]);
  }
});

Deno.test("A call that the bound of tokens cuts leaves as none, wherever it was cut", async () => {
  const chunks = [
    "Look",
    "ing.",
    "\n<tool_call>",
    '\n{"name": ',
    '"look", ',
    '"arguments": ',
    '{"path": "a',
    ".txt",
    '"}}',
    "\n</tool_call>",
  ];
  await using server = await serveScript({ tools: "hermes", replies: [{ chunks }], repeat: true });
  for (const wire of WIRES) {
    for (let tokens = 2; tokens < chunks.length - 1; tokens++) {
      const said = await askBoth(server.url, wire, askAll(wire, { [wire.maxTokensField]: tokens }));
      assert.deepEqual([said.calls, said.end], [[], "length"], `${wire.name}: ${tokens}`);
    }
    const events = JSON.stringify(await eventsOf(server.url, wire, askAll(wire, { [wire.maxTokensField]: 8 })));
    assert.doesNotMatch(events, /"(tool_calls|tool_use|function_call)"/, wire.name);
  }
});

Deno.test("A turn of thinking alone is closed and sampled on before it ends", async () => {
  const replies = [{ chunks: ["<think>", "Let", " me", " see"] }];
  await using server = await serveScript({ tools: "hermes", reasoning: "qwen3", replies, repeat: true });
  for (const wire of WIRES) {
    const { text, end } = await askBoth(server.url, wire, askAll(wire));
    assert.deepEqual([text, end], ["", "stop"], wire.name);
    const { usage } = await (await post(server.url + wire.path, askAll(wire))).json();
    // Four that the model drew; the tag and two line ends were forced, and the script has nothing to say behind them.
    assert.equal(usage.completion_tokens ?? usage.output_tokens, 7, wire.name);
  }
});
