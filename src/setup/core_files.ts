/**
 * The files that a built core consists of, relative to the build folder, the library first.
 *
 * @module
 */
import { basename, join } from "node:path";
import { CORE_LIBRARY } from "./core_build.ts";

/** Lists them. @throws {Deno.errors.NotFound} If the core is not built. */
export async function coreFiles(buildFolder: string): Promise<string[]> {
  const library = basename(CORE_LIBRARY);
  await Deno.stat(join(buildFolder, library));
  if (Deno.build.os === "darwin") return [library, "mlx.metallib"];
  const files = [library];
  for (const folder of ["mlx/mlx/lib", "mlx/mlx_cpu.libs"]) {
    for await (const entry of Deno.readDir(join(buildFolder, folder))) {
      if (/\.so(\.|$)/.test(entry.name)) files.push(`${folder}/${entry.name}`);
    }
  }
  return files;
}
