/**
 * Damaged answers by the thousand: `mutations.ts [COUNT] [SEED]` (task `mutate:decoders`; the test runs a few of them).
 *
 * Transcripts are mutated by deleting, doubling, swapping and inserting pieces, some of other transcripts. Whatever a
 * decoder makes of one, it must make the same of every cut, call only declared tools with an object, and lose nothing.
 *
 * @module
 */
import assert from "node:assert/strict";
import { randomFrom } from "../tokens/texts.ts";
import { DIALECTS, type Folder } from "./dialects.ts";
import { decode, type Decoded, fewCuts, loadTranscripts, type Transcript } from "./suite.ts";

/** Pieces that damage well. */
const SPICE = [
  '"',
  "'",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\\\",
  "\\n",
  "\n",
  " ",
  "<",
  ">",
  "/",
  "é",
  "🙂",
  "null",
  "True",
  "1",
];

interface Source {
  folder: Folder;
  file: string;
  transcript: Transcript;
}

/** All transcripts. */
export async function loadSources(): Promise<Source[]> {
  const sources: Source[] = [];
  for (const folder of DIALECTS) {
    const transcripts = await loadTranscripts(new URL(`../${folder.folder}/`, import.meta.url));
    for (const [file, transcript] of transcripts) sources.push({ folder, file, transcript });
  }
  return sources;
}

/** Runs mutations. @throws {Error} At the first violation, with what leads to it again. */
export function runMutations(sources: readonly Source[], count: number, seed: number): void {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  for (let i = 0; i < count; i++) {
    const { folder, file, transcript } = pick(sources);
    const text = mutate(transcript.text, random, () => random() < 0.7 ? pick(SPICE) : slice(pick(sources), random));
    const mutated: Transcript = { ...transcript, text, end: random() < 0.3 ? "length" : "stop" };
    try {
      check(mutated, folder, random);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(
        `Mutation ${i} of seed ${seed}, of ${folder.folder}/${file}: ${JSON.stringify(mutated)}\n${message}`,
      );
    }
  }
}

function slice({ transcript }: Source, random: () => number): string {
  const units = [...transcript.text];
  const start = Math.floor(random() * units.length);
  return units.slice(start, start + 1 + Math.floor(random() * 30)).join("");
}

function mutate(text: string, random: () => number, insert: () => string): string {
  let units = [...text];
  const times = 1 + Math.floor(random() * 4);
  for (let i = 0; i < times; i++) {
    const at = Math.floor(random() * (units.length + 1));
    const length = 1 + Math.floor(random() * (random() < 0.2 ? 30 : 3));
    const kind = random();
    if (kind < 0.3) units.splice(at, length);
    else if (kind < 0.45) units.splice(at, 0, ...units.slice(at, at + length));
    else if (kind < 0.55) {
      units = [...units.slice(0, at), ...units.slice(at, at + length).reverse(), ...units.slice(at + length)];
    } else if (kind < 0.65) units = units.slice(0, at);
    else units.splice(at, 0, ...insert());
  }
  return units.join("");
}

function check(transcript: Transcript, { dialect, special, only }: Folder, random: () => number): void {
  const groups = fewCuts(transcript.text, special, random);
  for (const group of only === true && groups.length > 1 ? groups.slice(1) : groups) {
    let first: string | undefined;
    for (const cut of group) {
      const seen = decode(transcript, dialect, cut, random() < 0.2);
      first ??= JSON.stringify(seen);
      assert.equal(JSON.stringify(seen), first, JSON.stringify(cut.pieces));
      checkNothingLost(transcript, seen, HEADED.includes(dialect));
    }
  }
}

/** Dialects whose text has headers that are hidden. */
const HEADED: readonly string[] = ["functionary", "muse"];

/** Without calls and without a repair that names something, all text is there; with them, every word is somewhere. */
function checkNothingLost(transcript: Transcript, seen: Decoded, headed: boolean): void {
  const bare = (text: string): string => text.replace(/\s|<\/?(think|thought)>|<\|\w+\|>/g, "");
  const quiet = seen.repairs.every((name) => name === "tool_call_shown_as_text");
  const isPlain = transcript.reasoning === undefined && seen.reasoning === "";
  if (seen.calls.length === 0 && quiet && isPlain && !headed) {
    if (!transcript.text.includes("<|channel|>")) {
      assert.equal(bare(seen.content), bare(transcript.text), "text was lost");
    }
    return;
  }
  const everything = [
    seen.content,
    seen.reasoning,
    ...seen.json,
    ...seen.json.map((json) => JSON.stringify(JSON.parse(json))),
    ...seen.details,
    ...seen.ids,
    ...seen.calls.flatMap((call) => [call.name, ...deepTexts(call.arguments)]),
    MARKUP,
  ].join("\n");
  for (const word of transcript.text.match(/[\p{L}\p{N}]{3,}/gu) ?? []) {
    // Python's literals are written as JSON's.
    const found = everything.includes(word) || ["True", "False", "None"].includes(word);
    assert.ok(found, `the word ${word} was lost`);
  }
}

/** Words of the dialects' own markup. */
const MARKUP =
  "tool_call think thought function parameter name arguments parameters Calling tool TOOL_CALLS ARGS CALL_ID " +
  "type python_tag start channel constrain message end call return assistant analysis commentary final functions json " +
  "null id special code sep begin section calls minimax invoke DSML arg key value CDATA param seed string true false tool " +
  "all user content recipient from stop self eom eot ifm arg_key arg_value arg_type think_fast think_faster channel turn " +
  "opensource tool_calls tool_sep end_of_tool_call START_THINKING END_THINKING START_TEXT END_TEXT START_RESPONSE " +
  "END_RESPONSE begin_of_box end_of_box box_start box_end Thought Reflection Action atem function_calls point computer " +
  "tool_call_reasoning tool_call_start tool_call_end int integer float number bool boolean list dict object array str";

function deepTexts(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, item]) => [key, ...deepTexts(item)]);
}

if (import.meta.main) {
  const count = Number(Deno.args[0] ?? 200_000);
  const seed = Number(Deno.args[1] ?? crypto.getRandomValues(new Uint32Array(1))[0]);
  if (!(Number.isSafeInteger(count) && count > 0 && Number.isSafeInteger(seed))) {
    throw new Error(`mutations.ts [COUNT] [SEED]: expected two integers; found ${Deno.args.join(" ")}`);
  }
  // deno-lint-ignore no-console -- a program of the command line
  console.log(`${count} mutations, seed ${seed}`);
  runMutations(await loadSources(), count, seed);
}
