// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Chat completions: the way back, from output events to one JSON or to chunks.
 *
 * A stream, drawn (one `data:` line each; `usage` only if asked for):
 *
 *     {"id":"chatcmpl-…","object":"chat.completion.chunk","created":1,"model":"m","choices":[
 *       {"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}
 *     {… "choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}],"usage":null}
 *     {… "choices":[{"index":0,"delta":{"tool_calls":[
 *       {"index":0,"id":"call_…","type":"function","function":{"name":"f","arguments":""}}]},"finish_reason":null}]}
 *     {… "choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},…}]}
 *     {… "choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}
 *     {… "choices":[],"usage":{…}}
 *
 * @module
 */
import type { FinishReason, OutputEvent, VisibleToken } from "../flow.ts";
import type { AnswerEncoder, AnswerHead, WireEvent, WireFinishReason } from "./answer.ts";
import { type RequestError, toErrorEnvelope } from "./errors.ts";
import { type ChatLogprobs, toChatLogprobs } from "./logprobs.ts";
import type { Usage } from "./usage.ts";

/** A call in a message. */
export interface ChatToolCall {
  /** As the model's format or this server names it. */
  id: string;
  /** The one type. */
  type: "function";
  /** What is called. */
  function: {
    /** A declared tool. */
    name: string;
    /** JSON text. */
    arguments: string;
  };
}

/**
 * Why an answer that ended by itself has neither content nor calls: the model thought and then had nothing to say, or
 * it said nothing at all. Where `finish_reason` is not `stop`, that is the reason.
 */
export type EmptyAnswer = "thinking_only" | "nothing_said";

/** The body of a whole answer. */
export interface ChatCompletion {
  /** `chatcmpl-…`. */
  id: string;
  /** Literal. */
  object: "chat.completion";
  /** Seconds since the epoch. */
  created: number;
  /** Served id. */
  model: string;
  /** In order of index. */
  choices: ChatChoice[];
  /** Of all choices. */
  usage: Usage;
}

/** One answer of a ChatCompletion. */
export interface ChatChoice {
  /** From 0. */
  index: number;
  /** What was said. */
  message: {
    /** Literal. */
    role: "assistant";
    /** "" rather than null, so that clients may concatenate. */
    content: string;
    /** Only if the model thought. */
    reasoning_content?: string;
    /** Only if it called. */
    tool_calls?: ChatToolCall[];
    /** The same for a client that declared `functions`. */
    function_call?: ChatToolCall["function"];
    /** This server refuses nothing by itself. */
    refusal: null;
  };
  /** Null unless asked for. */
  logprobs: ChatLogprobs | null;
  /** Why it ended. */
  finish_reason: WireFinishReason;
  /** This server's own part; only beside an answer that is empty. */
  rapid_mlx?: { empty: EmptyAnswer };
}

/** What a chunk adds. */
export interface ChatDelta {
  /** In the first chunk of a choice. */
  role?: "assistant";
  /** Text; "" keeps the connection alive. */
  content?: string;
  /** Thinking. */
  reasoning_content?: string;
  /** Parts of calls: id, type and name first, then arguments. */
  tool_calls?: { index: number; id?: string; type?: "function"; function: { name?: string; arguments: string } }[];
  /** The same for a client that declared `functions`. */
  function_call?: { name?: string; arguments: string };
}

/** One chunk of a stream. */
export interface ChatChunk {
  /** The same in every chunk. */
  id: string;
  /** Literal. */
  object: "chat.completion.chunk";
  /** The same in every chunk. */
  created: number;
  /** Served id. */
  model: string;
  /** One, or none in the usage chunk. */
  choices: {
    index: number;
    delta: ChatDelta;
    logprobs?: ChatLogprobs | null;
    finish_reason: WireFinishReason | null;
    /** As in a whole answer, in the choice's last chunk. */
    rapid_mlx?: { empty: EmptyAnswer };
  }[];
  /** Null until the last chunk; absent unless asked for. */
  usage?: Usage | null;
}

/** What is known of a choice so far. */
interface Draft {
  content: string;
  reasoning: string;
  calls: ChatToolCall[];
  tokens: VisibleToken[];
  finish: WireFinishReason | undefined;
}

/** What a client has seen of a choice. */
interface Shown {
  answer: boolean;
  reasoning: boolean;
}

/** Encodes the answer to one chat completion request. */
export class ChatEncoder implements AnswerEncoder {
  readonly #head: AnswerHead;
  readonly #logprobs: boolean;
  readonly #legacyCalls: boolean;
  readonly #drafts: Draft[];
  /** Of each choice of a stream, what was shown. */
  readonly #shown: Shown[];

  /**
   * @param head Id, model and the like.
   * @param logprobs Whether the client asked for them.
   * @param legacyCalls Whether it knows `function_call` instead of `tool_calls`.
   */
  constructor(head: AnswerHead, logprobs: boolean, legacyCalls = false) {
    this.#head = head;
    this.#logprobs = logprobs;
    this.#legacyCalls = legacyCalls;
    this.#shown = Array.from({ length: head.choiceCount }, () => ({ answer: false, reasoning: false }));
    this.#drafts = Array.from({ length: head.choiceCount }, () => (
      { content: "", reasoning: "", calls: [], tokens: [], finish: undefined }
    ));
  }

  /** The chunks that name the role of each choice. */
  opening(): WireEvent[] {
    return this.#drafts.map((_, index) => ({ data: this.#chunk(index, { role: "assistant", content: "" }) }));
  }

  /** An empty delta: agents reset their timers on chunks, not on comments. */
  keepAlive(): WireEvent {
    return { data: this.#chunk(0, { content: "" }) };
  }

  /** The chunk of an event, if it shows something. */
  toEvents(index: number, event: OutputEvent): WireEvent[] {
    const chunk = this.#toChunk(index, event);
    return chunk === undefined ? [] : [{ data: chunk }];
  }

  /** The chunk that carries nothing but usage, if it was asked for, and `[DONE]`. */
  closing(usage: Usage): WireEvent[] {
    const last: ChatChunk = { ...this.#chunkHead(), choices: [], usage };
    return [...this.#head.includeUsage ? [{ data: last }] : [], { data: "[DONE]" }];
  }

  /** An error chunk, and no `[DONE]`. */
  failure(error: RequestError): WireEvent[] {
    return [{ data: toErrorEnvelope(error, "openai", this.#head.requestId) }];
  }

  #toChunk(index: number, event: OutputEvent): ChatChunk | undefined {
    const shown = this.#shown[index];
    if (shown !== undefined) {
      shown.answer ||= event.type === "text" || event.type === "toolCallStart";
      shown.reasoning ||= event.type === "reasoning";
    }
    switch (event.type) {
      case "text":
        return this.#chunk(index, { content: event.text }, event.tokens);
      case "reasoning":
        return this.#chunk(index, { reasoning_content: event.text });
      case "toolCallStart": {
        const called = { name: event.name, arguments: "" };
        if (this.#legacyCalls) return this.#chunk(index, { function_call: called });
        return this.#chunk(index, {
          tool_calls: [{ index: event.index, id: event.id, type: "function", function: called }],
        });
      }
      case "toolCallArguments": {
        const called = { arguments: event.json };
        if (this.#legacyCalls) return this.#chunk(index, { function_call: called });
        return this.#chunk(index, { tool_calls: [{ index: event.index, function: called }] });
      }
      case "toolCallEnd":
      case "toolCallBroken": // held back, or its part is out and its text follows
      case "repair":
        return undefined;
      case "finish":
        return this.#chunk(index, {}, [], this.#toWireFinish(event.reason), shown);
    }
  }

  /** Adds an event to the whole answer. */
  collect(index: number, event: OutputEvent): void {
    const draft = this.#drafts[index];
    if (!draft) return;
    if (event.type === "text") {
      draft.content += event.text;
      if (this.#logprobs) draft.tokens.push(...event.tokens);
    } else if (event.type === "reasoning") draft.reasoning += event.text;
    else if (event.type === "toolCallStart") {
      draft.calls[event.index] = { id: event.id, type: "function", function: { name: event.name, arguments: "" } };
    } else if (event.type === "toolCallArguments") {
      const call = draft.calls[event.index];
      if (call) call.function.arguments += event.json;
    } else if (event.type === "finish") draft.finish = this.#toWireFinish(event.reason);
  }

  /** The body of a whole answer, once every choice has finished. */
  whole(usage: Usage): ChatCompletion {
    const { id, created, model } = this.#head;
    const choices = this.#drafts.map((draft, index): ChatChoice => ({
      index,
      message: {
        role: "assistant",
        content: draft.content,
        ...(draft.reasoning !== "" && { reasoning_content: draft.reasoning }),
        ...this.#toCalls(draft.calls),
        refusal: null,
      },
      logprobs: this.#logprobs ? toChatLogprobs(draft.tokens) : null,
      finish_reason: draft.finish ?? "stop",
      ...toEmpty(draft.finish ?? "stop", {
        answer: draft.content !== "" || draft.calls.length > 0,
        reasoning: draft.reasoning !== "",
      }),
    }));
    return { id, object: "chat.completion", created, model, choices, usage };
  }

  #toCalls(calls: ChatToolCall[]): Pick<ChatChoice["message"], "tool_calls" | "function_call"> {
    const [first] = calls;
    if (first === undefined) return {};
    return this.#legacyCalls ? { function_call: first.function } : { tool_calls: calls };
  }

  /** `cancelled` never comes here: the edge turns it into an error. */
  #toWireFinish(reason: FinishReason): WireFinishReason {
    if (reason === "tool_calls" && this.#legacyCalls) return "function_call";
    return reason === "cancelled" ? "stop" : reason;
  }

  #chunk(
    index: number,
    delta: ChatDelta,
    tokens: readonly VisibleToken[] = [],
    finish: WireFinishReason | null = null,
    shown?: Shown,
  ): ChatChunk {
    const logprobs = this.#logprobs ? { logprobs: tokens.length === 0 ? null : toChatLogprobs(tokens) } : {};
    return {
      ...this.#chunkHead(),
      choices: [{ index, delta, ...logprobs, finish_reason: finish, ...toEmpty(finish, shown) }],
    };
  }

  #chunkHead(): Omit<ChatChunk, "choices"> {
    const { id, created, model, includeUsage } = this.#head;
    return { id, object: "chat.completion.chunk", created, model, ...(includeUsage && { usage: null }) };
  }
}

function toEmpty(finish: WireFinishReason | null, shown: Shown | undefined): { rapid_mlx?: { empty: EmptyAnswer } } {
  if (finish !== "stop" || shown === undefined || shown.answer) return {};
  return { rapid_mlx: { empty: shown.reasoning ? "thinking_only" : "nothing_said" } };
}
