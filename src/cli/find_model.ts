/**
 * A model's name on the command line → the folder to load.
 *
 * In this order: nothing or the embedded model's id, an id of `profiles/models` or a name of
 * `profiles/aliases.json`, a folder, `OWNER/NAME` on the hub.
 * What is on the disk is never fetched again.
 *
 * @module
 */
import { basename, resolve } from "node:path";
import { type Profiles, shortNames, sourceOf } from "../profiles/store.ts";
import { DEFAULT_MODEL_ID, findDefaultModel } from "../setup/default_model.ts";
import { hubCacheFolder } from "../setup/folders.ts";
import { findCached } from "../setup/hub/cache.ts";
import { openEndpoint } from "../setup/hub/endpoint.ts";
import { pullModel } from "../setup/hub/pull.ts";
import { openReport } from "../setup/report.ts";
import { ensureDefaultModel, type SetupOptions } from "../setup/setup.ts";
import { CommandError } from "./errors.ts";

/** A model on the disk. */
export interface ModelPlace {
  /** Under which it is served. */
  readonly id: string;
  /** Its Hugging Face id, when it has one. */
  readonly hfId?: string;
  /** Folder of the checkpoint. */
  readonly directory: string;
}

/** A model that was named, wherever it is. */
type Named =
  | { kind: "embedded" }
  | { kind: "folder"; directory: string }
  | { kind: "hub"; id: string; repository: string; revision: string };

/**
 * The model's folder, fetched if it is not there.
 *
 * @throws {CommandError} If the name is none of the above.
 * @throws {SetupError | HubError} If it can't be fetched.
 */
export async function ensureModel(
  name: string | undefined,
  profiles: Profiles,
  setup: Partial<SetupOptions>,
): Promise<ModelPlace> {
  const named = await parseName(name, profiles);
  const present = await findPlace(named);
  if (present !== undefined) return present;
  switch (named.kind) {
    case "embedded":
      return { id: DEFAULT_MODEL_ID, directory: await ensureDefaultModel(setup) };
    case "folder":
      throw new CommandError(`${named.directory} holds no config.json, so it is no model.`);
    case "hub": {
      const report = setup.report ?? openReport();
      const options = { endpoint: await openEndpoint(), cache: hubCacheFolder(), report };
      const directory = await pullModel({ id: named.repository, revision: named.revision }, options);
      return { id: named.id, hfId: named.repository, directory };
    }
  }
}

/** The model's folder if it is on the disk and whole. @throws {CommandError} If the name is no model's. */
export async function findModel(name: string | undefined, profiles: Profiles): Promise<ModelPlace | undefined> {
  return await findPlace(await parseName(name, profiles));
}

async function parseName(name: string | undefined, profiles: Profiles): Promise<Named> {
  if (name === undefined || name === "default" || name === DEFAULT_MODEL_ID) return { kind: "embedded" };
  const source = sourceOf(profiles, name);
  if (source?.kind === "embedded") return { kind: "embedded" };
  if (source !== undefined) return { kind: "hub", id: name, repository: source.repository, revision: source.revision };
  const isFolder = await Deno.stat(name).then(({ isDirectory }) => isDirectory, () => false);
  if (isFolder) return { kind: "folder", directory: resolve(name) };
  if (/^[\w-][\w.-]*\/[\w.-]+$/.test(name)) return { kind: "hub", id: toId(name), repository: name, revision: "main" };
  const known = shortNames(profiles).join(", ");
  throw new CommandError(
    `${JSON.stringify(name)} is no model: wanted is one of ${known}, a folder, or OWNER/NAME on the hub.`,
  );
}

async function findPlace(named: Named): Promise<ModelPlace | undefined> {
  switch (named.kind) {
    case "embedded": {
      const directory = await findDefaultModel();
      return directory === undefined ? undefined : { id: DEFAULT_MODEL_ID, directory };
    }
    case "folder": {
      const { directory } = named;
      const isModel = await Deno.stat(`${directory}/config.json`).then(() => true, () => false);
      return isModel ? { id: toId(directory), directory } : undefined;
    }
    case "hub": {
      const cached = await findCached(hubCacheFolder(), named.repository, named.revision);
      if (cached === undefined || cached.missing !== undefined) return undefined;
      return { id: named.id, hfId: named.repository, directory: cached.directory };
    }
  }
}

/** Last part of a path or hub id in the letters of an id: `[a-z0-9][a-z0-9._-]*`. */
function toId(name: string): string {
  const id = basename(name).toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[^a-z0-9]+/, "");
  return id || "model";
}
