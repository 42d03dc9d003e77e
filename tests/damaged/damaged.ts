/**
 * Damaged answers from a real model: `deno task test:damaged --url URL [--count 500] [--seed N] [--at-once 16]`.
 *
 * A small model at temperature 1 is shown calls, and the tokens of their markup are made likelier: much of what it
 * writes is half a call. Whatever it is, the answer must not be a 5xx, the server's account must have lost no
 * character, and must agree with what arrived. The server must run with `--record-content`: it tells those tokens' ids.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { type RequestRecord, RequestRecordSchema } from "../../src/api/request_record.ts";
import { randomFrom } from "../golden/tokens/texts.ts";

/** What a run saw. */
export interface DamagedReport {
  /** Answered requests. */
  requests: number;
  /** HTTP status → requests. */
  statuses: Record<string, number>;
  /** Reason → choices. */
  finishes: Record<string, number>;
  /** Whole calls. */
  calls: number;
  /** Name → times. */
  repairs: Record<string, number>;
  /** Sums over all answers, as the server accounts for them. */
  characters: Record<string, number>;
  /** What must not be; empty if all is well. */
  violations: string[];
}

/** How a run is made. */
export interface DamagedOptions {
  /** A server, without `/v1`. */
  url: string;
  /** Requests. */
  count: number;
  /** Makes a run repeat as far as the server's seeds go. */
  seed: number;
  /** Requests at once. */
  atOnce: number;
  /** Most tokens of an answer. */
  maxTokens: number;
}

const TOOLS = [
  { name: "add_note", properties: { text: { type: "string" }, stars: { type: "integer" } } },
  { name: "get_time", properties: { city: { type: "string" } } },
].map(({ name, properties }) => ({ type: "function", function: { name, parameters: { type: "object", properties } } }));

const ASKS = [
  'Keep a note that says "buy figs" and give it 5 stars.',
  "What time is it in Lima and in Oslo?",
  "Note the word naïve, then the emoji 🙂.",
];

/** Turns that show the form of a call, so that the model tries it too. */
const SHOWN = [
  { role: "user", content: "Time in Rome?" },
  { role: "assistant", content: null, tool_calls: [callOf("call_1", "get_time", '{"city": "Rome"}')] },
  { role: "tool", tool_call_id: "call_1", content: "12:30" },
];

/** What calls are written with: the tokens of these are made likelier, some more and some less. */
const MARKUP = '<tool_call>\n{"name": "add_note", "arguments": {"text": "a", "stars": 5}}\n</tool_call>';

function callOf(id: string, name: string, json: string): object {
  return { id, type: "function", function: { name, arguments: json } };
}

/** Asks as often as said. */
export async function runDamaged(options: DamagedOptions): Promise<DamagedReport> {
  const report: DamagedReport = {
    requests: 0,
    statuses: {},
    finishes: {},
    calls: 0,
    repairs: {},
    characters: {},
    violations: [],
  };
  const random = randomFrom(options.seed);
  const markup = await findMarkupTokens(options.url);
  const bodies = Array.from({ length: options.count }, (_, at) => toBody(at, random, options.maxTokens, markup));
  await Promise.all(Array.from({ length: options.atOnce }, async () => {
    for (let body = bodies.shift(); body !== undefined; body = bodies.shift()) await ask(options.url, body, report);
  }));
  return report;
}

/** Ids of the markup's tokens, read from the record of a request. @throws {Error} If the server keeps no content. */
async function findMarkupTokens(url: string): Promise<number[]> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ prompt: MARKUP, max_tokens: 1 });
  const response = await fetch(`${url}/v1/completions`, { method: "POST", headers, body });
  await response.text();
  const record = await (await fetch(`${url}/v1/requests/${response.headers.get("x-request-id")}`)).json();
  const ids: number[] | undefined = record.content?.prompts[0]?.ids;
  if (ids === undefined) throw new Error("The server keeps no content: start it with --record-content");
  return [...new Set(ids)];
}

function toBody(
  at: number,
  random: () => number,
  maxTokens: number,
  markup: readonly number[],
): Record<string, unknown> {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  return {
    messages: [...random() < 0.5 ? SHOWN : [], { role: "user", content: pick(ASKS) }],
    tools: TOOLS,
    temperature: 1,
    top_p: 1,
    seed: at,
    logit_bias: Object.fromEntries(markup.map((id) => [id, Math.round(random() * 90) / 10])),
    max_tokens: 16 + Math.floor(random() * (maxTokens - 15)),
    stream: random() < 0.5,
    n: random() < 0.1 ? 2 : 1,
    ...random() < 0.1 && { tool_choice: "required" },
    ...random() < 0.1 && { parallel_tool_calls: false },
    ...random() < 0.2 && { stop: [pick(["</tool_call>", '"}', "\n\n", "the"])] },
    ...random() < 0.1 && { logprobs: true },
  };
}

async function ask(url: string, body: Record<string, unknown>, report: DamagedReport): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const id = response.headers.get("x-request-id") ?? "";
  const answered = await (await fetch(`${url}/v1/requests/${id}`)).json();
  const violate = (what: string): void => void report.violations.push(`${id} (seed ${body.seed}): ${what}`);
  report.requests++;
  report.statuses[response.status] = (report.statuses[response.status] ?? 0) + 1;
  if (response.status >= 500) violate(`${response.status}: ${text.slice(0, 300)}`);
  const parsed = RequestRecordSchema.safeParse(answered);
  if (!parsed.success) return violate(`no record: ${JSON.stringify(answered).slice(0, 300)}`);
  const record = parsed.data;
  // A call that is required and not made is no answer: 422, or an error chunk of a stream.
  const isRefused = record.error?.code === "tool_choice_required_unfulfilled";
  if (record.error !== null && !isRefused) violate(`${record.error.code}: ${record.error.message}`);
  addNumbers(record, report, violate);
  if (!isRefused && response.ok) {
    compareWithSeen(record, body.stream === true ? joinStream(text) : readWhole(text), violate);
  }
}

function addNumbers(record: RequestRecord, report: DamagedReport, violate: (what: string) => void): void {
  for (const { finish_reason, calls, repairs, characters } of record.choices) {
    const finish = finish_reason ?? "none";
    report.finishes[finish] = (report.finishes[finish] ?? 0) + 1;
    report.calls += calls;
    for (const { name, count } of repairs) report.repairs[name] = (report.repairs[name] ?? 0) + count;
    for (const [name, count] of Object.entries(characters)) {
      report.characters[name] = (report.characters[name] ?? 0) + count;
    }
    const { raw, ...parts } = characters;
    if (characters.lost !== 0) violate(`${characters.lost} characters were lost`);
    if (Object.values(parts).reduce((sum, part) => sum + part) !== raw) violate("the parts are not the whole");
    if (record.error === null && characters.withheld !== 0) violate(`${characters.withheld} characters were withheld`);
  }
}

interface Seen {
  content: string;
  calls: { name: string; json: string }[];
}

function compareWithSeen(record: RequestRecord, seen: Map<number, Seen>, violate: (what: string) => void): void {
  for (const choice of record.choices) {
    const { content = "", calls = [] } = seen.get(choice.index) ?? {};
    if (content.length !== choice.characters.content) {
      violate(`the client has ${content.length} characters of content, the server sent ${choice.characters.content}`);
    }
    if (calls.length !== choice.calls) violate(`the client has ${calls.length} calls, the server sent ${choice.calls}`);
    for (const { name, json } of calls) {
      if (!TOOLS.some((tool) => tool.function.name === name)) violate(`${name} was never declared`);
      if (!isObject(json)) violate(`arguments that are no object: ${json}`);
    }
    if (choice.finish_reason === "tool_calls" && calls.length === 0) violate("tool_calls without a call");
  }
}

function readWhole(text: string): Map<number, Seen> {
  // deno-lint-ignore no-explicit-any -- a test reads what it expects
  const choices: any[] = JSON.parse(text).choices;
  return new Map(choices.map(({ index, message }) => [index, {
    content: message.content ?? "",
    // deno-lint-ignore no-explicit-any -- the same
    calls: (message.tool_calls ?? []).map((call: any) => ({ name: call.function.name, json: call.function.arguments })),
  }]));
}

function joinStream(text: string): Map<number, Seen> {
  const seen = new Map<number, Seen>();
  for (const frame of text.split("\n\n")) {
    if (!frame.startsWith("data: {")) continue;
    for (const { index, delta } of JSON.parse(frame.slice("data: ".length)).choices ?? []) {
      const one = seen.get(index) ?? { content: "", calls: [] };
      seen.set(index, one);
      one.content += delta.content ?? "";
      for (const call of delta.tool_calls ?? []) {
        const open = one.calls[call.index] ??= { name: "", json: "" };
        open.name += call.function?.name ?? "";
        open.json += call.function?.arguments ?? "";
      }
    }
  }
  return seen;
}

function isObject(json: string): boolean {
  try {
    const value = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: Deno.args,
    options: { url: text, count: { ...text, default: "500" }, seed: text, "at-once": { ...text, default: "16" } },
  });
  if (values.url === undefined) throw new Error("--url is missing: the address of a running server, without /v1");
  const seed = Number(values.seed ?? crypto.getRandomValues(new Uint32Array(1))[0]);
  const { count, "at-once": atOnce } = values;
  const startMs = performance.now();
  const options = { url: values.url, count: Number(count), seed, atOnce: Number(atOnce), maxTokens: 96 };
  const { violations, ...report } = await runDamaged(options);
  // deno-lint-ignore no-console -- a program of the command line
  console.log(
    JSON.stringify({ seed, seconds: Math.round((performance.now() - startMs) / 1000), ...report }, undefined, 1),
  );
  // deno-lint-ignore no-console -- the same
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) Deno.exit(1);
}
