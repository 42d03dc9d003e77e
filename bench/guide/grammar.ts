/**
 * `deno task bench:grammar`: what it costs to say which tokens may come next, at the 151,669 tokens of Qwen3's
 * vocabulary: in the worker, and by a guide, which asks the worker where it does not know.
 *
 *     deno task bench:grammar [--tokens 400] [--step-us 6300] [--model FOLDER]
 *
 * An answer is drawn at random from the masks themselves. *first*: the grammar has never been followed; *again*: the
 * same answer once more; *new worker*: the first answer of a worker that has just begun, which is what a server's
 * first bound request meets. The share is of a decode step of `--step-us` (SmolLM2-135M at 159 tokens/s). V8 has the
 * flags of a server.
 *
 * @module
 */
import { anyObject, compileSchema } from "../../src/grammar/schema/compile.ts";
import type { Grammar } from "../../src/grammar/expr.ts";
import { GrammarGuide } from "../../src/guide/grammar_guide.ts";
import { GrammarStore, type Matcher } from "../../src/guide/grammar_store.ts";
import { GrammarWorker } from "../../src/guide/grammar_worker.ts";
import { toTokenSet } from "../../src/guide/token_set.ts";
import { warmUp } from "../../src/guide/warm_up.ts";
import { toAnswerGrammar } from "../../src/output/answer_grammar.ts";
import { CallRequest } from "../../src/output/tools/call_request.ts";
import { loadTextFiles } from "../../src/prompt/text_files.ts";
import { toTokenTable } from "../../src/prompt/token_bytes.ts";
import { print } from "../../src/cli/terminal.ts";
import { randomFrom } from "../../tests/golden/tokens/texts.ts";
import { requireTextPackage } from "../../tests/support/packages.ts";
import { readFlags } from "../flags.ts";
import type { NewIsolateCall, NewIsolateTimes } from "./new_isolate.ts";

const flags = readFlags({ tokens: 400, "step-us": 6300 }, ["model"]);
const files = await loadTextFiles(flags.model ?? await requireTextPackage("qwen3"));
const table = toTokenTable(files.tokenizer);
const size = table.special.length;
const tools = Array.from({ length: 62 }, (_, index) => ({
  name: `tool_number_${index}`,
  parameters: {
    type: "object",
    properties: Object.fromEntries(
      ["path", "content", "limit", "options"].map((name, at) => [
        name,
        [
          { type: "string" },
          { type: "string", maxLength: 2000 },
          { type: "integer", minimum: 1, maximum: 500 },
          { type: "object", additionalProperties: { type: "string" } },
        ][at],
      ]),
    ),
    required: ["path"],
    description: "x".repeat(1000),
  },
}));
const STREAMS = 8;
const dialect = { tools: "hermes", reasoning: "none" } as const;

const GRAMMARS: readonly [name: string, make: () => Grammar][] = [
  ["json_object", anyObject],
  ["string, maxLength 200", () => compileSchema({ type: "string", minLength: 100, maxLength: 200 })],
  ["list of objects", () =>
    compileSchema({
      type: "array",
      minItems: 20,
      items: {
        type: "object",
        properties: { name: { type: "string", maxLength: 20 }, age: { type: "integer", minimum: 0, maximum: 120 } },
        required: ["name", "age"],
        additionalProperties: false,
      },
    })],
  [
    "62 tools, a call required",
    () => toAnswerGrammar({ dialect, prompt: "", calls: new CallRequest(tools, null, () => {}) }),
  ],
];

function quantile(times: readonly number[], share: number): string {
  const sorted = times.toSorted((left, right) => left - right);
  return (1000 * (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)).toFixed(1);
}

/** A token that a mask allows, not an end token if there is another. */
function draw(words: Uint32Array, random: () => number): number | undefined {
  const ends = new Set(files.endTokens);
  for (let tries = 0; tries < 20_000; tries++) {
    const token = Math.floor(random() * size);
    if (!ends.has(token) && ((words[token >>> 5] ?? 0) >>> (token & 31)) & 1) return token;
  }
  for (let token = 0; token < size; token++) {
    if (!ends.has(token) && ((words[token >>> 5] ?? 0) >>> (token & 31)) & 1) return token;
  }
  return undefined;
}

/** Microseconds of accepting and masking, token by token. */
function follow(matcher: Matcher, answer: number[], random: (() => number) | undefined): number[] {
  const words = new Uint32Array(Math.ceil(size / 32));
  matcher.writeMask(words);
  const times: number[] = [];
  for (let at = 0; at < flags.tokens; at++) {
    const token = random === undefined ? answer[at] : draw(words, random);
    if (token === undefined) break;
    answer[at] = token;
    const start = performance.now();
    matcher.accept(token);
    matcher.writeMask(words);
    times.push(performance.now() - start);
  }
  return times;
}

/** The first answer of a worker of its own. */
async function followInNew(grammar: Grammar, tokens: readonly number[]): Promise<NewIsolateTimes> {
  const isolate = new Worker(new URL("./new_isolate.ts", import.meta.url), { type: "module" });
  try {
    return await new Promise((resolve, reject) => {
      isolate.onmessage = ({ data }: MessageEvent<NewIsolateTimes>): void => resolve(data);
      isolate.onerror = (event): void => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      isolate.postMessage({ vocabulary, grammar, tokens } satisfies NewIsolateCall);
    });
  } finally {
    isolate.terminate();
  }
}

function printTimes(label: string, times: readonly number[]): void {
  const mean = times.reduce((sum, time) => sum + time, 0) * 1000 / Math.max(1, times.length);
  const share = 100 * mean / flags["step-us"];
  print(
    `  ${label}  ${times.length} tokens, µs: median ${quantile(times, 0.5)}, p99 ${quantile(times, 0.99)}, ` +
      `mean ${mean.toFixed(1)}: ${share.toFixed(2)} % of a step`,
  );
}

/** Milliseconds until every stream of a step has its mask. */
async function followTogether(grammar: Grammar, key: string, answer: readonly number[]): Promise<number[]> {
  const guides = Array.from(
    { length: STREAMS },
    () => new GrammarGuide({ worker, vocabulary, key, source: { grammar } }),
  );
  await Promise.all(guides.map((guide) => guide.next(0, undefined)));
  const times: number[] = [];
  for (const [at, token] of answer.entries()) {
    const sent = performance.now();
    await Promise.all(guides.map((guide) => guide.next(at + 1, token)));
    times.push(performance.now() - sent);
  }
  for (const guide of guides) guide.close();
  return times;
}

let start = performance.now();
const set = toTokenSet(table, size, files.endTokens);
print(`${size} tokens prepared in ${(performance.now() - start).toFixed(0)} ms`);
warmUp(set);
const worker = new GrammarWorker();
const vocabulary = { table, size, endTokens: files.endTokens };
for (const [name, make] of GRAMMARS) {
  const store = new GrammarStore(set);
  start = performance.now();
  const grammar = make();
  const made = performance.now() - start;
  const followed = store.prepare(name, grammar);
  const answer: number[] = [];
  print(`${name}: grammar ${made.toFixed(1)} ms, ready ${(performance.now() - start).toFixed(1)} ms`);
  const first = follow(store.start(followed), answer, randomFrom(1));
  const again = follow(store.start(followed), answer, undefined);
  printTimes("first", first);
  printTimes("again", again);
  const inNew = await followInNew(grammar, answer);
  printTimes("new worker", inNew.steps);
  print(
    `  new worker, ms: vocabulary ${inNew.vocabulary.toFixed(0)}, warm-up ${inNew.warmUp.toFixed(0)}, ` +
      `grammar and first mask ${inNew.ready.toFixed(1)}`,
  );
  const guide = new GrammarGuide({ worker, vocabulary, key: name, source: { grammar } });
  await guide.next(0, undefined);
  const trips: number[] = [];
  for (const [at, token] of answer.entries()) {
    const sent = performance.now();
    await guide.next(at + 1, token);
    trips.push(performance.now() - sent);
  }
  guide.close();
  print(`  by the guide, µs: median ${quantile(trips, 0.5)}, p99 ${quantile(trips, 0.99)}`);
  const together = await followTogether(grammar, name, answer);
  print(`  ${STREAMS} streams, all of a step, µs: median ${quantile(together, 0.5)}, p99 ${quantile(together, 0.99)}`);
}
worker.close();
