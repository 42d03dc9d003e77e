// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * GET /v1/models: entries that both the OpenAI and the Anthropic client families can read.
 *
 * @module
 */

/** One entry. */
export interface ModelEntry {
  /** Served id. */
  id: string;
  /** OpenAI's discriminator. */
  object: "model";
  /** Anthropic's. */
  type: "model";
  /** Seconds since the epoch. */
  created: number;
  /** The same as ISO 8601. */
  created_at: string;
  /** Literal. */
  owned_by: "rapid-mlx";
  /** What a chooser shows. */
  display_name: string;
  /** Largest prompt plus answer; absent while it loads. */
  context_length?: number;
  /** The same, as vLLM calls it. */
  max_model_len?: number;
  /** The same, as Rapid-MLX calls it. */
  context_window?: number;
  /** How far it is. */
  state: "loading" | "ready" | "failed";
  /** Hugging Face id, when it has one. */
  root?: string;
  /** e.g. `4-bit g32 affine`. */
  quantization?: string;
  /** What it can do. */
  capabilities: string[];
  /** How it is talked with; known once it is ready. */
  profile?: ModelProfileEntry;
}

/** How a model is talked with. */
export interface ModelProfileEntry {
  /** A line of `profiles/lines`. */
  id: string;
  /** Why that one, and where the parsers come from if it names none. */
  because: string;
  /** Parser of tool calls. */
  tool_call_parser: string;
  /** Parser of reasoning. */
  reasoning_parser: string;
}

/** The list, paged as Anthropic's. */
export interface ModelList {
  /** OpenAI's discriminator. */
  object: "list";
  /** A page. */
  data: ModelEntry[];
  /** First of the page. */
  first_id: string | null;
  /** Last of the page. */
  last_id: string | null;
  /** Whether `limit` cut it, at the end that the page was asked towards. */
  has_more: boolean;
}

/** What an entry is made of. */
export interface ModelFacts {
  /** Served id. */
  id: string;
  /** Hugging Face id. */
  hfId: string | undefined;
  /** Seconds since the epoch. */
  createdSeconds: number;
  /** How far it is. */
  state: "loading" | "ready" | "failed";
  /** Known once it is ready. */
  contextTokens: number | undefined;
  /** Known once it is ready. */
  quantization: string | undefined;
  /** Beside text, such as `tools`; known once it is ready. */
  capabilities: readonly string[];
  /** Known once it is ready. */
  profile: ModelProfileEntry | undefined;
}

/** The wire form of an entry. */
export function toModelEntry(facts: ModelFacts): ModelEntry {
  const { contextTokens, quantization, hfId } = facts;
  return {
    id: facts.id,
    object: "model",
    type: "model",
    created: facts.createdSeconds,
    created_at: new Date(facts.createdSeconds * 1000).toISOString(),
    owned_by: "rapid-mlx",
    display_name: facts.id,
    ...(contextTokens !== undefined && {
      context_length: contextTokens,
      max_model_len: contextTokens,
      context_window: contextTokens,
    }),
    state: facts.state,
    ...(hfId !== undefined && { root: hfId }),
    ...(quantization !== undefined && { quantization }),
    capabilities: ["text", ...facts.capabilities],
    ...(facts.profile !== undefined && { profile: facts.profile }),
  };
}

/** Which part of the list is asked for. */
export interface ModelPage {
  /** Most entries; absent: all. */
  limit?: number | undefined;
  /** Id that the page follows. */
  after?: string | undefined;
  /** Id that the page ends before; the page is then the last one there. `after` goes first. */
  before?: string | undefined;
}

/** A page of the list. An id that is not in it is no bound. */
export function toModelList(entries: readonly ModelEntry[], { limit, after, before }: ModelPage = {}): ModelList {
  const indexOf = (wanted: string | undefined): number =>
    wanted === undefined ? -1 : entries.findIndex(({ id }) => id === wanted);
  const end = after === undefined ? indexOf(before) : -1;
  if (end >= 0) {
    const start = limit === undefined ? 0 : Math.max(0, end - limit);
    return toPage(entries.slice(start, end), start > 0);
  }
  const from = indexOf(after) + 1;
  const data = entries.slice(from, limit === undefined ? undefined : from + limit);
  return toPage(data, from + data.length < entries.length);
}

function toPage(data: ModelEntry[], hasMore: boolean): ModelList {
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
