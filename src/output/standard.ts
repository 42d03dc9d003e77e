/**
 * The decoder: utf8 → stop → answer parser, then events.
 *
 * Takes generation events, gives output events. Special tokens that no stage reads are not shown; each is named in a
 * `repair` event, so that no token the model wrote disappears without a word.
 * Invariants: joined text does not depend on how the answer was cut into tokens; after a stop string nothing is shown.
 *
 * @module
 */
import type { FinishReason, GenerationEvent, GenerationUsage, OutputEvent, VisibleToken, Vocabulary } from "../flow.ts";
import type { AnswerParser, AnswerPiece } from "./answer_parser.ts";
import { type CharacterAccount, emptyAccount } from "./account.ts";
import type { DecoderOptions, StreamDecoder } from "./decoder.ts";
import type { PlacedToken, Run } from "./run.ts";
import { StopStage } from "./stop.ts";
import { Utf8Stage } from "./utf8.ts";

/** What OpenAI reports for a token without a probability worth a number. */
const LOGPROB_MISSING = -9999;

type FinishEvent = Extract<GenerationEvent, { type: "finish" }>;

/** A call beyond the number that may be made, on its way into a repair. */
interface SurplusCall {
  name: string;
  json: string;
}

/** Reads one answer. */
export class StandardDecoder implements StreamDecoder {
  readonly account: CharacterAccount = emptyAccount();
  readonly #vocabulary: Vocabulary;
  readonly #logprobsTop: number | undefined;
  readonly #utf8: Utf8Stage;
  readonly #stop: StopStage;
  readonly #parser: AnswerParser;
  readonly #newId: () => string;
  readonly #callsMax: number;
  /** Tokens up to and with the one that completed a stop string. */
  #tokensSeen = 0;
  #reasoningTokens = 0;
  /** The last piece. */
  #before: AnswerPiece["type"] | undefined;
  /** Calls begun, and calls completed. */
  #calls = 0;
  #callsDone = 0;
  #surplus: SurplusCall | undefined;

  /** Starts an answer. Takes the parser. */
  constructor(options: DecoderOptions, parser: AnswerParser, newId: () => string) {
    const { vocabulary } = options;
    this.#vocabulary = vocabulary;
    this.#logprobsTop = options.logprobsTop;
    this.#parser = parser;
    this.#newId = newId;
    this.#callsMax = options.callsMax ?? Infinity;
    const read = new Set(parser.markers);
    this.#utf8 = new Utf8Stage({
      vocabulary,
      endTokens: options.endTokens,
      continuesText: options.continuesText ?? false,
      readsSpecial: (token) => read.has(new TextDecoder().decode(vocabulary.bytes(token))),
      wholeTokens: options.logprobsTop !== undefined,
    });
    this.#stop = new StopStage(options.stop, options.logprobsTop !== undefined);
  }

  /** Whether a stop string matched. */
  get stopped(): boolean {
    return this.#stop.matched !== undefined;
  }

  /** What an event makes visible. */
  push(event: GenerationEvent): OutputEvent[] {
    if (event.type === "prefill") return [];
    if (event.type === "finish") return this.#finish(event);
    if (this.stopped) return [];
    this.#tokensSeen++;
    return this.#read(this.#pass(this.#utf8.push(event)));
  }

  /** Through the watch for stop strings. What comes in and never out was cut by one, or is held. */
  #pass(runs: Run[], ending = false): Run[] {
    const passed = [...runs.flatMap((run) => this.#stop.push(run)), ...ending ? this.#stop.finish() : []];
    const came = lengthOf(runs);
    this.account.raw += came;
    this.account.stopped += came - lengthOf(passed);
    return passed;
  }

  #finish(event: FinishEvent): OutputEvent[] {
    const events: OutputEvent[] = [];
    if (!this.stopped) {
      events.push(...this.#read(this.#pass(this.#utf8.finish(), true)));
    }
    const stopString = this.#stop.matched;
    const isNatural = event.reason === "stop" && stopString === undefined;
    events.push(...this.#show(this.#parser.finish(isNatural ? "natural" : "cut")));
    const reason: FinishReason = stopString !== undefined
      ? "stop"
      : event.reason === "stop" && this.#callsDone > 0
      ? "tool_calls"
      : event.reason;
    events.push({
      type: "finish",
      reason,
      ...(stopString === undefined ? {} : { stopString }),
      usage: stopString === undefined ? event.usage : this.#usageAtStop(event.usage),
      reasoningTokens: this.#reasoningTokens,
    });
    return events;
  }

  /** Tokens drawn before the cancel arrived were never part of the answer; how many there are is chance. */
  #usageAtStop(usage: GenerationUsage): GenerationUsage {
    return { ...usage, completionTokens: Math.min(usage.completionTokens, this.#tokensSeen) };
  }

  #read(runs: Run[]): OutputEvent[] {
    return runs.flatMap((run) => this.#show(this.#parser.push(run)));
  }

  #show(pieces: AnswerPiece[]): OutputEvent[] {
    return pieces.flatMap((piece) => this.#toEvents(piece));
  }

  #toEvents(piece: AnswerPiece): OutputEvent[] {
    const before = this.#before;
    this.#before = piece.type;
    switch (piece.type) {
      case "text":
        this.account.content += piece.run.length;
        if (piece.run.text === "") return [];
        return [{ type: "text", text: piece.run.text, tokens: this.#visible(piece.run.tokens) }];
      case "reasoning":
        // A token whose blank belongs to the tag before it is reasoning all the same.
        this.#reasoningTokens += piece.run.tokenCount + (before === "marker" && isRest(piece.run) ? 1 : 0);
        this.account.reasoning += piece.run.length;
        return piece.run.text === "" ? [] : [{ type: "reasoning", text: piece.run.text }];
      case "wire":
        this.account.calls += piece.run.length;
        return [];
      case "marker":
        this.account[piece.run.control ? "hidden" : "markup"] += piece.run.length;
        return piece.run.control ? [{ type: "repair", name: "special_token_hidden", detail: piece.run.text }] : [];
      case "repair":
        return [piece];
      default:
        return this.#surplus === undefined ? this.#callEvents(piece) : this.#dropSurplus(this.#surplus, piece);
    }
  }

  #callEvents(piece: Extract<AnswerPiece, { type: `call${string}` }>): OutputEvent[] {
    const index = this.#calls - 1;
    switch (piece.type) {
      case "callStart":
        if (this.#callsDone >= this.#callsMax) {
          this.#surplus = { name: piece.name, json: "" };
          return [];
        }
        return [{ type: "toolCallStart", index: this.#calls++, id: piece.id ?? this.#newId(), name: piece.name }];
      case "callArguments":
        return [{ type: "toolCallArguments", index, json: piece.json }];
      case "callEnd":
        this.#callsDone++;
        return [{ type: "toolCallEnd", index }];
      case "callBroken":
        return [{ type: "toolCallBroken", index }];
    }
  }

  /** One call more than may be made: named with all that it says. */
  #dropSurplus(surplus: SurplusCall, piece: Extract<AnswerPiece, { type: `call${string}` }>): OutputEvent[] {
    if (piece.type === "callArguments") surplus.json += piece.json;
    if (piece.type !== "callEnd" && piece.type !== "callBroken") return [];
    this.#surplus = undefined;
    // The text of a broken one follows as text.
    if (piece.type === "callBroken") return [];
    return [{ type: "repair", name: "surplus_tool_call_dropped", detail: `${surplus.name}(${surplus.json})` }];
  }

  #visible(tokens: readonly PlacedToken[]): VisibleToken[] {
    const top = this.#logprobsTop;
    if (top === undefined) return [];
    return tokens.map((token) => ({
      token: token.token,
      logprob: token.logprob ?? LOGPROB_MISSING,
      bytes: token.bytes,
      top: (token.top ?? []).slice(0, top).map((other) => ({ ...other, bytes: this.#vocabulary.bytes(other.token) })),
    }));
  }
}

function lengthOf(runs: readonly Run[]): number {
  return runs.reduce((sum, run) => sum + run.length, 0);
}

/** Whether a run begins inside a token. */
function isRest(run: Run): boolean {
  return run.tokens[0]?.counted === false;
}
