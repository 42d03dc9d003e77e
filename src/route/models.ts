/**
 * Which model answers: the served models, by the names that a request may use.
 *
 * A name is the served id, the Hugging Face id, `default`, or absent; the first model is the default. An entry exists
 * from the moment its load begins, so that a client that is early hears "loading" and not "unknown".
 *
 * @module
 */
import type { SamplingDefaults } from "../api/sampling.ts";
import type { ModelHandle, ModelInfo } from "../ffi/core.ts";
import type { Dialect } from "../output/decoder.ts";
import type { TextModel } from "../prompt/text_model.ts";

/** A model that can answer. */
export interface LoadedModel {
  /** In the core. */
  handle: ModelHandle;
  /** What the core says of it. */
  info: ModelInfo;
  /** Templates and tokenizer. */
  text: TextModel;
  /** Sampling where a request says nothing: the profile's, else the checkpoint's. */
  sampling: SamplingDefaults;
  /** Variables of the chat template where a request says nothing: the profile's. */
  templateArguments: Readonly<Record<string, unknown>>;
  /** How the model writes calls and reasoning: the profile's. */
  dialect: Dialect;
  /** Added to the logits of tokens, by their text, where tools may be called (tool_bias.ts); absent: nothing. */
  toolBias?: Readonly<Record<string, number>>;
  /** Which profile that is, and why it was taken; absent: none was looked for. */
  profile?: { id: string; because: string };
  /** Largest prompt plus answer that is served. */
  contextTokens: number;
}

/** How far a model is. */
export type ModelStatus =
  | { state: "loading"; perMille: number }
  | { state: "ready"; loaded: LoadedModel }
  | { state: "failed"; message: string };

/** One served model. */
export interface ServedModel {
  /** What answers and lists call it. */
  readonly id: string;
  /** Its Hugging Face id, when it has one. */
  readonly hfId?: string;
  /** When its load began; seconds since the epoch. */
  readonly createdSeconds: number;
  /** Changed by whoever loads it. */
  status: ModelStatus;
}

/** A request named a model that is not served. */
export class ModelNotFound extends Error {
  /** @param message Names the served ids. */
  constructor(message: string) {
    super(message);
    this.name = "ModelNotFound";
  }
}

/** A request named a model that is served but can't answer. */
export class ModelNotReady extends Error {
  /** Whether waiting helps. */
  readonly loading: boolean;

  /** @param message Says how far it is, or why it failed. @param loading Whether waiting helps. */
  constructor(message: string, loading: boolean) {
    super(message);
    this.name = "ModelNotReady";
    this.loading = loading;
  }
}

/** The served models. */
export class ServedModels {
  readonly #models: ServedModel[] = [];

  /** Adds a model whose load begins. */
  add(id: string, createdSeconds: number, hfId?: string): ServedModel {
    const status: ModelStatus = { state: "loading", perMille: 0 };
    const model: ServedModel = { id, createdSeconds, status, ...(hfId !== undefined && { hfId }) };
    this.#models.push(model);
    return model;
  }

  /** In the order of their loads; the first is the default. */
  list(): readonly ServedModel[] {
    return this.#models;
  }

  /**
   * The model that a request means.
   *
   * @param takesForeign Names of hosted models mean the default one: clients of their wires have them built in.
   * @throws {ModelNotFound} If none is served under that name.
   */
  require(name: string | undefined, takesForeign = false): ServedModel {
    const found = this.#find(name) ?? (takesForeign && isForeign(name) ? this.#models[0] : undefined);
    if (found) return found;
    const served = this.#models.map(({ id }) => id).join(", ");
    const asked = name === undefined ? "a default model" : `the model ${toShown(name)}`;
    throw new ModelNotFound(`Cannot find ${asked}. Served: ${served === "" ? "none" : served}.`);
  }

  /**
   * The same, ready to answer.
   *
   * @throws {ModelNotFound} If none is served under that name.
   * @throws {ModelNotReady} If it is loading or has failed.
   */
  requireLoaded(name: string | undefined, takesForeign = false): { model: ServedModel; loaded: LoadedModel } {
    const model = this.require(name, takesForeign);
    switch (model.status.state) {
      case "ready":
        return { model, loaded: model.status.loaded };
      case "loading":
        throw new ModelNotReady(
          `The model ${model.id} is loading (${Math.floor(model.status.perMille / 10)} %). Try again in a moment.`,
          true,
        );
      case "failed":
        throw new ModelNotReady(`The model ${model.id} could not be loaded: ${model.status.message}`, false);
    }
  }

  /** Whether a model is served under a name. */
  knows(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  #find(name: string | undefined): ServedModel | undefined {
    if (name === undefined || name === "default") return this.#models[0];
    return this.#models.find(({ id, hfId }) => id === name || hfId === name);
  }
}

/** Whether a name is one of OpenAI's or Anthropic's. */
function isForeign(name: string | undefined): boolean {
  return name !== undefined && /^(?:gpt|claude)-/.test(name);
}

/** A client's text in a message: quoted and bounded. */
function toShown(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name);
}
