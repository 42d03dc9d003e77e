/**
 * Requests of the real programs as fixtures: what they sent, with long texts cut and marked so, and without the paths
 * of one run.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import type { RequestRecord } from "../../src/api/request_record.ts";
import type { Program } from "./programs.ts";

/** Where the fixtures are. */
export const REQUESTS_FOLDER: string = fileURLToPath(new URL("requests/", import.meta.url));

/** Longest text that is kept whole: prompts and descriptions are the programs' own. */
const TEXT_CHARACTERS_MAX = 90;
const KEPT_CHARACTERS = 32;
/** What is read, and would be broken by a cut. */
const WHOLE = new Set(["arguments", "pattern", "definition"]);

/** A fixture. */
export interface RecordedRequests {
  /** Package and version that sent them. */
  readonly program: string;
  /** Oldest first. */
  readonly requests: readonly { readonly route: string; readonly body: Record<string, unknown> }[];
}

/** Writes a program's fixture. */
export async function writeRequests({ id, package: sent }: Program, records: readonly RequestRecord[]): Promise<void> {
  const requests = records.map(({ route, content }) => ({
    route,
    body: shorten(content?.body) as Record<string, unknown>,
  }));
  const lines = requests.map((request) => JSON.stringify(request)).join(",\n");
  const text = `{"program": ${JSON.stringify(`${sent.name} ${sent.version}`)}, "requests": [\n${lines}\n]}\n`;
  const path = join(REQUESTS_FOLDER, `${id}.json`);
  await Deno.writeTextFile(path, text.replaceAll(/\/tmp\/agent-[\w-]+/g, "/tmp/agent"));
}

/** Reads every fixture, by program. */
export async function readRequests(): Promise<Map<string, RecordedRequests>> {
  const found = new Map<string, RecordedRequests>();
  for await (const { name } of Deno.readDir(REQUESTS_FOLDER)) {
    if (!name.endsWith(".json")) continue;
    found.set(name.replace(/\.json$/, ""), JSON.parse(await Deno.readTextFile(join(REQUESTS_FOLDER, name))));
  }
  return found;
}

/** Texts of the programs are cut; keys, kinds, schemas and short texts stay. */
function shorten(value: unknown): unknown {
  if (typeof value === "string") {
    if (value.length <= TEXT_CHARACTERS_MAX) return value;
    return `${value.slice(0, KEPT_CHARACTERS)}… [${value.length - KEPT_CHARACTERS} characters left out]`;
  }
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, WHOLE.has(key) ? one : shorten(one)]));
}
