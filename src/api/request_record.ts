// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * What happened to a request, as `GET /v1/requests/{id}` tells it and as a line of a trace file holds it.
 *
 * One schema for both: the server writes records, `explain` and `replay` read them. Numbers are always there, content
 * (prompt, tokens, answer) only where the server was told to keep it; `content_note` says why it is not.
 *
 * @module
 */
import { z } from "zod";

/** Version of the format; a file of another one is refused. */
export const TRACE_VERSION = 1;

const count = z.int().min(0);
const ms = z.number().min(0).nullable();
const named = z.object({ name: z.string(), count });

/** Where the characters of an answer went, in UTF-16 units; docs/design/0014 says what each part is. */
const Characters = z.object({
  raw: count,
  content: count,
  reasoning: count,
  calls: count,
  markup: count,
  hidden: count,
  stopped: count,
  /** Held back because the request failed or its client left. */
  withheld: count,
  /** What nothing accounts for: a fault of this server. Negative: something was shown twice. */
  lost: z.int(),
});

const Choice = z.object({
  index: count,
  prompt: count,
  /** Decimal digits: it may be above 2^53. */
  seed: z.string().regex(/^\d+$/),
  completion_tokens: count,
  reasoning_tokens: count,
  /** Why the core stopped drawing; null: it has not, or it failed. */
  core_finish: z.enum(["stop", "length", "cancelled"]).nullable(),
  /** Why the answer ended, as every wire is told. */
  finish_reason: z.enum(["stop", "length", "tool_calls", "cancelled"]).nullable(),
  stop_string_matched: z.boolean(),
  calls: count,
  repairs: z.array(named),
  characters: Characters,
});

/** What one event of the decoder showed. */
const Shown = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ reasoning: z.string() }),
  z.strictObject({ call: z.strictObject({ index: count, id: z.string(), name: z.string() }) }),
  z.strictObject({ arguments: z.string(), index: count }),
  z.strictObject({ call_end: count }),
  z.strictObject({ call_broken: count }),
  z.strictObject({ repair: z.string(), detail: z.string() }),
  z.strictObject({ finish: z.string(), stop_string: z.string().nullable() }),
]);

/** One token of the vocabulary: bytes as base64 where they are no text by themselves. */
const Piece = z.union([
  z.strictObject({ text: z.string(), special: z.boolean() }),
  z.strictObject({ base64: z.base64(), special: z.boolean() }),
]);

const Logprob = z.tuple([count, z.number()]);

const Content = z.object({
  /** The request's JSON, as it came. */
  body: z.unknown(),
  prompts: z.array(z.object({ text: z.string().nullable(), ids: z.array(count) })),
  /** What a script took the template to have opened after the prompt. */
  prompt_open: z.string(),
  end_tokens: z.array(count),
  vocabulary: z.object({
    strips_leading_space: z.boolean(),
    /** Of the tokens that this record speaks of. */
    pieces: z.record(z.string().regex(/^\d+$/), Piece),
  }),
  choices: z.array(z.object({
    /** As drawn, the end token included. */
    tokens: z.array(count),
    /** The same as text, special tokens spelled out. */
    raw: z.string(),
    /** One a token, where they were asked for: its own, then the alternatives. */
    logprobs: z.array(z.object({ logprob: z.number(), top: z.array(Logprob) })).optional(),
    /** Which token made the decoder show what; `at` counts tokens from 0, and is their number for the end. */
    steps: z.array(z.object({ at: count, shown: z.array(Shown) })),
  })),
  /** What the client was sent; keep-alives are left out. */
  response: z.object({ text: z.string(), cut: z.boolean() }),
});

/** Schema of a record. */
export const RequestRecordSchema = z.object({
  object: z.literal("request"),
  /** Of the answer (`chatcmpl-…`); of the request where there was none. */
  id: z.string(),
  request_id: z.string(),
  route: z.string(),
  model: z.string().nullable(),
  state: z.enum(["running", "completed", "failed", "left", "cancelled", "refused"]),
  /** HTTP status; null while it runs. */
  status: z.int().nullable(),
  error: z.object({ code: z.string(), message: z.string(), param: z.string().nullable() }).nullable(),
  stream: z.boolean(),
  /** Seconds since the epoch. */
  created: count,
  times_ms: z.object({
    /** Door and template. */
    prepare: ms,
    /** Longest wait of a choice for its first step. */
    queue: ms,
    prefill: ms,
    /** From arrival. */
    first_token: ms,
    decode: ms,
    /** From arrival to the end, or until now. */
    total: ms,
  }),
  /** Parsers that read the answer. */
  dialect: z.object({ tools: z.string(), reasoning: z.string() }).nullable(),
  sampling: z.object({
    temperature: z.number(),
    top_p: z.number(),
    top_k: z.number(),
    min_p: z.number(),
    repetition_penalty: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    logit_bias_count: count,
  }).nullable(),
  limits: z.object({
    max_tokens: count,
    context_tokens: count,
    vocabulary_size: count,
    stop_count: count,
    ignore_eos: z.boolean(),
  }).nullable(),
  /** Whether streams show the arguments of a call as they are written (`--tool-arguments`). */
  tool_arguments: z.enum(["whole", "live"]).default("whole"),
  /** How reasoning went to the client: as text, sealed so that it only keeps it, or not at all. */
  reasoning_shown: z.enum(["text", "sealed", "none"]).default("text"),
  /** Kind of what binds the answer, such as `json_schema`; null: it is free. */
  constraint: z.string().nullable().default(null),
  ignored: z.array(z.string()),
  /** What was changed in the conversation so that the template takes it. */
  prompt_repairs: z.array(named),
  usage: z.object({
    prompt_tokens: count,
    cached_tokens: count,
    completion_tokens: count,
    reasoning_tokens: count,
  }),
  choices: z.array(Choice),
  content: Content.nullable(),
  content_note: z.string().nullable(),
});

/** One record. */
export type RequestRecord = z.output<typeof RequestRecordSchema>;
/** Prompt, tokens and answer of a record. */
export type RecordContent = z.output<typeof Content>;
/** One choice of a record. */
export type RecordChoice = z.output<typeof Choice>;
/** The content of one choice. */
export type ChoiceContent = RecordContent["choices"][number];
/** What one event showed. */
export type ShownEvent = z.output<typeof Shown>;
/** One token's spelling. */
export type VocabularyPiece = z.output<typeof Piece>;
/** One repair's name and how often it was made. */
export type NamedCount = z.output<typeof named>;

/** First line of a trace file. */
export const TraceHeaderSchema = z.object({
  trace: z.literal(TRACE_VERSION, `expected ${TRACE_VERSION}, the version that this program reads`),
  program: z.string(),
  warning: z.string(),
});

/** First line of a trace file. */
export type TraceHeader = z.output<typeof TraceHeaderSchema>;

/** The list of `GET /v1/requests`, newest first. */
export interface RequestList {
  /** Always `list`. */
  object: "list";
  /** Without content. */
  data: RequestRecord[];
  /** Whether `GET /v1/requests/{id}` tells content. */
  content_recorded: boolean;
}
