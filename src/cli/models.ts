/**
 * `rapid-mlx models`: what can be served without fetching anything, and what the profiles name.
 *
 * @module
 */
import { loadProfiles } from "../profiles/store.ts";
import { DEFAULT_MODEL_ID, findDefaultModel } from "../setup/default_model.ts";
import { hubCacheFolder } from "../setup/folders.ts";
import { listCached } from "../setup/hub/cache.ts";
import { print, printTable, toSize } from "./terminal.ts";

/** One line of the list. */
interface Listed {
  id: string;
  /** Absent: not known before it is fetched. */
  sizeBytes?: number;
  state: "ready" | "incomplete" | "not fetched";
  /** What is missing, or where it is. */
  detail: string;
}

/** Prints the models, as a table or as JSON. */
export async function showModels(flags: { json?: boolean }): Promise<void> {
  const models = await listModels();
  if (flags.json === true) {
    print(JSON.stringify({ models }, null, 2));
    return;
  }
  printTable([
    ["MODEL", "SIZE", "STATE", ""],
    ...models.map((
      { id, sizeBytes, state, detail },
    ) => [id, sizeBytes === undefined ? "?" : toSize(sizeBytes), state, detail]),
  ]);
}

async function listModels(): Promise<Listed[]> {
  const profiles = await loadProfiles();
  const cached = await listCached(hubCacheFolder());
  const listed: Listed[] = [];
  for (const { id, source, download_bytes: sizeBytes } of profiles.models.values()) {
    if (source.kind === "huggingface") {
      if (!cached.some((one) => one.id === source.repository)) {
        listed.push({ id, sizeBytes, state: "not fetched", detail: `rapid-mlx pull ${id}` });
      }
      continue;
    }
    const directory = id === DEFAULT_MODEL_ID ? await findDefaultModel() : undefined;
    const state = directory === undefined ? "not fetched" : "ready";
    listed.push({ id, sizeBytes, state, detail: directory ?? "comes with the first serve" });
  }
  for (const [id, repository] of profiles.aliases) {
    if (cached.some((one) => one.id === repository)) continue;
    listed.push({ id, state: "not fetched", detail: `rapid-mlx pull ${id} (${repository})` });
  }
  for (const { id, sizeBytes, missing, directory } of cached) {
    const state = missing === undefined ? "ready" : "incomplete";
    listed.push({ id, sizeBytes, state, detail: missing === undefined ? directory : `${missing} is missing` });
  }
  return listed;
}
