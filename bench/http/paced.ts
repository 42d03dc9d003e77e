/**
 * `deno task bench:paced`: how late tokens leave a server whose core keeps a pace of 100 tokens a second a stream, and
 * what the server's process uses meanwhile. Wanted: 99 of 100 tokens within 5 ms of their step, also while prompts of
 * 60,000 tokens are encoded and sixty tools are compiled; less than one processor.
 *
 *     deno task bench:paced [--streams 32] [--seconds 20] [--model FOLDER] [--only alone|prompts|tools|all]
 *
 * A delay is measured from the step's time to the arrival at a client: the way to the server's thread, the server, the
 * socket and this process are all in it.
 *
 * @module
 */
import { join } from "node:path";
import { print } from "../../src/cli/terminal.ts";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { readCpuSeconds, readThreadCpuSeconds } from "../process_usage.ts";
import { toWords } from "../prompts.ts";
import { toQuantile } from "../statistics.ts";
import { STEP_MS } from "./pace.ts";
import { type PacedStream, streamPaced } from "./paced_streams.ts";
import { type ServerProcess, startProgram, toDeno } from "./server_process.ts";

/** Words of a long prompt: a little over one token each. */
const LONG_WORDS = 56_000;
/** Tools of a request that has to call one of them. */
const TOOLS = 60;

/** Every question is a new one: nothing may be cached. */
let question = 0;

/** What runs beside the streams, over and over, until it is stopped. */
const BESIDE: Record<string, readonly (() => object)[]> = {
  alone: [],
  prompts: [toLongPrompt],
  tools: [toManyTools],
  all: [toLongPrompt, toManyTools],
};

const flags = readFlags({ streams: 32, seconds: 20 }, ["model", "only"]);
const { library } = await ensureCore();
const folder = flags.model ?? await ensureDefaultModel();
await printMachine("bench:paced", library);
{
  await using server = await startProgram(toDeno(join(PROJECT_FOLDER, "bench/http/paced_server.ts"), folder));
  // The compiler of the runtime needs some thousand tokens to settle, the workers their first long text.
  await measure(server, "all", 3);
  print(
    `\n${flags.streams} streams of 100 tokens/s, ${flags.seconds} s each   delay of a token (ms)      processors      ` +
      "end of body (ms)",
  );
  print("beside them            asked   p50    p99    p99.9  most     all    main    median  most");
  for (const name of Object.keys(BESIDE)) {
    if (flags.only === undefined || flags.only === name) print(await measure(server, name, flags.seconds));
  }
}
printLoad();

async function measure(server: ServerProcess, name: string, seconds: number): Promise<string> {
  const stop = new AbortController();
  let asked = 0;
  const beside = (BESIDE[name] ?? []).map(async (toBody) => {
    while (!stop.signal.aborted) {
      await ask(server.url, toBody());
      asked++;
    }
  });
  const [startMs, startCpu, startMain] = [performance.now(), ...await readBoth(server.pid)];
  const tokens = seconds * 1000 / STEP_MS;
  const streams = await Promise.all(Array.from({ length: flags.streams }, () => streamPaced(server.url, tokens)));
  const [endCpu, endMain] = await readBoth(server.pid);
  const takenSeconds = (performance.now() - startMs) / 1000;
  stop.abort();
  await Promise.all(beside);
  return toLine(name, asked, streams, [(endCpu - startCpu) / takenSeconds, (endMain - startMain) / takenSeconds]);
}

async function readBoth(pid: number): Promise<[all: number, main: number]> {
  return [await readCpuSeconds(pid), await readThreadCpuSeconds(pid, pid)];
}

function toLine(name: string, asked: number, streams: readonly PacedStream[], processors: readonly number[]): string {
  const delays = streams.flatMap(({ delaysMs }) => delaysMs);
  const ends = streams.map(({ endMs }) => endMs);
  const cells = [0.5, 0.99, 0.999, 1].map((share) => toQuantile(delays, share).toFixed(2).padEnd(6));
  return [
    name.padEnd(22),
    String(asked).padEnd(7),
    ...cells,
    "  ",
    ...processors.map((share) => share.toFixed(2).padEnd(7)),
    toQuantile(ends, 0.5).toFixed(2).padEnd(7),
    toQuantile(ends, 1).toFixed(2),
  ].join(" ");
}

async function ask(url: string, body: object): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`The server answers ${response.status}: ${text.slice(0, 500)}`);
}

function toLongPrompt(): object {
  const content = `${++question} ${toWords(LONG_WORDS, question)}`;
  return { model: "paced", messages: [{ role: "user", content }], max_tokens: 1 };
}

function toManyTools(): object {
  const number = ++question;
  const properties = {
    path: { type: "string", minLength: 1 },
    content: { type: "string", maxLength: 2000 },
    limit: { type: "integer", minimum: 1, maximum: 9_007_199_254_740_991 },
    mode: { enum: ["read", "write", `n${number}`] },
    options: { type: "object", additionalProperties: { type: "string" } },
  };
  const tools = Array.from({ length: TOOLS }, (_, index) => ({
    type: "function",
    function: {
      name: `tool_${number}_${index}`,
      description: toWords(100, index),
      parameters: { type: "object", properties, required: ["path"], additionalProperties: false },
    },
  }));
  const messages = [{ role: "user", content: "Call a tool." }];
  return { model: "paced", messages, tools, tool_choice: "required", max_tokens: 1 };
}
