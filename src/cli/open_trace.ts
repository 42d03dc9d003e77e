/**
 * What a server keeps: the records of its requests, the trace file and the answers of /v1/responses as the flags say,
 * and its key.
 *
 * @module
 */
import { dirname, join } from "node:path";
import type { Seal } from "../api/seal.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { stateFolder } from "../setup/folders.ts";
import { ResponseStore } from "../store/responses.ts";
import { Records } from "../trace/records.ts";
import { TraceFile } from "../trace/trace_file.ts";
import { openSeal } from "./open_seal.ts";
import { VERSION } from "./version.ts";

/** What a server keeps. */
export interface OpenTrace {
  /** For the app. */
  readonly records: Records;
  /** For the app. */
  readonly responses: ResponseStore;
  /** For the app. */
  readonly seal: Seal;
  /** Waits for the disk; a second call does nothing. */
  close(): Promise<void>;
}

/** Opens it. @throws {TraceError} If the trace file can't be used. @throws What the disk says of the answers' file. */
export async function openTrace(config: Config, log: Logger): Promise<OpenTrace> {
  const { recordsContent } = config;
  const responses = await openResponses(config, log);
  const file = await openFile(config, log).catch((error) => {
    responses.close();
    throw error;
  });
  const records = new Records({ recordsContent, ...file && { trace: (record) => file.write(record) } });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    responses.close();
    await file?.close();
  };
  return { records, responses, seal: await openSeal(log), close: () => closed ??= close() };
}

async function openFile({ tracePath, traceBytes }: Config, log: Logger): Promise<TraceFile | undefined> {
  if (tracePath === undefined) return undefined;
  const file = await TraceFile.open({
    path: tracePath,
    bytesMax: traceBytes,
    program: `rapid-mlx ${VERSION}`,
    warn: (message) => log.log("warning", message, { file: tracePath }),
  });
  log.log("info", "trace: prompts and answers are written to a file", { file: tracePath });
  return file;
}

/** In memory, or in a file that is its owner's alone. */
async function openResponses({ keepsContent }: Config, log: Logger): Promise<ResponseStore> {
  if (!keepsContent) return new ResponseStore();
  const path = join(stateFolder(), "responses.sqlite");
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives the files beside it the same mode.
  (await Deno.open(path, { create: true, write: true, mode: 0o600 })).close();
  log.log("info", "answers of /v1/responses are kept on disk", { file: path });
  return new ResponseStore({ path });
}
