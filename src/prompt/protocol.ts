/**
 * What the main isolate and the text worker say to each other: one reply a call, matched by number. Errors cross as
 * values and are thrown again on the other side.
 *
 * @module
 */
import type { Conversation } from "../flow.ts";
import { PromptTooLong, TemplateError, TextFilesError, TextWorkerError } from "./errors.ts";
import type { PromptRepair } from "./role_repair.ts";
import type { GenerationDefaults } from "./text_files.ts";
import type { TokenTableParts } from "./token_table.ts";
import type { EncodeOptions } from "./tokenizer.ts";

/** What the worker can be asked. */
export type TextCall =
  | { type: "open"; directory: string }
  | { type: "render"; model: number; conversation: Conversation; tokensMax?: number }
  | { type: "encode"; model: number; text: string; options: EncodeOptions; tokensMax?: number }
  | { type: "close"; model: number };

/** An opened checkpoint, as it crosses. */
export interface OpenedModel {
  /** The worker's number for it. */
  model: number;
  /** Memory of its token table; moved, not copied. */
  table: TokenTableParts;
  /** Ids that end an answer. */
  endTokens: number[];
  /** From generation_config.json. */
  generationDefaults: GenerationDefaults;
  /** `model_type` of config.json. */
  modelType?: string;
  /** `max_position_embeddings` of config.json. */
  contextTokens?: number;
  /** The template that plain chats use, for profile matching. */
  chatTemplate?: string;
}

/** A rendered conversation. */
export interface RenderedPrompt {
  /** As the template wrote it. */
  text: string;
  /** Its token ids. */
  ids: Int32Array<ArrayBuffer>;
  /** What was changed in the conversation first, so that the template takes it and shows it whole. */
  repairs?: readonly PromptRepair[];
}

/** What each call is answered with. */
export interface TextResults {
  /** Of `open`. */
  open: OpenedModel;
  /** Of `render`. */
  render: RenderedPrompt;
  /** Of `encode`. */
  encode: Int32Array<ArrayBuffer>;
  /** Of `close`. */
  close: null;
}

/** A call with its number. */
export interface TextRequest {
  /** Counts up from 1. */
  number: number;
  /** What is asked. */
  call: TextCall;
}

/** Which error class a failure belongs to. */
export type FailureKind = "template" | "files" | "worker" | "length";

/** The answer to a call. */
export type TextReply =
  | { number: number; ok: true; result: TextResults[keyof TextResults] }
  | { number: number; ok: false; kind: FailureKind; message: string };

/** An error as a value. */
export function toFailure(error: unknown): { kind: FailureKind; message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PromptTooLong) return { kind: "length", message: String(error.tokensAtLeast) };
  if (error instanceof TemplateError) return { kind: "template", message };
  if (error instanceof TextFilesError) return { kind: "files", message };
  return { kind: "worker", message };
}

/** A value as the error it was. */
export function fromFailure(kind: FailureKind, message: string): Error {
  if (kind === "length") return new PromptTooLong(Number(message));
  if (kind === "template") return new TemplateError(message);
  if (kind === "files") return new TextFilesError(message);
  return new TextWorkerError(message);
}
