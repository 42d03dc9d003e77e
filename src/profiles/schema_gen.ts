/**
 * Writes the JSON schemas of profiles for editors: `deno task profiles:gen`; with `--check` only compares.
 *
 * @module
 */
import { z } from "zod";
import { LineProfile, ModelAliases, ModelProfile } from "./schema.ts";

/** Generated files, by their path under `profiles/`. */
export function profileSchemas(): Map<string, string> {
  const text = (schema: z.ZodType): string => JSON.stringify(z.toJSONSchema(schema, { io: "input" }), null, 2) + "\n";
  return new Map([
    ["aliases.schema.gen.json", text(ModelAliases)],
    ["line.schema.gen.json", text(LineProfile)],
    ["model.schema.gen.json", text(ModelProfile)],
  ]);
}

if (import.meta.main) {
  const stale: string[] = [];
  for (const [name, text] of profileSchemas()) {
    const path = new URL(`../../profiles/${name}`, import.meta.url);
    if (!Deno.args.includes("--check")) await Deno.writeTextFile(path, text);
    else if (await Deno.readTextFile(path).catch(() => "") !== text) stale.push(name);
  }
  if (stale.length > 0) {
    // deno-lint-ignore no-console -- a program of the command line
    console.error(`profiles/${stale.join(", ")} is not current: run deno task profiles:gen`);
    Deno.exit(1);
  }
}
