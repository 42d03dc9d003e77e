/**
 * Python's two ways to put values into a text: `str.format` and `%`.
 *
 * Source: https://docs.python.org/3.13/library/string.html#format-string-syntax and
 * https://docs.python.org/3.13/library/stdtypes.html#printf-style-string-formatting; widths and other fine print are
 * refused by name.
 *
 * @module
 */
import { getAttribute, getItem } from "./access.ts";
import { JinjaError } from "./errors.ts";
import { toRepr, toText } from "./text.ts";
import { Dict, type Named, sequenceItems, type Value } from "./values.ts";

/** Python's `text.format(…)`. */
export function formatBraces(text: string, args: readonly Value[], named: Named): string {
  let next = 0;
  let numbered = false;
  return text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (match, field: string | undefined) => {
    if (match === "{{" || match === "}}") return match[0] ?? "";
    if (field === undefined) throw new JinjaError("Single brace encountered in format string");
    const [, path = "", conversion, spec] = /^([^!:]*)(?:!([rs]))?(?::(.*))?$/s.exec(field) ?? [];
    if (spec !== undefined && spec !== "" && spec !== "s") {
      throw new JinjaError(`The format ${JSON.stringify(spec)} is not supported`);
    }
    const automatic = path === "" || /^[.[]/.test(path);
    numbered ||= /^\d/.test(path);
    if (numbered && (automatic || next > 0)) {
      throw new JinjaError("cannot switch between manual field specification and automatic field numbering");
    }
    const value = lookUp(automatic ? `${next++}${path}` : path, args, named);
    return conversion === "r" ? toRepr(value) : toText(value);
  });
}

function lookUp(path: string, args: readonly Value[], named: Named): Value {
  const [, first = "", rest = ""] = /^([^.[]*)(.*)$/s.exec(path) ?? [];
  let value = /^\d+$/.test(first) ? args[Number(first)] : named.get(first);
  if (value === undefined) throw new JinjaError(`format() has no value for ${JSON.stringify(first)}`);
  for (const [, attribute, item] of rest.matchAll(/\.([^.[]+)|\[([^\]]+)\]/g)) {
    if (attribute !== undefined) value = getAttribute(value, attribute);
    else if (item !== undefined) value = getItem(value, /^\d+$/.test(item) ? BigInt(item) : item);
  }
  return value;
}

/** Python's `text % values`. */
export function formatPercent(text: string, values: Value): string {
  const items = values instanceof Dict ? undefined : sequenceItems(values) ?? [values];
  let next = 0;
  const take = (key: string | undefined): Value => {
    const value = key === undefined ? items?.[next++] : values instanceof Dict ? values.get(key) : undefined;
    if (value === undefined) throw new JinjaError("not enough arguments for format string");
    return value;
  };
  const result = text.replace(/%(?:\(([^)]*)\))?([^]?)/g, (_match, key: string | undefined, kind: string) => {
    switch (kind) {
      case "%":
        return "%";
      case "s":
        return toText(take(key));
      case "r":
        return toRepr(take(key));
      case "d":
      case "i": {
        const value = take(key);
        if (typeof value !== "bigint" && typeof value !== "number" && typeof value !== "boolean") {
          throw new JinjaError(`%${kind} format: a real number is required`);
        }
        return BigInt(Math.trunc(Number(value))).toString();
      }
      default:
        throw new JinjaError(`The format %${kind} is not supported`);
    }
  });
  if (items !== undefined && next < items.length) {
    throw new JinjaError("not all arguments converted during string formatting");
  }
  return result;
}
