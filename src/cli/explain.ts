/**
 * `rapid-mlx explain [ID|last]`: what happened to a request, from a running server or from a trace file.
 *
 * @module
 */
import { type RequestRecord, RequestRecordSchema } from "../api/request_record.ts";
import { PORT_FIRST } from "../config.ts";
import { readTrace } from "../trace/read_trace.ts";
import { CommandError } from "./errors.ts";
import { toReport } from "./record_report.ts";
import { print } from "./terminal.ts";

/** Flags of `explain`. */
export interface ExplainFlags {
  /** A running server's address. */
  readonly url?: string;
  /** Its key. */
  readonly apiKey?: string;
  /** A trace file instead of a server. */
  readonly file?: string;
  /** The record itself. */
  readonly json?: boolean;
  /** Nothing is shortened. */
  readonly full?: boolean;
}

/** Prints one. @throws {CommandError} If it can't be had. */
export async function explain(id = "last", flags: ExplainFlags): Promise<void> {
  const record = flags.file === undefined ? await askServer(id, flags) : await searchTrace(id, flags.file);
  if (flags.json) return print(JSON.stringify(record, undefined, 2));
  for (const line of toReport(record, { full: flags.full ?? false })) print(line);
}

async function askServer(id: string, flags: ExplainFlags): Promise<RequestRecord> {
  const base = (flags.url ?? `http://127.0.0.1:${PORT_FIRST}`).replace(/\/+$/, "").replace(/\/v1$/, "");
  if (!URL.canParse(base)) {
    throw new CommandError(`--url is ${flags.url}; wanted is an address like http://127.0.0.1:8000.`);
  }
  const key = flags.apiKey ?? Deno.env.get("RAPID_MLX_API_KEY");
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const response = await fetch(`${base}/v1/requests/${encodeURIComponent(id)}`, { headers }).catch((error: unknown) => {
    throw new CommandError(`no server answers at ${base}: ${error instanceof Error ? error.message : error}`);
  });
  const text = await response.text();
  const body = parseOr(text);
  const record = RequestRecordSchema.safeParse(body);
  if (response.ok && record.success) return record.data;
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message;
  throw new CommandError(typeof message === "string" ? message : `${base} answers ${response.status} and no record`);
}

async function searchTrace(id: string, path: string): Promise<RequestRecord> {
  let found: RequestRecord | undefined;
  for await (const line of readTrace(path)) {
    if ("record" in line && (id === "last" || line.record.id === id || line.record.request_id === id)) {
      found = line.record;
    }
  }
  if (found !== undefined) return found;
  throw new CommandError(`${path} has no record ${id === "last" ? "at all" : `of ${id}`}.`);
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
