/**
 * What commands print, on standard output: lines and small tables.
 *
 * @module
 */

const encoder = new TextEncoder();

/** Writes text as it is. */
export function write(text: string): void {
  for (let bytes = encoder.encode(text); bytes.length > 0;) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}

/** Writes a line. */
export function print(line = ""): void {
  write(`${line}\n`);
}

/** Writes rows as columns that are as wide as their widest cell. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) print(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd());
}

/** `1.3 GB`, `98 MB`: decimal, three digits at most. */
export function toSize(bytes: number): string {
  const [unit, name] = bytes >= 1e9 ? [1e9, "GB"] : [1e6, "MB"];
  const value = bytes / unit;
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1)} ${name}`;
}
