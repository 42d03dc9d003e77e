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
import { readProcessVariable, type ReadVariable, stateFolder } from "../setup/folders.ts";
import { ResponseStore } from "../store/responses.ts";
import { Records } from "../trace/records.ts";
import { TraceFile } from "../trace/trace_file.ts";
import { CommandError } from "./errors.ts";
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

/** Opens it. @throws {TraceError | CommandError} If the trace file, or that of the answers, can't be used. */
export async function openTrace(
  config: Config,
  log: Logger,
  read: ReadVariable = readProcessVariable,
): Promise<OpenTrace> {
  const { recordsContent } = config;
  const responses = await openResponses(config, log, read);
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
  return { records, responses, seal: await openSeal(log, read), close: () => closed ??= close() };
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
async function openResponses(
  { keepsContent }: Config,
  log: Logger,
  read: ReadVariable,
): Promise<ResponseStore> {
  if (!keepsContent) return new ResponseStore();
  const path = join(stateFolder(read), "responses.sqlite");
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // SQLite gives the files beside it the same mode.
  (await Deno.open(path, { create: true, write: true, mode: 0o600 })).close();
  log.log("info", "answers of /v1/responses are kept on disk", { file: path });
  try {
    return new ResponseStore({ path });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(
      `--keep-content: ${path} can't be used as the file of kept answers: ${reason}. Move it away (it is made anew), ` +
        "end the program that holds it, or serve without --keep-content.",
    );
  }
}
