/**
 * What a server keeps of its requests, as the flags say: the records, and the trace file.
 *
 * @module
 */
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { Records } from "../trace/records.ts";
import { TraceFile } from "../trace/trace_file.ts";
import { VERSION } from "./version.ts";

/** The records of a server and what they are written to. */
export interface OpenTrace {
  /** For the app. */
  readonly records: Records;
  /** Waits for the disk; a second call does nothing. */
  close(): Promise<void>;
}

/** Opens it. @throws {TraceError} If the file can't be used. */
export async function openTrace(config: Config, log: Logger): Promise<OpenTrace> {
  const { tracePath, traceBytes, recordsContent } = config;
  if (tracePath === undefined) return { records: new Records({ recordsContent }), close: () => Promise.resolve() };
  const file = await TraceFile.open({
    path: tracePath,
    bytesMax: traceBytes,
    program: `rapid-mlx ${VERSION}`,
    warn: (message) => log.log("warning", message, { file: tracePath }),
  });
  log.log("info", "trace: prompts and answers are written to a file", { file: tracePath });
  const records = new Records({ recordsContent, trace: (record) => file.write(record) });
  let closed: Promise<void> | undefined;
  return { records, close: () => closed ??= file.close() };
}
