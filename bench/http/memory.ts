/**
 * `deno task bench:memory`: resident memory of `serve` with SmolLM2. Wanted: under 600 MB with 8 requests in flight,
 * and flat: under 1 MB a hundred requests.
 *
 *     deno task bench:memory [--requests 500] [--warm 200] [--flight 8] [--tokens 16] [--words 20] [--model FOLDER]
 *                            [--fake 20000] [--only real|fake|conversation]
 *
 * Requests are mixed: streams, whole answers, and clients that leave a stream early. Memory is read when a request has
 * ended and the others are in flight; the line through what was read after the warm-up is the slope. A collector makes
 * resident memory of a JavaScript process wander by tens of MB, so two things stand beside it: what the core says it
 * holds, which does not wander, and the same server on the fake core, where forty times as many requests take less
 * time. `conversation`: one of 4,000 tokens, beside what weights and keys and values take; wanted: 180 MB more.
 *
 * @module
 */
import { z } from "zod";
import { print, printTable, toSize } from "../../src/cli/terminal.ts";
import { Library } from "../../src/ffi/library.ts";
import { openReport } from "../../src/setup/report.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { readPeakBytes, readRssBytes } from "../process_usage.ts";
import { toWords } from "../prompts.ts";
import { toLine } from "../statistics.ts";
import { askChat, leaveChat, streamChat } from "./client.ts";
import { type ServerProcess, startFakeServer, startServe } from "./server_process.ts";

const Status = z.object({ memory: z.object({ active_bytes: z.int(), cache_bytes: z.int() }) });

/** Requests between two looks at /v1/status, when none is in flight. */
const BATCH = 20;
/** Words of some 4,000 tokens. */
const CONVERSATION_WORDS = 3_900;
/** Between two looks at the memory of an answer. */
const SAMPLE_MS = 20;
/** Rows of the table over time. */
const ROWS = 10;

/** Bytes after a number of requests. */
interface Sample {
  x: number;
  y: number;
}

/** One server's memory over its requests. */
interface Course {
  readyBytes: number;
  firstAnswerBytes: number;
  peakBytes: number | undefined;
  /** Resident, one a request. */
  resident: Sample[];
  /** Arrays of the core and freed buffers that it keeps, one a batch. */
  core: Sample[];
}

const flags = readFlags({ requests: 500, warm: 200, flight: 8, tokens: 16, words: 20, fake: 20_000 }, [
  "model",
  "only",
]);
const report = openReport();
const { library } = await ensureCore();
await printMachine("bench:memory", library);
if (flags.only === undefined || flags.only === "conversation") await measureConversation();
if (flags.only === undefined || flags.only === "real") {
  const folder = flags.model ?? await ensureDefaultModel();
  printCourse("serve with SmolLM2", await measure(await startServe(folder), flags.warm, flags.requests));
}
if (flags.only === undefined || flags.only === "fake") {
  const course = await measure(await startFakeServer(), flags.fake / 4, flags.fake);
  printCourse("the server on the fake core: no model, no arrays", course);
}
printLoad();

/** One long conversation, and what of the memory is neither weights nor keys and values. */
async function measureConversation(): Promise<void> {
  const folder = flags.model ?? await ensureDefaultModel();
  const opened = Library.open(library);
  const { weightBytes, kvBytesPerToken } = await opened.estimate(folder, {}).finally(() => opened.close());
  await using server = await startServe(folder);
  const question = { text: toWords(CONVERSATION_WORDS, 1), maxTokens: 64 };
  const samples: { ms: number; bytes: number }[] = [];
  const sampling = setInterval(async () => {
    samples.push({ ms: performance.now(), bytes: await readRssBytes(server.pid) });
  }, SAMPLE_MS);
  const { promptTokens, completionTokens, pieceMs } = await streamChat(server.url, question);
  clearInterval(sampling);
  const tokens = promptTokens + completionTokens;
  const residentBytes = toMean(
    samples.filter(({ ms }) => ms > (pieceMs[0] ?? NaN)).map(({ bytes }, x) => ({ x, y: bytes })),
  );
  const arrayBytes = weightBytes + tokens * kvBytesPerToken;
  print("\na long conversation");
  printTable([
    ["tokens", String(tokens)],
    ["resident while it is answered", toSize(residentBytes)],
    ["weights, keys and values", toSize(arrayBytes)],
    ["the rest (wanted: at most 180 MB)", toSize(residentBytes - arrayBytes)],
    ["high-water mark of the process", toSize(await readPeakBytes(server.pid) ?? NaN)],
  ]);
}

/** Owns the server. */
async function measure(
  server: ServerProcess,
  warm: number,
  requests: number,
): Promise<{ course: Course; warm: number }> {
  await using owned = server;
  const { url, pid } = owned;
  const readyBytes = await readRssBytes(pid);
  await askChat(url, toQuestion(0));
  const firstAnswerBytes = await readRssBytes(pid);
  const [resident, core]: [Sample[], Sample[]] = [[], []];
  for (let done = 0; done < warm + requests; done += BATCH) {
    await runBatch(url, done, async () => {
      resident.push({ x: resident.length + 1, y: await readRssBytes(pid) });
    });
    const { memory } = Status.parse(await (await fetch(`${url}/v1/status`)).json());
    core.push({ x: done + BATCH, y: memory.active_bytes + memory.cache_bytes });
    report.progress(`${done + BATCH} of ${warm + requests} requests, ${toSize(resident.at(-1)?.y ?? 0)}`);
  }
  return { course: { readyBytes, firstAnswerBytes, peakBytes: await readPeakBytes(pid), resident, core }, warm };
}

/** Runs a batch to its end, `flags.flight` requests at a time. */
async function runBatch(url: string, first: number, onEnd: () => Promise<void>): Promise<void> {
  let next = first;
  const work = async (): Promise<void> => {
    while (next < first + BATCH) {
      await run(url, next++);
      await onEnd();
    }
  };
  await Promise.all(Array.from({ length: flags.flight }, work));
}

/** One request: every third leaves early, the others stream or wait. */
async function run(url: string, number: number): Promise<void> {
  const question = toQuestion(number + 1);
  if (number % 3 === 2) await leaveChat(url, question, 1 + number % 7);
  else if (number % 3 === 1) await askChat(url, question);
  else await streamChat(url, question);
}

/** Every tenth question is ten times as long. */
function toQuestion(number: number): { text: string; maxTokens: number } {
  const words = flags.words * (number % 10 === 9 ? 10 : 1);
  return { text: `Write about ${toWords(words, number)}.`, maxTokens: flags.tokens };
}

function printCourse(title: string, { course, warm }: { course: Course; warm: number }): void {
  const { readyBytes, firstAnswerBytes, peakBytes, resident, core } = course;
  const toSlope = (samples: readonly Sample[]): string => {
    const { slope, slopeError } = toLine(samples.filter(({ x }) => x > warm));
    return `${(slope * 100 / 1e6).toFixed(3)} ± ${(slopeError * 100 / 1e6).toFixed(3)} MB`;
  };
  print(`\n${title}`);
  printTable([
    ["ready", toSize(readyBytes)],
    ["after one answer", toSize(firstAnswerBytes)],
    [`largest with ${flags.flight} in flight`, toSize(Math.max(...resident.map(({ y }) => y)))],
    ["high-water mark of the process", peakBytes === undefined ? "–" : toSize(peakBytes)],
    [`resident, slope a 100 requests of ${resident.length - warm} after ${warm}`, toSlope(resident)],
    ["arrays and buffers of the core, slope a 100 requests", toSlope(core)],
  ]);
  const step = Math.max(1, Math.floor(core.length / ROWS));
  printTable([
    ["requests", "resident, mean", "core"],
    ...core.filter((_, i) => i % step === step - 1).map(({ x, y }) => [
      String(x),
      toSize(toMean(resident.filter((sample) => sample.x > x - step * BATCH && sample.x <= x))),
      toSize(y),
    ]),
  ]);
}

function toMean(samples: readonly Sample[]): number {
  return samples.reduce((sum, { y }) => sum + y, 0) / samples.length;
}
