/**
 * Listens to an answer and keeps it as a turn when it has ended.
 *
 * @module
 */
import type { GenerationEvent, OutputEvent, ToolCall, Vocabulary } from "../../flow.ts";
import type { CharacterAccount } from "../../output/account.ts";
import type { StreamDecoder } from "../../output/decoder.ts";
import { spell } from "./read_turn.ts";
import { KEPT_ANSWER_TOKENS_MAX, type KeptTurn } from "./turn.ts";

/** An answer that has ended. */
export type AnsweredTurn = Pick<KeptTurn, "content" | "reasoning" | "calls" | "drawn">;

/** How an answer is kept. */
export interface KeepOptions {
  /** Cut off the end of what was drawn. */
  endTokens: readonly number[];
  /** What a script plays with tokens of its own: the text is kept. Absent: the ids are. */
  vocabulary?: Vocabulary;
  /** Called once, when the answer has ended by itself or at a bound. */
  keep: (turn: AnsweredTurn) => void;
}

/** A decoder that is listened to. */
export class KeptAnswer implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #options: KeepOptions;
  readonly #tokens: number[] = [];
  /** By their index; a broken one keeps its. */
  readonly #calls = new Map<number, ToolCall>();
  #content = "";
  #reasoning = "";
  /** Every token is part of the turn as it was shown. */
  #isWhole = true;

  /** Listens to an answer from its start. */
  constructor(decoder: StreamDecoder, options: KeepOptions) {
    this.#decoder = decoder;
    this.#options = options;
  }

  /** What the decoder says. */
  get account(): Readonly<CharacterAccount> {
    return this.#decoder.account;
  }

  /** Whether a stop string matched. */
  get stopped(): boolean {
    return this.#decoder.stopped;
  }

  /** What an event makes visible. */
  push(event: GenerationEvent): OutputEvent[] {
    if (event.type === "token") {
      if (this.#tokens.length < KEPT_ANSWER_TOKENS_MAX) this.#tokens.push(event.token);
      else this.#isWhole = false;
    }
    const shown = this.#decoder.push(event);
    for (const one of shown) this.#hear(one);
    return shown;
  }

  #hear(event: OutputEvent): void {
    switch (event.type) {
      case "text":
        this.#content += event.text;
        break;
      case "reasoning":
        this.#reasoning += event.text;
        break;
      case "toolCallStart":
        this.#calls.set(event.index, { id: event.id, name: event.name, arguments: "" });
        break;
      case "toolCallArguments": {
        const call = this.#calls.get(event.index);
        if (call !== undefined) call.arguments += event.json;
        break;
      }
      case "toolCallEnd":
        break;
      case "toolCallBroken":
        this.#calls.delete(event.index);
        this.#isWhole = false;
        break;
      case "repair":
        this.#isWhole = false;
        break;
      case "finish":
        if (event.stopString !== undefined) this.#isWhole = false;
        if (event.reason !== "cancelled") this.#keep();
    }
  }

  #keep(): void {
    const { endTokens, vocabulary, keep } = this.#options;
    const last = this.#tokens.at(-1);
    const endsItself = last !== undefined && endTokens.includes(last);
    const drawn = Int32Array.from(endsItself ? this.#tokens.slice(0, -1) : this.#tokens);
    keep({
      content: this.#content,
      reasoning: this.#reasoning,
      calls: [...this.#calls.values()],
      ...(this.#isWhole && { drawn: vocabulary === undefined ? drawn : spell(vocabulary, drawn) }),
    });
  }
}
