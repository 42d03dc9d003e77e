/**
 * `rapid-mlx version`, and the number itself.
 *
 * @module
 */
import project from "../../deno.json" with { type: "json" };
import { Library } from "../ffi/library.ts";
import { findCore } from "../setup/setup.ts";
import { print } from "./terminal.ts";

/** Version of this server. */
export const VERSION: string = project.version;

/** Prints the versions of server, runtime and, when it is built, core. */
export async function showVersion(): Promise<void> {
  print(`rapid-mlx ${VERSION}`);
  print(`deno ${Deno.version.deno}`);
  const path = await findCore();
  if (path === undefined) {
    print("core not built yet");
    return;
  }
  const library = Library.open(path);
  const { core, mlx, abi, platform } = library.version;
  library.close();
  print(`core ${core} (ABI ${abi}, MLX ${mlx}, ${platform})`);
}
