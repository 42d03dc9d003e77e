/**
 * Builds the core: `swift build` in release mode, then `build/librmx.so` (`.dylib` on macOS) beside MLX's binary part.
 *
 * How the library is linked stands in Package.swift. The stamp is a hash over sources, compiler and libmlx, so an
 * unchanged tree costs a few milliseconds. The library finds libmlx relative to itself, so the build folder can be
 * moved as a whole.
 *
 * @module
 */
import { join } from "node:path";
import { BUILD_FOLDER, PROJECT_FOLDER } from "./folders.ts";
import { findMlxBinary, type MlxBinary } from "./libmlx.ts";
import type { Report } from "./report.ts";
import { type Platform, requireSpace } from "./requirements.ts";
import { findProgram, runCommand } from "./run_command.ts";
import { hashSources, hasStamp, writeStamp } from "./stamp.ts";

const LIBRARY_NAME = Deno.build.os === "darwin" ? "librmx.dylib" : "librmx.so";

/** The core's library. */
export const CORE_LIBRARY: string = join(BUILD_FOLDER, LIBRARY_NAME);

const STAMP = join(BUILD_FOLDER, "core.stamp");
/** Intermediate files of a release build. */
const BUILD_SPACE_BYTES = 1_500_000_000;

/** What a core is made from. */
const SOURCES = ["Package.swift", "swift"];
const isIrrelevant = (path: string): boolean => /(^|\/)(Tests|\.build|rmx-core)$|\.md$/.test(path);

/** True when the library is there and made from the sources as they are now. */
export async function isCoreCurrent(platform: Platform): Promise<boolean> {
  const mlx = await findMlxBinary(platform);
  if (mlx === undefined || !await hasStamp(STAMP, await toStamp(platform, mlx))) return false;
  return await Deno.stat(CORE_LIBRARY).then(() => true, () => false);
}

/** Builds the library. @throws {SetupError} If the compiler fails; the message has the end of its output. */
export async function buildCore(platform: Platform, swift: string, mlx: MlxBinary, report: Report): Promise<void> {
  report.step("Core: building from source (1 to 5 minutes the first time)");
  await requireSpace(BUILD_FOLDER, BUILD_SPACE_BYTES, "Building the core");
  const stamp = await toStamp(platform, mlx);
  const command = [swift, "build", "--configuration", "release", "--product", "rmx"];
  await runCommand(command, {
    report,
    task: "building the core",
    logPath: join(BUILD_FOLDER, "logs/core.log"),
    folder: PROJECT_FOLDER,
    environment: { RMX_RUN_PATH: mlx.runPath },
  });
  await place(join(PROJECT_FOLDER, ".build/release", LIBRARY_NAME), CORE_LIBRARY);
  if (mlx.metalLibrary !== undefined) await place(mlx.metalLibrary, join(BUILD_FOLDER, "mlx.metallib"));
  await writeStamp(STAMP, stamp);
}

async function toStamp(platform: Platform, mlx: MlxBinary): Promise<string> {
  const compiler = await findProgram("swiftc");
  const info = compiler === undefined ? undefined : await Deno.stat(compiler);
  const sources = await hashSources(PROJECT_FOLDER, SOURCES, isIrrelevant);
  const parts = [platform, sources, mlx.stamp, compiler ?? "", info?.size ?? 0];
  return parts.join("\n");
}

/** Copies, then renames: a process that has the old library open keeps it whole. */
async function place(source: string, target: string): Promise<void> {
  const draft = `${target}.${Deno.pid}`;
  await Deno.copyFile(source, draft);
  await Deno.rename(draft, target);
}
