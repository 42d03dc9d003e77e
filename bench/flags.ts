/**
 * Flags of benchmarks: whole numbers with defaults, and texts without.
 *
 * @module
 */
import { parseArgs } from "node:util";

/** What was given, or the defaults. */
export type Flags<Counts extends string, Texts extends string> =
  & Readonly<Record<Counts, number>>
  & { readonly [Text in Texts]?: string };

/**
 * Reads `--name value`.
 *
 * @param counts Flag → default; every value is a whole number over 0.
 * @param texts Flags whose value is text.
 * @throws {TypeError} If a flag is unknown or a number is none; names it.
 */
export function readFlags<Counts extends string, Texts extends string>(
  counts: Readonly<Record<Counts, number>>,
  texts: readonly Texts[],
  args: readonly string[] = Deno.args,
): Flags<Counts, Texts> {
  const names = [...Object.keys(counts), ...texts];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  const given: Record<string, unknown> = parseArgs({ args: [...args], options }).values;
  const numbers = Object.entries<number>(counts).map(([name, standard]) => {
    const value = given[name] === undefined ? standard : Number(given[name]);
    if (Number.isSafeInteger(value) && value > 0) return [name, value];
    throw new TypeError(`--${name} is ${JSON.stringify(given[name])}; wanted is a whole number over 0`);
  });
  return { ...given, ...Object.fromEntries(numbers) } as Flags<Counts, Texts>;
}
