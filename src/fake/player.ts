/**
 * Plays a script: which reply a request gets, and the tokens that the fake core draws for it.
 *
 * A reply is taken by the first request that it fits and plays to every choice of it. The core asks by the prompt's
 * array, which travels from the route to the core as it is.
 *
 * @module
 */
import { ERROR_CODES, type ErrorCode, RequestError } from "../api/errors.ts";
import type { FakeReply } from "../ffi/fake_reply.ts";
import type { AskedChoices, Played, Script } from "../route/script.ts";
import { type Piece, ReplyVocabulary } from "./pieces.ts";
import type { ScriptReply } from "./script.ts";

/** Requests that `recent` keeps. */
export const RECENT_MAX = 50;

/** A reply, cut into tokens. */
export interface CutReply {
  /** As the file has it. */
  reply: ScriptReply;
  /** Its tokens. */
  pieces: readonly Piece[];
}

/** Plays one script. */
export class ScriptPlayer implements Script {
  readonly #replies: readonly CutReply[];
  readonly #repeat: boolean;
  readonly #used = new Set<CutReply>();
  readonly #playing = new WeakMap<Int32Array, FakeReply>();
  readonly #recent: AskedChoices[] = [];

  readonly #closing: readonly Piece[];

  /**
   * Takes the cut replies.
   *
   * @param repeat Starts over when none is left.
   * @param closing Tokens that close the thinking of an answer in its stead; their ids follow those of the reply.
   */
  constructor(replies: readonly CutReply[], repeat: boolean, closing: readonly Piece[] = []) {
    this.#replies = replies;
    this.#repeat = repeat;
    this.#closing = closing;
  }

  /** Takes the reply to a request. @throws {RequestError} If the reply is a refusal, or none is left. */
  take(asked: AskedChoices): Played {
    this.#recent.push(asked);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    const taken = this.#next(asked.lastMessage);
    const { reply, pieces } = taken;
    if (reply.status !== undefined) throw toRefusal(reply.status, reply.retry_after);
    const closing = asWritten(this.#closing, pieces);
    for (const prompt of asked.prompts) this.#playing.set(prompt, toFakeReply(taken, closing));
    return {
      vocabulary: new ReplyVocabulary([...pieces, ...closing]),
      closing: closing.map((_, at) => pieces.length + at),
      promptOpen: reply.prompt_open ?? "",
      cutsConnection: reply.cut_after_tokens !== undefined,
    };
  }

  /** The last requests, oldest first. */
  recent(): readonly AskedChoices[] {
    return this.#recent;
  }

  /** What the core draws for a prompt that was taken. */
  replyTo(prompt: Int32Array): FakeReply {
    return this.#playing.get(prompt) ?? { tokens: [], end: "stop" };
  }

  #next(lastMessage: string): CutReply {
    let found = this.#unused(lastMessage);
    if (found === undefined && this.#repeat) {
      this.#used.clear();
      found = this.#unused(lastMessage);
    }
    if (found !== undefined) {
      this.#used.add(found);
      return found;
    }
    const left = this.#replies.length - this.#used.size;
    throw new RequestError(
      "fake_script_exhausted",
      `The script has no reply to this request: ${this.#used.size} were played, ${left} are left for other messages.`,
    );
  }

  #unused(lastMessage: string): CutReply | undefined {
    return this.#replies.find((cut) => !this.#used.has(cut) && lastMessage.includes(cut.reply.when ?? ""));
  }
}

/** Where a reply cuts a marker into plain tokens, its vocabulary is to have no special one of that spelling. */
function asWritten(closing: readonly Piece[], pieces: readonly Piece[]): Piece[] {
  const text = new TextDecoder();
  const plain = pieces.map((piece) => piece.special ? "\0" : text.decode(piece.bytes)).join("");
  const special = new Set(pieces.filter((piece) => piece.special).map((piece) => text.decode(piece.bytes)));
  return closing.map((piece) => {
    const spelling = text.decode(piece.bytes);
    return piece.special && plain.includes(spelling) && !special.has(spelling) ? { ...piece, special: false } : piece;
  });
}

function toFakeReply({ reply, pieces }: CutReply, closing: readonly Piece[]): FakeReply {
  const { cut_after_tokens: cutAfter, error_after_tokens: errorAfter } = reply;
  const afterTokens = cutAfter ?? errorAfter ?? (reply.finish === "error" ? pieces.length : undefined);
  return {
    tokens: pieces.map((_, id) => id),
    end: reply.finish === "length" ? "length" : "stop",
    skip: (token, place) => skipTo(pieces, closing[token - pieces.length] ?? pieces[token], place),
    delayMs: reply.delay_ms,
    tokenMs: reply.ms_per_token,
    ...(afterTokens !== undefined && {
      failure: {
        afterTokens: Math.min(afterTokens, pieces.length),
        code: "internal" as const,
        message: `The script fails this answer after ${afterTokens} tokens`,
      },
    }),
  };
}

/**
 * Where a reply goes on when a token was played that it did not choose: behind its own end of thinking, if that is
 * still ahead, and behind the blank that follows it; else where it was.
 */
function skipTo(pieces: readonly Piece[], played: Piece | undefined, place: number): number {
  if (played === undefined) return place;
  const text = spell(played);
  if (text.trim() === "") return spell(pieces[place]).trim() === "" && place < pieces.length ? place + 1 : place;
  const found = pieces.findIndex((piece, at) => at >= place && spell(piece) === text);
  return found === -1 ? place : found + 1;
}

function spell(piece: Piece | undefined): string {
  return new TextDecoder().decode(piece?.bytes);
}

/** The refusal that this server's clients know for a status, else one that only scripts make. */
function toRefusal(status: number, retryAfterSeconds: number | undefined): RequestError {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const code = PREFERRED.find((known) => ERROR_CODES[known].status === status) ??
    codes.find((known) => ERROR_CODES[known].status === status);
  return new RequestError(code ?? "scripted_refusal", `The script refuses this request with ${status}.`, {
    ...(code === undefined && { status }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Where several codes have one status. */
const PREFERRED: readonly ErrorCode[] = ["invalid_request", "model_not_found", "internal_error", "model_loading"];
