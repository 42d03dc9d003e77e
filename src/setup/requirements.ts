/**
 * What the machine must be: its system, its processor, its C library, room on its disk.
 *
 * Everything here is cheap and asked before something big is downloaded.
 *
 * @module
 */
import { statfs } from "node:fs/promises";
import { SetupError } from "./errors.ts";
import { megabytes } from "./report.ts";
import { readOutput } from "./run_command.ts";

/** Systems that a core can be built for. */
export type Platform = "linux-x86_64" | "linux-aarch64" | "darwin-aarch64";

/** libmlx's wheels are built against this glibc (manylinux_2_35). */
const GLIBC_MIN = [2, 35] as const;

/** This machine's platform. @throws {SetupError} If no core can be built for it. */
export function requirePlatform(os: string = Deno.build.os, processor: string = Deno.build.arch): Platform {
  const platform = `${os}-${processor}`;
  if (platform === "linux-x86_64" || platform === "linux-aarch64" || platform === "darwin-aarch64") return platform;
  throw new SetupError(
    `This machine is ${os} on ${processor}. The core runs on macOS with Apple silicon and on Linux with x86_64 or ` +
      "aarch64.",
  );
}

/** On Linux: glibc of at least 2.35. @throws {SetupError} If it is older, or another C library. */
export async function requireGlibc(): Promise<void> {
  const text = await readOutput(["getconf", "GNU_LIBC_VERSION"]);
  const found = /^glibc (\d+)\.(\d+)/.exec(text ?? "");
  const isEnough = found !== null &&
    (Number(found[1]) > GLIBC_MIN[0] || Number(found[1]) === GLIBC_MIN[0] && Number(found[2]) >= GLIBC_MIN[1]);
  if (isEnough) return;
  throw new SetupError(
    `The MLX library needs glibc ${GLIBC_MIN.join(".")} or later; this system has ${
      text?.trim() ?? "another C library"
    }.`,
  );
}

/** Checks that `folder`'s disk has room. @throws {SetupError} With both numbers, if it has not. */
export async function requireSpace(folder: string, neededBytes: number, what: string): Promise<void> {
  const presentBytes = await freeBytes(folder);
  if (presentBytes >= neededBytes) return;
  throw new SetupError(
    `${what} needs ${megabytes(neededBytes)} of disk space in ${folder}; ${megabytes(presentBytes)} are free. ` +
      "Make room and run the command again: it goes on where it stopped.",
  );
}

/** Room on the disk of `folder` for this user. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
