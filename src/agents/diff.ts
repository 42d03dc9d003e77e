/**
 * Two texts → a unified diff, as `diff -u` shows it.
 *
 * @module
 */

/** Unchanged lines around a change. */
const CONTEXT_LINES = 3;

/** A line of both texts, or of one. */
interface Step {
  readonly sign: " " | "-" | "+";
  readonly line: string;
}

/**
 * The diff; empty when the texts are equal.
 *
 * @param before Undefined: there is no such file.
 * @param after Undefined: the file goes away.
 */
export function toDiff(path: string, before: string | undefined, after: string | undefined): string {
  if (before === after) return "";
  const steps = compare(toLines(before), toLines(after));
  const hunks = toHunks(steps);
  const head = [`--- ${before === undefined ? "/dev/null" : path}`, `+++ ${after === undefined ? "/dev/null" : path}`];
  return `${[...head, ...hunks].join("\n")}\n`;
}

function toLines(text: string | undefined): string[] {
  return text === undefined || text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Longest common lines between the equal head and tail, by the table of lengths. */
function compare(before: readonly string[], after: readonly string[]): Step[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)
  ) tail++;
  const same = (line: string): Step => ({ sign: " ", line });
  return [
    ...before.slice(0, head).map(same),
    ...compareMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ];
}

function compareMiddle(before: readonly string[], after: readonly string[]): Step[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (i: number, j: number): number => common[i * width + j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      common[i * width + j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const steps: Step[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      steps.push({ sign: " ", line: before[i] ?? "" });
      i++;
      j++;
    } else if (j >= after.length || (i < before.length && at(i + 1, j) >= at(i, j + 1))) {
      steps.push({ sign: "-", line: before[i++] ?? "" });
    } else steps.push({ sign: "+", line: after[j++] ?? "" });
  }
  return steps;
}

function toHunks(steps: readonly Step[]): string[] {
  const shown = steps.map((_, at) =>
    steps.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(({ sign }) => sign !== " ")
  );
  const lines: string[] = [];
  let [beforeLine, afterLine] = [1, 1];
  for (let at = 0; at < steps.length;) {
    if (!shown[at]) {
      at++;
      beforeLine++;
      afterLine++;
      continue;
    }
    const end = shown.indexOf(false, at);
    const hunk = steps.slice(at, end === -1 ? undefined : end);
    const count = (other: "-" | "+"): number => hunk.filter(({ sign }) => sign !== other).length;
    const [removed, added] = [count("+"), count("-")];
    lines.push(`@@ -${toRange(beforeLine, removed)} +${toRange(afterLine, added)} @@`);
    lines.push(...hunk.map(({ sign, line }) => sign + line));
    beforeLine += removed;
    afterLine += added;
    at += hunk.length;
  }
  return lines;
}

function toRange(first: number, count: number): string {
  return count === 0 ? `${first - 1},0` : `${first},${count}`;
}
