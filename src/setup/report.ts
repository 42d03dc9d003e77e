/**
 * What set-up tells the person who waits: steps, notes and progress, on standard error.
 *
 * On a terminal a progress line replaces the one before; elsewhere it is printed at most every ten seconds, so that a
 * log stays short. Standard output belongs to the command that needed the set-up.
 *
 * @module
 */

/** Where set-up reports to. */
export interface Report {
  /** A step begins: what will be done and how big it is. */
  step(text: string): void;
  /** Something worth keeping. */
  note(text: string): void;
  /** How far a long step is; replaced by the next one. */
  progress(text: string): void;
}

/** Least time between two progress lines where they can't replace each other. */
const PROGRESS_INTERVAL_MS = 10_000;
const ERASE_LINE = "\r\x1b[2K";

/** A report on standard error. */
export function openReport(terminal: boolean = Deno.stderr.isTerminal()): Report {
  const encoder = new TextEncoder();
  let unfinished = false;
  let lastProgressMs = -Infinity;
  const write = (text: string): void => {
    for (let bytes = encoder.encode(text); bytes.length > 0;) bytes = bytes.subarray(Deno.stderr.writeSync(bytes));
  };
  const line = (text: string): void => {
    write(`${unfinished ? ERASE_LINE : ""}${text}\n`);
    unfinished = false;
    lastProgressMs = performance.now();
  };
  return {
    step: (text) => line(`==> ${text}`),
    note: (text) => line(`    ${text}`),
    progress: (text) => {
      if (terminal) {
        write(`${ERASE_LINE}    ${text.slice(0, columns() - 5)}`);
        unfinished = true;
      } else if (performance.now() - lastProgressMs >= PROGRESS_INTERVAL_MS) {
        line(`    ${text}`);
      }
    },
  };
}

function columns(): number {
  try {
    return Deno.consoleSize().columns;
  } catch {
    return 80;
  }
}

/** `10.3 MB`: decimal megabytes, as download sizes are given. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
}
