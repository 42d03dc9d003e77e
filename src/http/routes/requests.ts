/**
 * GET /v1/requests and /v1/requests/{id}: what happened to the last requests of the key that asks.
 *
 * @module
 */
import { RequestError } from "../../api/errors.ts";
import type { RequestList } from "../../api/request_record.ts";
import { RECORDS_MAX } from "../../trace/records.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";
import { toOwner } from "../guards.ts";

/** The last ones, newest first; `limit` bounds them. */
export function listRequests(context: AppContext, { records, config }: AppDependencies): Response {
  const limit = toLimit(context.req.query("limit"));
  const data = records.list(toOwner(context.req.raw.headers, config)).slice(0, limit);
  const list: RequestList = { object: "list", data, "content_recorded": records.recordsContent };
  return context.json(list);
}

/** One, by the id of the request or of its answer, or `last`. @throws {RequestError} If the key has none such. */
export function showRequest(context: AppContext, { records, config }: AppDependencies): Response {
  const found = records.find(toOwner(context.req.raw.headers, config), context.req.param("id") ?? "");
  if (found !== undefined) return context.json(found);
  throw new RequestError(
    "request_not_found",
    `No record of this request: the last ${RECORDS_MAX} of your key are kept, by the id of the request or the answer.`,
  );
}

function toLimit(text: string | undefined): number {
  if (text === undefined) return RECORDS_MAX;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw new RequestError("invalid_request", "`limit`: expected 1 or more.", { param: "limit" });
}
