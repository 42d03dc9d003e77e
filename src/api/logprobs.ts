// deno-lint-ignore-file camelcase -- the wire's own names
/**
 * Probabilities of visible tokens in the two shapes of the OpenAI API: chat's and the legacy one of completions.
 *
 * @module
 */
import type { TokenLogprob, VisibleToken } from "../flow.ts";

/** What OpenAI writes for a probability of zero, since JSON has no infinity. */
const LOGPROB_MIN = -9999;

/** One token or alternative in chat's shape. */
export interface TopLogprob {
  /** Its text; bytes that are no whole character show as U+FFFD. */
  token: string;
  /** Natural log. */
  logprob: number;
  /** Exactly what the token is. */
  bytes: number[];
}

/** One token in chat's shape. */
export interface ChatTokenLogprob extends TopLogprob {
  /** Best first. */
  top_logprobs: TopLogprob[];
}

/** `logprobs` of a choice in chat's shape. */
export interface ChatLogprobs {
  /** Visible tokens in order. */
  content: ChatTokenLogprob[];
  /** This server refuses nothing by itself. */
  refusal: null;
}

/** `logprobs` of a choice in the shape of completions. */
export interface LegacyLogprobs {
  /** Texts; a part of a character reads `bytes:\xe2\x82`. */
  tokens: string[];
  /** One a token. */
  token_logprobs: number[];
  /** Text → logprob, one object a token; null if no alternatives were asked for. */
  top_logprobs: Record<string, number>[] | null;
  /** Where each token begins, in code points of the choice's text. */
  text_offset: number[];
}

/** Chat's shape. */
export function toChatLogprobs(tokens: readonly VisibleToken[]): ChatLogprobs {
  const content = tokens.map((token) => ({ ...toTop(token), top_logprobs: token.top.map(toTop) }));
  return { content, refusal: null };
}

/**
 * The shape of completions.
 *
 * @param textOffset Code points of the choice's text before these tokens.
 */
export function toLegacyLogprobs(
  tokens: readonly VisibleToken[],
  textOffset: number,
  logprobsTop: number,
): LegacyLogprobs {
  const decoder = new TextDecoder();
  let offset = textOffset;
  const offsets = tokens.map(({ bytes }) => {
    const begin = offset;
    offset += countCodePoints(decoder.decode(bytes, { stream: true }));
    return begin;
  });
  return {
    tokens: tokens.map(({ bytes }) => toLegacyText(bytes)),
    token_logprobs: tokens.map(({ logprob }) => toFinite(logprob)),
    top_logprobs: logprobsTop === 0
      ? null
      : tokens.map(({ top }) => Object.fromEntries(top.map((one) => [toLegacyText(one.bytes), toFinite(one.logprob)]))),
    text_offset: offsets,
  };
}

/** Length as Python and the OpenAI API count it. */
export function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function toTop({ bytes, logprob }: TokenLogprob & { bytes: Uint8Array }): TopLogprob {
  return { token: new TextDecoder().decode(bytes), logprob: toFinite(logprob), bytes: [...bytes] };
}

function toLegacyText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return `bytes:${[...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
  }
}

function toFinite(logprob: number): number {
  return Number.isFinite(logprob) ? Math.max(logprob, LOGPROB_MIN) : LOGPROB_MIN;
}
