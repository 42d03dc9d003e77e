/**
 * `rapid-mlx pull MODEL [FILES…]`: a model from the hub, or the embedded one.
 *
 * @module
 */
import { loadProfiles, sourceOf } from "../profiles/store.ts";
import { hubCacheFolder } from "../setup/folders.ts";
import { openEndpoint } from "../setup/hub/endpoint.ts";
import { pullModel } from "../setup/hub/pull.ts";
import { openReport } from "../setup/report.ts";
import { ensureDefaultModel } from "../setup/setup.ts";
import { toSystemPackages } from "./serve.ts";
import { print } from "./terminal.ts";

/** Flags of `pull`. */
export interface PullFlags {
  /** Branch, tag or commit. */
  readonly revision?: string;
  /** False: no system packages may be installed. */
  readonly systemPackages?: boolean;
}

/** Pulls and prints the folder. @throws {HubError | SetupError} If that can't be done. */
export async function pull(name: string, files: readonly string[], flags: PullFlags): Promise<void> {
  const profiles = await loadProfiles();
  const source = sourceOf(profiles, name);
  if (source?.kind === "embedded") {
    print(await ensureDefaultModel({ systemPackages: toSystemPackages({ ...flags }) }));
    return;
  }
  const id = source?.repository ?? name;
  const revision = flags.revision ?? source?.revision;
  const request = { id, files, ...revision !== undefined && { revision } };
  const options = { endpoint: await openEndpoint(), cache: hubCacheFolder(), report: openReport() };
  print(await pullModel(request, options));
}
