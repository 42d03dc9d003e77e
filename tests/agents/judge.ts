/**
 * What is wrong with a run.
 *
 * @module
 */
import type { RequestRecord } from "../../src/api/request_record.ts";
import { AFTER, BEFORE, type Program } from "./programs.ts";
import { LATE_CODE } from "./run.ts";
import type { Scenario } from "./scenarios.ts";

/** Fields that a server may leave out of account without changing an answer, and why. */
export const HARMLESS_FIELDS: Readonly<Record<string, string>> = {
  "metadata": "names user and session",
  "client_metadata": "names session and thread",
  "prompt_cache_key": "names the session",
  "context_management": "asks to keep all thinking, which is kept",
  "system[].cache_control": "a hint",
  "messages[].content[].cache_control": "a hint",
  "tools[].cache_control": "a hint",
  "messages[].content[].caller": "says who called",
  "tools[].type": "a tool that the API's own servers run",
};

/** How a run ended. */
export interface Ended {
  /** What was run. */
  readonly program: Program;
  /** In which scenario. */
  readonly scenario: Scenario;
  /** Exit code. */
  readonly code: number;
  /** What the file holds. */
  readonly text: string;
  /** What the server was asked, oldest first. */
  readonly records: readonly RequestRecord[];
  /** What the program said. */
  readonly output: string;
}

/** What is wrong; empty: all is well. */
export function findFaults(ended: Ended): string[] {
  const { program, scenario, code, text, records } = ended;
  const faults: string[] = [];
  if (code === LATE_CODE) faults.push(`it was ended after ${scenario.seconds} s`);
  else if (scenario.isEdited && code !== 0) faults.push(`exit code ${code}`);
  if (text !== (scenario.isEdited ? AFTER : BEFORE)) faults.push(`the file holds ${JSON.stringify(text)}`);
  if (records.length > scenario.requestsMax) faults.push(`${records.length} requests, at most ${scenario.requestsMax}`);
  if (records.length === 0 && !scenario.mayAskNothing) faults.push("it asked nothing");
  const harmless = { ...HARMLESS_FIELDS, ...scenario.harmless };
  const ignored = new Set(records.flatMap((record) => record.ignored));
  for (const field of ignored) if (!(field in harmless)) faults.push(`ignored: ${field}`);
  if (scenario.fits !== undefined) faults.push(...findWindowFaults(ended, scenario.fits.includes(program.id)));
  return faults;
}

/** A model's own answer where the prompt fits; else refusals with both numbers, and nothing else. */
function findWindowFaults({ records, code, output }: Ended, fits: boolean): string[] {
  if (fits) {
    const answered = records.filter(({ state, choices }) => state === "completed" && choices[0]?.finish_reason);
    const isSaid = output.trim() !== "" && code === 0;
    return answered.length > 0 && isSaid ? [] : [`no whole answer (exit code ${code})`];
  }
  return records.filter(({ error }) => !/\d+ tokens\D+\d+/.test(error?.message ?? ""))
    .map(({ state, error }) => `${state} instead of a refusal with both numbers: ${error?.message}`);
}
