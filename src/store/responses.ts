/**
 * Answers of the Responses wire that are kept, so that a client can go on from one by its id.
 *
 * A row is one answer: what its request added to the conversation, and the response. A conversation is the chain of
 * rows by `previous`. A row is there for the key that wrote it only. Beyond the limits the rows that were used least
 * lately go, of a chain the newest first. In memory unless a file is named; SQLite is opened with the first row.
 *
 * Servers may share a file: whatever is counted is counted there, and nothing of it is kept here.
 *
 * @module
 */
import process from "node:process";
import type { DatabaseSync } from "node:sqlite";

/** Most answers that are kept. */
export const RESPONSES_MAX = 4096;
/** Most bytes of answers and items, as JSON. */
export const RESPONSE_STORE_BYTES_MAX = 64 * 2 ** 20;
/** Most bytes of one row; what is larger is not kept. */
export const RESPONSE_BYTES_MAX = 8 * 2 ** 20;

/** Longest wait for another server that is writing to the same file, in ms: nothing else is done meanwhile. */
const BUSY_MS = 500;

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS responses (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    previous TEXT,
    items TEXT NOT NULL,
    response TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    used INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS responses_by_use ON responses (used, bytes);
`;

/** An answer that is kept. */
export interface StoredResponse {
  /** Id of the answer that it goes on from. */
  previous: string | null;
  /** What its request added to the conversation: items as JSON. */
  items: string;
  /** The response as JSON. */
  response: string;
}

/** Limits, for tests. */
export interface ResponseStoreOptions {
  /** File of the database; absent: in memory, gone with the server. */
  path?: string;
  /** Most rows. */
  rowsMax?: number;
  /** Most bytes of all rows. */
  bytesMax?: number;
}

/** The answers that are kept. */
export class ResponseStore {
  readonly #options: Required<Omit<ResponseStoreOptions, "path">> & { path: string };
  #database: DatabaseSync | undefined;

  /** @param options File and limits. */
  constructor(
    { path = ":memory:", rowsMax = RESPONSES_MAX, bytesMax = RESPONSE_STORE_BYTES_MAX }: ResponseStoreOptions = {},
  ) {
    this.#options = { path, rowsMax, bytesMax };
    // A file that can't be used is told at the start, and not with the first answer.
    if (path !== ":memory:") this.#open();
  }

  /** Rows that are kept now. */
  get size(): number {
    return this.#database === undefined ? 0 : count(this.#database).rows;
  }

  /** Keeps an answer. @returns False if it is too large. */
  put(owner: string, id: string, { previous, items, response }: StoredResponse): boolean {
    const bytes = (items.length + response.length) * 2;
    if (bytes > RESPONSE_BYTES_MAX) return false;
    const database = this.#open();
    database.prepare(`INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ${NEXT_USE})`)
      .run(id, owner, previous, items, response, bytes);
    this.#evict(database);
    return true;
  }

  /** An answer; undefined: there is none for this owner. */
  get(owner: string, id: string): StoredResponse | undefined {
    const row = this.#database?.prepare("SELECT previous, items, response FROM responses WHERE id = ? AND owner = ?")
      .get(id, owner);
    if (row === undefined) return undefined;
    const { previous, items, response } = row;
    return { previous: previous === null ? null : String(previous), items: String(items), response: String(response) };
  }

  /**
   * An answer and those before it, the first one first; all of them count as used.
   *
   * @returns Undefined if one of them is not there.
   */
  chain(owner: string, id: string): StoredResponse[] | undefined {
    const chain: StoredResponse[] = [];
    const ids: string[] = [];
    const seen = new Set<string>();
    for (let next: string | null = id; next !== null;) {
      const row = this.get(owner, next);
      if (row === undefined || seen.has(next)) return undefined;
      seen.add(next);
      ids.push(next);
      chain.push(row);
      next = row.previous;
    }
    // The head of a chain is the older one: without it the others are of no use, so it goes last.
    this.#database?.prepare(
      `UPDATE responses SET used = ${NEXT_USE} + one.key FROM json_each(?) AS one WHERE responses.id = one.value`,
    ).run(JSON.stringify(ids));
    return chain.reverse();
  }

  /** An item of an answer, by the id that the answer gave it; undefined: there is none for this owner. */
  item(owner: string, id: string): Record<string, unknown> | undefined {
    // An item's id has its answer's: `msg_<answer><place>`.
    const [, key] = /^[a-z]+_([0-9a-f]{32})[0-9a-f]{4}$/.exec(id) ?? [];
    const row = key === undefined ? undefined : this.get(owner, `resp_${key}`);
    const output: { id?: string }[] = row === undefined ? [] : JSON.parse(row.response).output;
    return output.find((item) => item.id === id);
  }

  /** Forgets an answer. @returns Whether it was there for this owner. */
  delete(owner: string, id: string): boolean {
    const deleted = this.#database?.prepare("DELETE FROM responses WHERE id = ? AND owner = ?").run(id, owner);
    return deleted !== undefined && Number(deleted.changes) > 0;
  }

  /** Closes the database. */
  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  #evict(database: DatabaseSync): void {
    const { rowsMax, bytesMax } = this.#options;
    let { rows, bytes } = count(database);
    while (rows > rowsMax || bytes > bytesMax) {
      const oldest = "SELECT id FROM responses ORDER BY used LIMIT 1";
      const row = database.prepare(`DELETE FROM responses WHERE id = (${oldest}) RETURNING bytes`).get();
      if (row === undefined) return;
      rows--;
      bytes -= Number(row.bytes);
    }
  }

  #open(): DatabaseSync {
    if (this.#database !== undefined) return this.#database;
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const database = new DatabaseSync(this.#options.path, { timeout: BUSY_MS });
    try {
      database.exec(SCHEMA);
      this.#evict(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return this.#database = database;
  }
}

/** Numbers uses: the larger, the later. */
const NEXT_USE = "(SELECT COALESCE(MAX(used), 0) + 1 FROM responses)";

/** What is kept; the index has it, no row is read. */
function count(database: DatabaseSync): { rows: number; bytes: number } {
  const row = database.prepare("SELECT COUNT(*) AS number, SUM(bytes) AS bytes FROM responses").get();
  return { rows: Number(row?.number), bytes: Number(row?.bytes) };
}
