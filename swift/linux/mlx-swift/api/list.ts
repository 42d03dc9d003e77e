/**
 * API.md: the declarations of our module MLX by upstream's file, what the core uses on Apple systems only, and the
 * names that upstream has beside these.
 *
 *     RMX_MLX_SWIFT=<checkout> deno task mlx-swift:api      writes API.md
 *
 * @module
 */
import { join } from "node:path";
import type { Declaration } from "./declarations.ts";
import {
  API_LIST,
  CheckError,
  findCheckout,
  key,
  type Located,
  notUpstream,
  OUR_SOURCES,
  readModule,
  UPSTREAM_VERSION,
} from "./upstream.ts";

/** What the core may use on Apple systems and our module doesn't have: kernels, and facts of the GPU. */
function isAppleOnly({ file, context, name }: Located): boolean {
  if (file === "MLXFastKernel.swift") return !["Bool", "Int", "DType"].includes(context);
  const facts = ["GPU", "DeviceInfo", "deviceInfo", "maxRecommendedWorkingSetBytes"];
  return file === "GPU+Metal.swift" && (facts.includes(name) || context === "GPU.DeviceInfo");
}

/** What API.md says. */
export interface ApiList {
  /** What our module has. */
  ours: Declaration[];
  /** What the core may use on Apple systems beside it. */
  appleOnly: Declaration[];
  /** Names of upstream that are neither. */
  absent: string[];
}

const APPLE_HEADING = "On Apple systems only";
const ABSENT_HEADING = "Not here";

/** The text of API.md. @throws {CheckError} If our module has what upstream has not. */
export function writeList(ours: readonly Located[], upstream: readonly Located[]): string {
  const strangers = notUpstream(ours, upstream);
  if (strangers.length > 0) {
    const lines = strangers.map((found) => `  ${found.file}: ${key(found)}`);
    throw new CheckError(`mlx-swift ${UPSTREAM_VERSION} does not declare:\n${lines.join("\n")}`);
  }
  const ourKeys = new Set(ours.map(key));
  const sections: string[] = [INTRODUCTION];
  for (const [file, declarations] of byFile(unique(upstream.filter((found) => ourKeys.has(key(found)))))) {
    sections.push(`## Source/MLX/${file}\n\n${block(declarations)}`);
  }
  const apple = upstream.filter(isAppleOnly);
  sections.push(
    `## ${APPLE_HEADING}\n\nBehind \`#if canImport(Metal)\` or \`canImport(Darwin)\`.\n\n${block(unique(apple))}`,
  );
  const absent = absentNames(ours, upstream, apple);
  sections.push(
    `## ${ABSENT_HEADING}\n\nNames of mlx-swift ${UPSTREAM_VERSION} that this module does not have. The core must not use ` +
      `them before they are added.\n\n${wrapped(absent)}`,
  );
  return sections.join("\n\n") + "\n";
}

/** Reads API.md back. */
export function readList(text: string): ApiList {
  const list: ApiList = { ours: [], appleOnly: [], absent: [] };
  for (const section of text.split(/^## /m).slice(1)) {
    const heading = section.slice(0, section.indexOf("\n"));
    if (heading === ABSENT_HEADING) {
      list.absent = [...section.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
    } else {
      (heading === APPLE_HEADING ? list.appleOnly : list.ours).push(...readBlock(section));
    }
  }
  return list;
}

/** Names of upstream's top level and of the types that we have, without those that we have. */
function absentNames(ours: readonly Located[], upstream: readonly Located[], apple: readonly Located[]): string[] {
  const present = new Set([...ours, ...apple].map((found) => found.name));
  const types = new Set(ours.map((found) => found.context));
  const names = upstream
    .filter((found) => types.has(found.context) && !found.discouraged && /^\w+$/.test(found.name))
    .map((found) => found.name);
  return [...new Set(names)].filter((name) => !present.has(name)).sort();
}

function byFile(declarations: readonly Located[]): Map<string, Located[]> {
  return Map.groupBy(declarations, (found) => found.file);
}

function unique(declarations: readonly Located[]): Located[] {
  return [...new Map(declarations.map((found) => [key(found), found])).values()];
}

function block(declarations: readonly Located[]): string {
  const lines: string[] = [];
  for (const [context, members] of Map.groupBy(declarations, (found) => found.context)) {
    if (context !== "") lines.push(`// in ${context}`);
    else if (lines.length > 0) lines.push("// at the top level");
    lines.push(...members.map((found) => found.text));
  }
  return "```swift\n" + lines.join("\n") + "\n```";
}

function readBlock(section: string): Declaration[] {
  const lines = /```swift\n([\s\S]*?)\n```/.exec(section)?.[1]?.split("\n") ?? [];
  const found: Declaration[] = [];
  let context = "";
  for (const line of lines) {
    if (line === "// at the top level") context = "";
    else if (line.startsWith("// in ")) context = line.slice("// in ".length);
    else found.push({ context, text: line, name: "", discouraged: false });
  }
  return found;
}

function wrapped(names: readonly string[]): string {
  const lines = [""];
  for (const name of names.map((name) => `\`${name}\``)) {
    const last = lines.at(-1) ?? "";
    if (last.length + 1 + name.length > 120) lines.push(name);
    else lines[lines.length - 1] = last === "" ? name : `${last} ${name}`;
  }
  return lines.join("\n");
}

const INTRODUCTION = `# The API of the module MLX

What this package's module \`MLX\` has: each declaration as mlx-swift ${UPSTREAM_VERSION} spells it, under the file of upstream that
holds it. The core may use these and, where there is Metal, the section at the end; \`tests/tidy/mlx_swift_api_test.ts\`
fails if the module or the core has something that is not listed. Do not edit: after a change of the module run

    RMX_MLX_SWIFT=<checkout of mlx-swift ${UPSTREAM_VERSION}> deno task mlx-swift:api

which refuses what upstream does not declare. \`deno task check:mlx-swift\` type-checks the core against the checkout.`;

if (import.meta.main) {
  const { mlxSwift } = await findCheckout((name) => Deno.env.get(name));
  const ours = await readModule(OUR_SOURCES);
  await Deno.writeTextFile(API_LIST, writeList(ours, await readModule(join(mlxSwift, "Source/MLX"))));
}
