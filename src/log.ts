/**
 * One structured logger: a line an event, `time level message key=value …`, to standard error.
 *
 * `with` adds fields to every line of a request (its id first). Prompts and answers are logged at trace level only;
 * that rule is kept where they would be logged. Values are quoted when they hold blanks, quotes or control characters,
 * so no text of a client can forge a line.
 *
 * @module
 */

/** From the most to the least talkative. */
export const LOG_LEVELS = ["trace", "debug", "info", "warning", "error"] as const;

/** How grave a line is. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line may carry; undefined fields are left out. */
export type LogFields = Readonly<Record<string, string | number | bigint | boolean | undefined>>;

/** Longest value in a line, in characters; longer ones are cut and marked. Trace lines are exempt. */
export const LOG_VALUE_LENGTH_MAX = 2000;

/** Writes lines; made once, handed to whoever speaks. */
export interface Logger {
  /** Whether lines of a level are written: lets a caller skip costly fields. */
  enabled(level: LogLevel): boolean;
  /** Writes one line. */
  log(level: LogLevel, message: string, fields?: LogFields): void;
  /** A logger whose lines carry these fields too. */
  with(fields: LogFields): Logger;
}

/** What a logger needs from outside. */
export interface LogOptions {
  /** Least level written. */
  level: LogLevel;
  /** Takes a finished line, newline included; default: standard error. */
  write?: (line: string) => void;
  /** Milliseconds since the epoch; default: the system clock. */
  now?: () => number;
}

/** Opens the logger of the process, or of a test. */
export function createLogger(options: LogOptions): Logger {
  const write = options.write ?? writeToStandardError;
  const now = options.now ?? Date.now;
  const least = LOG_LEVELS.indexOf(options.level);
  const bind = (bound: LogFields): Logger => ({
    enabled: (level) => LOG_LEVELS.indexOf(level) >= least,
    log(level, message, fields = {}): void {
      if (LOG_LEVELS.indexOf(level) < least) return;
      const cut = level === "trace" ? Infinity : LOG_VALUE_LENGTH_MAX;
      const pairs = Object.entries({ ...bound, ...fields }).filter(([, value]) => value !== undefined);
      const tail = pairs.map(([key, value]) => ` ${key}=${toLogValue(String(value), cut)}`).join("");
      write(`${new Date(now()).toISOString()} ${level} ${toLogValue(message, cut, true)}${tail}\n`);
    },
    with: (fields) => bind({ ...bound, ...fields }),
  });
  return bind({});
}

/** A logger that says nothing. */
export const SILENT_LOGGER: Logger = createLogger({ level: "error", write: () => {} });

function toLogValue(text: string, lengthMax: number, blanksAllowed = false): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}… (${text.length} characters)` : text;
  const plain = blanksAllowed ? /^[^\p{Cc}\p{Zl}\p{Zp}]*$/u : /^[^\s"=\p{Cc}\p{Zl}\p{Zp}]+$/u;
  return plain.test(cut) ? cut : JSON.stringify(cut).replace(/[\x7f-\x9f\u2028\u2029]/g, toEscape);
}

/** What JSON leaves as it is, though a terminal or a line splitter may act on it. */
function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function writeToStandardError(line: string): void {
  const bytes = new TextEncoder().encode(line);
  for (let written = 0; written < bytes.length;) written += Deno.stderr.writeSync(bytes.subarray(written));
}
