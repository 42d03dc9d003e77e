/**
 * Whether a replay shows what was shown: two records, with what time and chance made left out.
 *
 * Left out are ids that were drawn at random, times, cache hits, which signatures were this server's (a replay has a
 * key of its own), and what was drawn after a stop string had matched. An answer whose client left is compared as far
 * as it went.
 *
 * @module
 */
import { FOREIGN_SIGNATURE } from "../api/messages/turns.ts";
import { FOREIGN_CONTENT } from "../api/responses/items.ts";
import type { RequestRecord } from "../api/request_record.ts";

/** One difference. */
export interface Difference {
  /** Path in the record. */
  path: string;
  /** As recorded; undefined: not there. */
  recorded: unknown;
  /** As replayed; undefined: not there. */
  replayed: unknown;
}

/** Most differences that are told. */
export const DIFFERENCES_MAX = 50;

/** Keys whose values time, chance or a cache makes. */
const VOLATILE = new Set([
  "created",
  "created_at",
  "completed_at",
  "rapid_mlx",
  "prompt_tokens_details",
  "seed",
  // Messages: tokens that were not cached, those that were, and what this server signs.
  "input_tokens",
  "cache_read_input_tokens",
  "signature",
  // Responses.
  "input_tokens_details",
  "encrypted_content",
]);

/** Where two records differ in what their clients see; empty: nowhere. */
export function compareRecords(recorded: RequestRecord, replayed: RequestRecord): Difference[] {
  const differences: Difference[] = [];
  const cut = recorded.state === "left" || recorded.state === "cancelled";
  collect("", toComparable(recorded, cut), toComparable(replayed, cut), differences);
  return differences;
}

function toComparable(record: RequestRecord, cut: boolean): unknown {
  const { content } = record;
  const hide = hideIds(record);
  const steps = content?.choices.map((choice) =>
    choice.steps.filter(({ at }) => !cut || at < choice.tokens.length)
      .map(({ at, shown }) => ({ at: at >= choice.tokens.length ? "end" : at, shown }))
  );
  if (cut) return JSON.parse(hide(JSON.stringify({ steps })));
  const { status, error, dialect } = record;
  const ignored = record.ignored.filter((name) => name !== FOREIGN_SIGNATURE && name !== FOREIGN_CONTENT);
  const choices = record.choices.map((choice) => ({
    finish_reason: choice.finish_reason,
    stop_string_matched: choice.stop_string_matched,
    reasoning_tokens: choice.reasoning_tokens,
    calls: choice.calls,
    repairs: choice.repairs,
    characters: choice.characters,
  }));
  const response = content === null || content.response.cut ? undefined : toEvents(content.response.text);
  return JSON.parse(hide(JSON.stringify({ status, error, ignored, dialect, choices, steps, response }, dropVolatile)));
}

/** Request ids, and ids of calls that the model did not write itself, become names by their order. */
function hideIds({ id, request_id: requestId, content }: RequestRecord): (text: string) => string {
  const key = requestId.replace(/^req-/, "");
  const drawn = (content?.choices ?? []).flatMap(({ raw, steps }) =>
    steps.flatMap(({ shown }) =>
      shown.flatMap((one) => "call" in one && !raw.includes(one.call.id) ? [one.call.id] : [])
    )
  );
  const names = new Map<string, string>([
    [id, "ANSWER"],
    [key, "KEY"],
    ...drawn.map((one, at): [string, string] => [one, `CALL_${at}`]),
  ]);
  return (text) => [...names].reduce((hidden, [one, name]) => hidden.replaceAll(one, name), text);
}

/** A response as values: a JSON, or the frames of a stream, those of one choice together. */
function toEvents(text: string): unknown {
  if (!text.startsWith("data:") && !text.startsWith("event:")) return parseOr(text);
  const frames = text.split("\n\n").filter((frame) => frame !== "").map((frame) =>
    frame.split("\n").map((line) => line.startsWith("data: ") ? parseOr(line.slice("data: ".length)) : line)
  );
  return Object.groupBy(frames, (frame) => `choice ${choiceOf(frame[0])}`);
}

function choiceOf(frame: unknown): number | undefined {
  return (frame as { choices?: { index?: number }[] } | null)?.choices?.[0]?.index;
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function dropVolatile(key: string, value: unknown): unknown {
  return VOLATILE.has(key) ? undefined : value;
}

function collect(path: string, recorded: unknown, replayed: unknown, differences: Difference[]): void {
  if (differences.length >= DIFFERENCES_MAX || Object.is(recorded, replayed)) return;
  if (isObject(recorded) && isObject(replayed) && Array.isArray(recorded) === Array.isArray(replayed)) {
    for (const key of new Set([...Object.keys(recorded), ...Object.keys(replayed)])) {
      const step = Array.isArray(recorded) ? `[${key}]` : path === "" ? key : `.${key}`;
      collect(path + step, Reflect.get(recorded, key), Reflect.get(replayed, key), differences);
    }
    return;
  }
  differences.push({ path, recorded, replayed });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
