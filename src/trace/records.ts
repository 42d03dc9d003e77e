/**
 * The records of the last requests, bounded by count and by bytes of content, and told to their own key only.
 *
 * @module
 */
import type { RequestRecord } from "../api/request_record.ts";
import { type RecordedEnd, type RecorderStart, RequestRecorder } from "./recorder.ts";

/** Ended requests that are kept. */
export const RECORDS_MAX = 256;
/** Content of all of them, as JSON in memory: two bytes a character at most. Older content leaves first. */
export const CONTENT_BYTES_MAX = 64 * 1024 * 1024;

/** Why a record has no content. */
export const CONTENT_NOTES = {
  off: "Content is not recorded: start the server with --record-content (or RAPID_MLX_RECORD_CONTENT=1).",
  dropped: "The content was dropped: newer requests filled the 64 MiB that are kept.",
  running: "The content is told once the request has ended.",
} as const;

/** What the records are kept by. */
export interface RecordsOptions {
  /** The ring keeps content. */
  recordsContent: boolean;
  /** Gets every ended request with its content; absent: there is no trace. */
  trace?: (record: RequestRecord) => void;
  /** Another bound than CONTENT_BYTES_MAX. */
  contentBytesMax?: number;
}

interface Ended {
  owner: string;
  record: RequestRecord;
  /** JSON; undefined if there is none. */
  content: string | undefined;
}

/** The records of one server. */
export class Records {
  readonly #options: RecordsOptions;
  readonly #running = new Set<RequestRecorder>();
  readonly #ended: Ended[] = [];
  #contentBytes = 0;
  /** Characters that nothing accounts for, over all requests; anything but 0 is a bug. */
  lostCharacters = 0;
  /** Repairs over all requests, by name. */
  readonly repairs: Map<string, number> = new Map();

  /** @param options Absent: numbers only. */
  constructor(options: RecordsOptions = { recordsContent: false }) {
    this.#options = options;
  }

  /** Whether records of ended requests have content. */
  get recordsContent(): boolean {
    return this.#options.recordsContent;
  }

  /** A request arrives. */
  begin(start: Omit<RecorderStart, "keepsContent">): RequestRecorder {
    const keepsContent = this.#options.recordsContent || this.#options.trace !== undefined;
    const recorder = new RequestRecorder({ ...start, keepsContent });
    this.#running.add(recorder);
    return recorder;
  }

  /** It ends; a second end changes nothing. */
  end(recorder: RequestRecorder, end: RecordedEnd): void {
    if (!recorder.end(end)) return;
    this.#running.delete(recorder);
    const record = recorder.toRecord();
    for (const { characters, repairs } of record.choices) {
      this.lostCharacters += Math.abs(characters.lost);
      for (const { name, count } of repairs) this.repairs.set(name, (this.repairs.get(name) ?? 0) + count);
    }
    const content = recorder.toContent();
    if (content !== undefined) this.#options.trace?.({ ...record, content });
    const kept = this.#options.recordsContent ? JSON.stringify(content) : undefined;
    this.#ended.push({ owner: recorder.start.owner, record, content: kept });
    this.#contentBytes += 2 * (kept?.length ?? 0);
    if (this.#ended.length > RECORDS_MAX) this.#forget(this.#ended.shift());
    this.#trim();
  }

  /** Records of an owner, newest first, without content. */
  list(owner: string): RequestRecord[] {
    const running = [...this.#running].filter(({ start }) => start.owner === owner).map((one) => one.toRecord());
    const ended = this.#ended.filter((one) => one.owner === owner).map((one) => one.record);
    return [...running.toReversed(), ...ended.toReversed()];
  }

  /**
   * A record of an owner.
   *
   * @param id Of the answer or of the request; `last`: the newest that has ended.
   * @returns Undefined if the owner has none under that id, or it was forgotten.
   */
  find(owner: string, id: string): RequestRecord | undefined {
    const own = this.#ended.filter((one) => one.owner === owner);
    const found = id === "last" ? own.at(-1) : own.find(({ record }) => record.id === id || record.request_id === id);
    if (found !== undefined) return this.#withNote(found.record, found.content);
    for (const recorder of this.#running) {
      const record = recorder.toRecord();
      if (recorder.start.owner === owner && (record.id === id || record.request_id === id)) {
        return { ...record, content_note: this.recordsContent ? CONTENT_NOTES.running : CONTENT_NOTES.off };
      }
    }
    return undefined;
  }

  #withNote(record: RequestRecord, content: string | undefined): RequestRecord {
    if (content !== undefined) return { ...record, content: JSON.parse(content) };
    return { ...record, content_note: this.recordsContent ? CONTENT_NOTES.dropped : CONTENT_NOTES.off };
  }

  #trim(): void {
    const max = this.#options.contentBytesMax ?? CONTENT_BYTES_MAX;
    for (let at = 0; this.#contentBytes > max && at < this.#ended.length; at++) {
      const ended = this.#ended[at];
      this.#forget(ended);
      if (ended !== undefined) ended.content = undefined;
    }
  }

  #forget(ended: Ended | undefined): void {
    this.#contentBytes -= 2 * (ended?.content?.length ?? 0);
  }
}
