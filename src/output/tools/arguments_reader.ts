/**
 * Arguments of a call whose tool is named already: a JSON object that is given on as it arrives, or a string that holds
 * one. Anything else is no call.
 *
 * @module
 */
import type { Tool } from "../../flow.ts";
import { JsonReader } from "../json_reader.ts";
import type { PartReader } from "./call_reader.ts";
import type { AnswerEnd, CallPiece } from "./parser.ts";

/** Reads the arguments of one call, from its start piece on. */
export class ArgumentsReader implements PartReader {
  /** `open` until the arguments end. */
  state: "open" | "done" | "broken" = "open";
  /** When broken: why. */
  reason = "";
  readonly #start: CallPiece;
  readonly #json = new JsonReader();
  /** Text of arguments that are no object, or not known to be one. */
  #text = "";
  #started = false;

  /** Reads arguments for a tool. @param id The call's id, where the model gives one. */
  constructor(tool: Tool, id?: string) {
    this.#start = { type: "callStart", name: tool.name, ...(id === undefined ? {} : { id }) };
  }

  /** Reads on; gives pieces and the offset of the first character that is not part of the arguments. */
  push(text: string): { pieces: CallPiece[]; next: number } {
    const { json, next } = this.#json.push(text);
    return { pieces: this.#add(json), next };
  }

  /** The answer is over. */
  finish(end: AnswerEnd): CallPiece[] {
    if (end === "cut") {
      this.#break("the answer was cut inside it");
      return [];
    }
    return this.#add(this.#json.finish());
  }

  #add(json: string): CallPiece[] {
    const pieces: CallPiece[] = [];
    if (this.#started) {
      if (json !== "") pieces.push({ type: "callArguments", json });
    } else {
      this.#text += this.#text === "" ? json.trimStart() : json;
      if (this.#text.startsWith("{")) pieces.push(...this.#begin(this.#text));
    }
    if (this.#json.state === "broken") this.#break("its arguments are damaged");
    if (this.#json.state === "done" && this.state === "open") pieces.push(...this.#end());
    return pieces;
  }

  #begin(json: string): CallPiece[] {
    this.#started = true;
    this.#text = "";
    return [this.#start, { type: "callArguments", json }];
  }

  #end(): CallPiece[] {
    const pieces: CallPiece[] = this.#json.repairs.map((name) => ({ type: "repair", name, detail: "" }));
    this.state = "done";
    if (this.#started) return pieces;
    const inner = decodeArguments(this.#text);
    if (inner === undefined) {
      this.#break("its arguments are no object");
      return [];
    }
    return [...this.#begin(inner), ...pieces, { type: "repair", name: "doubly_encoded_arguments", detail: "" }];
  }

  #break(reason: string): void {
    this.state = "broken";
    this.reason = reason;
  }
}

/** The object that a JSON string holds, if it holds nothing else. */
export function decodeArguments(json: string): string | undefined {
  if (!json.startsWith('"')) return undefined;
  const inner = (JSON.parse(json) as string).trim();
  const reader = new JsonReader();
  const { json: object, next } = reader.push(inner);
  return reader.state === "done" && next === inner.length && object.startsWith("{") ? object : undefined;
}
