/** What the ABI tests need from a build: the library and a tiny checkpoint, if they are there. */
import { CORE_LIBRARY } from "../../src/setup/core_build.ts";

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Path of the built library; undefined before a build. */
export function findBuiltLibrary(): string | undefined {
  return exists(CORE_LIBRARY) ? CORE_LIBRARY : undefined;
}

/** Folder of a random Llama with two layers, a vocabulary of 128 and a context of 2,048. */
export const TINY_CHECKPOINT: string = new URL("../golden/checkpoints/llama-4bit-g32", import.meta.url).pathname;

/** The first of these programs that runs here. */
export async function findCommand(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    try {
      const { success } = await new Deno.Command(name, { args: ["--version"], stdout: "null", stderr: "null" })
        .output();
      if (success) return name;
    } catch {
      // Not installed: the next one.
    }
  }
  return undefined;
}
