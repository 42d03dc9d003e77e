/**
 * Functions that every template has: Jinja's, and those of transformers.
 *
 * Source: Jinja 3.1.6 `defaults.py` and `sandbox.py` (`safe_range`); transformers v5.24 `chat_template_utils.py`.
 *
 * @module
 */
import { Bound } from "./arguments.ts";
import { JinjaError } from "./errors.ts";
import { toText } from "./text.ts";
import { formatTime } from "./time.ts";
import {
  Callable,
  Dict,
  HostObject,
  iterate,
  type Key,
  lengthOf,
  type Named,
  Namespace,
  toKey,
  type Value,
} from "./values.ts";

/** Numbers that a range may have: Jinja's MAX_RANGE. */
const RANGE_MAX = 100_000;

/** The functions, by name. @param now What `strftime_now` tells. */
export function globalFunctions(now: () => Date): ReadonlyMap<string, Value> {
  const functions = [
    new Callable("range", range),
    new Callable("dict", (args, named) => new Dict(pairs("dict", args, named))),
    new Callable("namespace", namespace),
    new Callable("raise_exception", (args, named) => {
      throw new JinjaError(toText(new Bound("raise_exception", ["message"], args, named).require("message")), true);
    }),
    new Callable("strftime_now", (args, named) => {
      return formatTime(now(), toText(new Bound("strftime_now", ["format"], args, named).require("format")));
    }),
    new Callable("joiner", joiner),
    new Callable("cycler", (items) => cycler(items)),
  ];
  return new Map(functions.map((one) => [one.name, one]));
}

function range(args: readonly Value[], named: Named): Value {
  const bound = new Bound("range", ["start", "stop", "step"], args, named);
  const [first, second, step = 1] = ["start", "stop", "step"].map((name) => bound.integer(name));
  if (first === undefined) throw new JinjaError("range expected at least 1 argument, got 0");
  if (step === 0) throw new JinjaError("range() arg 3 must not be zero");
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  const count = Math.max(0, Math.ceil((stop - start) / step));
  if (count > RANGE_MAX) throw new JinjaError(`Range too big. The sandbox blocks ranges larger than ${RANGE_MAX}.`);
  return new HostObject("range", () => undefined, Array.from({ length: count }, (_, i) => BigInt(start + i * step)));
}

function pairs(name: string, args: readonly Value[], named: Named): Map<Key, Value> {
  if (args.length > 1) throw new JinjaError(`${name} expected at most 1 argument, got ${args.length}`);
  const [source] = args;
  const entries = new Map<Key, Value>();
  if (source instanceof Dict) { for (const [key, value] of source.entries) entries.set(key, value); }
  else if (source instanceof Namespace) throw new JinjaError("'Namespace' object is not iterable");
  else if (source !== undefined) {
    for (const pair of iterate(source)) {
      if (lengthOf(pair) !== 2) throw new JinjaError(`${name} update sequence element has not length 2`);
      const [key, value] = [...iterate(pair)];
      entries.set(toKey(key!), value!);
    }
  }
  for (const [key, value] of named) entries.set(key, value);
  return entries;
}

function namespace(args: readonly Value[], named: Named): Value {
  const entries = [...pairs("namespace", args, named)].map(([key, value]): [string, Value] => [String(key), value]);
  const hidden = entries.find(([key]) => key.startsWith("_"));
  if (hidden !== undefined) {
    throw new JinjaError("Chat templates cannot store underscore-prefixed attributes on a namespace");
  }
  return new Namespace(new Map(entries));
}

function joiner(args: readonly Value[], named: Named): Value {
  const separator = new Bound("joiner", ["sep"], args, named).text("sep") ?? ", ";
  let used = false;
  return new Callable("joiner", () => {
    const text = used ? separator : "";
    used = true;
    return text;
  });
}

function cycler(items: readonly Value[]): Value {
  if (items.length === 0) throw new JinjaError("at least one item has to be provided");
  let at = 0;
  const current = (): Value => items[at]!;
  const methods: Readonly<Record<string, () => Value>> = {
    next: () => {
      const value = current();
      at = (at + 1) % items.length;
      return value;
    },
    reset: () => {
      at = 0;
      return null;
    },
  };
  return new HostObject("Cycler", (name) => {
    if (name === "current") return current();
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    return method === undefined ? undefined : new Callable(name, method);
  });
}
