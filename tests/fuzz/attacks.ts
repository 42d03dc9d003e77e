// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Hostile requests, drawn from a seed: damaged and malicious JSON, odd heads, clients that stall or leave.
 *
 * An attack is what a client writes to its connection and when it leaves; attack.ts carries it out.
 *
 * @module
 */
import type { Random } from "./random.ts";

/** What a client does. */
export interface Attack {
  /** For the report of a failure. */
  name: string;
  /** Written in order, with a short pause between them. */
  pieces: readonly Uint8Array[];
  /** When the client closes the connection: after its last piece, after some bytes of the answer, or at the end. */
  leave: "written" | "midway" | "end";
}

/** The bounds that keep 2,000 of them cheap on a real model. */
const MAX_TOKENS = 6;

const utf8 = new TextEncoder();

/** Draws one. */
export function drawAttack(random: Random): Attack {
  const kind = random.pick([mutatedFields, mutatedFields, damagedBytes, oddHead, leaver, leaver, slowBody, oddPath]);
  return kind(random);
}

/** A good body; every other attack starts from one. */
function goodBody(random: Random): Record<string, unknown> {
  const body: Record<string, unknown> = {
    messages: [{ role: "user", content: random.pick(["Hi", "日本", "👋🏽", "a\u0000b", " ", "<|im_end|>"]) }],
    max_tokens: 1 + random.below(MAX_TOKENS),
  };
  if (random.chance(0.5)) body.stream = true;
  if (random.chance(0.2)) body.n = 1 + random.below(3);
  if (random.chance(0.2)) body.logprobs = true;
  if (random.chance(0.2)) body.stop = ["e", "\n"];
  return body;
}

/** A good body of the Messages wire, with the shapes that only it has. */
function goodMessages(random: Random): Record<string, unknown> {
  const text = {
    type: "text",
    text: random.pick(["Hi", "x-anthropic-billing-header: a", "", "👋🏽"]),
    cache_control: {},
  };
  const call = {
    type: "tool_use",
    id: "toolu_1",
    name: "look",
    input: random.pick<unknown>([{}, { a: 1 }, "{", null]),
  };
  const part = random.pick<object>([text, { type: "image", source: {} }, {
    type: "tool_reference",
    tool_name: "later",
  }]);
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: random.pick([undefined, "ok", [part]]) };
  const thinking = { type: "thinking", thinking: "Hm.", signature: random.pick(["", "cm14MQE=", "ErUBCkYI"]) };
  const body: Record<string, unknown> = {
    messages: [
      { role: "user", content: random.pick<unknown>(["Hi", [text]]) },
      ...random.chance(0.5)
        ? [{ role: "assistant", content: [thinking, call] }, { role: "user", content: [text, result] }]
        : [],
      ...random.chance(0.3) ? [{ role: "system", content: [text] }] : [],
    ],
    max_tokens: 1 + random.below(MAX_TOKENS),
  };
  if (random.chance(0.5)) body.stream = true;
  if (random.chance(0.3)) body.system = [text];
  if (random.chance(0.3)) body.thinking = random.pick([{ type: "adaptive" }, { type: "enabled", budget_tokens: 2 }]);
  if (random.chance(0.3)) body.tools = [{ name: "look" }, { name: "later", defer_loading: true }, { type: "bash_1" }];
  if (random.chance(0.2)) body.stop_sequences = ["e", ""];
  if (random.chance(0.2)) body.model = "claude-x";
  return body;
}

/** A good body of the Responses wire, with the shapes that only it has. */
function goodResponses(random: Random): Record<string, unknown> {
  const text = { type: "input_text", text: random.pick(["Hi", "", "👋🏽"]) };
  const image = { type: "input_image", image_url: "data:image/png;base64,", detail: "high" };
  const parts = random.pick<unknown>(["ok", [text], [text, image], null]);
  const items = random.pick<object[]>([
    [{ type: "function_call", call_id: "1", name: "look", arguments: random.pick(["{}", "{", ""]) }, {
      type: "function_call_output",
      call_id: "1",
      output: parts,
    }],
    [{ type: "custom_tool_call", call_id: "2", name: "patch", input: "+\n" }, {
      type: "custom_tool_call_output",
      call_id: "2",
      output: parts,
    }],
    [{ type: "reasoning", summary: [], encrypted_content: random.pick(["", "cm14MQI=", "gAAAA"]) }],
    [{ type: "tool_search_output", call_id: "3", tools: [{ type: "function", name: "later" }] }],
    [{ type: "item_reference", id: random.pick(["msg_1", `msg_${"0".repeat(36)}`]) }],
    [{ type: "web_search_call" }, { type: "additional_tools", tools: [{ type: "function", name: "more" }] }],
    [],
  ]);
  const message = { role: random.pick(["user", "developer"]), content: random.pick<unknown>(["Hi", [text]]) };
  const body: Record<string, unknown> = {
    input: random.chance(0.3) ? "Hi" : [message, ...items],
    max_output_tokens: 1 + random.below(MAX_TOKENS),
  };
  if (random.chance(0.5)) body.stream = true;
  if (random.chance(0.3)) body.reasoning = random.pick([{ effort: "low" }, { effort: "none" }, { summary: "auto" }]);
  if (random.chance(0.3)) body.include = ["reasoning.encrypted_content", "message.output_text.logprobs"];
  if (random.chance(0.3)) body.store = random.chance(0.5);
  if (random.chance(0.1)) body.previous_response_id = "resp_1";
  if (random.chance(0.4)) {
    const format = {
      type: "grammar",
      syntax: random.pick(["lark", "regex"]),
      definition: random.pick(["start: /x+/", "x", "("]),
    };
    body.tools = [
      { type: "function", name: "look" },
      { type: "custom", name: "patch", ...random.chance(0.5) && { format } },
      { type: "namespace", name: "n", tools: [{ type: "function", name: "a" }] },
      { type: "web_search" },
    ];
  }
  return body;
}

const RESPONSES_FIELDS = [
  "model",
  "input",
  "instructions",
  "max_output_tokens",
  "reasoning",
  "text",
  "include",
  "tools",
  "tool_choice",
  "previous_response_id",
  "store",
  "metadata",
  "stream",
  "__proto__",
] as const;

const MESSAGES_FIELDS = [
  "model",
  "messages",
  "system",
  "max_tokens",
  "thinking",
  "output_config",
  "tools",
  "tool_choice",
  "stop_sequences",
  "stream",
  "metadata",
  "context_management",
  "thread",
  "__proto__",
] as const;

const FIELDS = [
  "model",
  "messages",
  "temperature",
  "top_p",
  "top_k",
  "min_p",
  "seed",
  "n",
  "stop",
  "stream",
  "stream_options",
  "logprobs",
  "top_logprobs",
  "logit_bias",
  "presence_penalty",
  "repetition_penalty",
  "tools",
  "tool_choice",
  "response_format",
  "chat_template_kwargs",
  "continue_final_message",
  "user",
  "__proto__",
  "constructor",
  "\u202e\r\nx-evil: 1",
] as const;

/** A value that some reader somewhere has stumbled over, as JSON text. */
function hostileValue(random: Random, depth = 0): string {
  return random.pick<() => string>([
    () => "null",
    () => "true",
    () => random.pick(["0", "-0", "-1", "1e999", "-1e999", "1e-999", "9007199254740993", "1e308", "0.1e1", "NaN"]),
    () =>
      random.pick(['""', '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\u202e"', '"\\uD83D\\uDE00"', '"🏴\u200d☠️"']),
    () => JSON.stringify("A".repeat(random.below(3000))),
    () => JSON.stringify("[".repeat(500)),
    () => `${"[".repeat(1 + random.below(300))}${"]".repeat(random.below(300))}`,
    () => `{"a":`.repeat(200) + "1" + "}".repeat(200),
    () => `[${Array.from({ length: random.below(6) }, () => depth < 3 ? hostileValue(random, depth + 1) : "1")}]`,
    () =>
      `{"__proto__":{"polluted":true},"role":"user","content":${depth < 3 ? hostileValue(random, depth + 1) : "1"}}`,
    () => `{"type":"text","text":${depth < 3 ? hostileValue(random, depth + 1) : "1"}}`,
    () => `{"${random.below(100_000)}":${random.pick(["-100", "100", "1e9", '"x"'])}}`,
  ])();
}

function mutatedFields(random: Random): Attack {
  const wire = random.pick(["chat", "messages", "responses"] as const);
  const { good, names, prompt } = WIRES[wire];
  const body = good(random);
  const fields = Object.entries(body).map(([name, value]): [string, string] => [name, JSON.stringify(value)]);
  for (let i = 0; i <= random.below(3); i++) {
    fields.push([random.pick<string>(names), hostileValue(random)]);
  }
  if (random.chance(0.2)) fields.push([prompt, `[${hostileValue(random)},${hostileValue(random)}]`]);
  const text = `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
  return { name: `fields ${text.slice(0, 300)}`, pieces: [post(random, utf8.encode(text), wire)], leave: "end" };
}

function damagedBytes(random: Random): Attack {
  const body = utf8.encode(JSON.stringify(goodBody(random)));
  const damaged = random.pick<() => Uint8Array>([
    () => body.slice(0, random.below(body.length)),
    () => random.bytes(random.below(2000)),
    () => {
      const flipped = body.slice();
      for (let i = 0; i < 4; i++) flipped[random.below(flipped.length)] = random.below(256);
      return flipped;
    },
    () => utf8.encode("[".repeat(2000 + random.below(50_000))),
    () => utf8.encode('{"a":'.repeat(2000)),
    () => new Uint8Array(9 * 2 ** 20),
    () => Uint8Array.from([0xef, 0xbb, 0xbf, ...body]),
  ])();
  return { name: `bytes ${damaged.length}`, pieces: [post(random, damaged)], leave: "end" };
}

/** Heads that a parser may read in two ways. The answer may be a closed connection. */
function oddHead(random: Random): Attack {
  const body = JSON.stringify(goodBody(random));
  const length = utf8.encode(body).length;
  const line = "POST /v1/chat/completions HTTP/1.1\r\n";
  const head = random.pick([
    `${line}host: evil.example\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\norigin: https://evil.example\r\ncontent-length: ${length}\r\n`,
    `${line}content-length: ${length}\r\n`,
    `${line}host: localhost\r\nhost: evil.example\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\ncontent-length: ${length}\r\ncontent-length: 3\r\n`,
    `${line}host: localhost\r\ncontent-length: -5\r\n`,
    `${line}host: localhost\r\ncontent-length: 99999999999999999999\r\n`,
    `${line}host: localhost\r\ncontent-length: ${length}\r\ntransfer-encoding: chunked\r\n`,
    `${line}host: localhost\r\ntransfer-encoding: chunked, gzip\r\n`,
    `${line}host: localhost\r\ncontent-encoding: gzip\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\nx-long: ${"a".repeat(20_000)}\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\nauthorization: ${"Bearer ".repeat(50)}\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\nx-bad\u0001: 1\r\ncontent-length: ${length}\r\n`,
    `${line}host: localhost\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: ${length}\r\n`,
    `POST /v1/chat/completions HTTP/1.0\r\nhost: localhost\r\ncontent-length: ${length}\r\n`,
    `POST /v1/chat/completions HTTP/9.9\r\nhost: localhost\r\ncontent-length: ${length}\r\n`,
    `POST http://evil.example/v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n`,
  ]);
  return {
    name: `head ${JSON.stringify(head.slice(0, 200))}`,
    pieces: [utf8.encode(`${head}\r\n${body}`)],
    leave: "midway",
  };
}

/** Good requests whose clients do not wait. */
function leaver(random: Random): Attack {
  const wire = random.pick(["chat", "messages", "responses"] as const);
  const whole = post(random, utf8.encode(JSON.stringify(WIRES[wire].good(random))), wire);
  const leave: Attack["leave"] = random.pick(["written", "midway"]);
  const sent = leave === "written" && random.chance(0.5) ? whole.slice(0, random.below(whole.length)) : whole;
  return { name: `leaves ${leave} after ${sent.length} of ${whole.length} bytes`, pieces: [sent], leave };
}

/** A body in crumbs, whole or not. */
function slowBody(random: Random): Attack {
  const whole = post(random, utf8.encode(JSON.stringify(goodBody(random))));
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < whole.length;) {
    const size = 1 + random.below(Math.ceil(whole.length / 4));
    pieces.push(whole.slice(at, at + size));
    at += size;
  }
  if (random.chance(0.3)) return { name: "slow, then leaves", pieces: pieces.slice(0, -1), leave: "written" };
  return { name: "slow", pieces, leave: "end" };
}

function oddPath(random: Random): Attack {
  const method = random.pick(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "PATCH", "BREW"]);
  const path = random.pick([
    "/",
    "/v1/models/../../etc/passwd",
    "/v1/models/%00",
    "/v1/models/%E0%A4%A",
    `/v1/models/${"a/".repeat(500)}`,
    "/v1//chat/completions",
    "/v1/chat/completions/",
    "/%2e%2e/%2e%2e",
    "/v1/responses",
    "/v1/responses/x",
    "/v1/responses/%00/input_items?limit=-1",
    `/v1/responses/resp_${"0".repeat(3000)}`,
    "/v1/messages",
    "/v1/messages/batches",
    "/v1/embeddings",
    "/metrics",
    "/v1/status?x=" + "y".repeat(3000),
    "/v1/models?limit=1e9",
    "*",
    "//evil.example/",
  ]);
  const text = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
  return { name: `path ${method} ${path.slice(0, 100)}`, pieces: [utf8.encode(text)], leave: "end" };
}

/** The wires: a good body, fields to damage, the prompt's, paths. */
const WIRES = {
  chat: {
    good: goodBody,
    names: FIELDS,
    prompt: "messages",
    paths: ["/v1/chat/completions", "/v1/chat/completions", "/chat/completions", "/v1/completions"],
  },
  messages: {
    good: goodMessages,
    names: MESSAGES_FIELDS,
    prompt: "messages",
    paths: ["/v1/messages", "/v1/messages?beta=true", "/messages", "/v1/messages/count_tokens"],
  },
  responses: {
    good: goodResponses,
    names: RESPONSES_FIELDS,
    prompt: "input",
    paths: ["/v1/responses", "/responses", "/v1/responses/input_tokens"],
  },
} as const;

/** A POST of a body, by length or in chunks. */
function post(random: Random, body: Uint8Array, wire: keyof typeof WIRES = "chat"): Uint8Array {
  const path = random.pick<string>(WIRES[wire].paths);
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  if (random.chance(0.8)) return join(utf8.encode(`${head}content-length: ${body.length}\r\n\r\n`), body);
  const size = utf8.encode(`${head}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`);
  const end = utf8.encode(body.length === 0 ? "\r\n" : "\r\n0\r\n\r\n");
  return join(size, body, end);
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
