/**
 * The seam of the scripted server: answers that are written down beforehand instead of drawn.
 *
 * A server without a script has none of this. src/fake implements it; routes ask it when a request is checked, before
 * anything of it reaches the engine.
 *
 * @module
 */
import type { GenerationLimits, Sampling, Vocabulary } from "../flow.ts";

/** How a request asked for thinking. */
export interface AskedThinking {
  /** On or off; null: the template decides. */
  enabled: boolean | null;
  /** Tokens; null: no bound. */
  budget: number | null;
  /** Word of the wire; null: none. */
  effort: string | null;
}

/** What a request asks of the model, after the door. */
export interface Asked {
  /** Path of the wire. */
  route: string;
  /** Rendered; several prompts joined by a line break. */
  prompt: string;
  /** The last message's text, or the prompt itself. */
  lastMessage: string;
  /** Names of the tools that may be called. */
  tools: readonly string[];
  /** How it thinks. */
  thinking: AskedThinking;
  /** Kind of what binds the output. */
  constraint: string | null;
}

/** The same with what every choice is drawn by. */
export interface AskedChoices extends Asked {
  /** Ids of each prompt. */
  prompts: readonly Int32Array[];
  /** Of the first choice. */
  sampling: Sampling;
  /** Of the first choice. */
  limits: GenerationLimits;
}

/** What the script plays for a request: the tokens come out of the core that the script drives. */
export interface Played {
  /** What those tokens spell. */
  vocabulary: Vocabulary;
  /** Tokens that close the thinking in the model's stead; none: the script has no thinking. */
  closing: readonly number[];
  /** Text that the template is taken to have opened after the prompt. */
  promptOpen: string;
  /** The failure at its end is to look like a lost connection. */
  cutsConnection: boolean;
}

/** Answers that are written down. */
export interface Script {
  /** Takes the reply to a request. @throws {RequestError} If the reply is a refusal, or none is left. */
  take(asked: AskedChoices): Played;
  /** The last requests, oldest first. */
  recent(): readonly AskedChoices[];
}
