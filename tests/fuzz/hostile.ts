/**
 * Thousands of seeded hostile requests against a server, and the check that it has not noticed.
 *
 * `deno task fuzz --url http://127.0.0.1:8000 [--count 2000] [--seed 1] [--key KEY]` attacks a running server; the test
 * beside it attacks one on a fake core. Between and after the attacks the same questions get the same answers.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { carryOut, type Reply, type Target } from "./attack.ts";
import { type Attack, drawAttack } from "./attacks.ts";
import { Random } from "./random.ts";

/** What a run is told. */
export interface FuzzOptions {
  /** Base, without a path. */
  url: string;
  /** Attacks. */
  count: number;
  /** 32 bits; the same seed attacks in the same way. */
  seed: number;
  /** Attacks at the same time. */
  parallel?: number;
  /** Called after every hundred. */
  onProgress?: (done: number) => void;
}

/** What a run has seen. */
export interface FuzzReport {
  /** Attacks carried out. */
  count: number;
  /** Answers by status; `closed` for connections without one, `left` for clients that did not wait. */
  statuses: Record<string, number>;
  /** What the server did wrong; empty is the goal. */
  faults: string[];
}

const CANARY_EVERY = 250;
const FAULTS_MAX = 20;
/** Longest wait for the server to notice that the last clients have left. */
const QUIET_MS = 30_000;

/** Questions whose answers must not change. */
const CANARIES: readonly Record<string, unknown>[] = [
  { messages: [{ role: "user", content: "Name three colours." }], max_tokens: 12, temperature: 0 },
  { messages: [{ role: "user", content: "日本の首都は？ 👋" }], max_tokens: 12, temperature: 1, seed: 7, n: 2 },
];

/** Attacks a server. @throws {Error} If it can't be reached at all. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { url, count, seed, parallel = 8 } = options;
  const target: Target = { hostname: new URL(url).hostname, port: Number(new URL(url).port) };
  const random = new Random(seed);
  const report: FuzzReport = { count: 0, statuses: {}, faults: [] };
  const blame = (fault: string): void => {
    if (report.faults.length < FAULTS_MAX) report.faults.push(fault);
  };
  const expected = await askCanaries(url);
  let drawn = 0;
  const worker = async (): Promise<void> => {
    for (; drawn < count;) {
      drawn++;
      await attackOnce(drawAttack(random), target, report, blame);
      if (report.count % 100 === 0) options.onProgress?.(report.count);
      if (report.count % CANARY_EVERY === 0) compare(expected, await askCanaries(url), report.count, blame);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  compare(expected, await askCanaries(url), report.count, blame);
  await requireQuiet(url, blame);
  return report;
}

async function attackOnce(
  attack: Attack,
  target: Target,
  report: FuzzReport,
  blame: (fault: string) => void,
): Promise<void> {
  try {
    const reply = await carryOut(attack, target);
    const key = attack.leave === "written" ? "left" : String(reply.status ?? "closed");
    report.statuses[key] = (report.statuses[key] ?? 0) + 1;
    const fault = judge(attack, reply);
    if (fault !== undefined) blame(`${attack.name}: ${fault}`);
  } catch (error) {
    blame(`${attack.name}: ${String(error)}`);
  }
  report.count++;
}

/** What is wrong with an answer. */
function judge(attack: Attack, { status, text }: Reply): string | undefined {
  if (status === undefined || attack.leave === "written") return undefined;
  if (status >= 500 && status !== 501 && status !== 503 && status !== 505) return text.slice(0, 500);
  if (attack.leave === "midway") return undefined;
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  if (/^x-evil:/mi.test(text.slice(0, text.indexOf("\r\n\r\n")))) return "a client's text became a header";
  const isError = status >= 400 && body !== "";
  if (isError && !/"error":\{"(?:message|type)":/.test(body)) {
    return `an error outside the envelope: ${text.slice(0, 300)}`;
  }
  if (status === 200 && /content-type: text\/event-stream/i.test(text)) {
    const ends = body.includes("data: [DONE]\n\n") || body.includes('data: {"error":') ||
      /^event: (?:message_stop|error|response\.(?:completed|incomplete|failed))$/m.test(body);
    if (!ends) return `a stream without an end: …${body.slice(-300)}`;
  }
  return undefined;
}

async function askCanaries(url: string): Promise<string[]> {
  return await Promise.all(CANARIES.map(async (body) => {
    for (;;) {
      const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
      const answer = await response.json();
      if (response.status !== 429) return JSON.stringify([response.status, answer.choices, toCounts(answer.usage)]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }));
}

/** The part of a usage that may not change; how much was cached may. */
function toCounts(usage: Record<string, unknown> | undefined): unknown[] {
  return [usage?.prompt_tokens, usage?.completion_tokens];
}

function compare(expected: string[], found: string[], done: number, blame: (fault: string) => void): void {
  for (const [index, answer] of expected.entries()) {
    if (answer !== found[index]) blame(`after ${done} attacks canary ${index} says ${found[index]}, before ${answer}`);
  }
}

/** The server is ready and nothing of the attacks is left in it. */
async function requireQuiet(url: string, blame: (fault: string) => void): Promise<void> {
  const deadline = Date.now() + QUIET_MS;
  for (;;) {
    const status = await (await fetch(`${url}/v1/status`)).json();
    if (status.num_running + status.num_waiting === 0 && status.requests.length === 0) break;
    if (Date.now() > deadline) {
      blame(`requests are left in the server: ${JSON.stringify(status).slice(0, 500)}`);
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const ready = await fetch(`${url}/readyz`);
  if (ready.status !== 200) blame(`the server is not ready: ${await ready.text()}`);
  else await ready.body?.cancel();
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { url: { type: "string" }, count: { type: "string" }, seed: { type: "string" } },
  });
  const say = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
  const seed = Number(values.seed ?? Date.now() % 2 ** 32);
  const options = { url: values.url ?? "http://127.0.0.1:8000", count: Number(values.count ?? 2000), seed };
  say(`${options.count} hostile requests to ${options.url}, seed ${seed}`);
  const report = await fuzz({ ...options, onProgress: (done) => say(`${done}`) });
  say(JSON.stringify(report.statuses));
  for (const fault of report.faults) say(`FAULT ${fault}`);
  say(report.faults.length === 0 ? "the server is healthy and its answers are unchanged" : "the server has faults");
  Deno.exit(report.faults.length === 0 ? 0 : 1);
}
