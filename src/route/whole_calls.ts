/**
 * What a client may see of calls: only whole ones, and one at least where one is required.
 *
 * A call is held back until it has ended, since clients run what they were sent of a call even if the answer then says
 * that it was cut. A call that broke is not sent; the decoder gives its text as text. Where a call is required, text is
 * held back as well until the first one, so that a refusal has shown nothing.
 *
 * @module
 */
import type { GenerationEvent, OutputEvent } from "../flow.ts";
import type { CharacterAccount } from "../output/account.ts";
import type { StreamDecoder } from "../output/decoder.ts";

/** The model ended an answer without the call that the client required. */
export class CallMissing extends Error {
  /** @param message For the client. */
  constructor(message: string) {
    super(message);
    this.name = "CallMissing";
  }
}

/** A decoder whose calls are whole. */
export class WholeCalls implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #required: string | undefined;
  /** Events of the call that has begun. */
  #open: OutputEvent[] | undefined;
  /** Text that waits for the first call. */
  #text: OutputEvent[] = [];
  #calls = 0;

  /** @param required What the client asked for (`required`, or a name); absent: no call is needed. */
  constructor(decoder: StreamDecoder, required?: string) {
    this.#decoder = decoder;
    this.#required = required;
  }

  /** What the decoder says, of calls that are held back too. */
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
      case "toolCallStart":
        this.#open = [{ ...event, index: this.#calls }];
        return [];
      case "toolCallArguments":
        this.#open?.push({ ...event, index: this.#calls });
        return [];
      case "toolCallEnd":
        return this.#release(event);
      case "toolCallBroken":
        this.#open = undefined;
        return [];
      case "text":
        if (this.#required === undefined || this.#calls > 0) return [event];
        this.#text.push(event);
        return [];
      case "finish":
        return this.#finish(event);
      default:
        return [event];
    }
  }

  #release(end: Extract<OutputEvent, { type: "toolCallEnd" }>): OutputEvent[] {
    const call = [...this.#text, ...this.#open ?? [], { ...end, index: this.#calls }];
    this.#text = [];
    this.#open = undefined;
    this.#calls++;
    return call;
  }

  #finish(event: Extract<OutputEvent, { type: "finish" }>): OutputEvent[] {
    return [...this.#text, finishOfCalls(event, this.#calls, this.#required)];
  }
}

/**
 * How an answer ends that has this many whole calls.
 *
 * @throws {CallMissing} If it ends by itself without a required one.
 */
export function finishOfCalls(
  event: Extract<OutputEvent, { type: "finish" }>,
  calls: number,
  required: string | undefined,
): OutputEvent {
  if (required !== undefined && calls === 0 && event.reason === "stop") {
    const wanted = required === "required" ? "a tool call" : `a call of ${required}`;
    throw new CallMissing(`The model answered without ${wanted}, which \`tool_choice\` requires.`);
  }
  // A stop string behind a whole call does not unmake it: clients go by the reason.
  return event.reason === "stop" && calls > 0 ? { ...event, reason: "tool_calls" } : event;
}
