/**
 * Runs a program for set-up: output into a log file, its last line as progress, the end of it in the error.
 *
 * The program gets this process's environment, so proxies, certificates and mirrors work as the user set them up.
 *
 * @module
 */
import { dirname } from "node:path";
import { SetupError } from "./errors.ts";
import type { Report } from "./report.ts";

/** How to run it. */
export interface CommandOptions {
  /** Where progress goes. */
  report: Report;
  /** What is being done, for progress and errors, e.g. `building the core`. */
  task: string;
  /** Output goes here too; the file is emptied first. */
  logPath: string;
  /** Working folder; the process's own when absent. */
  folder?: string;
  /** Variables beside those of this process. */
  environment?: Readonly<Record<string, string>>;
}

/** Lines that an error shows of each stream: what was said in one is not pushed out by the other. */
const TAIL_LINES = 12;
/** Characters of a line that are kept. */
const LINE_LENGTH_MAX = 400;

/**
 * Runs `command` to its end.
 *
 * @throws {SetupError} If it can't be started or fails; the message holds the end of its output and names the log.
 */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<void> {
  const { report, task, logPath } = options;
  await Deno.mkdir(dirname(logPath), { recursive: true });
  using log = await Deno.open(logPath, { create: true, write: true, truncate: true });
  const child = spawn(command, options);
  const tails = { stdout: new Array<string>(), stderr: new Array<string>() };
  let last = "";
  const startMs = performance.now();
  const seconds = (): number => Math.round((performance.now() - startMs) / 1000);
  const keepIn = (tail: string[]) => (line: string): void => {
    const short = line.trim().slice(0, LINE_LENGTH_MAX);
    if (short === "") return;
    last = short;
    tail.push(short);
    if (tail.length > TAIL_LINES) tail.shift();
    report.progress(`${task} (${seconds()} s): ${short}`);
  };
  // A silent program (a linker, a slow mirror) still shows that time passes.
  const heartbeat = setInterval(() => report.progress(`${task} (${seconds()} s): ${last}`), 1000);
  try {
    await Promise.all([
      copyLines(child.stdout, log, keepIn(tails.stdout)),
      copyLines(child.stderr, log, keepIn(tails.stderr)),
    ]);
    const { code, signal } = await child.status;
    if (code === 0) return;
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const shown = indent([...tails.stdout, ...tails.stderr]);
    throw new SetupError(`${task}: ${command[0]} ended with ${how}.\n${shown}\nThe whole output is in ${logPath}.`);
  } finally {
    clearInterval(heartbeat);
  }
}

/** Output of a short command, or undefined when it is absent or fails. */
export async function readOutput(command: readonly [string, ...string[]]): Promise<string | undefined> {
  const [program, ...args] = command;
  try {
    const { success, stdout } = await new Deno.Command(program, { args, stdin: "null", stderr: "null" }).output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch {
    return undefined;
  }
}

/** Path of a program on PATH, or undefined. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    const path = `${folder}/${name}`;
    const info = await Deno.stat(path).catch(() => undefined);
    if (folder !== "" && info?.isFile && ((info.mode ?? 0) & 0o111) !== 0) return path;
  }
  return undefined;
}

function spawn(command: readonly string[], options: CommandOptions): Deno.ChildProcess {
  const [program, ...args] = command as [string, ...string[]];
  try {
    return new Deno.Command(program, {
      args,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      ...options.folder === undefined ? {} : { cwd: options.folder },
      ...options.environment === undefined ? {} : { env: { ...options.environment } },
    }).spawn();
  } catch (error) {
    throw new SetupError(`${options.task}: cannot start ${program}: ${error instanceof Error ? error.message : error}`);
  }
}

async function copyLines(
  stream: ReadableStream<Uint8Array>,
  log: Deno.FsFile,
  onLine: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    await writeAll(log, bytes);
    const lines = (rest + decoder.decode(bytes, { stream: true })).split(/[\r\n]/);
    rest = (lines.pop() ?? "").slice(-LINE_LENGTH_MAX);
    lines.forEach(onLine);
  }
  onLine(rest);
}

async function writeAll(file: Deno.FsFile, bytes: Uint8Array): Promise<void> {
  for (let doneBytes = 0; doneBytes < bytes.length;) doneBytes += await file.write(bytes.subarray(doneBytes));
}

function indent(lines: readonly string[]): string {
  return lines.map((line) => `    ${line}`).join("\n");
}
