/**
 * `rapid-mlx launch NAME [-- ARGS]`: starts a client on a running server, or on one of its own that ends with it.
 *
 * The client's own files stay as they are: all is in its environment, its arguments and a temporary folder. A server of
 * our own runs in this process and writes its log to a file, since the terminal is the client's.
 *
 * @module
 */
import { dirname, join } from "node:path";
import type { Agent, Launch, Target } from "../agents/agent.ts";
import { requireAgent } from "../agents/mod.ts";
import { findProgram } from "../agents/places.ts";
import { awaitServer, requireServer, type ServerQuery, toBaseUrl } from "../agents/server.ts";
import { isLoopback, loadConfig } from "../config.ts";
import { createLogger } from "../log.ts";
import { TextWorker } from "../prompt/text_worker.ts";
import { stateFolder } from "../setup/folders.ts";
import { CommandError } from "./errors.ts";
import { startServing } from "./serve.ts";
import { type ServerFlags, toServerQuery } from "./server_query.ts";

/** Flags of `launch`. */
export interface LaunchFlags extends ServerFlags {
  /** False: no system packages may be installed. */
  readonly systemPackages?: boolean;
}

/** A client's server; disposing of it ends one of our own. */
interface AgentServer extends AsyncDisposable {
  readonly target: Target;
}

/**
 * Runs a client to its end.
 *
 * @param args The user's own, for the client; of a library's client the whole command.
 * @returns The client's exit code.
 * @throws {CommandError | ServerError} If program or server can't be had, and what `serve` throws.
 */
export async function launch(name: string, args: readonly string[], flags: LaunchFlags): Promise<number> {
  const agent = requireAgent(name);
  const [program, ...rest] = await requireCommand(agent, args);
  const query = toServerQuery(flags, Deno.env.toObject());
  await using server = await openAgentServer(query, flags);
  const { target } = server;
  const refusal = agent.refuse?.(target);
  if (refusal !== undefined) throw new CommandError(refusal);
  tell(`${agent.title} on ${target.model} at ${target.baseUrl}, window ${target.contextTokens} tokens`);
  for (const note of agent.notes?.(target) ?? []) tell(note);
  const folder = await Deno.makeTempDir({ prefix: `rapid-mlx-${agent.id}-` });
  try {
    const how = agent.launch?.(target, folder) ?? { environment: {} };
    for (const [file, text] of Object.entries(how.files ?? {})) {
      await Deno.writeTextFile(join(folder, file), text, { mode: 0o600 });
    }
    return await run(program, [...how.args ?? [], ...rest], how);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Program and arguments. @throws {CommandError} If it can't be started: best said before a model is loaded. */
async function requireCommand(agent: Agent, args: readonly string[]): Promise<[string, ...string[]]> {
  if (agent.launch === undefined) {
    throw new CommandError(`${agent.title} can't be started on a server: see rapid-mlx agents ${agent.id} --config.`);
  }
  const [name, rest] = agent.program === undefined ? [args[0], args.slice(1)] : [agent.program, args];
  if (name === undefined) {
    throw new CommandError(`Say what to run: rapid-mlx launch ${agent.id} -- COMMAND ARGS (for example python my.py).`);
  }
  const program = await findProgram(name, (variable) => Deno.env.get(variable));
  if (program === undefined) {
    const hint = agent.program === undefined ? "" : ` Install it with: ${agent.install}`;
    throw new CommandError(`${name} is not on your PATH.${hint}`);
  }
  return [program, ...rest];
}

async function openAgentServer(query: ServerQuery, flags: LaunchFlags): Promise<AgentServer> {
  const found = await awaitServer(query, (ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  if (found !== undefined) return { target: found, [Symbol.asyncDispose]: () => Promise.resolve() };
  const listen = toListen(query);
  const config = loadConfig({ ...listen, apiKey: query.apiKey }, Deno.env.toObject(), query.model);
  const logPath = await openLogPath();
  tell(`No server answers: starting one (log: ${logPath})`);
  const file = await Deno.open(logPath, { write: true, create: true, truncate: true, mode: 0o600 });
  const log = createLogger({ level: config.logLevel, write: (line) => file.writeSync(new TextEncoder().encode(line)) });
  const worker = new TextWorker();
  try {
    const serving = await startServing(config, { ...flags }, log, worker);
    const target = await requireServer({ ...query, url: serving.server.url, model: serving.modelId });
    const end = async (): Promise<void> => {
      await serving.server.stop();
      await serving[Symbol.asyncDispose]();
      worker.close();
      file.close();
    };
    return { target, [Symbol.asyncDispose]: end };
  } catch (error) {
    worker.close();
    file.close();
    throw error;
  }
}

/** Flags of `serve` for the address that was asked for. @throws {CommandError} If that is another machine. */
function toListen({ url }: ServerQuery): Record<string, unknown> {
  if (url === undefined) return {};
  const { hostname, port, protocol } = new URL(toBaseUrl(url));
  if (protocol === "http:" && isLoopback(hostname)) {
    return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 80 : Number(port) };
  }
  throw new CommandError(`No server answers at ${url}, and one can be started on this machine only.`);
}

async function openLogPath(): Promise<string> {
  const path = join(stateFolder(), "launch.log");
  await Deno.mkdir(dirname(path), { recursive: true });
  return path;
}

/** Runs the client on this terminal. Its signals are the terminal's; others are handed on. @returns Its exit code. */
async function run(program: string, args: string[], { environment, unset = [] }: Launch): Promise<number> {
  const env = { ...Deno.env.toObject(), ...environment };
  for (const name of unset) delete env[name];
  const child = new Deno.Command(program, {
    args,
    env,
    clearEnv: true,
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  const isTerminal = Deno.stdin.isTerminal();
  const listeners = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    // A terminal sends Ctrl-C to the client itself.
    const onSignal = (): void => signal === "SIGINT" && isTerminal ? undefined : child.kill(signal);
    Deno.addSignalListener(signal, onSignal);
    return { signal, onSignal };
  });
  try {
    return (await child.status).code;
  } finally {
    for (const { signal, onSignal } of listeners) Deno.removeSignalListener(signal, onSignal);
  }
}

/** On standard error: standard output is the client's. */
function tell(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`rapid-mlx: ${text}\n`));
}
