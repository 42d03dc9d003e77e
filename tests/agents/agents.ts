/**
 * `deno task test:agents [--program ID]… [--scenario ID]… [--jobs N] [--show] [--record]`: real agents, side by side.
 *
 * Without --program and --scenario the frameworks' suites run beside them. A line a run, and of a failed one what the
 * server was asked and what the program said. The scenario `model` (the embedded model instead of a script) is run by
 * name only: `--scenario model`, or `--real`. `--record` writes what the programs sent into tests/agents/requests; it
 * wants the scenarios plain, thinking, two-calls and deferred. `--install` fetches the programs, and that is all.
 *
 * @module
 */
import { parseArgs } from "node:util";
import type { RequestRecord } from "../../src/api/request_record.ts";
import { PROJECT_FOLDER } from "../../src/setup/folders.ts";
import { ensureProgram } from "./install.ts";
import { type Program, PROGRAMS } from "./programs.ts";
import { writeRequests } from "./record.ts";
import { type Result, runProgram } from "./run.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";

/** Runs that use the processor at the same time; those that wait for a slow answer come beside them. */
const JOBS = "3";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    program: { type: "string", multiple: true },
    scenario: { type: "string", multiple: true },
    jobs: { type: "string", default: JOBS },
    install: { type: "boolean", default: false },
    real: { type: "boolean", default: false },
    show: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

interface Job {
  readonly program: Program;
  readonly scenario: Scenario;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
}

function toJobs(): Job[] {
  const wanted = values.scenario ??
    SCENARIOS.filter(({ replies }) => (replies === undefined) === values.real).map(({ id }) => id);
  const find = <T extends { id: string }>(list: readonly T[], id: string): T => {
    const found = list.find((one) => one.id === id);
    if (found === undefined) throw new Error(`${id} is none of ${list.map((one) => one.id).join(", ")}.`);
    return found;
  };
  const programs = values.program?.map((id) => find(PROGRAMS, id)) ?? PROGRAMS;
  return wanted.map((id) => find(SCENARIOS, id)).flatMap((scenario) =>
    programs.filter(({ id }) => isFor(scenario, id)).map((program) => ({ program, scenario }))
  );
}

function isFor({ only, except }: Scenario, program: string): boolean {
  return (only?.includes(program) ?? true) && except?.[program] === undefined;
}

async function run({ program, scenario }: Job): Promise<Result> {
  const result = await runProgram(program, await ensureProgram(program.package), scenario);
  const { faults, seconds, records, output } = result;
  const verdict = faults.length === 0 ? "ok" : `FAILED: ${faults.join("; ")}`;
  print(`${program.id} ${scenario.id}: ${verdict} (${seconds.toFixed(1)} s, ${records.length} requests)`);
  if (faults.length > 0 || values.show) {
    for (const { route, status, error, content, choices } of records) {
      const answer = error?.message ?? `${choices[0]?.finish_reason}: ${content?.choices[0]?.raw.slice(0, 300)}`;
      print(`  ${route} ${status}, ${JSON.stringify(content?.body)?.length} characters: ${answer}`);
    }
    print(output.replaceAll(/^/gm, "  | "));
  }
  return result;
}

/** Runs jobs, at most so many at a time. */
async function runAll(jobs: readonly Job[], jobsMax: number): Promise<Result[]> {
  const waiting = [...jobs];
  const results: Result[] = [];
  await Promise.all(Array.from({ length: jobsMax }, async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) results.push(await run(job));
  }));
  return results;
}

/** The frameworks' own suites (`deno task test:clients`), beside the agents. @returns Whether they pass. */
async function runFrameworks(): Promise<boolean> {
  const startMs = performance.now();
  const args = ["task", "--quiet", "test:clients"];
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd: PROJECT_FOLDER }).output();
  print(`frameworks: ${success ? "ok" : "FAILED"} (${((performance.now() - startMs) / 1000).toFixed(1)} s)`);
  if (!success) print(new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  return success;
}

/** Every request of a plain run, and the last ones where thinking or two calls come back. */
async function recordAll(results: readonly Result[]): Promise<void> {
  for (const program of PROGRAMS) {
    const recordsOf = (scenario: string): readonly RequestRecord[] =>
      results.find((one) => one.program === program.id && one.scenario === scenario && one.faults.length === 0)
        ?.records ?? [];
    const plain = recordsOf("plain");
    const later = ["thinking", "two-calls", "deferred"].flatMap((scenario) => recordsOf(scenario).slice(-1));
    if (plain.length > 0) await writeRequests(program, [...plain, ...later]);
  }
}

/** Fetches what is not there; one that can't be fetched is told, and the others go on. @returns Whether all are. */
async function installAll(): Promise<boolean> {
  const found = new Map(PROGRAMS.map((program) => [program.package.name, program.package]));
  let isWhole = true;
  for (const { name, version, ...rest } of found.values()) {
    try {
      await ensureProgram({ name, version, ...rest });
      print(`${name} ${version}`);
    } catch (error) {
      isWhole = false;
      print(`${name} ${version}: ${error instanceof Error ? error.message : error}`);
    }
  }
  return isWhole;
}

if (import.meta.main) {
  if (values.install) Deno.exit(await installAll() ? 0 : 1);
  const jobs = toJobs();
  const isSlow = ({ scenario }: Job): boolean => scenario.id === "slow";
  const [slow, others] = [jobs.filter(isSlow), jobs.filter((job) => !isSlow(job))];
  const lanes = [runAll(others, Number(values.jobs)), runAll(slow, Math.max(1, slow.length))];
  const isWhole = !values.real && (values.program ?? values.scenario) === undefined;
  const frameworks = isWhole ? runFrameworks() : true;
  const results = (await Promise.all(lanes)).flat();
  if (values.record) await recordAll(results);
  const failed = results.filter(({ faults }) => faults.length > 0);
  print(`${results.length - failed.length} passed, ${failed.length} failed`);
  Deno.exit(failed.length === 0 && await frameworks ? 0 : 1);
}
