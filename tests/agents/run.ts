/**
 * One program in one scenario: an empty home, a scratch repository with one file, a server of its own.
 *
 * @module
 */
import { dirname, join } from "node:path";
import type { Launch, Target } from "../../src/agents/agent.ts";
import { requireAgent } from "../../src/agents/mod.ts";
import { planSetup } from "../../src/agents/setup.ts";
import type { RequestRecord } from "../../src/api/request_record.ts";
import { serveProcess } from "../e2e/served_process.ts";
import { serveScript } from "../support/scripted_server.ts";
import type { Installed } from "./install.ts";
import { findFaults } from "./judge.ts";
import { BEFORE, type Program, PROMPT, toLaunch } from "./programs.ts";
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

/** Exit code of a program that was ended for its time. */
export const LATE_CODE = 124;
const OUTPUT_CHARACTERS_MAX = 4000;

/** Runs it. */
export async function runProgram(program: Program, installed: Installed, scenario: Scenario): Promise<Result> {
  const prefix = `agent-${program.id}-${scenario.id}-`;
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix }));
  const startMs = performance.now();
  try {
    const places = { home: join(folder, "home"), repository: join(folder, "repo"), files: join(folder, "files") };
    for (const path of Object.values(places)) await Deno.mkdir(path);
    const file = join(places.repository, "hello.txt");
    await makeRepository(places);
    await using server = await openServer(program, scenario, file);
    const { code, output } = await execute(program, installed, scenario, server.target, places);
    const records = await readRecords(server.target.baseUrl);
    const text = await Deno.readTextFile(file);
    return {
      program: program.id,
      scenario: scenario.id,
      faults: findFaults({ program, scenario, code, text, records, output }),
      seconds: (performance.now() - startMs) / 1000,
      records,
      output: output.slice(-OUTPUT_CHARACTERS_MAX),
    };
  } finally {
    await endLeftovers(folder);
    await Deno.remove(folder, { recursive: true }).catch(() => {}); // a program may still be writing its log
  }
}

/** Ends what a program has left running (Cline a daemon): its command line names the folder of the run. */
async function endLeftovers(folder: string): Promise<void> {
  const kill = new Deno.Command("pkill", { args: ["-KILL", "-f", folder], stdout: "null", stderr: "null" });
  await kill.output().catch(() => {}); // without pkill they stay
}

interface Places {
  readonly home: string;
  readonly repository: string;
  readonly files: string;
}

async function makeRepository({ repository, home }: Places): Promise<void> {
  await Deno.writeTextFile(join(repository, "hello.txt"), BEFORE);
  const env = { HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.org"];
  for (const args of [["init", "-q"], ["add", "."], [...who, "commit", "-q", "-m", "first"]]) {
    const { success } = await new Deno.Command("git", { args, cwd: repository, env }).output();
    if (!success) throw new Error(`git ${args.join(" ")} failed`);
  }
}

interface Server extends AsyncDisposable {
  readonly target: Target;
}

/** A server that plays the scenario, or the embedded model's. */
async function openServer(program: Program, scenario: Scenario, file: string): Promise<Server> {
  if (scenario.replies === undefined) {
    const server = await serveProcess(["--record-content", "--log-level", "error"]);
    const { data } = await (await fetch(`${server.url}/v1/models`)).json();
    const { id: model, context_length: contextTokens } = data[0];
    const target = { baseUrl: server.url, model, contextTokens, reasons: false };
    return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }
  const contextTokens = scenario.contextTokens ?? CONTEXT_TOKENS;
  const server = await serveScript({
    tools: "hermes",
    reasoning: "qwen3",
    context_tokens: contextTokens,
    replies: [...toAsides(program, scenario), ...scenario.replies(toLoop(program, file))],
  });
  const told = scenario.toldTokens ?? contextTokens;
  const target = { baseUrl: server.url, model: "scripted", contextTokens: told, reasons: true };
  return { target, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function toAsides({ aside }: Program, { id }: Scenario): Record<string, unknown>[] {
  return aside === undefined || id !== "plain" ? [] : [{ when: aside, text: "A title" }];
}

/** Runs the program as the launcher would. A client that the launcher refuses says so and is not run. */
async function execute(
  program: Program,
  installed: Installed,
  scenario: Scenario,
  target: Target,
  places: Places,
): Promise<{ code: number; output: string }> {
  const refusal = requireAgent(program.agent).refuse?.(target);
  if (refusal !== undefined) return { code: 1, output: refusal };
  if (scenario.setUp !== undefined) await setUp(program, scenario.setUp === "alone" ? target : ELSEWHERE, places);
  const launch: Launch = scenario.setUp === "alone" ? { environment: {} } : toLaunch(program, target, places.files);
  for (const [name, text] of Object.entries(launch.files ?? {})) {
    await Deno.writeTextFile(join(places.files, name), text);
  }
  const child = new Deno.Command(installed.program, {
    args: [...launch.args ?? [], ...program.args(scenario.prompt ?? PROMPT, scenario.id === "plain")],
    cwd: places.repository,
    env: toEnvironment(program, installed, launch, places),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, scenario.seconds * 1000);
  const { code, stdout, stderr } = await child.output();
  clearTimeout(timer);
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { code: isLate ? LATE_CODE : code, output };
}

/** A server that nobody runs. */
const ELSEWHERE: Target = { baseUrl: "http://127.0.0.1:9", model: "another", contextTokens: 100_000, reasons: false };

/** Writes what `agents --setup` does. */
async function setUp({ agent }: Program, target: Target, { home }: Places): Promise<void> {
  const config = join(home, ".config");
  const places = { home, config, applications: config, read: () => undefined };
  const disk = { read: () => Promise.resolve(undefined), records: [] };
  for (const { path, after } of await planSetup(requireAgent(agent), target, places, disk)) {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, after ?? "");
  }
}

function toEnvironment(
  program: Program,
  installed: Installed,
  launch: Launch,
  { home }: Places,
): Record<string, string> {
  const path = [...installed.path, "/usr/local/bin", "/usr/bin", "/bin"].join(":");
  return { HOME: home, PATH: path, TERM: "dumb", LANG: "C.UTF-8", ...launch.environment, ...program.environment };
}

async function readRecords(url: string): Promise<RequestRecord[]> {
  const { data } = await (await fetch(`${url}/v1/requests`)).json() as { data: { request_id: string }[] };
  const records: RequestRecord[] = [];
  for (const { request_id: id } of data.toReversed()) {
    records.push(await (await fetch(`${url}/v1/requests/${id}`)).json());
  }
  return records;
}
