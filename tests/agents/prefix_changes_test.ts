/**
 * What agents change between two requests without meaning anything by it, and what they change and do mean.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { TextModel } from "../../src/prompt/text_model.ts";
import { spell } from "../../src/route/kept/read_turn.ts";
import { type Chain, toChains } from "./prefix/chains.ts";
import { PREFIX_MODELS } from "./prefix/models.ts";
import { playChain } from "./prefix/play.ts";
import { commonLength, type Exchange, openPrefixServer, openPrefixText } from "./prefix/server.ts";
import type { Json } from "./prefix/wires.ts";
import { readRequests } from "./record.ts";

const recorded = await readRequests();

/** A conversation of a program that reads and edits; with thinking, or without. */
function chainOf(id: string, thinks: boolean): Chain {
  const chains = toChains(recorded.get(id) ?? { program: id, requests: [] });
  const found = chains.find(({ steps }) => steps.length > 2 && (steps[0]?.said?.reasoning !== "") === thinks);
  if (found === undefined) throw new Error(`No recorded conversation of ${id} has three requests`);
  return found;
}

const model = PREFIX_MODELS.find(({ name }) => name === "Qwen3")!;

/** Cases by name; all share one text side. */
const CASES = new Map<string, (text: TextModel) => Promise<void>>();

async function play(text: TextModel, chain: Chain, change?: (body: Json, step: number) => Json): Promise<Exchange[]> {
  await using server = await openPrefixServer(model, text);
  await playChain(server, chain, change);
  return server.exchanges;
}

function assertKept(exchanges: readonly Exchange[]): void {
  for (const [at, { prompt, drawn }] of exchanges.slice(0, -1).entries()) {
    const whole = Int32Array.from([...prompt, ...drawn]);
    assert.equal(commonLength(whole, exchanges[at + 1]!.prompt), whole.length, `step ${at}`);
  }
}

/** Applies a change to every object of a JSON value. */
function mapObjects(value: Json, change: (object: Json) => Json): Json {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, change));
  if (typeof value !== "object" || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapObjects(item, change)])));
}

function sortKeys(value: Json): Json {
  return mapObjects(value, (object) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1)));
}

/** The calls of a chat, their arguments written anew. */
function rewriteCalls(body: Json, write: (json: Json) => string): Json {
  return mapObjects(body, (object) => {
    if (typeof object.arguments !== "string") return object;
    return { ...object, arguments: write(JSON.parse(object.arguments)) };
  });
}

CASES.set("Billing lines, sessions, cache hints and the form of contents change nothing", async (text) => {
  const chain = chainOf("claude-code", true);
  const plain = await play(text, chain);
  assertKept(plain);
  const changed = await play(text, chain, (body, step) => {
    const billing = `x-anthropic-billing-header: cc_version=2.1.332.a${step}${step}; cc_entrypoint=cli; cch=${step};`;
    const moved = mapObjects(body, ({ cache_control: _, ...object }) =>
      // Texts as one part in one request, and as a string in the next.
      typeof object.content === "string" && object.role !== undefined && step % 2 === 1
        ? { ...object, content: [{ type: "text", text: object.content, cache_control: { type: "ephemeral" } }] }
        : object);
    return {
      ...moved,
      system: [{ type: "text", text: billing }, ...moved.system],
      metadata: { user_id: `user ${step}` },
    };
  });
  assert.deepEqual(changed.map(({ prompt }) => prompt), plain.map(({ prompt }) => prompt));
});

CASES.set(
  "Calls that come back with sorted keys, other blanks and escapes have the tokens that were drawn",
  async (text) => {
    const chain = chainOf("opencode", true);
    for (
      const write of [
        (json: Json) => JSON.stringify(sortKeys(json)),
        (json: Json) => JSON.stringify(json, null, 4),
        (json: Json) => JSON.stringify(json).replaceAll("/", "\\/"),
      ]
    ) assertKept(await play(text, chain, (body) => rewriteCalls(body, write)));
  },
);

CASES.set("Defaults of the tool's schema that a client puts in are no change", async (text) => {
  const chain = chainOf("claude-code", false);
  const returned = JSON.stringify(chain.steps.at(-1)?.body);
  assert.match(returned, /"replace_all":false/);
  const exchanges = await play(text, chain);
  assert.doesNotMatch(spell(text.vocabulary, exchanges.at(-1)!.prompt), /"replace_all": ?false/);
});

CASES.set("Reasoning that a client drops is rendered all the same, where the template shows it", async (text) => {
  const chain = chainOf("opencode", true);
  const drop = (body: Json): Json => mapObjects(body, ({ reasoning_content: _, ...object }) => object);
  const dropped = await play(text, chain, drop);
  assertKept(dropped);
  assert.deepEqual(dropped, await play(text, chain));
});

/** A prompt's text with its calls in one writing. */
function toMeaning({ vocabulary }: TextModel, { prompt }: Exchange): string {
  const text = spell(vocabulary, prompt);
  const first = text.indexOf("<|im_start|>user");
  return text.slice(0, first) + text.slice(first).replaceAll(/<tool_call>\n(.*)\n<\/tool_call>/g, (_, json) => (
    JSON.stringify(sortKeys(JSON.parse(json)))
  ));
}

/** Changes that mean something: what the template would write of them is what the prompt has. */
const EDITS: Readonly<Record<string, (body: Json) => Json>> = {
  "other arguments": (body) => rewriteCalls(body, (json) => JSON.stringify({ ...json, filePath: "/elsewhere" })),
  "an argument more": (body) => rewriteCalls(body, (json) => JSON.stringify({ ...json, more: 1 })),
  "an argument less": (body) => rewriteCalls(body, ({ filePath: _, ...json }) => JSON.stringify(json)),
  "other reasoning": (body) =>
    mapObjects(
      body,
      (object) => object.reasoning_content === undefined ? object : { ...object, reasoning_content: "Something else." },
    ),
  "other text": (body) =>
    mapObjects(
      body,
      (object) => object.role === "assistant" ? { ...object, content: "Put in by the client." } : object,
    ),
};

for (const [name, edit] of Object.entries(EDITS)) {
  CASES.set(`A turn with ${name} is rendered as the client has it`, async (text) => {
    const chain = chainOf("opencode", true);
    const exchanges = await play(text, chain, edit);
    // A server that has answered nothing gets the last request, with the ids that the other one gave.
    const last = chain.steps.at(-1)!;
    const fresh = await play(text, { ...chain, steps: [{ ...last, items: [] }] }, edit);
    assert.equal(toMeaning(text, exchanges.at(-1)!), toMeaning(text, fresh[0]!));
  });
}

CASES.set("Kept and rendered prompts say the same but for how calls are written", async (text) => {
  const chain = chainOf("opencode", true);
  const kept = (await play(text, chain)).at(-1)!;
  const [rendered] = await play(text, { ...chain, steps: [{ ...chain.steps.at(-1)!, items: [] }] });
  assert.notEqual(spell(text.vocabulary, kept.prompt), spell(text.vocabulary, rendered!.prompt));
  assert.equal(toMeaning(text, kept), toMeaning(text, rendered!));
});

CASES.set("Tokens are counted as they are prefilled", async (text) => {
  const chain = chainOf("claude-code", true);
  await using server = await openPrefixServer(model, text);
  const bodies: Json[] = [];
  const ask = server.ask;
  const counted: number[] = [];
  server.ask = async (route, body, said) => {
    bodies.push(body);
    const response = await server.app.post(`${route}/count_tokens`, { ...body, model: "default" });
    counted.push((await response.json()).input_tokens);
    const answer = await ask(route, body, said);
    if (bodies.length > 1) assert.equal(answer.usage.rapid_mlx.kept_turns, bodies.length - 1);
    return answer;
  };
  await playChain(server, chain);
  assert.deepEqual(counted, server.exchanges.map(({ prompt }) => prompt.length));
});

Deno.test("What agents change between two requests", async (context) => {
  const text = await openPrefixText(model);
  try {
    for (const [name, run] of CASES) await context.step(name, () => run(text));
  } finally {
    await text.close();
  }
});
