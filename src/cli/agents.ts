/**
 * `rapid-mlx agents [NAME]`: which clients are there, and what points one at a running server: shown, written, tried,
 * or taken back.
 *
 * @module
 */
import type { Agent, Places, Target } from "../agents/agent.ts";
import { applyFiles } from "../agents/apply.ts";
import { toDiff } from "../agents/diff.ts";
import { toListing } from "../agents/listing.ts";
import { AGENTS, requireAgent } from "../agents/mod.ts";
import { findAgent, openPlaces } from "../agents/places.ts";
import { type FileRecord, readOptional, readRecord, recordPath } from "../agents/record.ts";
import { requireServer } from "../agents/server.ts";
import { type FileChange, findChanged, planRemove, planSetup } from "../agents/setup.ts";
import { verify } from "../agents/verify.ts";
import { CommandError } from "./errors.ts";
import { type ServerFlags, toServerQuery } from "./server_query.ts";
import { print, printTable, write } from "./terminal.ts";

/** Flags of `agents`. */
export interface AgentsFlags extends ServerFlags {
  /** Write its configuration. */
  readonly setup?: boolean;
  /** Only print it. */
  readonly config?: boolean;
  /** Look at what was written, and send one request. */
  readonly test?: boolean;
  /** Take back what was written. */
  readonly remove?: boolean;
  /** Don't ask. */
  readonly yes?: boolean;
}

/** Does what the flags say; without a name it lists. @throws {CommandError | ServerError | ConfigFileError} */
export async function agents(name: string | undefined, flags: AgentsFlags): Promise<void> {
  const places = openPlaces();
  const actions = (["setup", "config", "test", "remove"] as const).filter((action) => flags[action] === true);
  if (name === undefined) {
    if (actions.length > 0) throw new CommandError(`--${actions[0]} needs a name: rapid-mlx agents NAME.`);
    return await list(places);
  }
  const agent = requireAgent(name);
  if (actions.length > 1) throw new CommandError(`Give one of --${actions.join(" and --")}.`);
  if (actions[0] === "remove") return await remove(agent, places, flags);
  const target = await requireServer(toServerQuery(flags, Deno.env.toObject()));
  const refusal = agent.refuse?.(target);
  if (refusal !== undefined) throw new CommandError(refusal);
  if (actions[0] === "setup") return await setUp(agent, target, places, flags);
  if (actions[0] === "test") return await test(agent, target, places);
  write(await toListing(agent, target, places));
}

async function list(places: Places): Promise<void> {
  const rows = [["name", "client", "wire", "here", "set up"]];
  for (const agent of AGENTS) {
    const { program, trace } = await findAgent(agent, places);
    const records = await readRecord(recordPath(places, agent.id));
    rows.push([agent.id, agent.title, agent.wire, program ?? trace ?? "-", records.length > 0 ? "yes" : "-"]);
  }
  printTable(rows);
  print();
  print("rapid-mlx launch NAME starts one; rapid-mlx agents NAME --setup writes its configuration.");
}

async function setUp(agent: Agent, target: Target, places: Places, flags: AgentsFlags): Promise<void> {
  const records = await readRecord(recordPath(places, agent.id));
  const changes = await planSetup(agent, target, places, { read: readOptional, records });
  print(`${agent.title}: ${target.model} at ${target.baseUrl}, window ${target.contextTokens} tokens`);
  if (!confirmChanges(changes, flags)) return;
  await writeChanges(agent, changes, places);
  for (const note of agent.notes?.(target) ?? []) print(note);
  await test(agent, target, places);
}

async function remove(agent: Agent, places: Places, flags: AgentsFlags): Promise<void> {
  const records = await readRecord(recordPath(places, agent.id));
  if (records.length === 0) return print(`${agent.title} was not set up by rapid-mlx: nothing to take back.`);
  const changes = await planRemove({ read: readOptional, records });
  if (!confirmChanges(changes, flags)) return;
  await writeChanges(agent, changes, places);
}

/** Shows what changes, and asks. @throws {CommandError} If there is nobody to ask. */
function confirmChanges(changes: readonly FileChange[], { yes }: AgentsFlags): boolean {
  const diff = changes.map(({ path, before, after }) => toDiff(path, before, after)).join("");
  if (diff === "") print("Nothing changes.");
  else write(diff);
  if (diff === "" || yes === true) return true;
  if (!Deno.stdin.isTerminal()) throw new CommandError("Nothing was written: give --yes where nobody can be asked.");
  const answer = prompt("Write this? [y/N]");
  if (/^y(es)?$/i.test(answer?.trim() ?? "")) return true;
  print("Nothing was written.");
  return false;
}

async function writeChanges(agent: Agent, changes: readonly FileChange[], places: Places): Promise<void> {
  const copies = await applyFiles(agent.id, changes, places, new Date());
  for (const copy of copies) print(`Kept the former file as ${copy}`);
}

/** Reads the files back, then asks once as the client does. */
async function test(agent: Agent, target: Target, places: Places): Promise<void> {
  const records = await readRecord(recordPath(places, agent.id));
  const changed = await findAllChanged(records);
  if (records.length === 0) print(`${agent.title} is not set up by rapid-mlx; only the server is tried.`);
  else if (changed.length === 0) print(`Files hold what was set: ${records.map(({ path }) => path).join(", ")}`);
  else throw new CommandError(`Other values than ours: ${changed.join(", ")}. Run --setup again to set them.`);
  const { route, firstMs, totalMs, text } = await verify(target, agent.wire, () => performance.now());
  const times = `first event ${Math.round(firstMs)} ms, whole ${Math.round(totalMs)} ms`;
  print(`POST ${route} answers: ${JSON.stringify(text)} (${times})`);
}

async function findAllChanged(records: readonly FileRecord[]): Promise<string[]> {
  const changed: string[] = [];
  for (const record of records) {
    const found = findChanged(record, await readOptional(record.path));
    changed.push(...found.map((what) => `${record.path}: ${what}`));
  }
  return changed;
}
