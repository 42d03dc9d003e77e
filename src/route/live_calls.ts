/**
 * Calls as they are decoded, for streams of a server that was told so (`--tool-arguments live`).
 *
 * What was sent of a call can't be taken back: one that is cut or breaks has its part out already, its text follows as
 * content as always, and only the finish reason says that it is no call. Where a call is required, text waits for the
 * first one, as in whole_calls.ts.
 *
 * @module
 */
import type { GenerationEvent, OutputEvent } from "../flow.ts";
import type { CharacterAccount } from "../output/account.ts";
import type { StreamDecoder } from "../output/decoder.ts";
import { finishOfCalls } from "./whole_calls.ts";

/** A decoder whose calls arrive piece by piece. */
export class LiveCalls implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #required: string | undefined;
  /** Text that waits for the first call. */
  #text: OutputEvent[] = [];
  #begun = 0;
  /** Whole ones. */
  #calls = 0;

  /** @param required What the client asked for (`required`, or a name); absent: no call is needed. */
  constructor(decoder: StreamDecoder, required?: string) {
    this.#decoder = decoder;
    this.#required = required;
  }

  /** What the decoder says. */
  get account(): Readonly<CharacterAccount> {
    return this.#decoder.account;
  }

  /** Whether a stop string matched. */
  get stopped(): boolean {
    return this.#decoder.stopped;
  }

  /** What an event makes visible. @throws {CallMissing} If the answer ends by itself without a required call. */
  push(event: GenerationEvent): OutputEvent[] {
    return this.#decoder.push(event).flatMap((shown) => this.#pass(shown));
  }

  #pass(event: OutputEvent): OutputEvent[] {
    switch (event.type) {
      case "toolCallStart": {
        this.#begun++;
        const text = this.#text;
        this.#text = [];
        return [...text, event];
      }
      case "toolCallEnd":
        this.#calls++;
        return [event];
      case "text":
        if (this.#required === undefined || this.#begun > 0) return [event];
        this.#text.push(event);
        return [];
      case "finish":
        return [...this.#text, finishOfCalls(event, this.#calls, this.#required)];
      default:
        return [event];
    }
  }
}
