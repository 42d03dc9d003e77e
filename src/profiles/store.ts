/**
 * Reads `profiles/`: every file is checked, and a bad one stops the start with its path and field.
 *
 * @module
 */
import type { z } from "zod";
import { LineProfile, ModelAliases, ModelProfile } from "./schema.ts";

/** Id of the line for checkpoints that no other covers. */
export const DEFAULT_LINE_ID = "default";

/** A file of `profiles/` that can't be used; the message names it and the field. */
export class ProfileError extends Error {
  /** @param message What was found and what is wanted. */
  constructor(message: string) {
    super(message);
    this.name = "ProfileError";
  }
}

/** All profiles by id. */
export interface Profiles {
  /** How to talk with model lines. */
  readonly lines: ReadonlyMap<string, LineProfile>;
  /** What can be loaded by a short name. */
  readonly models: ReadonlyMap<string, ModelProfile>;
  /** Short names → `owner/name` on the hub, for models that have no profile of their own. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** Where the model of a short name comes from; undefined: it is none. */
export function sourceOf(profiles: Profiles, name: string): ModelProfile["source"] | undefined {
  const repository = profiles.aliases.get(name);
  if (repository !== undefined) return { kind: "huggingface", repository, revision: "main" };
  return profiles.models.get(name)?.source;
}

/** All short names. */
export function shortNames(profiles: Profiles): string[] {
  return [...profiles.models.keys(), ...profiles.aliases.keys()];
}

/**
 * Reads all profiles.
 *
 * @param folder With `lines/` and `models/`; ours unless a test gives another.
 * @throws {ProfileError} If a file is no profile, an id is not its file's name, or a model names no line.
 */
export async function loadProfiles(folder: URL = new URL("../../profiles/", import.meta.url)): Promise<Profiles> {
  const lines = await loadFolder(new URL("lines/", folder), LineProfile);
  const models = await loadFolder(new URL("models/", folder), ModelProfile);
  if (!lines.has(DEFAULT_LINE_ID)) throw new ProfileError(`lines/${DEFAULT_LINE_ID}.json is missing`);
  for (const { id, line } of models.values()) {
    if (!lines.has(line)) throw new ProfileError(`models/${id}.json: line: there is no lines/${line}.json`);
  }
  const aliases = await loadAliases(folder);
  const twice = [...aliases.keys()].find((alias) => models.has(alias));
  if (twice !== undefined) throw new ProfileError(`aliases.json: ${twice}: is the id of a model's profile`);
  return { lines, models, aliases };
}

/** `aliases.json`, which may be missing. */
async function loadAliases(folder: URL): Promise<Map<string, string>> {
  const name = "aliases.json";
  const text = await Deno.readTextFile(new URL(name, folder)).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  return text === undefined ? new Map() : new Map(Object.entries(parseProfile(text, ModelAliases, name).aliases));
}

async function loadFolder<T extends { id: string }>(folder: URL, schema: z.ZodType<T>): Promise<Map<string, T>> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".json")) names.push(name);
  const profiles = new Map<string, T>();
  for (const name of names.sort()) {
    const profile = parseProfile(await Deno.readTextFile(new URL(name, folder)), schema, name);
    if (`${profile.id}.json` !== name) throw new ProfileError(`${name}: id: is ${profile.id}, not the file's name`);
    profiles.set(profile.id, profile);
  }
  return profiles;
}

function parseProfile<T>(text: string, schema: z.ZodType<T>, name: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new ProfileError(`${name}: is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const issues = result.error.issues.map((issue) => `${issue.path.join(".") || "the document"}: ${issue.message}`);
  throw new ProfileError(`${name}: ${issues.join("; ")}`);
}
