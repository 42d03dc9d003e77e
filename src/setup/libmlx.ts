/**
 * MLX's binary part: on Linux `libmlx.so` with its headers, on macOS the Metal library that SwiftPM can't compile.
 *
 * Linux: the wheel `mlx-cpu` becomes `build/mlx`, where the Swift package of `swift/linux/mlx-swift` looks for it.
 * macOS: `mlx.metallib` of the wheel `mlx-metal` goes beside the core library, where MLX looks for it. Both are of the
 * MLX version that mlx-swift 0.31.3 embeds.
 *
 * @module
 */
import { join } from "node:path";
import { SetupError } from "./errors.ts";
import { BUILD_FOLDER } from "./folders.ts";
import { megabytes, type Report } from "./report.ts";
import { type Platform, requireGlibc } from "./requirements.ts";
import { readOutput } from "./run_command.ts";
import { hasStamp, writeStamp } from "./stamp.ts";
import type { PythonTools } from "./toolchain.ts";
import { fetchWheel, unpackWheel, type Wheel } from "./wheel.ts";

const VERSION = "0.31.1";

const LINUX_WHEELS: Readonly<Record<Exclude<Platform, "darwin-aarch64">, Wheel>> = {
  "linux-x86_64": {
    name: "mlx-cpu",
    version: VERSION,
    platform: "manylinux_2_35_x86_64",
    sizeBytes: 10_279_829,
    sha256: "27578a396f08431dd2cc089e755ef58f77d16261d9e91bd0f230157bc1662911",
  },
  "linux-aarch64": {
    name: "mlx-cpu",
    version: VERSION,
    platform: "manylinux_2_35_aarch64",
    sizeBytes: 8_696_444,
    sha256: "8c5a1366efa6be47bec573a31bb224127d0e11c07fe789c3a11a0fc50ad595e3",
  },
};

/** By least macOS version, newest first. */
const METAL_WHEELS: readonly { macosMin: number; wheel: Wheel }[] = [
  [26, 49_256_543, "e7324b7c56b519ae67c025d3ced07e5d35bc3a9f19d4c45fe4927f385148c59e"] as const,
  [15, 38_618_950, "6c56bd8cd27743e635f5a90a22535af7c31bd22b4b126d46b6da2da52d72e413"] as const,
  [14, 38_624_074, "70741174131dbf7fdd479cb730e06e08c358eac3bf7905d9e884e7960cfdd5b8"] as const,
].map(([macosMin, sizeBytes, sha256]) => ({
  macosMin,
  wheel: { name: "mlx-metal", version: VERSION, platform: `macosx_${macosMin}_0_arm64`, sizeBytes, sha256 },
}));

const FOLDER = join(BUILD_FOLDER, "mlx");
const STAMP = join(FOLDER, ".stamp");
/** From `build/librmx.so` to libmlx, as the dynamic linker reads it. */
const RUN_PATH = "$ORIGIN/mlx/mlx/lib";
const DOWNLOADS = join(BUILD_FOLDER, "downloads");

/** Where the core finds MLX's binary part. */
export interface MlxBinary {
  /** Part of the core's stamp: changes when the binary does. */
  readonly stamp: string;
  /** Folder of libmlx as the core's library sees it: relative to itself, or absolute for a choice of the user's own. */
  readonly runPath: string;
  /** macOS: the Metal library to put beside the core. */
  readonly metalLibrary?: string;
}

/** The binary part if it is in place already, without touching anything. */
export async function findMlxBinary(platform: Platform): Promise<MlxBinary | undefined> {
  const own = await findOwnChoice();
  if (own !== undefined) return own;
  const wheel = await chooseWheel(platform);
  return await hasStamp(STAMP, toStamp(wheel)) ? toBinary(platform, wheel) : undefined;
}

/** Brings the binary part to `build/mlx`. @throws {SetupError} If that can't be done; says why. */
export async function ensureMlxBinary(platform: Platform, tools: PythonTools, report: Report): Promise<MlxBinary> {
  const present = await findMlxBinary(platform);
  if (present !== undefined) return present;
  const wheel = await chooseWheel(platform);
  if (platform !== "darwin-aarch64") await requireGlibc();
  report.step(`MLX: ${wheel.name} ${wheel.version} for ${wheel.platform}, ${megabytes(wheel.sizeBytes)} to download`);
  const path = await fetchWheel(wheel, DOWNLOADS, tools.pip, report);
  await Deno.remove(FOLDER, { recursive: true }).catch(() => {});
  await unpackWheel(path, FOLDER, tools.python, report);
  await writeStamp(STAMP, toStamp(wheel));
  await Deno.remove(path);
  return toBinary(platform, wheel);
}

/**
 * A developer's own libmlx instead of the pinned wheel: `RMX_MLX_WHEEL` names an unpacked one (mlx-cuda-13, another
 * build), or `build/mlx` is a link. Used as it is.
 */
async function findOwnChoice(): Promise<MlxBinary | undefined> {
  const named = Deno.env.get("RMX_MLX_WHEEL");
  if (named) return { stamp: `own:${named}`, runPath: join(named, "mlx/lib") };
  const info = await Deno.lstat(FOLDER).catch(() => undefined);
  return info?.isSymlink ? { stamp: `own:${await Deno.readLink(FOLDER)}`, runPath: RUN_PATH } : undefined;
}

async function chooseWheel(platform: Platform): Promise<Wheel> {
  if (platform !== "darwin-aarch64") return LINUX_WHEELS[platform];
  return chooseMetalWheel(await readOutput(["sw_vers", "-productVersion"]) ?? "");
}

/** The newest wheel that this macOS can run. @throws {SetupError} If the system is too old or its version unknown. */
export function chooseMetalWheel(productVersion: string): Wheel {
  const major = Number.parseInt(productVersion, 10);
  const fitting = METAL_WHEELS.find(({ macosMin }) => macosMin <= major);
  if (fitting !== undefined) return fitting.wheel;
  const found = productVersion.trim() || "of unknown version";
  throw new SetupError(`MLX's Metal library needs macOS 14 or later; this system is macOS ${found}.`);
}

function toStamp(wheel: Wheel): string {
  return `${wheel.name} ${wheel.version} ${wheel.sha256}`;
}

function toBinary(platform: Platform, wheel: Wheel): MlxBinary {
  const binary = { stamp: toStamp(wheel), runPath: RUN_PATH };
  return platform === "darwin-aarch64" ? { ...binary, metalLibrary: join(FOLDER, "mlx/lib/mlx.metallib") } : binary;
}
