/**
 * Output events → blocks of content, one after the other, as steps that a stream sends and a whole answer adds up.
 *
 * @module
 */
import type { OutputEvent } from "../../flow.ts";
import { toExactJson } from "../body.ts";
import type { Seal } from "../seal.ts";
import type { ThinkingDisplay } from "./thinking.ts";

/** What the model said. */
export interface MessageTextBlock {
  /** Discriminator. */
  type: "text";
  /** Text. */
  text: string;
  /** This server cites nothing. */
  citations: null;
}

/** What it thought. */
export interface MessageThinkingBlock {
  /** Discriminator. */
  type: "thinking";
  /** Text; empty where the signature holds it. */
  thinking: string;
  /** Token of src/api/seal.ts. */
  signature: string;
}

/** A call. */
export interface MessageToolUseBlock {
  /** Discriminator. */
  type: "tool_use";
  /** As the model's format or this server names it. */
  id: string;
  /** A declared tool. */
  name: string;
  /** Arguments; in `content_block_start` an empty object. */
  input: unknown;
  /** The model itself: this server runs no code that could call. */
  caller: { type: "direct" };
}

/** A block of an answer. */
export type MessageBlock = MessageTextBlock | MessageThinkingBlock | MessageToolUseBlock;

/** What a step adds to the open block. */
export type BlockDelta =
  | { type: "text_delta"; text: string }
  | { type: "thinking_delta"; thinking: string }
  | { type: "signature_delta"; signature: string }
  | { type: "input_json_delta"; partial_json: string };

/** One step; `index` counts blocks from 0. Every start has its stop before the next start. */
export type BlockStep =
  | { type: "start"; index: number; block: MessageBlock }
  | { type: "delta"; index: number; delta: BlockDelta }
  | { type: "stop"; index: number };

/** The blocks of one answer, as they come. */
export class ContentBlocks {
  readonly #display: ThinkingDisplay;
  readonly #seal: Seal;
  #count = 0;
  #open: MessageBlock["type"] | undefined;
  /** Of the open thinking block. */
  #thinking: string[] = [];
  /** Whether there was text, or a call. */
  hasAnswer = false;
  /** Whether the model thought, shown or not. */
  hasThought = false;

  /** @param display What is shown of thinking. @param seal Signs it. */
  constructor(display: ThinkingDisplay, seal: Seal) {
    this.#display = display;
    this.#seal = seal;
  }

  /** What an event does. */
  push(event: OutputEvent): BlockStep[] {
    switch (event.type) {
      case "text":
        this.hasAnswer = true;
        return [
          ...this.#turnTo({ type: "text", text: "", citations: null }),
          this.#delta({ type: "text_delta", text: event.text }),
        ];
      case "reasoning":
        this.hasThought = true;
        return this.#think(event.text);
      case "toolCallStart":
        this.hasAnswer = true;
        return [...this.#close(), ...this.#turnTo(toCall(event))];
      case "toolCallArguments":
        return [this.#delta({ type: "input_json_delta", partial_json: event.json })];
      case "toolCallEnd":
      case "toolCallBroken": // its part is out, its text follows
      case "finish":
        return this.#close();
      case "repair":
        return [];
    }
  }

  #think(text: string): BlockStep[] {
    if (this.#display === "none") return [];
    const start = this.#turnTo({ type: "thinking", thinking: "", signature: "" });
    this.#thinking.push(text);
    return this.#display === "sealed" ? start : [...start, this.#delta({ type: "thinking_delta", thinking: text })];
  }

  /** Begins a block, unless one of its type is open. */
  #turnTo(block: MessageBlock): BlockStep[] {
    if (this.#open === block.type) return [];
    const closed = this.#close();
    this.#open = block.type;
    return [...closed, { type: "start", index: this.#count, block }];
  }

  #close(): BlockStep[] {
    if (this.#open === undefined) return [];
    const signature = this.#open === "thinking" ? [this.#delta(this.#sign())] : [];
    this.#open = undefined;
    return [...signature, { type: "stop", index: this.#count++ }];
  }

  #sign(): BlockDelta {
    const text = this.#thinking.splice(0).join("");
    const signature = this.#display === "sealed" ? this.#seal.seal(text) : this.#seal.sign(text);
    return { type: "signature_delta", signature };
  }

  #delta(delta: BlockDelta): BlockStep {
    return { type: "delta", index: this.#count, delta };
  }
}

function toCall({ id, name }: { id: string; name: string }): MessageToolUseBlock {
  return { type: "tool_use", id, name, input: {}, caller: { type: "direct" } };
}

/** Adds a step to the blocks of a whole answer. */
export function addStep(content: MessageBlock[], step: BlockStep): void {
  if (step.type === "start") {
    content.push(step.block.type === "tool_use" ? { ...step.block, input: "" } : { ...step.block });
    return;
  }
  const block = content[step.index];
  if (block?.type === "text") {
    if (step.type === "delta" && step.delta.type === "text_delta") block.text += step.delta.text;
  } else if (block?.type === "thinking") {
    if (step.type === "stop") return;
    if (step.delta.type === "thinking_delta") block.thinking += step.delta.thinking;
    if (step.delta.type === "signature_delta") block.signature += step.delta.signature;
  } else if (block?.type === "tool_use") {
    if (step.type === "stop") block.input = toExactJson(String(block.input) || "{}");
    else if (step.delta.type === "input_json_delta") block.input = String(block.input) + step.delta.partial_json;
  }
}
