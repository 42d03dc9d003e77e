/**
 * The types that travel between the stages, in the order of travel. The first file to read.
 *
 * http → api → route → prompt → engine → (core) → engine → output → api → http. Each stage takes the type that the one
 * before it gives; nothing behind the door (api) checks a value again. No snake_case here: the wires own that.
 *
 * @module
 */

// -- What a client asked, whatever the wire (api → prompt) ------------------------------------------------------------

/** A part of a message. Media parts join when the media issue lands; a wire refuses them by name until then. */
export interface TextPart {
  /** Discriminator. */
  type: "text";
  /** Well-formed Unicode: no lone surrogates. */
  text: string;
}

/** A call that an assistant turn made. */
export interface ToolCall {
  /** As the client knows it. */
  id: string;
  /** Name of a declared tool. */
  name: string;
  /** Arguments as JSON text, verbatim. */
  arguments: string;
}

/** One turn of a conversation, wire-independent. */
export interface Message {
  /** `developer` has become `system` already. */
  role: "system" | "user" | "assistant" | "tool";
  /** Parts in order; empty for an assistant turn that only calls. */
  content: TextPart[];
  /** What the assistant thought, when the client sent it back. */
  reasoning?: string;
  /** Assistant only. */
  toolCalls?: ToolCall[];
  /** Tool only: the call that this answers. */
  toolCallId?: string;
  /** The author's name, when the client gave one. */
  name?: string;
}

/** A function the model may call. */
export interface Tool {
  /** `[A-Za-z0-9_-]{1,128}`: Anthropic's bound; OpenAI's wires take 64. */
  name: string;
  /** For the model. */
  description?: string;
  /** JSON Schema of the arguments. */
  parameters?: Record<string, unknown>;
  /** Arguments are bound to the schema wherever the model's calls can be. */
  strict?: boolean;
  /** The tool takes one text, which models write as the argument `input`; bound where the grammar can be kept. */
  freeform?: FreeformInput;
}

/** The argument that the text of a freeform tool is to the model. */
export const FREEFORM_ARGUMENT = "input";

/** What the text of a freeform tool has to be; without a grammar: any text. */
export interface FreeformInput {
  /** Of the client's own making. */
  grammar?: { syntax: "lark" | "regex"; definition: string };
}

/** A chat: what a template renders. */
export interface Conversation {
  /** At least one. */
  messages: Message[];
  /** Declared tools, in the client's order. */
  tools: Tool[];
  /** Extra variables of the chat template (`chat_template_kwargs`, `enable_thinking`). */
  templateArguments: Record<string, unknown>;
  /** Calls are read as Hermes writes them, so a model whose template has no place for tools can be told that form. */
  readsHermesCalls?: boolean;
  /** False when the last assistant message is to be continued instead of answered. */
  addGenerationPrompt: boolean;
}

/** How to draw tokens. Every field is set: the door has filled in profile and server defaults. */
export interface Sampling {
  /** 0: greedy. */
  temperature: number;
  /** (0, 1]; 1: off. */
  topP: number;
  /** 0: off. */
  topK: number;
  /** [0, 1]; 0: off. */
  minP: number;
  /** > 0; 1: off. */
  repetitionPenalty: number;
  /** [-2, 2]; 0: off. */
  presencePenalty: number;
  /** [-2, 2]; 0: off. */
  frequencyPenalty: number;
  /** Token id → bias, [-100, 100]. */
  logitBias: ReadonlyMap<number, number>;
  /** Below 2^63. Equal seed, prompt and parameters give equal tokens. */
  seed: bigint;
}

/** When to stop and what to report beside the text. */
export interface GenerationLimits {
  /** > 0; never more than what the context leaves. */
  maxTokens: number;
  /** The text ends before the first of these; none is empty. */
  stop: readonly string[];
  /** Alternatives a token, 0 to 20; undefined: no logprobs at all. */
  logprobsTop?: number;
  /** End tokens do not end the generation. */
  ignoreEnd: boolean;
}

// -- What a token is (prompt → output) --------------------------------------------------------------------------------

/** The tokens of one model as its decoder would spell them. Implemented by src/prompt/token_table.ts. */
export interface Vocabulary {
  /** Ids are 0 to size - 1. */
  readonly size: number;
  /** True where the reference decoder drops one leading space of a text (sentencepiece). */
  readonly stripsLeadingSpace: boolean;
  /** Raw bytes, which may be part of a character; empty for an id without a token. A view: do not write. */
  bytes(token: number): Uint8Array;
  /** Control tokens: hidden from text unless a decoder asks for them. */
  isSpecial(token: number): boolean;
}

// -- What may be drawn (guide → engine) -------------------------------------------------------------------------------

/** What may be drawn at a position, and maybe at those after it. */
export type Allowance =
  /**
   * Any token, at so many positions (1 or more; Infinity: all to the end). An end token drawn there gives way to the
   * tokens of `insteadOfEnd`, if there are any: they take its position and those after it.
   */
  | { type: "free"; positions: number; insteadOfEnd?: readonly number[] }
  /** Token t if bit t % 32 of word t / 32 is set; read before the next call of the guide, so it may be reused. */
  | { type: "mask"; words: Uint32Array }
  /** These and no others, at as many positions; 1 to 64. */
  | { type: "force"; tokens: readonly number[] };

/** Says token by token what may come next: a grammar, a budget. One a generation, closed with it. */
export interface TokenGuide {
  /**
   * What may be drawn at `position`; 0 is the first token of the answer. Asked in order, once the token before is known
   * and every position before is told; never before its last promise is settled, nor after the answer's last token.
   *
   * @param token What was drawn at `position` - 1; undefined at 0.
   */
  next(position: number, token: number | undefined): Allowance | Promise<Allowance>;
  /** Frees what it holds; called once, maybe while a `next` is pending. */
  close(): void;
}

// -- What the engine takes (prompt → engine) --------------------------------------------------------------------------

/** One answer to be made: a choice. Requests with n > 1 submit n of them. */
export interface GenerationRequest {
  /** Shown in logs and ids, e.g. `chatcmpl-…`. */
  requestId: string;
  /** Core's handle of a loaded model. */
  model: number;
  /** Token ids of the rendered prompt; not empty. */
  prompt: Int32Array;
  /** Ids that end a generation. */
  endTokens: readonly number[];
  /** How to draw. */
  sampling: Sampling;
  /** When to stop. */
  limits: GenerationLimits;
  /** Fairness key: key hash or connection. */
  client: number;
  /** Says what may be drawn; the engine closes it. Absent: everything. */
  guide?: TokenGuide;
}

// -- What the engine gives (engine → output) --------------------------------------------------------------------------

/** A token with its probability. */
export interface TokenLogprob {
  /** Token id. */
  token: number;
  /** Natural log. */
  logprob: number;
}

/** What one generation cost. Times in microseconds, measured in the core. */
export interface GenerationUsage {
  /** Tokens, cached ones included. */
  promptTokens: number;
  /** Of the prompt, taken from the prefix cache. */
  cachedTokens: number;
  /** Tokens the model drew, the end token included. */
  completionTokens: number;
  /** Proposed by drafting. */
  draftedTokens: number;
  /** Of those, kept. */
  acceptedTokens: number;
  /** Submit to first step. */
  queueUs: number;
  /** First step to first token. */
  prefillUs: number;
  /** First token to last. */
  decodeUs: number;
}

/** What a generation cost that did nothing. */
export const NO_USAGE: GenerationUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  draftedTokens: 0,
  acceptedTokens: 0,
  queueUs: 0,
  prefillUs: 0,
  decodeUs: 0,
};

/** Why a generation ended inside the core. */
export type CoreFinish = "stop" | "length" | "cancelled";

/** What a generation yields, in order; `finish` or a thrown CoreError is the last. */
export type GenerationEvent =
  | { type: "prefill"; doneTokens: number }
  | { type: "token"; token: number; index: number; logprob?: number; top?: TokenLogprob[] }
  | { type: "finish"; reason: CoreFinish; usage: GenerationUsage };

// -- What the decoders give (output → api) ----------------------------------------------------------------------------

/** Why an answer ended, as every wire can say it. */
export type FinishReason = "stop" | "length" | "tool_calls" | "cancelled";

/** A token that became visible, with its bytes, for logprobs. */
export interface VisibleToken extends TokenLogprob {
  /** Raw bytes; may be part of a character. */
  bytes: Uint8Array;
  /** Alternatives, best first. */
  top: (TokenLogprob & { bytes: Uint8Array })[];
}

/** What the client will see, wire-independent. Text pieces are whole characters and never empty. */
export type OutputEvent =
  | { type: "text"; text: string; tokens: VisibleToken[] }
  | { type: "reasoning"; text: string }
  | { type: "toolCallStart"; index: number; id: string; name: string }
  | { type: "toolCallArguments"; index: number; json: string }
  | { type: "toolCallEnd"; index: number }
  /** A call that began and can't be completed, damaged or cut: it is no call, and its text follows as `text`. */
  | { type: "toolCallBroken"; index: number }
  | { type: "repair"; name: string; detail: string }
  | {
    type: "finish";
    reason: FinishReason;
    stopString?: string;
    usage: GenerationUsage;
    /** Of completionTokens, those inside reasoning. */
    reasoningTokens: number;
  };
