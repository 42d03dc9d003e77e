/**
 * `deno task bench:overhead`: what the server adds to the engine, a token and a request. Wanted: under 0.2 ms a token.
 *
 *     deno task bench:overhead [--rounds 5] [--tokens 96] [--streams 8] [--model FOLDER] [--only real|fake]
 *
 * On the real model two things are compared with a client's gap between tokens: the step that the core reports for the
 * same answer (its own clock, same process), and the gap of the engine alone in another process. On the fake core,
 * whose steps take no time, the whole time is the server's own; the engine and decoder without HTTP stand beside it.
 *
 * @module
 */
import { openReport } from "../../src/setup/report.ts";
import { ensureCore, ensureDefaultModel } from "../../src/setup/setup.ts";
import { alternate, type Figure, printSamples, type Side } from "../alternate.ts";
import { readFlags } from "../flags.ts";
import { printLoad, printMachine } from "../machine.ts";
import { Peer, rapidMlxPeer } from "../peer.ts";
import { readCpuSeconds } from "../process_usage.ts";
import { toPrompt, toWords } from "../prompts.ts";
import { generateOnFake, openFake } from "./fake_engine.ts";
import { askChat, streamChat, type TimedAnswer, toGapMs } from "./client.ts";
import { type ServerProcess, startFakeServer, startServe } from "./server_process.ts";

/** Words of a question; about 40 tokens with the template. */
const WORDS = 12;
/** Requests of one token each, for the cost of a request. */
const REQUESTS = 200;

/** Every question is a new one: nothing may be cached. */
let question = 0;

const flags = readFlags({ rounds: 5, tokens: 96, streams: 8 }, ["model", "only"]);
const report = openReport();
const onRound = (round: number): void => report.progress(`round ${round} of ${flags.rounds}`);

const { library } = await ensureCore();
await printMachine("bench:overhead", library);
if (flags.only !== "fake") await measureReal();
if (flags.only !== "real") await measureFake();
printLoad();

/** What a token or a request takes. */
function toTime(name: string, title: string, unit: string): Figure {
  return { name, title, unit, better: "lower", compared: "difference" };
}

async function measureReal(): Promise<void> {
  const folder = flags.model ?? await ensureDefaultModel();
  await using server = await startServe(folder);
  await using engine = Peer.start(rapidMlxPeer(library, folder, {}));
  for (const streams of [1, flags.streams]) {
    const figures = [
      toTime("gap", `gap between tokens, ${streams} at a time`, "ms"),
      toTime("cpu", `processor time a token, ${streams} at a time`, "ms"),
      toTime("added", `the server's gap over the step that its core reports, ${streams} at a time`, "ms"),
      toTime("firstAdded", `first token over the core's own time to it, ${streams} at a time`, "ms"),
    ];
    const sides: [Side, Side] = [
      { name: "server over HTTP", measure: () => measureServer(server, streams) },
      { name: "engine alone", measure: () => measureEngine(engine, streams) },
    ];
    for (const side of sides) await side.measure();
    (await alternate(sides, figures, flags.rounds, onRound)).forEach(printSamples);
  }
}

async function measureServer(server: ServerProcess, streams: number): Promise<Record<string, number>> {
  const startSeconds = await readCpuSeconds(server.pid);
  const questions = Array.from({ length: streams }, () => (
    { text: `Tell me a long story about ${toWords(WORDS, ++question)}.`, maxTokens: flags.tokens }
  ));
  const answers = await Promise.all(questions.map((question, i) => streamChat(server.url, question, `client ${i}`)));
  const cpuMs = (await readCpuSeconds(server.pid) - startSeconds) * 1000;
  const mean = (of: (answer: TimedAnswer) => number): number => (
    answers.reduce((sum, answer) => sum + of(answer), 0) / streams
  );
  return {
    gap: mean(toGapMs),
    cpu: cpuMs / answers.reduce((sum, { completionTokens }) => sum + completionTokens, 0),
    added: mean((answer) => toGapMs(answer) - answer.coreStepMs),
    firstAdded: mean(({ pieceMs, sentMs, coreFirstTokenMs }) => (pieceMs[0] ?? NaN) - sentMs - coreFirstTokenMs),
  };
}

async function measureEngine(engine: Peer, streams: number): Promise<Record<string, number>> {
  const startSeconds = await readCpuSeconds(engine.pid);
  const prompts = Array.from({ length: streams }, () => toPrompt(WORDS * 3, ++question));
  const { decodeMs, decodeTokens } = await engine.generate(prompts, flags.tokens);
  const cpuMs = (await readCpuSeconds(engine.pid) - startSeconds) * 1000;
  return { gap: decodeMs / decodeTokens * streams, cpu: cpuMs / (flags.tokens * streams) };
}

async function measureFake(): Promise<void> {
  await using server = await startFakeServer();
  await using fake = await openFake();
  const figures: Figure[] = [
    toTime("token1", "one stream, steps of no time", "ms a token"),
    toTime("token", `${flags.streams} streams, steps of no time`, "ms a token"),
    toTime("cpu", `processor time of the server, ${flags.streams} streams`, "ms a token"),
    { name: "requests", title: "whole answers of one token, 8 at a time", unit: "requests/s", better: "higher" },
    { name: "health", title: "GET /health, 8 at a time", unit: "requests/s", better: "higher" },
  ];
  const sides: [Side, Side] = [
    { name: "server over HTTP", measure: () => measureFakeServer(server) },
    {
      name: "engine and decoder alone",
      measure: async () => ({
        token1: await generateOnFake(fake, 1, flags.tokens * 8),
        token: await generateOnFake(fake, flags.streams, flags.tokens * 8),
      }),
    },
  ];
  // The compiler of the runtime needs a few thousand tokens to settle.
  for (let i = 0; i < 3; i++) for (const side of sides) await side.measure();
  (await alternate(sides, figures, flags.rounds, onRound)).forEach(printSamples);
}

async function measureFakeServer({ url, pid }: ServerProcess): Promise<Record<string, number>> {
  const one = await streamChat(url, { text: "one", maxTokens: flags.tokens * 8 });
  const startSeconds = await readCpuSeconds(pid);
  const startMs = performance.now();
  const many = await Promise.all(
    Array.from(
      { length: flags.streams },
      (_, i) => streamChat(url, { text: `many ${i}`, maxTokens: flags.tokens * 8 }),
    ),
  );
  const tokens = many.reduce((sum, { completionTokens }) => sum + completionTokens, 0);
  const ms = performance.now() - startMs;
  const cpuMs = (await readCpuSeconds(pid) - startSeconds) * 1000;
  return {
    token1: (one.endMs - one.sentMs) / one.completionTokens,
    token: ms / tokens,
    cpu: cpuMs / tokens,
    requests: await measureRate(() => askChat(url, { text: "a", maxTokens: 1 })),
    health: await measureRate(async () => await (await fetch(`${url}/health`)).body?.cancel()),
  };
}

/** Requests a second, 8 at a time. */
async function measureRate(ask: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  let left = REQUESTS;
  const work = async (): Promise<void> => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return REQUESTS / (performance.now() - startMs) * 1000;
}
