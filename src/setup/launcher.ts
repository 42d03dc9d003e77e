/**
 * The launcher `rapid-mlx`: a shell script that starts these sources from any folder.
 *
 * @module
 */
import { join } from "node:path";
import { SetupError } from "./errors.ts";
import { V8_FLAGS } from "./v8_flags.ts";

/** Says that a file is ours to replace. */
const MARK = "# Starts Rapid-MLX from its sources; made by `deno task link`.";

/** What a launcher starts. */
export interface LauncherTarget {
  /** The Deno that made it; it may be gone one day, then one on PATH or one from npm takes over. */
  readonly deno: string;
  /** Version to ask npm for. */
  readonly denoVersion: string;
  /** Folder of main.ts. */
  readonly projectFolder: string;
}

/** Text of the launcher. */
export function toLauncher({ deno, denoVersion, projectFolder }: LauncherTarget): string {
  const [config, main] = [join(projectFolder, "deno.json"), join(projectFolder, "main.ts")].map(quote);
  const run = `run --quiet -A ${V8_FLAGS} --config ${config} ${main} "$@"`;
  return `#!/bin/sh
${MARK}
deno=${quote(deno)}
[ -x "$deno" ] || deno=$(command -v deno) || exec npx -y deno@${denoVersion} ${run}
exec "$deno" ${run}
`;
}

/**
 * Writes the launcher into `folder`.
 *
 * @returns Its path.
 * @throws {SetupError} If something else has that name.
 */
export async function writeLauncher(folder: string, target: LauncherTarget): Promise<string> {
  const path = join(folder, "rapid-mlx");
  const present = await Deno.readTextFile(path).catch((error: unknown) => {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  });
  if (present !== undefined && !present.includes(MARK)) {
    throw new SetupError(`${path} is another program's; remove it, then link again.`);
  }
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${path}.${Deno.pid}`, toLauncher(target), { mode: 0o755 });
  await Deno.rename(`${path}.${Deno.pid}`, path);
  return path;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
