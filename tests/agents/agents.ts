/**
 * `deno task test:agents [--program ID]… [--scenario ID]… [--jobs N]`: real agents against scripted answers, side by
 * side. Prints a line a run, and what a failed one said.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { ensureProgram } from "./install.ts";
import { type Program, PROGRAMS } from "./programs.ts";
import { type Result, runProgram } from "./run.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    program: { type: "string", multiple: true },
    scenario: { type: "string", multiple: true },
    jobs: { type: "string", default: "3" },
    show: { type: "boolean", default: false },
  },
});

interface Job {
  readonly program: Program;
  readonly scenario: Scenario;
}

const jobs: Job[] = SCENARIOS.filter(({ id }) => values.scenario?.includes(id) ?? true).flatMap((scenario) =>
  PROGRAMS.filter(({ id }) => (values.program?.includes(id) ?? true) && scenario.except?.[id] === undefined)
    .map((program) => ({ program, scenario }))
);

async function run({ program, scenario }: Job): Promise<Result> {
  const result = await runProgram(program, await ensureProgram(program.package), scenario);
  const { faults, seconds, records, output } = result;
  const verdict = faults.length === 0 ? "ok" : `FAILED: ${faults.join("; ")}`;
  console.log(`${program.id} ${scenario.id}: ${verdict} (${seconds.toFixed(1)} s, ${records.length} requests)`);
  if (faults.length > 0 || values.show) {
    for (const record of records) {
      const body = JSON.stringify(record.content?.body) ?? "";
      console.log(`  ${record.route} ${record.status} ${body.length} ${body.slice(-300)}`);
    }
    console.log(output.replaceAll(/^/gm, "  | "));
  }
  return result;
}

const waiting = jobs.toSorted((a, b) => b.scenario.seconds - a.scenario.seconds);
const results: Result[] = [];
await Promise.all(Array.from({ length: Number(values.jobs) }, async () => {
  for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) results.push(await run(job));
}));
const failed = results.filter(({ faults }) => faults.length > 0);
console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
Deno.exit(failed.length === 0 ? 0 : 1);
