/**
 * Who may import whom: right or down in the drawing of docs/ARCHITECTURE.md, never back.
 *
 * @module
 */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { readSources } from "./sources.ts";

/** Layers of src/, and the layers that each may import. Files directly in src/ count as layers of their own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "flow.ts": [],
  "log.ts": [],
  "config.ts": ["log.ts"],
  ffi: ["flow.ts"],
  engine: ["ffi", "flow.ts"],
  // What answers may be: parsers of the wires and of the dialects make grammars, and guides follow them.
  grammar: [],
  guide: ["flow.ts", "grammar", "output", "prompt"],
  output: ["flow.ts", "grammar"],
  // A profile names parsers: one that does not exist is an error at start.
  profiles: ["flow.ts", "output"],
  api: ["flow.ts", "grammar"],
  // The slice of a worker's thread is a call of the system's.
  prompt: ["ffi", "flow.ts", "profiles"],
  route: ["api", "engine", "ffi", "flow.ts", "grammar", "guide", "output", "profiles", "prompt"],
  trace: ["api", "flow.ts", "output"],
  store: [],
  http: [
    "api",
    "config.ts",
    "engine",
    "ffi",
    "flow.ts",
    "guide",
    "log.ts",
    "output",
    "profiles",
    "prompt",
    "route",
    "store",
    "trace",
  ],
  replay: [
    "api",
    "config.ts",
    "engine",
    "ffi",
    "flow.ts",
    "guide",
    "http",
    "log.ts",
    "output",
    "prompt",
    "route",
    "trace",
  ],
  fake: ["api", "ffi", "flow.ts", "output", "profiles", "prompt", "route"],
  setup: [],
  agents: ["setup"],
  cli: [
    "agents",
    "api",
    "fake",
    "config.ts",
    "engine",
    "ffi",
    "flow.ts",
    "guide",
    "http",
    "log.ts",
    "output",
    "profiles",
    "prompt",
    "replay",
    "route",
    "setup",
    "store",
    "trace",
  ],
};

/** Layers of swift/, and the modules of ours that each may import. */
const SWIFT_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  Engine: [],
  Kernels: ["MLX", "MLXCPU"],
  Layers: ["Kernels", "MLX"],
  Models: ["Kernels", "Layers", "MLX"],
  Runtime: ["Engine", "Kernels", "Layers", "MLX", "Models"],
  CoreCommands: ["Engine", "Kernels", "MLX", "Runtime"],
  Bridge: ["CABI", "CoreCommands", "Engine", "Runtime"],
  "rmx-core": ["CoreCommands"],
};

Deno.test("an import of src goes right or down, and tests/tidy is told of new layers", async () => {
  const wrong: string[] = [];
  for (const { path, lines } of await readSources(/^src\/.*\.ts$/)) {
    if (path.endsWith("_test.ts")) continue;
    const from = path.split("/")[1]!;
    const allowed = MAY_IMPORT[from];
    assert(allowed !== undefined, `${path}: src/${from} has no layer`);
    for (const match of lines.join("\n").matchAll(/(?:from|import|import\()\s*"(\.[^"]+)"/g)) {
      const target = join(dirname(path), match[1]!);
      const to = target.startsWith("src/") ? target.split("/")[1]! : target;
      if (to !== from && to !== "deno.json" && !allowed.includes(to)) wrong.push(`${path} imports ${target}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("an import of swift goes down, and the engine never sees MLX", async () => {
  const ours = new Set([...Object.keys(SWIFT_MAY_IMPORT), "CABI", "MLX", "MLXCPU", "CMLX", "MLXNN"]);
  const wrong: string[] = [];
  for (const { path, lines } of await readSources(/^swift\/.*\.swift$/)) {
    const from = path.split("/")[1]!;
    if (from === "Tests" || from === "linux") continue;
    const allowed = SWIFT_MAY_IMPORT[from];
    assert(allowed !== undefined, `${path}: swift/${from} has no layer`);
    for (const line of lines) {
      const to = /^(?:@\w+ )?(?:public )?import (?:\w+ )?(\w+)/.exec(line)?.[1];
      if (to !== undefined && ours.has(to) && !allowed.includes(to)) wrong.push(`${path} imports ${to}`);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("only src/ffi opens libraries", async () => {
  const openers = (await readSources(/^(src|main\.ts).*\.ts$/))
    .filter(({ path, lines }) => !path.endsWith("_test.ts") && lines.some((line) => line.includes("Deno.dlopen(")));
  assert(openers.length > 0);
  assert.deepEqual(openers.filter(({ path }) => !path.startsWith("src/ffi/")).map(({ path }) => path), []);
});
