/**
 * Whether the arguments of a call came back as they were sent: as JSON values, whatever the order of keys, the blanks
 * and the escapes; a client may have put in what the tool's schema has as a default.
 *
 * @module
 */

/** A schema, as far as it is read here. */
interface Schema {
  properties?: Record<string, unknown>;
  items?: unknown;
  default?: unknown;
}

/** Deeper values are taken as changed. */
const DEPTH_MAX = 64;

/**
 * Whether `returned` says what `written` says.
 *
 * @param schema JSON Schema of the tool's arguments; absent: no defaults are known.
 */
export function isSameArguments(written: string, returned: string, schema?: Record<string, unknown>): boolean {
  if (written === returned) return true;
  try {
    return isSame(JSON.parse(written), JSON.parse(returned), schema, 0);
  } catch {
    return false;
  }
}

function isSame(written: unknown, returned: unknown, schema: unknown, depth: number): boolean {
  if (depth > DEPTH_MAX) return false;
  if (typeof written === "number") {
    // Two numbers that JSON.parse can't tell apart may be different ones.
    return Object.is(written, returned) && (!Number.isInteger(written) || Number.isSafeInteger(written));
  }
  if (typeof written !== "object" || written === null) return written === returned;
  if (typeof returned !== "object" || returned === null) return false;
  const { items, properties } = isSchema(schema) ? schema : {};
  if (Array.isArray(written)) {
    return Array.isArray(returned) && written.length === returned.length &&
      written.every((item, at) => isSame(item, returned[at], items, depth + 1));
  }
  if (Array.isArray(returned)) return false;
  const [ours, theirs] = [new Map(Object.entries(written)), new Map(Object.entries(returned))];
  if (!ours.keys().every((key) => theirs.has(key))) return false;
  return theirs.entries().every(([key, value]) => {
    const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (ours.has(key)) return isSame(ours.get(key), value, property, depth + 1);
    return isSchema(property) && Object.hasOwn(property, "default") && isSame(property.default, value, {}, depth + 1);
  });
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
