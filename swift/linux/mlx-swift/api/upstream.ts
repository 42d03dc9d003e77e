/**
 * A checkout of the real mlx-swift, and the comparison of our module MLX with it.
 *
 * @module
 */
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Declaration, readDeclarations } from "./declarations.ts";

/** The version whose API our module has. */
export const UPSTREAM_VERSION = "0.31.3";

/** The sources of our module. */
export const OUR_SOURCES: string = fileURLToPath(new URL("../Sources/MLX", import.meta.url));

/** The list of what our module has. */
export const API_LIST: string = fileURLToPath(new URL("../API.md", import.meta.url));

/** A declaration and the file that holds it. */
export interface Located extends Declaration {
  /** Name of the file, e.g. `Ops.swift`. */
  file: string;
}

/** Something is missing or not as expected; the message says what to do. */
export class CheckError extends Error {
  override readonly name = "CheckError";
}

/** The folders that the checks work with. */
export interface Checkout {
  /** The checkout of mlx-swift. */
  mlxSwift: string;
  /** The checkout of swift-numerics, which the real MLX imports. */
  numerics: string;
}

/**
 * The folders named by `RMX_MLX_SWIFT` and `RMX_SWIFT_NUMERICS` (absent: `swift-numerics` beside mlx-swift).
 *
 * @throws {CheckError} If one is absent, not what it should be, or of another version.
 */
export async function findCheckout(read: (name: string) => string | undefined): Promise<Checkout> {
  const mlxSwift = read("RMX_MLX_SWIFT");
  if (mlxSwift === undefined || mlxSwift === "") {
    throw new CheckError(
      `RMX_MLX_SWIFT is not set. It must name a checkout of https://github.com/ml-explore/mlx-swift at ${UPSTREAM_VERSION}.`,
    );
  }
  if (basename(mlxSwift) !== "mlx-swift") {
    throw new CheckError(`RMX_MLX_SWIFT must name a folder called mlx-swift, found ${mlxSwift}.`);
  }
  await wantFile(join(mlxSwift, "Source/MLX/MLXArray.swift"), "RMX_MLX_SWIFT names no checkout of mlx-swift");
  await wantFile(join(mlxSwift, "Source/Cmlx/include/mlx/c/mlx.h"), "the checkout of mlx-swift lacks its C headers");
  const tag = await git(mlxSwift, ["describe", "--tags", "--exact-match"]);
  if (tag !== undefined && tag !== UPSTREAM_VERSION) {
    throw new CheckError(`RMX_MLX_SWIFT is a checkout of ${tag}; ${UPSTREAM_VERSION} is wanted.`);
  }
  const numerics = read("RMX_SWIFT_NUMERICS") ?? join(dirname(mlxSwift), "swift-numerics");
  await wantFile(
    join(numerics, "Sources/RealModule/Real.swift"),
    "mlx-swift needs a checkout of https://github.com/apple/swift-numerics (1.x) beside it, or named by RMX_SWIFT_NUMERICS",
  );
  return { mlxSwift, numerics };
}

/** The public declarations of a folder's Swift files, sorted by file. */
export async function readModule(folder: string): Promise<Located[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) if (entry.name.endsWith(".swift")) names.push(entry.name);
  const found: Located[] = [];
  for (const file of names.sort()) {
    const source = await Deno.readTextFile(join(folder, file));
    for (const declaration of readDeclarations(source)) found.push({ ...declaration, file });
  }
  return found;
}

/** What makes two declarations the same. */
export function key(declaration: Declaration): string {
  return `${declaration.context} | ${declaration.text}`;
}

/** Our declarations that upstream doesn't have, or has spelled otherwise. */
export function notUpstream(ours: readonly Located[], upstream: readonly Located[]): Located[] {
  const known = new Set(upstream.map(key));
  return ours.filter((declaration) => !known.has(key(declaration)));
}

async function wantFile(path: string, problem: string): Promise<void> {
  const isFile = await Deno.stat(path).then((info) => info.isFile, () => false);
  if (!isFile) throw new CheckError(`${problem}: there is no ${path}.`);
}

async function git(folder: string, args: string[]): Promise<string | undefined> {
  try {
    const output = await new Deno.Command("git", { args: ["-C", folder, ...args], stderr: "null" }).output();
    return output.success ? new TextDecoder().decode(output.stdout).trim() : undefined;
  } catch {
    return undefined;
  }
}
