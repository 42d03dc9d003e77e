/**
 * Watches one choice: the tokens that come out of the engine, and what the client is shown of them.
 *
 * Counts always; keeps tokens and steps only where content is kept. Takes events in the order of `route/answer.ts`: an
 * event of the engine first, then what it made visible.
 *
 * @module
 */
import type { ChoiceContent, NamedCount, RecordChoice, ShownEvent } from "../api/request_record.ts";
import type { CoreFinish, FinishReason, GenerationEvent, GenerationUsage, OutputEvent, Vocabulary } from "../flow.ts";
import type { CharacterAccount } from "../output/account.ts";

/** What is known of a choice when it begins. */
export interface RecordedChoice {
  /** Which prompt it answers, from 0. */
  prompt: number;
  /** What its tokens are drawn with. */
  seed: bigint;
  /** What the decoder says of the characters, whenever it is read. */
  account: () => Readonly<CharacterAccount>;
}

/** One choice. */
export class ChoiceRecorder {
  /** Tokens drawn so far, where content is kept. */
  readonly tokens: number[] = [];
  /** What the core told of its cost; undefined until it has finished. */
  usage: GenerationUsage | undefined;
  readonly #choice: RecordedChoice;
  readonly #keepsContent: boolean;
  readonly #repairs = new Map<string, number>();
  readonly #logprobs: NonNullable<ChoiceContent["logprobs"]> = [];
  readonly #steps: ChoiceContent["steps"] = [];
  readonly #shown = { content: 0, reasoning: 0, calls: 0 };
  #drawn = 0;
  #reasoningTokens = 0;
  #coreFinish: CoreFinish | undefined;
  #finish: { reason: FinishReason; stopString: string | undefined } | undefined;

  /** @param keepsContent Tokens and steps are kept. */
  constructor(choice: RecordedChoice, keepsContent: boolean) {
    this.#choice = choice;
    this.#keepsContent = keepsContent;
  }

  /** An event of the engine, before its decoder sees it. */
  observe(event: GenerationEvent): void {
    if (event.type === "prefill") return;
    if (event.type === "finish") {
      this.#coreFinish = event.reason;
      this.usage = event.usage;
      return;
    }
    this.#drawn++;
    if (!this.#keepsContent) return;
    this.tokens.push(event.token);
    if (event.logprob === undefined) return;
    const top = (event.top ?? []).map(({ token, logprob }): [number, number] => [token, logprob]);
    this.#logprobs.push({ logprob: event.logprob, top });
  }

  /** What the event before made visible. */
  show(event: OutputEvent): void {
    if (event.type === "text") this.#shown.content += event.text.length;
    else if (event.type === "reasoning") this.#shown.reasoning += event.text.length;
    else if (event.type === "toolCallEnd") this.#shown.calls++;
    else if (event.type === "repair") this.#repairs.set(event.name, (this.#repairs.get(event.name) ?? 0) + 1);
    else if (event.type === "finish") {
      this.#finish = { reason: event.reason, stopString: event.stopString };
      this.#reasoningTokens = event.reasoningTokens;
    }
    if (this.#keepsContent) this.#step(toShown(event));
  }

  /** The numbers. @param whole The request ended as it should: then nothing may be held back. */
  toRecord(index: number, whole: boolean): RecordChoice {
    return {
      index,
      prompt: this.#choice.prompt,
      seed: String(this.#choice.seed),
      completion_tokens: this.#drawn,
      reasoning_tokens: this.#reasoningTokens,
      core_finish: this.#coreFinish ?? null,
      finish_reason: this.#finish?.reason ?? null,
      stop_string_matched: this.#finish?.stopString !== undefined,
      calls: this.#shown.calls,
      repairs: toNamedCounts(this.#repairs),
      characters: this.#toCharacters(whole),
    };
  }

  /** The content. */
  toContent(vocabulary: Vocabulary, endTokens: ReadonlySet<number>): ChoiceContent {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const shown = this.tokens.filter((token) => !endTokens.has(token));
    const texts = shown.map((token) => decoder.decode(vocabulary.bytes(token), { stream: true }));
    return {
      tokens: this.tokens,
      raw: texts.join("") + decoder.decode(),
      ...(this.#logprobs.length > 0 && { logprobs: this.#logprobs }),
      steps: this.#steps,
    };
  }

  /** Every token that the content speaks of. */
  mentioned(): number[] {
    return [...this.tokens, ...this.#logprobs.flatMap(({ top }) => top.map(([token]) => token))];
  }

  /** What was shown is counted here, at the edge: so a loss behind the decoder is one too. */
  #toCharacters(whole: boolean): RecordChoice["characters"] {
    const { raw, calls, markup, hidden, stopped } = this.#choice.account();
    const { content, reasoning } = this.#shown;
    const rest = raw - content - reasoning - calls - markup - hidden - stopped;
    const held = whole ? 0 : Math.max(0, rest);
    return { raw, content, reasoning, calls, markup, hidden, stopped, withheld: held, lost: rest - held };
  }

  #step(shown: ShownEvent): void {
    const at = this.#coreFinish === undefined ? Math.max(0, this.#drawn - 1) : this.#drawn;
    const last = this.#steps.at(-1);
    if (last?.at === at) last.shown.push(shown);
    else this.#steps.push({ at, shown: [shown] });
  }
}

function toShown(event: OutputEvent): ShownEvent {
  switch (event.type) {
    case "text":
      return { text: event.text };
    case "reasoning":
      return { reasoning: event.text };
    case "toolCallStart":
      return { call: { index: event.index, id: event.id, name: event.name } };
    case "toolCallArguments":
      return { arguments: event.json, index: event.index };
    case "toolCallEnd":
      return { call_end: event.index };
    case "toolCallBroken":
      return { call_broken: event.index };
    case "repair":
      return { repair: event.name, detail: event.detail };
    case "finish":
      return { finish: event.reason, stop_string: event.stopString ?? null };
  }
}

/** Names with their counts, in the order of their first time. */
export function toNamedCounts(counts: ReadonlyMap<string, number>): NamedCount[] {
  return [...counts].map(([name, count]) => ({ name, count }));
}
