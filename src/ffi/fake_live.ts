/**
 * A request that the fake core has not finished.
 *
 * @module
 */
import type { GenerationUsage } from "../flow.ts";
import type { SubmitRequest } from "./core.ts";
import type { FakeGuided } from "./fake_guided.ts";
import type { FakePlayback, FakeReply } from "./fake_reply.ts";

/** Where a request stands. */
export interface Live {
  /** A copy. */
  request: SubmitRequest;
  /** What is said to it. */
  reply: FakeReply;
  /** Where the reply is. */
  playback: FakePlayback;
  /** Of a masked request. */
  guided?: FakeGuided;
  /** `waiting` in the queue, `cancelled` until the next step. */
  state: "waiting" | "running" | "cancelled";
  /** Steps that it still waits. */
  delaySteps: number;
  /** Nothing happens to it before this time. */
  dueMs: number;
  /** Of the prompt. */
  doneTokens: number;
  /** Tokens drawn. */
  drawn: number;
  /** What the request asked for or the context leaves, whichever is less. */
  tokensMax: number;
  /** When. */
  submittedMs: number;
  /** Its first step; 0: none yet. */
  startedMs: number;
  /** 0: none yet. */
  firstTokenMs: number;
}

/** What it cost until now. */
export function toUsage(live: Live, nowMs: number): GenerationUsage {
  const started = live.startedMs || nowMs;
  const first = live.firstTokenMs || nowMs;
  return {
    promptTokens: live.request.prompt.length,
    cachedTokens: Math.min(live.reply.cachedTokens ?? 0, live.request.prompt.length - 1),
    completionTokens: live.drawn,
    draftedTokens: 0,
    acceptedTokens: 0,
    queueUs: Math.round((started - live.submittedMs) * 1000),
    prefillUs: Math.round((first - started) * 1000),
    decodeUs: Math.round((nowMs - first) * 1000),
  };
}
