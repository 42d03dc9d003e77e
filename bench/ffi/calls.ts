/**
 * `deno task bench:ffi`: what crossing into the core costs, beside the fake core, which is never crossed into.
 *
 *     deno task bench:ffi [--rounds 5] [--calls 2000] [--tokens 200]
 *
 * A tiny random checkpoint makes the steps short, so that what is around them shows. *Between steps* is the time of the
 * run less the time inside steps, as the core counts it, for one step: scheduling, the event queue, the pump.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import { openReport } from "../../src/setup/report.ts";
import { ensureCore } from "../../src/setup/setup.ts";
import { Engine, toSubmit } from "../../src/engine/engine.ts";
import type { Core, CoreEvent, ModelHandle } from "../../src/ffi/core.ts";
import { FakeCore } from "../../src/ffi/fake_core.ts";
import { openNativeCore } from "../../src/ffi/native_core.ts";
import { TINY_CHECKPOINT } from "../../tests/abi/built.ts";
import { alternate, type Figure, printSamples, type Side } from "../alternate.ts";
import { readFlags } from "../flags.ts";
import { generate, toRequest } from "../generate.ts";
import { printLoad, printMachine } from "../machine.ts";
import { toQuantile } from "../statistics.ts";

const STREAM_COUNTS = [1, 8, 64];
/** Ids that every checkpoint has. */
const PROMPT = Int32Array.from({ length: 100 }, (_, i) => 1 + i % 50);
/** Waits and submits of a sample; each costs a millisecond of waiting. */
const WAITS = 200;
/** Longest wait: an event always comes. */
const WAIT_MS = 10_000;

const toTime = (name: string, title: string): Figure => ({
  name,
  title,
  unit: "µs",
  better: "lower",
  compared: "difference",
});
const FIGURES: readonly Figure[] = [
  toTime("wake", "a call without work: wake"),
  toTime("cancel", "a call with an argument: cancel of an unknown tag"),
  toTime("stats", "a call that answers JSON: stats"),
  toTime("submit", "submit of 100 tokens"),
  toTime("ready", "wait that has something at once"),
  toTime("pending", "wake until a pending wait returns"),
  ...STREAM_COUNTS.flatMap((count): Figure[] => [
    toTime(`token${count}`, `a token, ${count} streams, all in all`),
    toTime(`between${count}`, `between steps, ${count} streams`),
    { name: `batch${count}`, title: `events a batch, ${count} streams`, unit: "events", better: "higher" },
  ]),
];

const flags = readFlags({ rounds: 5, calls: 2000, tokens: 200 }, []);
const report = openReport();
const { library } = await ensureCore();
await printMachine("bench:ffi", library);
const pace = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const sides: [Side, Side] = [
  { name: "library", measure: () => measure(() => openNativeCore(library, {}), TINY_CHECKPOINT) },
  {
    name: "fake core",
    measure: async () => {
      const figures = await measure(() => new FakeCore({ reply: { tokens: [1] }, pace }), "fake");
      // Its steps take no time and it counts them as 1 ms each.
      return Object.fromEntries(Object.entries(figures).filter(([name]) => !name.startsWith("between")));
    },
  },
];
for (const side of sides) await side.measure();
const samples = await alternate(sides, FIGURES, flags.rounds, (round) => report.progress(`round ${round}`));
samples.forEach(printSamples);
printLoad();

async function measure(open: () => Core, path: string): Promise<Record<string, number>> {
  const core = open();
  const calls = await measureCalls(core, path);
  await core.close();
  const engine = new Engine(open());
  const model = await engine.loadModel(path, {});
  const streams: Record<string, number> = {};
  for (const count of STREAM_COUNTS) Object.assign(streams, await measureStreams(engine, model, count));
  await engine.close();
  return { ...calls, ...streams };
}

async function measureCalls(core: Core, path: string): Promise<Record<string, number>> {
  const model = core.loadModel(path, {});
  await readUntil(core, ({ type }) => type === "modelReady");
  const wake = timeCalls(() => core.wake());
  const cancel = timeCalls(() => core.cancel(1));
  const stats = timeCalls(() => core.stats());
  const { ready, pending } = await measureWaits(core);
  return { wake, cancel, stats, submit: await measureSubmit(core, model), ready, pending };
}

/** Mean of a synchronous call, in microseconds. */
function timeCalls(call: () => void): number {
  const startMs = performance.now();
  for (let i = 0; i < flags.calls; i++) call();
  return (performance.now() - startMs) / flags.calls * 1000;
}

/** Medians, in microseconds: of a wait that was woken before it began, and from a wake to the end of a pending wait. */
async function measureWaits(core: Core): Promise<{ ready: number; pending: number }> {
  const [ready, pending]: [number[], number[]] = [[], []];
  for (let i = 0; i < WAITS; i++) {
    core.wake();
    const startMs = performance.now();
    await core.wait(WAIT_MS);
    ready.push(performance.now() - startMs);
    const wait = core.wait(WAIT_MS);
    // The thread that serves the call must have gone to sleep in it.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const wakeMs = performance.now();
    core.wake();
    await wait;
    pending.push(performance.now() - wakeMs);
  }
  return { ready: toQuantile(ready, 0.5) * 1000, pending: toQuantile(pending, 0.5) * 1000 };
}

/** Median of the call alone, in microseconds; what it starts is cancelled and waited for. */
async function measureSubmit(core: Core, model: ModelHandle): Promise<number> {
  const times: number[] = [];
  for (let tag = 1; tag <= WAITS; tag++) {
    const request = toSubmit(tag, toRequest(model, PROMPT, 1, 0));
    const startMs = performance.now();
    core.submit(request);
    times.push(performance.now() - startMs);
    core.cancel(tag);
    await readUntil(core, (event) => event.type === "finish" && event.tag === tag);
  }
  return toQuantile(times, 0.5) * 1000;
}

async function readUntil(core: Core, isLast: (event: CoreEvent) => boolean): Promise<void> {
  while (!(await core.wait(WAIT_MS)).some(isLast));
}

async function measureStreams(engine: Engine, model: ModelHandle, count: number): Promise<Record<string, number>> {
  const [before, startMs] = [engine.stats(), performance.now()];
  await generate(engine, model, Array.from({ length: count }, () => [...PROMPT.subarray(0, 8)]), flags.tokens);
  const [us, after] = [(performance.now() - startMs) * 1000, engine.stats()];
  const steps = after.steps - before.steps;
  return {
    [`token${count}`]: us / (count * flags.tokens),
    [`between${count}`]: (us - (after.stepUs - before.stepUs)) / steps,
    [`batch${count}`]: (after.pump.events - before.pump.events) / (after.pump.batches - before.pump.batches),
  };
}
