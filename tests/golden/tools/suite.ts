/**
 * The suite that every dialect's transcripts run through: what a model wrote, cut in every way, must give one and the
 * same answer, and nothing may be shown that is taken back.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { GenerationEvent, OutputEvent, Tool } from "../../../src/flow.ts";
import { createDecoder, type Dialect } from "../../../src/output/decoder.ts";
import { splits } from "../../support/splits.ts";
import { PieceVocabulary } from "../../support/vocabulary.ts";

/** One answer of a model and what it means. */
export interface Transcript {
  /** What it shows, in words. */
  shows: string;
  /** Where it comes from. */
  source: string;
  /** As the model wrote it, special tokens spelled out. */
  text: string;
  /** How the reasoning is written; absent: there is none. */
  reasoning?: Dialect["reasoning"];
  /** What the prompt ended with, where that matters. */
  prompt?: string;
  /** Names of the declared tools; absent: all of `TOOLS`. */
  tools?: string[];
  /** Absent: the model ended by itself. */
  end?: "stop" | "length";
  /** Ids of the completed calls, where the model gives them. */
  ids?: string[];
  /** What the client sees. */
  expect: Partial<Seen>;
}

/** What a client sees of an answer. */
export interface Seen {
  content: string;
  reasoning: string;
  /** Completed calls. */
  calls: { name: string; arguments: unknown }[];
  finish: string;
  /** Names of repairs, in order. */
  repairs: string[];
}

const text = (description: string): Record<string, unknown> => ({ type: "string", description });

/** Tools that transcripts speak of. */
export const TOOLS: readonly Tool[] = [
  {
    name: "add_note",
    parameters: {
      type: "object",
      properties: {
        text: text("what to keep"),
        stars: { type: "integer" },
        done: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
        place: { type: "object" },
        when: { type: ["string", "null"] },
      },
      required: ["text"],
    },
  },
  { name: "get_time", parameters: { type: "object", properties: {} } },
  {
    name: "write_file",
    parameters: {
      type: "object",
      properties: { path: text("where"), content: text("what") },
      required: ["path", "content"],
      additionalProperties: false,
    },
  },
  { name: "free", parameters: { type: "object" } },
  { name: "computer", parameters: { type: "object", properties: { action: text("what to do") } } },
];

/** What a client sees, and what it does not look at. */
export interface Decoded extends Seen {
  /** Arguments of completed calls, as they were written. */
  json: string[];
  /** Of repairs. */
  details: string[];
  /** Ids of calls. */
  ids: string[];
}

/** How a transcript is cut into tokens. */
export interface Cut {
  /** Pieces, joined they are the text. */
  pieces: (string | Uint8Array)[];
  /** Which spellings are special tokens. */
  special: readonly string[];
}

/** Reads transcripts from a folder beside this file. */
export async function loadTranscripts(folder: URL): Promise<[name: string, Transcript][]> {
  const transcripts: [string, Transcript][] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(".json")) {
      const transcript = JSON.parse(await Deno.readTextFile(new URL(name, folder))) as Transcript;
      transcripts.push([name.replace(".json", ""), transcript]);
    }
  }
  return transcripts.sort(([left], [right]) => left < right ? -1 : 1);
}

/** Every way to cut a text, and every way in which its special tokens stay whole. */
export function* cuts(whole: string, special: readonly string[]): Generator<Cut> {
  for (const pieces of splits(new TextEncoder().encode(whole))) yield { pieces, special: [] };
  const { parts, present } = atSpecial(whole, special);
  if (present.length === 0) return;
  yield { pieces: parts, special: present };
  yield { pieces: inUnits(parts, present), special: present };
  for (const [i, part] of parts.entries()) {
    const units = present.includes(part) ? [] : [...part];
    for (let at = 1; at < units.length; at++) {
      const halves = [units.slice(0, at).join(""), units.slice(at).join("")];
      yield { pieces: [...parts.slice(0, i), ...halves, ...parts.slice(i + 1)], special: present };
    }
  }
}

/** A few cuts: the whole, unit by unit, and two at random; with special tokens whole too. Each list is of one kind. */
export function fewCuts(whole: string, special: readonly string[], random: () => number): Cut[][] {
  const bytes = new TextEncoder().encode(whole);
  const chop = <T>(units: readonly T[], join: (some: T[]) => string | Uint8Array): (string | Uint8Array)[] => {
    const pieces: (string | Uint8Array)[] = [];
    for (let at = 0; at < units.length;) {
      const next = at + 1 + Math.floor(random() * 12);
      pieces.push(join(units.slice(at, next)));
      at = next;
    }
    return pieces;
  };
  const chopBytes = (): Cut => ({ pieces: chop([...bytes], (some) => Uint8Array.from(some)), special: [] });
  const plain = [{ pieces: [bytes], special: [] }, { pieces: chopBytes().pieces, special: [] }, chopBytes(), {
    pieces: [...bytes].map((byte) => Uint8Array.of(byte)),
    special: [],
  }];
  const { parts, present } = atSpecial(whole, special);
  if (present.length === 0) return [plain];
  const chopParts = (): Cut => ({
    pieces: parts.flatMap((part) => present.includes(part) ? [part] : chop([...part], (some) => some.join(""))),
    special: present,
  });
  return [plain, [
    { pieces: parts, special: present },
    chopParts(),
    chopParts(),
    { pieces: inUnits(parts, present), special: present },
  ]];
}

function atSpecial(whole: string, special: readonly string[]): { parts: string[]; present: string[] } {
  const present = special.filter((marker) => whole.includes(marker));
  if (present.length === 0) return { parts: [whole], present };
  const parts = whole.split(new RegExp(`(${present.map(RegExp.escape).join("|")})`)).filter((part) => part !== "");
  return { parts, present };
}

function inUnits(parts: readonly string[], present: readonly string[]): string[] {
  return parts.flatMap((part) => present.includes(part) ? [part] : [...part]);
}

/** What a decoder makes of an answer, checked on the way for what may never happen. */
export function decode(
  transcript: Transcript,
  tools: Dialect["tools"],
  cut: Cut,
  logprobs = false,
): Decoded {
  const vocabulary = new PieceVocabulary({ special: [...cut.special] });
  const declared = transcript.tools === undefined
    ? TOOLS
    : TOOLS.filter(({ name }) => transcript.tools?.includes(name));
  let ids = 0;
  const decoder = createDecoder({
    vocabulary,
    endTokens: [],
    stop: [],
    dialect: { tools, reasoning: transcript.reasoning ?? "none" },
    tools: declared,
    prompt: transcript.prompt ?? "",
    newId: () => `id${ids++}`,
    ...(logprobs ? { logprobsTop: 0 } : {}),
  });
  const events: GenerationEvent[] = vocabulary.events(cut.pieces, transcript.end ?? "stop");
  const seen = collect(events.flatMap((event) => decoder.push(event)), declared);
  const { raw, ...parts } = decoder.account;
  assert.equal(Object.values(parts).reduce((sum, part) => sum + part), raw, JSON.stringify(decoder.account));
  assert.equal(parts.content, seen.content.length);
  assert.equal(parts.reasoning, seen.reasoning.length);
  return seen;
}

function collect(events: OutputEvent[], declared: readonly Tool[]): Decoded {
  const seen: Decoded = {
    content: "",
    reasoning: "",
    calls: [],
    finish: "",
    repairs: [],
    json: [],
    details: [],
    ids: [],
  };
  const open = new Map<number, { name: string; json: string }>();
  let next = 0;
  for (const event of events) {
    assert.equal(seen.finish, "", "something follows the finish event");
    switch (event.type) {
      case "text":
        assert.notEqual(event.text, "");
        seen.content += event.text;
        break;
      case "reasoning":
        assert.notEqual(event.text, "");
        seen.reasoning += event.text;
        break;
      case "toolCallStart":
        assert.equal(event.index, next++, "calls are numbered in order");
        assert.ok(declared.some(({ name }) => name === event.name), `${event.name} is not declared`);
        assert.equal(open.size, 0, "two calls are open at once");
        seen.ids.push(event.id);
        open.set(event.index, { name: event.name, json: "" });
        break;
      case "toolCallArguments":
        assert.notEqual(event.json, "");
        (open.get(event.index) ?? assert.fail("arguments of no open call")).json += event.json;
        break;
      case "toolCallEnd": {
        const call = open.get(event.index) ?? assert.fail("the end of no open call");
        const value: unknown = JSON.parse(call.json);
        assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), "arguments are an object");
        seen.calls.push({ name: call.name, arguments: value });
        seen.json.push(call.json);
        open.delete(event.index);
        break;
      }
      case "toolCallBroken":
        assert.ok(open.delete(event.index), "a call is broken that is not open");
        break;
      case "repair":
        seen.repairs.push(event.name);
        seen.details.push(event.detail);
        break;
      case "finish":
        seen.finish = event.reason;
    }
  }
  assert.equal(open.size, 0, "a call neither ends nor breaks");
  return seen;
}

/** Runs a transcript in every cut. @param only The dialect is never written without its special tokens. */
export function runTranscript(
  transcript: Transcript,
  dialect: Dialect["tools"],
  special: readonly string[],
  only = false,
): void {
  const want: Seen = { content: "", reasoning: "", calls: [], finish: "stop", repairs: [], ...transcript.expect };
  // Without tools nobody reads the tags, so as special tokens they would be hidden.
  const read = transcript.tools?.length === 0 ? [] : special;
  let first: string | undefined;
  for (const cut of cuts(transcript.text, read)) {
    if (only && cut.special.length === 0 && read.some((marker) => transcript.text.includes(marker))) continue;
    const { json, details, ids, ...seen } = decode(transcript, dialect, cut);
    const pieces = cut.pieces.map((piece) => typeof piece === "string" ? piece : new TextDecoder().decode(piece));
    const where = JSON.stringify(pieces.slice(0, 40));
    assert.deepEqual(seen, want, where);
    if (transcript.ids !== undefined) assert.deepEqual(ids, transcript.ids, where);
    first ??= JSON.stringify([json, details]);
    assert.equal(JSON.stringify([json, details]), first, where);
    // And as streams that report tokens see it.
    const { json: _json, details: _details, ids: _reportedIds, ...reported } = decode(transcript, dialect, cut, true);
    assert.deepEqual(reported, want, `reported: ${where}`);
  }
}
