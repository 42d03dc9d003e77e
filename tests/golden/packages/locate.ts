/**
 * Prints the folder of a package's files, fetching it first: `locate.ts NAME VERSION FILE` → the folder with FILE.
 *
 * Runs as a process of its own with the lock file beside it: packages in the server's own lock file would be fetched by
 * every `deno task serve`, and these have 125 MB.
 *
 * @module
 */
import { createRequire } from "node:module";
import { dirname } from "node:path";

const [name, version, file] = Deno.args;
await import(`npm:${name}@${version}/${file}`, { with: { type: "json" } });
// deno-lint-ignore no-console -- its output is its answer
console.log(dirname(createRequire(import.meta.url).resolve(`${name}/${file}`)));
