/**
 * One program in one scenario: an empty home, a scratch repository with one file, a scripted server of its own.
 *
 * @module
 */
import { dirname, join } from "node:path";
import type { RequestRecord } from "../../src/api/request_record.ts";
import type { Target } from "../../src/agents/agent.ts";
import { serveScript } from "../support/scripted_server.ts";
import { type Installed } from "./install.ts";
import { AFTER, BEFORE, type Program, PROMPT, toLaunch } from "./programs.ts";
import { CONTEXT_TOKENS, type Scenario, toLoop } from "./scenarios.ts";

/** What came of it. */
export interface Result {
  /** Of the program. */
  readonly program: string;
  /** Of the scenario. */
  readonly scenario: string;
  /** What is wrong; empty: all is well. */
  readonly faults: readonly string[];
  /** Whole run, in seconds. */
  readonly seconds: number;
  /** What the server was asked, oldest first. */
  readonly records: readonly RequestRecord[];
  /** What the program said, at most its last 4,000 characters. */
  readonly output: string;
}

/** Fields that a server may leave out of account without changing an answer, and why. */
const HARMLESS: Readonly<Record<string, string>> = {
  "metadata": "names user and session",
  "context_management": "asks to keep all thinking, which is kept",
  "system[].cache_control": "a hint",
  "messages[].content[].cache_control": "a hint",
  "tools[].cache_control": "a hint",
  "messages[].content[].caller": "says who called",
};

/** Runs it. */
export async function runProgram(program: Program, installed: Installed, scenario: Scenario): Promise<Result> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: `agent-${program.id}-${scenario.id}-` }));
  const startMs = performance.now();
  try {
    const [home, work, files] = [join(folder, "home"), join(folder, "work"), join(folder, "files")];
    for (const path of [home, work, files]) await Deno.mkdir(path);
    const file = join(work, "hello.txt");
    await makeRepository(work, home);
    const isPlain = scenario.id === "plain";
    const asides = program.aside !== undefined && isPlain ? [{ when: program.aside, text: "A title" }] : [];
    const contextTokens = scenario.contextTokens ?? CONTEXT_TOKENS;
    await using server = await serveScript({
      tools: "hermes",
      reasoning: "qwen3",
      context_tokens: contextTokens,
      replies: [...asides, ...scenario.replies(toLoop(program, file))],
    });
    const told = scenario.toldTokens ?? contextTokens;
    const target = { baseUrl: server.url, model: "scripted", contextTokens: told, reasons: true };
    const { code, output } = await execute(program, installed, {
      target,
      home,
      work,
      files,
      args: program.args(PROMPT, isPlain),
      seconds: scenario.seconds,
    });
    const records = await readRecords(server.url);
    const text = await Deno.readTextFile(file);
    return {
      program: program.id,
      scenario: scenario.id,
      faults: findFaults({ program, scenario, code, text, records }),
      seconds: (performance.now() - startMs) / 1000,
      records,
      output: output.slice(-4000),
    };
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {}); // a program may still be writing its log
  }
}

async function makeRepository(work: string, home: string): Promise<void> {
  await Deno.writeTextFile(join(work, "hello.txt"), BEFORE);
  const env = { HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  for (const args of [["init", "-q"], ["add", "."], [...who, "commit", "-q", "-m", "first"]]) {
    const { success } = await new Deno.Command("git", { args, cwd: work, env }).output();
    if (!success) throw new Error(`git ${args.join(" ")} failed`);
  }
}

interface Surroundings {
  readonly target: Target;
  readonly home: string;
  readonly work: string;
  readonly files: string;
  readonly args: readonly string[];
  readonly seconds: number;
}

/** Runs the program. @returns Its exit code, 124 when it was ended for its time. */
async function execute(
  program: Program,
  installed: Installed,
  { target, home, work, files, args, seconds }: Surroundings,
): Promise<{ code: number; output: string }> {
  const launch = toLaunch(program, target, files);
  for (const [name, text] of Object.entries(launch.files ?? {})) {
    await Deno.mkdir(dirname(join(files, name)), { recursive: true });
    await Deno.writeTextFile(join(files, name), text);
  }
  const path = [...installed.path, "/usr/local/bin", "/usr/bin", "/bin"].join(":");
  const child = new Deno.Command(installed.program, {
    args: [...launch.args ?? [], ...args],
    cwd: work,
    env: { HOME: home, PATH: path, TERM: "dumb", LANG: "C.UTF-8", ...launch.environment, ...program.environment },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, seconds * 1000);
  const { code, stdout, stderr } = await child.output();
  clearTimeout(timer);
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { code: isLate ? 124 : code, output };
}

async function readRecords(url: string): Promise<RequestRecord[]> {
  const { data } = await (await fetch(`${url}/v1/requests`)).json() as { data: { request_id: string }[] };
  const records: RequestRecord[] = [];
  for (const { request_id: id } of data.toReversed()) {
    records.push(await (await fetch(`${url}/v1/requests/${id}`)).json());
  }
  return records;
}

interface Ended {
  readonly program: Program;
  readonly scenario: Scenario;
  readonly code: number;
  readonly text: string;
  readonly records: readonly RequestRecord[];
}

function findFaults({ program, scenario, code, text, records }: Ended): string[] {
  const faults: string[] = [];
  const wanted = scenario.isEdited ? AFTER : BEFORE;
  if (code === 124) faults.push(`it was ended after ${scenario.seconds} s`);
  else if (scenario.isEdited && code !== 0) faults.push(`exit code ${code}`);
  if (text !== wanted) faults.push(`the file holds ${JSON.stringify(text)}`);
  if (records.length > scenario.requestsMax) faults.push(`${records.length} requests, at most ${scenario.requestsMax}`);
  if (records.length === 0 && !scenario.mayAskNothing) faults.push("it asked nothing");
  const ignored = new Set(records.flatMap((record) => record.ignored ?? []));
  for (const field of ignored) if (!(field in HARMLESS)) faults.push(`ignored: ${field}`);
  void program;
  return faults;
}
