/**
 * GET /v1/models and /v1/models/{id}; an id may contain slashes.
 *
 * @module
 */
import { RequestError } from "../../api/errors.ts";
import { type ModelEntry, type ModelProfileEntry, toModelEntry, toModelList } from "../../api/models.ts";
import type { Dialect } from "../../output/decoder.ts";
import { callsTools, reasons } from "../../output/parser_names.ts";
import type { LoadedModel, ServedModel } from "../../route/models.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";

/** Most entries of a page, as Anthropic's. */
const LIMIT_MAX = 1000;

/** The list; `limit`, `after_id` (or OpenAI's `after`) and `before_id` page it. */
export function listModels(context: AppContext, { models }: AppDependencies): Response {
  const limit = toLimit(context.req.query("limit"));
  const after = context.req.query("after_id") ?? context.req.query("after");
  const before = context.req.query("before_id");
  return context.json(toModelList(models.list().map(toEntry), { limit, after, before }));
}

/** One entry. @throws {ModelNotFound} If none is served under that id. */
export function showModel(context: AppContext, { models }: AppDependencies): Response {
  const path = new URL(context.req.url).pathname;
  return context.json(toEntry(models.require(decodeId(path.replace(/^(\/v1)?\/models\//, "")))));
}

function toEntry({ id, hfId, createdSeconds, status }: ServedModel): ModelEntry {
  const loaded = status.state === "ready" ? status.loaded : undefined;
  return toModelEntry({
    id,
    hfId,
    createdSeconds,
    state: status.state,
    contextTokens: loaded?.contextTokens,
    quantization: loaded?.info.quantization,
    capabilities: loaded === undefined ? [] : toCapabilities(loaded.dialect),
    profile: loaded === undefined ? undefined : toProfile(loaded),
  });
}

function toProfile({ profile, dialect }: LoadedModel): ModelProfileEntry {
  const { id, because } = profile ?? { id: "none", because: "no profile was looked for" };
  return { id, because, tool_call_parser: dialect.tools, reasoning_parser: dialect.reasoning };
}

function toCapabilities(dialect: Dialect): string[] {
  return [...(callsTools(dialect) ? ["tools"] : []), ...(reasons(dialect) ? ["reasoning"] : [])];
}

function toLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new RequestError("invalid_request", `\`limit\`: expected 1 to ${LIMIT_MAX}.`, { param: "limit" });
}

function decodeId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
