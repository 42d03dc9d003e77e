/**
 * The arbiter: does the core compile, unchanged, against the real mlx-swift?
 *
 *     RMX_MLX_SWIFT=<checkout> deno task check:mlx-swift
 *
 * First our module's declarations are compared with the checkout's as text. Then the checkout's Swift sources become a
 * module (its C++ isn't needed: the C headers that it carries are enough for the types), and the targets of
 * Package.swift that reach MLX are type-checked against it in order, as on Linux and as where there is Metal: `#if
 * canImport(Metal)` is made true by an empty module of that name. No `MLXCPU` is in sight, as on a Mac.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CheckError, type Checkout, findCheckout, key, notUpstream, OUR_SOURCES, readModule } from "./upstream.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const COMMON = ["-wmo", "-emit-module"];
/** As Package.swift builds the targets. */
const OUR_FLAGS = [...COMMON, "-swift-version", "6", "-warnings-as-errors", "-package-name", "rapid_mlx"];
/** As the checkouts build theirs; their warnings are not ours. */
const THEIR_FLAGS = [...COMMON, "-swift-version", "5", "-parse-as-library", "-suppress-warnings"];

/** A target of Package.swift. */
export interface Target {
  /** Its module. */
  name: string;
  /** `regular`, `executable` or `test`. */
  type: string;
  /** Its folder, relative to the package. */
  path: string;
  /** Targets of the package that it imports. */
  targets: string[];
  /** Products of other packages that it imports. */
  products: string[];
}

/** The targets in the output of `swift package dump-package`. */
export function readTargets(manifest: string): Target[] {
  const { targets } = JSON.parse(manifest) as {
    targets: { name: string; type: string; path: string; dependencies: Record<string, (string | null)[]>[] }[];
  };
  return targets.map(({ name, type, path, dependencies }) => {
    const named = (kind: string): string[] =>
      dependencies.flatMap((dependency) => dependency[kind]?.[0] ?? []).filter((found) => found !== null);
    return { name, type, path, targets: [...named("byName"), ...named("target")], products: named("product") };
  });
}

/** The targets that reach MLX, and those that they import, each after what it imports. Tests are left out. */
export function inOrder(targets: readonly Target[]): Target[] {
  const byName = new Map(targets.map((target) => [target.name, target]));
  const reaches = (target: Target): boolean =>
    target.products.includes("MLX") || target.targets.some((name) => reaches(wanted(byName, name)));
  const ordered = new Set<Target>();
  const add = (target: Target): void => {
    for (const name of target.targets) add(wanted(byName, name));
    ordered.add(target);
  };
  for (const target of targets) if (target.type !== "test" && reaches(target)) add(target);
  return [...ordered];
}

function wanted(byName: ReadonlyMap<string, Target>, name: string): Target {
  const target = byName.get(name);
  if (target === undefined) throw new CheckError(`Package.swift has no target ${name} that another one names`);
  return target;
}

/** Runs a program; its output is the error if it fails. */
async function run(
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<string> {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(program, { args: [...args], cwd: ROOT, env: environment }).output();
  } catch (error) {
    throw new CheckError(`Cannot run ${program}: ${error instanceof Error ? error.message : error}`);
  }
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  if (!output.success) throw new CheckError(text(output.stderr) + text(output.stdout));
  return text(output.stdout);
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function swiftFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) files.push(...await swiftFiles(path));
    else if (entry.name.endsWith(".swift")) files.push(path);
  }
  return files.sort();
}

/** Makes the module `name` in `modules` and so type-checks its sources. */
async function compile(
  name: string,
  files: readonly string[],
  flags: readonly string[],
  modules: string,
): Promise<void> {
  const module = name.replaceAll("-", "_");
  const library = files.some((file) => file.endsWith("/main.swift")) ? [] : ["-parse-as-library"];
  await run("swiftc", [
    ...flags,
    ...library,
    ...["-module-name", module, "-emit-module-path", join(modules, `${module}.swiftmodule`)],
    ...["-I", modules, "-module-cache-path", join(modules, "cache")],
    ...files,
  ]);
}

/** Clang arguments that make the C modules of a map visible. */
function moduleMap(path: string): string[] {
  return ["-Xcc", `-fmodule-map-file=${path}`];
}

/** The real MLX and what it imports, as modules. Files that need Metal's own types are left out. */
async function compileUpstream({ mlxSwift, numerics }: Checkout, modules: string): Promise<string[]> {
  const shims = moduleMap(join(numerics, "Sources/_NumericsShims/include/module.modulemap"));
  for (const name of ["RealModule", "ComplexModule", "Numerics"]) {
    await compile(name, await swiftFiles(join(numerics, "Sources", name)), [...THEIR_FLAGS, ...shims], modules);
  }
  const headers = ["-I", join(mlxSwift, "Source/Cmlx/include")];
  const files = (await swiftFiles(join(mlxSwift, "Source/MLX"))).filter((file) => !file.endsWith("+Metal.swift"));
  await compile("MLX", files, [...THEIR_FLAGS, ...shims, ...headers], modules);
  return [...shims, ...headers];
}

/** A C target as a clang module over its public headers. */
async function mapHeaders(target: Target, modules: string): Promise<string[]> {
  const path = join(modules, `${target.name}.modulemap`);
  const headers = join(ROOT, target.path, "include");
  await Deno.writeTextFile(path, `module ${target.name} { umbrella "${headers}" export * }\n`);
  return moduleMap(path);
}

/** Type-checks the targets; `extra` goes to each compilation. */
async function checkTargets(targets: readonly Target[], extra: readonly string[], modules: string): Promise<void> {
  const flags = [...OUR_FLAGS, ...extra];
  for (const target of targets) {
    const files = await swiftFiles(join(ROOT, target.path));
    if (files.length === 0) flags.push(...await mapHeaders(target, modules));
    else await compile(target.name, files, flags, modules);
    say(`  ${target.name}: ${files.length} files`);
  }
}

async function main(): Promise<void> {
  const checkout = await findCheckout((name) => Deno.env.get(name));
  const ours = await readModule(OUR_SOURCES);
  const strangers = notUpstream(ours, await readModule(join(checkout.mlxSwift, "Source/MLX")));
  if (strangers.length > 0) {
    throw new CheckError(`Not declared by mlx-swift:\n${strangers.map((found) => `  ${key(found)}`).join("\n")}`);
  }
  say(`The module MLX: ${ours.length} declarations, all upstream's.`);
  const modules = await Deno.makeTempDir({ prefix: "rapid-mlx-check-" });
  try {
    say("Compiling the real MLX (no C++) …");
    const real = await compileUpstream(checkout, modules);
    const manifest = await run("swift", ["package", "dump-package"], { RMX_MLX_SWIFT: checkout.mlxSwift });
    const targets = inOrder(readTargets(manifest));
    say("Without Metal:");
    await checkTargets(targets, real, modules);
    const metal = join(modules, "Metal.modulemap");
    await Deno.writeTextFile(metal, "module Metal {}\n");
    say("Where Metal can be imported:");
    await checkTargets(targets, [...real, ...moduleMap(metal)], modules);
  } finally {
    await Deno.remove(modules, { recursive: true });
  }
  say("The core compiles against the real mlx-swift.");
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    Deno.stderr.writeSync(new TextEncoder().encode(`${error.message}\n`));
    Deno.exit(1);
  }
}
