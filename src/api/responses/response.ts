// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * The Responses wire as types: the response object, its items, the events of its stream.
 *
 * @module
 */
import type { ChatTokenLogprob } from "../logprobs.ts";
import type { Usage } from "../usage.ts";

/** What a response repeats of its request. Null is what the client did not say and the model's defaults decide. */
export interface RequestEcho {
  /** Of this request alone: those of earlier ones do not count on. */
  instructions: string | null;
  /** As asked for, not as clamped. */
  max_output_tokens: number | null;
  /** The client's own notes. */
  metadata: Record<string, string>;
  /** More than one call may be made. */
  parallel_tool_calls: boolean;
  /** The response that this one goes on from. */
  previous_response_id: string | null;
  /** How the model was to think. */
  reasoning: { effort: string | null; summary: string | null };
  /** The response is kept. */
  store: boolean;
  /** 0 to 2. */
  temperature: number | null;
  /** With its format. */
  text: object;
  /** As the client wrote it. */
  tool_choice: unknown;
  /** As the client wrote them. */
  tools: unknown;
  /** Alternatives a token. */
  top_logprobs: number;
  /** 0 to 1. */
  top_p: number | null;
}

/** How far a response, or an item of it, has come. */
export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed";
/** The same of an item: one that failed is not there. */
export type ItemStatus = Exclude<ResponseStatus, "failed">;

/** A text of the model. */
export interface OutputTextPart {
  /** Literal. */
  type: "output_text";
  /** All of it. */
  text: string;
  /** This server cites nothing. */
  annotations: never[];
  /** Of its tokens, if they were asked for. */
  logprobs: ChatTokenLogprob[];
}

/** What the model says. */
export interface MessageItem {
  /** `msg_…`. */
  id: string;
  /** Literal. */
  type: "message";
  /** Literal. */
  role: "assistant";
  /** How far it has come. */
  status: ItemStatus;
  /** One part; none while it begins. */
  content: OutputTextPart[];
}

/** What the model thinks: its content, or in the place of a summary. */
export interface ReasoningItem {
  /** `rs_…`. */
  id: string;
  /** Literal. */
  type: "reasoning";
  /** How far it has come. */
  status: ItemStatus;
  /** At most one. */
  summary: { type: "summary_text"; text: string }[];
  /** At most one; absent where thinking is shown as a summary. */
  content?: { type: "reasoning_text"; text: string }[];
  /** The thinking, sealed, if that was asked for; null until the item is done. */
  encrypted_content: string | null;
}

/** A call of a function. */
export interface FunctionCallItem {
  /** `fc_…`. */
  id: string;
  /** Literal. */
  type: "function_call";
  /** Results refer to it. */
  call_id: string;
  /** Without its namespace. */
  name: string;
  /** If it has one. */
  namespace?: string;
  /** JSON text. */
  arguments: string;
  /** How far it has come. */
  status: ItemStatus;
}

/** A call of a freeform tool. */
export interface CustomCallItem {
  /** `ctc_…`. */
  id: string;
  /** Literal. */
  type: "custom_tool_call";
  /** Results refer to it. */
  call_id: string;
  /** Without its namespace. */
  name: string;
  /** If it has one. */
  namespace?: string;
  /** The text itself. */
  input: string;
  /** How far it has come. */
  status: ItemStatus;
}

/** A search for tools, which the client runs. */
export interface SearchCallItem {
  /** `tsc_…`. */
  id: string;
  /** Literal. */
  type: "tool_search_call";
  /** Results refer to it. */
  call_id: string;
  /** Literal. */
  execution: "client";
  /** An object, not text. */
  arguments: unknown;
  /** How far it has come. */
  status: ItemStatus;
}

/** An item of an answer. */
export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | CustomCallItem | SearchCallItem;

/** What an answer cost. */
export interface ResponseUsage {
  /** Of the prompt, cached ones included. */
  input_tokens: number;
  /** Caching is not paid for, so nothing is counted as written. */
  input_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  /** Drawn, end tokens included. */
  output_tokens: number;
  /** Of output_tokens. */
  output_tokens_details: { reasoning_tokens: number };
  /** Their sum. */
  total_tokens: number;
  /** As on the other wires. */
  rapid_mlx: Usage["rapid_mlx"];
}

/** A response. */
export interface ResponseObject extends RequestEcho {
  /** `resp_…`. */
  id: string;
  /** Literal. */
  object: "response";
  /** Seconds since the epoch. */
  created_at: number;
  /** The same, of its end; null before. */
  completed_at: number | null;
  /** How far it has come. */
  status: ResponseStatus;
  /** Why it failed. */
  error: { code: "server_error" | "rate_limit_exceeded"; message: string } | null;
  /** Why it is not whole. */
  incomplete_details: { reason: "max_output_tokens" } | null;
  /** Served id. */
  model: string;
  /** In order. */
  output: OutputItem[];
  /** Null before its end. */
  usage: ResponseUsage | null;
  /** Answers are made while the client waits. */
  background: false;
  /** What is too long is refused. */
  truncation: "disabled";
  /** Why an answer that ended by itself has neither text nor calls. */
  rapid_mlx?: { empty: "thinking_only" | "nothing_said" };
}

/** Where in a response an event belongs. */
interface InItem {
  /** Of the item. */
  item_id: string;
  /** Of the item. */
  output_index: number;
}
interface InContent extends InItem {
  /** Of the part. */
  content_index: number;
}
interface InSummary extends InItem {
  /** Of the part. */
  summary_index: number;
}

/** A part as it begins and ends. */
type ContentPart = OutputTextPart | { type: "reasoning_text"; text: string };

/** One event of a stream, without its number. */
export type ResponseEventBody =
  | {
    type:
      | "response.created"
      | "response.in_progress"
      | "response.completed"
      | "response.incomplete"
      | "response.failed";
    response: ResponseObject;
  }
  | {
    type: "response.output_item.added" | "response.output_item.done";
    output_index: number;
    item: OutputItem;
  }
  | (InContent & { type: "response.content_part.added" | "response.content_part.done"; part: ContentPart })
  | (InContent & { type: "response.output_text.delta"; delta: string; logprobs: ChatTokenLogprob[] })
  | (InContent & { type: "response.output_text.done"; text: string; logprobs: ChatTokenLogprob[] })
  | (InContent & { type: "response.reasoning_text.delta"; delta: string })
  | (InContent & { type: "response.reasoning_text.done"; text: string })
  | (InSummary & {
    type: "response.reasoning_summary_part.added" | "response.reasoning_summary_part.done";
    part: { type: "summary_text"; text: string };
  })
  | (InSummary & { type: "response.reasoning_summary_text.delta"; delta: string })
  | (InSummary & { type: "response.reasoning_summary_text.done"; text: string })
  | (InItem & { type: "response.function_call_arguments.delta"; delta: string })
  | (InItem & { type: "response.function_call_arguments.done"; arguments: string; name: string })
  | (InItem & { type: "response.custom_tool_call_input.delta"; delta: string })
  | (InItem & { type: "response.custom_tool_call_input.done"; input: string });

/** One event of a stream. */
export type ResponseEvent = ResponseEventBody & {
  /** From 0, one by one. */
  sequence_number: number;
};
