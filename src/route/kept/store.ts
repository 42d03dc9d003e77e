/**
 * The turns that this server answered lately, each under the key of who asked: nobody finds another's.
 *
 * A turn is found by the id of any of its calls, or, without calls, by the conversation up to and with it. Beyond the
 * limits the turns that were used least lately go. In memory only: after a restart prompts are rendered plainly.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Message } from "../../flow.ts";
import type { KeptTurn } from "./turn.ts";

/** Most turns that are kept. */
export const KEPT_TURNS_MAX = 4096;
/** Most bytes of ids and texts. */
export const KEPT_TURNS_BYTES_MAX = 64 * 2 ** 20;
/** What a turn costs beside its ids and texts, in bytes: objects, keys, digests. */
const TURN_BYTES = 1024;

interface Entry {
  turn: KeptTurn;
  keys: readonly string[];
  bytes: number;
}

/** Limits, for tests. */
export interface KeptTurnsOptions {
  /** Most turns. */
  turnsMax?: number;
  /** Most bytes. */
  bytesMax?: number;
}

/** The answered turns. */
export class KeptTurns {
  readonly #turnsMax: number;
  readonly #bytesMax: number;
  /** Least lately used first. */
  readonly #entries = new Set<Entry>();
  readonly #byKey = new Map<string, Entry>();
  #bytes = 0;

  /** Without options: the limits above. */
  constructor({ turnsMax = KEPT_TURNS_MAX, bytesMax = KEPT_TURNS_BYTES_MAX }: KeptTurnsOptions = {}) {
    this.#turnsMax = turnsMax;
    this.#bytesMax = bytesMax;
  }

  /** Turns and their bytes. */
  get size(): { turns: number; bytes: number } {
    return { turns: this.#entries.size, bytes: this.#bytes };
  }

  /** The turns of one owner at one model. @param owner Of its key. @param model In the core. */
  of(owner: string, model: number): OwnTurns {
    const prefix = `${owner} ${model} `;
    return {
      put: (keys, turn) => this.#put(keys.map((key) => prefix + key), turn),
      get: (key) => this.#get(prefix + key),
    };
  }

  #put(keys: readonly string[], turn: KeptTurn): void {
    const bytes = TURN_BYTES + bytesOf(turn);
    if (bytes > this.#bytesMax) return;
    for (const key of keys) this.#drop(this.#byKey.get(key));
    const entry = { turn, keys, bytes };
    this.#entries.add(entry);
    this.#bytes += bytes;
    for (const key of keys) this.#byKey.set(key, entry);
    for (const oldest of this.#entries) {
      if (this.#entries.size <= this.#turnsMax && this.#bytes <= this.#bytesMax) break;
      this.#drop(oldest);
    }
  }

  #get(key: string): KeptTurn | undefined {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return entry.turn;
  }

  #drop(entry: Entry | undefined): void {
    if (entry === undefined || !this.#entries.delete(entry)) return;
    this.#bytes -= entry.bytes;
    for (const key of entry.keys) this.#byKey.delete(key);
  }
}

/** The turns of one owner at one model. */
export interface OwnTurns {
  /** Keeps a turn under some keys. */
  put(keys: readonly string[], turn: KeptTurn): void;
  /** The turn under a key. */
  get(key: string): KeptTurn | undefined;
}

/** A rendering that was compared is counted beforehand: it and its stead are about as long as what was drawn. */
function bytesOf({ content, reasoning, calls, prompt, drawn }: KeptTurn): number {
  const chars = calls.reduce((sum, call) => sum + call.name.length + call.id.length + call.arguments.length, 0) +
    content.length + reasoning.length;
  const ids = typeof drawn === "string" ? drawn.length : drawn?.length ?? 0;
  return 2 * chars + 4 * (prompt.tail.length + 3 * ids);
}

/** Under which key a call is found. */
export function toCallKey(id: string): string {
  return `call ${id}`;
}

/** Follows a conversation and gives the keys of its turns without calls. */
export class ConversationKey {
  #before: string;

  /** @param before What was gone over already. */
  constructor(before = "") {
    this.#before = before;
  }

  /** Goes over a turn, but for what may come back otherwise than it was sent: arguments, reasoning, outer blanks. */
  add({ role, content, toolCalls = [], toolCallId = "" }: Message): void {
    const text = content.map((part) => part.text).join("\n");
    const shown = role === "assistant" ? text.trim() : text;
    const calls = toolCalls.map(({ id, name }) => [id, name]);
    const turn = JSON.stringify([this.#before, role, shown, calls, toolCallId]);
    this.#before = createHash("sha256").update(turn).digest("base64");
  }

  /** The key if another turn follows. */
  with(message: Message): string {
    const next = new ConversationKey(this.#before);
    next.add(message);
    return next.toString();
  }

  /** Key of the turn that was added last. */
  toString(): string {
    return `text ${this.#before}`;
  }
}
