/**
 * Reads a trace file line by line. A line at fault is told with its number; the others are read all the same.
 *
 * @module
 */
import type { z } from "zod";
import { type RequestRecord, RequestRecordSchema, TraceHeaderSchema } from "../api/request_record.ts";
import { TraceError } from "./trace_file.ts";

/** Longest line, in UTF-16 units. */
export const LINE_LENGTH_MAX = 256 * 1024 * 1024;

/** A line of a trace: a record with content, or why it is none. */
export type TraceLine =
  | { line: number; record: RequestRecord }
  | { line: number; fault: string };

/** Its lines, without headers and empty ones. @throws {TraceError} If it can't be opened or is no trace. */
export async function* readTrace(path: string): AsyncGenerator<TraceLine> {
  let file: Deno.FsFile;
  try {
    file = await Deno.open(path);
  } catch (error) {
    throw toReadError(path, error);
  }
  let line = 0;
  for await (const text of toLines(file.readable, path)) {
    line++;
    if (text.trim() === "") continue;
    const read = parseTraceLine(text);
    if (line === 1 && read.kind !== "header") {
      throw new TraceError(
        `${path}:1: expected the header of a trace; ${read.kind === "fault" ? read.fault : "found none"}`,
      );
    }
    if (read.kind === "record") yield { line, record: read.record };
    else if (read.kind === "fault") yield { line, fault: read.fault };
  }
  if (line === 0) throw new TraceError(`${path} is empty: expected a trace`);
}

/** What a line is. */
export type ParsedLine =
  | { kind: "header" }
  | { kind: "record"; record: RequestRecord }
  | { kind: "fault"; fault: string };

/** Reads one line. */
export function parseTraceLine(text: string): ParsedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "fault", fault: `it is no JSON: ${error instanceof Error ? error.message : error}` };
  }
  if (typeof value === "object" && value !== null && "trace" in value) {
    const header = TraceHeaderSchema.safeParse(value);
    return header.success ? { kind: "header" } : { kind: "fault", fault: toFault(header.error) };
  }
  const parsed = RequestRecordSchema.safeParse(value);
  if (!parsed.success) return { kind: "fault", fault: toFault(parsed.error) };
  const fault = findContradiction(parsed.data);
  return fault === undefined ? { kind: "record", record: parsed.data } : { kind: "fault", fault };
}

/** What the schema can't say: that the parts of a record fit each other. */
function findContradiction({ content, choices, limits }: RequestRecord): string | undefined {
  if (content === null) return "content: expected an object; a trace without content can't be replayed";
  if (content.choices.length !== choices.length) {
    return `content.choices: expected ${choices.length}, as many as choices; found ${content.choices.length}`;
  }
  if (choices.length > 0 && (limits === null || content.prompts.length === 0)) {
    return "limits and content.prompts: expected with choices; found none";
  }
  for (const [at, { tokens }] of content.choices.entries()) {
    const missing = tokens.find((token) => content.vocabulary.pieces[String(token)] === undefined);
    if (missing !== undefined) return `content.choices[${at}].tokens: ${missing} is not in content.vocabulary.pieces`;
  }
  return undefined;
}

function toFault({ issues }: z.core.$ZodError): string {
  const [issue] = issues;
  const path = (issue?.path ?? []).map((part, at) =>
    typeof part === "number" ? `[${part}]` : at === 0 ? String(part) : `.${String(part)}`
  ).join("");
  return `${path === "" ? "the line" : path}: ${issue?.message ?? "unusable"}`;
}

async function* toLines(bytes: ReadableStream<Uint8Array<ArrayBuffer>>, path: string): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  for await (const text of readPieces(bytes, path)) {
    const lines = text.split("\n");
    for (const [at, part] of lines.entries()) {
      parts.push(part);
      length += part.length;
      if (length > LINE_LENGTH_MAX) throw new TraceError(`${path}: a line has more than ${LINE_LENGTH_MAX} characters`);
      if (at === lines.length - 1) break;
      yield parts.join("");
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield parts.join("");
}

/** The text as it comes from the disk. @throws {TraceError} If it does not: a folder can be opened, but not read. */
async function* readPieces(bytes: ReadableStream<Uint8Array<ArrayBuffer>>, path: string): AsyncGenerator<string> {
  try {
    yield* bytes.pipeThrough(new TextDecoderStream());
  } catch (error) {
    throw toReadError(path, error);
  }
}

function toReadError(path: string, error: unknown): TraceError {
  return new TraceError(`Cannot read the trace ${path}: ${error instanceof Error ? error.message : error}`);
}
