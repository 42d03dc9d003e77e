// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * GET /v1/responses/{id}/input_items: what a request added to its conversation, in pages.
 *
 * @module
 */
import type { JsonObject } from "../body.ts";
import { RequestError } from "../errors.ts";
import { typeOf } from "./items.ts";

/** Most items of a page, and how many there are if nobody says: OpenAI's. */
const LIMIT_MAX = 100;
const LIMIT_DEFAULT = 20;

/** One page. */
export interface InputItemList {
  /** Literal. */
  object: "list";
  /** With ids of this server where the client gave none. */
  data: JsonObject[];
  /** Of `data`; null without one. */
  first_id: string | null;
  /** Of `data`; null without one. */
  last_id: string | null;
  /** There are more behind the last one. */
  has_more: boolean;
}

/** A page, as the query says. @throws {RequestError} For a bad one. */
export function toInputItemList(
  items: readonly JsonObject[],
  responseId: string,
  query: { after?: string | undefined; limit?: string | undefined; order?: string | undefined },
): InputItemList {
  const { after, order = "desc" } = query;
  if (order !== "asc" && order !== "desc") throw refuse("order", "expected asc or desc");
  const limit = Number(query.limit ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) throw refuse("limit", `expected 1 to ${LIMIT_MAX}`);
  const named = items.map((item, index) => toNamed(item, `item_${responseId.replace(/^resp_/, "")}_${index}`));
  const sorted = order === "asc" ? named : named.toReversed();
  const start = after === undefined ? 0 : sorted.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) throw refuse("after", "expected the id of an item of this response");
  const data = sorted.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: start + limit < sorted.length,
  };
}

function toNamed(item: JsonObject, id: string): JsonObject {
  const { content } = item;
  const isText = typeOf(item) === "message" && typeof content === "string";
  return {
    id,
    type: typeOf(item),
    ...item,
    ...(isText && { content: [{ type: item.role === "assistant" ? "output_text" : "input_text", text: content }] }),
  };
}

function idOf(item: JsonObject | undefined): string | null {
  return typeof item?.id === "string" ? item.id : null;
}

function refuse(param: string, wanted: string): RequestError {
  return new RequestError("invalid_request", `\`${param}\`: ${wanted}.`, { param });
}
