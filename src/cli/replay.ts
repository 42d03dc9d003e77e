/**
 * `rapid-mlx replay FILE`: recorded tokens through the decoders and writers of today, and what the client would see.
 *
 * @module
 */
import type { RequestRecord } from "../api/request_record.ts";
import { UnknownParser } from "../output/parser_names.ts";
import { compareRecords, type Difference } from "../replay/compare.ts";
import { replay as replayRecord, ReplayError } from "../replay/replay.ts";
import { readTrace } from "../trace/read_trace.ts";
import { CommandError } from "./errors.ts";
import { toReport } from "./record_report.ts";
import { print } from "./terminal.ts";

/** Flags of `replay`. */
export interface ReplayFlags {
  /** Only this request. */
  readonly id?: string;
  /** Tells differences instead of what is seen. */
  readonly diff?: boolean;
}

/**
 * Replays a file.
 *
 * @throws {TraceError} If the file is no trace.
 * @throws {CommandError} At the end, if an answer differs, a line is at fault, or nothing was replayed.
 */
export async function replay(path: string, flags: ReplayFlags): Promise<void> {
  const counts = { same: 0, different: 0, skipped: 0, faults: 0 };
  for await (const line of readTrace(path)) {
    if ("fault" in line) {
      counts.faults++;
      print(`${path}:${line.line}: ${line.fault}`);
    } else if (flags.id === undefined || [line.record.id, line.record.request_id].includes(flags.id)) {
      counts[await replayOne(line.record, flags)]++;
    }
  }
  const { same, different, skipped, faults } = counts;
  const summary = `${same} the same, ${different} different, ${skipped} not replayed, ${faults} lines at fault`;
  if (different + faults > 0 || same === 0) throw new CommandError(`${path}: ${summary}`);
  print(summary);
}

async function replayOne(
  record: RequestRecord,
  { diff = false }: ReplayFlags,
): Promise<"same" | "different" | "skipped"> {
  let replayed: RequestRecord;
  try {
    replayed = await replayRecord(record);
  } catch (error) {
    if (!(error instanceof ReplayError || error instanceof UnknownParser)) throw error;
    print(`${record.id}: not replayed: ${error.message}`);
    return "skipped";
  }
  const differences = compareRecords(record, replayed);
  print(`${record.id}: ${differences.length === 0 ? "the same" : `${differences.length} differences`}`);
  if (diff) { for (const difference of differences) for (const line of toLines(difference)) print(line); }
  else for (const line of toReport(replayed, { full: true }).slice(1)) print(line);
  return differences.length === 0 ? "same" : "different";
}

function toLines({ path, recorded, replayed }: Difference): string[] {
  const show = (value: unknown): string => value === undefined ? "(nothing)" : JSON.stringify(value);
  return [`  ${path}`, `    - ${show(recorded)}`, `    + ${show(replayed)}`];
}
