// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Bound answers of a real model at temperature 1: `deno task test:structure --url URL [--count 60] [--calls 100]`.
 *
 * Every answer that ends in `stop` must be valid in the eyes of ajv, and one that was cut must say `length`; every
 * answer for which a call is required must make a valid one. Schemas are asked for alone and eight at once, streamed
 * and not.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { REFUSED_KEYWORDS } from "../../src/grammar/schema/keywords.ts";
import { judgeOf } from "./judge.ts";
import { type Schema, SCHEMAS, TOOLS } from "./schemas.ts";

/** What a run saw. */
export interface StructureReport {
  /** How the schemas were asked for → how the answers ended. */
  answers: Record<string, { asked: number; ended: number; cut: number; tokens: number; seconds: number }>;
  /** Required calls. */
  calls: { asked: number; valid: number; tokens: number; seconds: number };
  /** Keywords that are not claimed, and how many of them were refused by name. */
  refused: { asked: number; named: number };
  /** What must not be; empty if all is well. */
  violations: string[];
}

/** How a run is made. */
export interface StructureOptions {
  /** A server, without `/v1`. */
  url: string;
  /** Schemas, from the first on. */
  count: number;
  /** Answers with a required call. */
  calls: number;
  /** Most tokens of an answer. */
  maxTokens: number;
  /** Seed of the first answer. */
  seed: number;
  /** Ways to ask: alone, or several at once. */
  atOnce: readonly number[];
}

const ASK = "Invent an example and answer in JSON.";

/** Asks for everything. */
export async function runStructure(options: StructureOptions): Promise<StructureReport> {
  const violations: string[] = [];
  const report: StructureReport = {
    answers: {},
    calls: { asked: 0, valid: 0, tokens: 0, seconds: 0 },
    refused: { asked: 0, named: 0 },
    violations,
  };
  for (const atOnce of options.atOnce) await askSchemas(atOnce, options, report);
  await askCalls(options, report);
  for (const keyword of REFUSED_KEYWORDS) {
    report.refused.asked++;
    const schema = { type: "object", properties: { a: { [keyword]: {} } } };
    const response = await post(options.url, { messages: [{ role: "user", content: ASK }], ...formatOf(schema) });
    const { error } = await response.json();
    const isNamed = response.status === 400 && String(error?.message).includes(`\`${keyword}\` at #/properties/a `);
    if (isNamed) report.refused.named++;
    else violations.push(`${keyword} was answered with ${response.status}: ${error?.message}`);
  }
  return report;
}

function formatOf(schema: Schema): object {
  return { response_format: { type: "json_schema", json_schema: { name: "example", schema, strict: true } } };
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** One answer. */
interface Answer {
  text: string;
  calls: { name: string; json: string }[];
  finish: string;
  tokens: number;
}

async function ask(url: string, body: object, stream: boolean): Promise<Answer> {
  const more = stream ? { stream: true, stream_options: { include_usage: true } } : {};
  const response = await post(url, { ...body, ...more });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  if (stream) return joinStream(await response.text());
  const { choices: [choice], usage } = await response.json();
  // deno-lint-ignore no-explicit-any -- a test reads what it expects
  const calls = (choice.message.tool_calls ?? []).map((call: any) => ({
    name: call.function.name,
    json: call.function.arguments,
  }));
  return { text: choice.message.content ?? "", calls, finish: choice.finish_reason, tokens: usage.completion_tokens };
}

function joinStream(body: string): Answer {
  const answer: Answer = { text: "", calls: [], finish: "", tokens: 0 };
  for (const frame of body.split("\n\n")) {
    if (!frame.startsWith("data: {")) continue;
    const { choices, usage } = JSON.parse(frame.slice("data: ".length));
    if (usage) answer.tokens = usage.completion_tokens;
    const choice = choices?.[0];
    if (choice === undefined) continue;
    answer.text += choice.delta.content ?? "";
    answer.finish = choice.finish_reason ?? answer.finish;
    for (const call of choice.delta.tool_calls ?? []) {
      const open = answer.calls[call.index] ??= { name: "", json: "" };
      open.name += call.function?.name ?? "";
      open.json += call.function?.arguments ?? "";
    }
  }
  return answer;
}

/** Runs jobs, at most so many at once. */
async function inLanes(jobs: readonly (() => Promise<void>)[], lanes: number): Promise<void> {
  const left = jobs.values();
  await Promise.all(Array.from({ length: lanes }, async () => {
    for (const job of left) await job();
  }));
}

async function askSchemas(atOnce: number, options: StructureOptions, report: StructureReport): Promise<void> {
  const row = report.answers[atOnce === 1 ? "alone" : `${atOnce} at once`] = {
    asked: 0,
    ended: 0,
    cut: 0,
    tokens: 0,
    seconds: 0,
  };
  const startMs = performance.now();
  const jobs = SCHEMAS.slice(0, options.count).map((schema, index) => async (): Promise<void> => {
    row.asked++;
    const body = {
      messages: [{ role: "user", content: `${ASK}\n${JSON.stringify(schema)}` }],
      temperature: 1,
      top_p: 1,
      seed: options.seed + index,
      max_tokens: options.maxTokens,
      ...formatOf(schema),
    };
    try {
      const { text, finish, tokens } = await ask(options.url, body, (index + atOnce) % 2 === 0);
      row.tokens += tokens;
      if (finish === "stop") {
        row.ended++;
        const fault = judgeOf(schema)(text);
        if (fault !== undefined) report.violations.push(`schema ${index}: ${fault}: ${text.slice(0, 300)}`);
      } else if (finish === "length" && tokens === options.maxTokens) row.cut++;
      else report.violations.push(`schema ${index} ended with ${finish} after ${tokens} tokens`);
    } catch (error) {
      report.violations.push(`schema ${index}: ${error instanceof Error ? error.message : error}`);
    }
  });
  await inLanes(jobs, atOnce);
  row.seconds = Math.round((performance.now() - startMs) / 1000);
}

async function askCalls(options: StructureOptions, { calls, violations }: StructureReport): Promise<void> {
  const tools = TOOLS.map((tool) => ({ type: "function", function: { ...tool, description: tool.name } }));
  const startMs = performance.now();
  const jobs = Array.from({ length: options.calls }, (_, index) => async (): Promise<void> => {
    calls.asked++;
    const body = {
      messages: [{ role: "user", content: "Do something useful for me." }],
      tools,
      tool_choice: "required",
      parallel_tool_calls: index % 3 === 0,
      temperature: 1,
      top_p: 1,
      seed: options.seed + index,
      max_tokens: options.maxTokens,
    };
    try {
      const answer = await ask(options.url, body, index % 2 === 0);
      calls.tokens += answer.tokens;
      const faults = answer.calls.flatMap(({ name, json }) => {
        const tool = TOOLS.find((one) => one.name === name);
        return tool === undefined ? [`${name} was never declared`] : judgeOf(tool.parameters)(json) ?? [];
      });
      const isWhole = answer.finish === "tool_calls" && answer.calls.length > 0 && faults.length === 0;
      if (isWhole) calls.valid++;
      else violations.push(`call ${index}: ${answer.finish}, ${answer.calls.length} calls, ${faults.join("; ")}`);
    } catch (error) {
      violations.push(`call ${index}: ${error instanceof Error ? error.message : error}`);
    }
  });
  await inLanes(jobs, 4);
  calls.seconds = Math.round((performance.now() - startMs) / 1000);
}

if (import.meta.main) {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: Deno.args,
    options: { url: text, count: { ...text, default: "60" }, calls: { ...text, default: "100" }, seed: text },
  });
  if (values.url === undefined) throw new Error("--url is missing: the address of a running server, without /v1");
  const { violations, ...report } = await runStructure({
    url: values.url,
    count: Number(values.count),
    calls: Number(values.calls),
    maxTokens: 1024,
    seed: Number(values.seed ?? 1),
    atOnce: [1, 8],
  });
  // deno-lint-ignore no-console -- a program of the command line
  console.log(JSON.stringify(report, undefined, 1));
  // deno-lint-ignore no-console -- the same
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) Deno.exit(1);
}
