/**
 * One choice: the engine's events through a decoder.
 *
 * Knows no wire. When a stop string has matched, the generation is cancelled before its next step, and its finish says
 * `stop` all the same.
 *
 * @module
 */
import type { GenerationEvent, GenerationRequest, OutputEvent, Vocabulary } from "../flow.ts";
import type { StreamDecoder } from "../output/decoder.ts";

/** What makes tokens; `Engine` is one. */
export interface Generator {
  /** Submits at once; an abort ends the events with a `cancelled` finish. @throws {CoreError} If the core refuses. */
  generate(request: GenerationRequest, signal: AbortSignal): AsyncIterable<GenerationEvent>;
}

/** One choice to be made. */
export interface Choice {
  /** For the engine. */
  request: GenerationRequest;
  /** For its tokens. */
  decoder: StreamDecoder;
  /** What its tokens spell. */
  vocabulary: Vocabulary;
  /** Scripted: text that the template is taken to have opened after the prompt. */
  promptOpen?: string;
  /** Scripted: when it fails, the connection is to look lost instead of the failure being told. */
  cutsConnection?: boolean;
}

/** An event of one of several choices. */
export interface ChoiceEvent {
  /** Which, from 0. */
  index: number;
  /** What it shows. */
  event: OutputEvent;
}

/**
 * Submits a choice and gives what it shows; `finish` is the last.
 *
 * @param observe Hears every event of the engine before the decoder does.
 * @throws {CoreError} At once, if the core refuses; while iterating, if the generation fails.
 */
export function startAnswer(
  engine: Generator,
  choice: Choice,
  signal: AbortSignal,
  observe: (event: GenerationEvent) => void,
): AsyncIterableIterator<OutputEvent> {
  const stopped = new AbortController();
  const events = engine.generate(choice.request, AbortSignal.any([signal, stopped.signal]));
  return decode(events, choice.decoder, stopped, observe);
}

async function* decode(
  events: AsyncIterable<GenerationEvent>,
  decoder: StreamDecoder,
  stopped: AbortController,
  observe: (event: GenerationEvent) => void,
): AsyncIterableIterator<OutputEvent> {
  for await (const event of events) {
    observe(event);
    const shown = decoder.push(event);
    if (decoder.stopped) stopped.abort();
    yield* shown;
  }
}

/**
 * Events of several choices in the order in which they happen; within a choice the order is kept.
 *
 * Each answer is asked for its next event when its last one has been taken, so a slow reader slows its own answers.
 */
export async function* mergeAnswers(
  answers: readonly AsyncIterator<OutputEvent>[],
): AsyncIterableIterator<ChoiceEvent> {
  const [only] = answers;
  if (answers.length === 1 && only) {
    for (let next = await only.next(); !next.done; next = await only.next()) yield { index: 0, event: next.value };
    return;
  }
  const ready: (() => { index: number; result: IteratorResult<OutputEvent> })[] = [];
  let wake = (): void => {};
  const settle = (step: (typeof ready)[number]): void => {
    ready.push(step);
    wake();
  };
  const advance = (index: number, answer: AsyncIterator<OutputEvent>): void => {
    answer.next().then((result) => settle(() => ({ index, result })), (error) =>
      settle(() => {
        throw error;
      }));
  };
  answers.forEach((answer, index) => advance(index, answer));
  for (let live = answers.length; live > 0;) {
    const step = ready.shift();
    if (!step) {
      await new Promise<void>((resolve) => wake = resolve);
      continue;
    }
    const { index, result } = step();
    const answer = answers[index];
    if (result.done || !answer) {
      live--;
      continue;
    }
    yield { index, event: result.value };
    advance(index, answer);
  }
}
