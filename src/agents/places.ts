/**
 * Where this machine's user keeps configurations, and which clients are there.
 *
 * @module
 */
import { join } from "node:path";
import { homeFolder, readProcessVariable, type ReadVariable } from "../setup/folders.ts";
import type { Agent, Places } from "./agent.ts";

/** The places of this process. @throws {Deno.errors.NotFound} If the environment names no home folder. */
export function openPlaces(read: ReadVariable = readProcessVariable): Places {
  const home = homeFolder(read);
  const config = read("XDG_CONFIG_HOME") ?? join(home, ".config");
  const applications = Deno.build.os === "darwin" ? join(home, "Library/Application Support") : config;
  return { home, config, applications, read };
}

/** How a client is there: its program on PATH, a file of it, or not at all. */
export interface Presence {
  /** The program's path. */
  readonly program?: string;
  /** The first file or folder of it. */
  readonly trace?: string;
}

/** Looks for a client. */
export async function findAgent(agent: Agent, places: Places): Promise<Presence> {
  const program = agent.program === undefined ? undefined : await findProgram(agent.program, places.read);
  let trace: string | undefined;
  for (const path of agent.traces(places)) {
    if (await exists(path)) {
      trace = path;
      break;
    }
  }
  return { ...program !== undefined && { program }, ...trace !== undefined && { trace } };
}

/** A program on PATH; a name with a slash is itself. */
export async function findProgram(name: string, read: ReadVariable): Promise<string | undefined> {
  const folders = name.includes("/") ? [""] : (read("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const folder of folders) {
    const path = join(folder, name);
    const info = await Deno.stat(path).catch(() => undefined);
    if (info?.isFile === true && ((info.mode ?? 0o111) & 0o111) !== 0) return path;
  }
  return undefined;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
