/**
 * `strftime` in the C locale.
 *
 * Source: https://docs.python.org/3.13/library/datetime.html#format-codes; `-` before a letter drops padding, as glibc.
 *
 * @module
 */
import { JinjaError } from "./errors.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  ..."January February March April May June July August September October November December".split(" "),
];

/** A date in local time by a format. @throws {JinjaError} If the format has a letter that is not known. */
export function formatTime(date: Date, format: string): string {
  return format.replace(/%(-?)([^]?)/g, (_match, dash: string, letter: string) => {
    const code = Object.hasOwn(CODES, letter) ? CODES[letter] : undefined;
    if (code === undefined) throw new JinjaError(`The date format %${letter} is not supported`);
    const text = code(date);
    return dash === "-" ? text.replace(/^[0 ]+(?=\d)/, "") : text;
  });
}

const two = (value: number, pad = "0"): string => String(value).padStart(2, pad);
const hour12 = (date: Date): number => date.getHours() % 12 || 12;

function dayOfYear(date: Date): number {
  const start = Date.UTC(date.getFullYear(), 0, 1);
  return Math.round((Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) - start) / 86_400_000) + 1;
}

const CODES: Readonly<Record<string, (date: Date) => string>> = {
  "%": () => "%",
  a: (date) => (DAYS[date.getDay()] ?? "").slice(0, 3),
  A: (date) => DAYS[date.getDay()] ?? "",
  b: (date) => (MONTHS[date.getMonth()] ?? "").slice(0, 3),
  B: (date) => MONTHS[date.getMonth()] ?? "",
  d: (date) => two(date.getDate()),
  D: (date) => formatTime(date, "%m/%d/%y"),
  e: (date) => two(date.getDate(), " "),
  F: (date) => formatTime(date, "%Y-%m-%d"),
  H: (date) => two(date.getHours()),
  I: (date) => two(hour12(date)),
  j: (date) => String(dayOfYear(date)).padStart(3, "0"),
  m: (date) => two(date.getMonth() + 1),
  M: (date) => two(date.getMinutes()),
  p: (date) => date.getHours() < 12 ? "AM" : "PM",
  S: (date) => two(date.getSeconds()),
  T: (date) => formatTime(date, "%H:%M:%S"),
  u: (date) => String(date.getDay() || 7),
  w: (date) => String(date.getDay()),
  y: (date) => two(date.getFullYear() % 100),
  Y: (date) => String(date.getFullYear()),
};
