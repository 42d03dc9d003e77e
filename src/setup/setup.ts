/**
 * Set-up as a whole: a bare machine becomes one that can serve. Run by every command that needs the core or a model.
 *
 * Each step looks first and does nothing when its result is there (the whole is then some milliseconds); otherwise it
 * says what it will do and how big it is, and can be stopped and run again. Knows nothing of the server.
 *
 * @module
 */
import { basename, join } from "node:path";
import { buildCore, CORE_LIBRARY, isCoreCurrent } from "./core_build.ts";
import { ensureDefaultModel as ensureModel } from "./default_model.ts";
import { extractEmbedded } from "./embedded.ts";
import { BUILD_FOLDER, cacheFolder } from "./folders.ts";
import { ensureMlxBinary } from "./libmlx.ts";
import { withLock } from "./lock.ts";
import { openReport, type Report } from "./report.ts";
import { requirePlatform } from "./requirements.ts";
import { ensureToolchain, type SystemPackages } from "./toolchain.ts";

/** How set-up may behave. */
export interface SetupOptions {
  /** May it install system packages. */
  systemPackages: SystemPackages;
  /** Where it reports to. */
  report: Report;
}

const DEFAULTS: SetupOptions = { systemPackages: "ask", report: openReport() };

/** A core that is in place. */
export interface PreparedCore {
  /** Path of the library. */
  readonly library: string;
  /** System packages were installed just now: this process may be older than the C library that the core needs. */
  readonly isSystemChanged: boolean;
}

/**
 * Toolchain, libmlx, core.
 *
 * @throws {SetupError} If it can't be made; says what was found and what to do.
 */
export async function ensureCore(options: Partial<SetupOptions> = {}): Promise<PreparedCore> {
  const { systemPackages, report } = { ...DEFAULTS, ...options };
  const platform = requirePlatform();
  const present = await findCore();
  if (present !== undefined) return { library: present, isSystemChanged: false };
  return await withLock(join(BUILD_FOLDER, "setup.lock"), report, async () => {
    if (await isCoreCurrent(platform)) return { library: CORE_LIBRARY, isSystemChanged: false };
    const toolchain = await ensureToolchain(systemPackages, report);
    const mlx = await ensureMlxBinary(platform, toolchain, report);
    await buildCore(platform, toolchain.swift, mlx, report);
    return { library: CORE_LIBRARY, isSystemChanged: toolchain.isNew };
  });
}

/** Path of the core's library if it is built from the sources as they are now; changes nothing. */
export async function findCore(): Promise<string | undefined> {
  if (Deno.build.standalone) return await extractCore();
  return await isCoreCurrent(requirePlatform()) ? CORE_LIBRARY : undefined;
}

/** In a compiled executable the core travels along. */
async function extractCore(): Promise<string> {
  return join(await extractEmbedded(BUILD_FOLDER, cacheFolder()), basename(CORE_LIBRARY));
}

/**
 * The embedded model.
 *
 * @returns Its folder.
 * @throws {SetupError} If it can't be made; says what was found and what to do.
 */
export async function ensureDefaultModel(options: Partial<SetupOptions> = {}): Promise<string> {
  const { systemPackages, report } = { ...DEFAULTS, ...options };
  return await ensureModel(systemPackages, report);
}
