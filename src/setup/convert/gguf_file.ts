/**
 * Opens a GGUF file: its metadata with checked types, and where each tensor's bytes lie.
 *
 * `@huggingface/gguf` reads the header; this file distrusts it: counts are compared with the file's size before the
 * library sees them, and every tensor must lie inside the file without touching another. Knows nothing of MLX.
 * Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 2 and 3, little-endian).
 *
 * @module
 */
import { GGMLQuantizationType, gguf } from "@huggingface/gguf";

/** A GGUF file that is damaged, or that holds something we don't convert. The message names file, place and reason. */
export class GgufError extends Error {
  /** @param path The file. @param reason What was found and what is wanted. */
  constructor(path: string, reason: string) {
    super(`Cannot convert ${path}: ${reason}`);
    this.name = "GgufError";
  }
}

/** One tensor of a GGUF file. */
export interface GgufTensor {
  /** As the file names it, e.g. `blk.0.attn_q.weight`. */
  readonly name: string;
  /** Outermost dimension first, unlike the file: `[out, in]` for a matrix. */
  readonly shape: readonly number[];
  /** Number of the ggml type. */
  readonly type: number;
  /** Name of the ggml type, e.g. `Q4_1`; `type 99` when nobody knows it. */
  readonly typeName: string;
  /** From the start of the file. */
  readonly offsetBytes: number;
  /** Of the packed data; undefined when the type is not one of ours. */
  readonly sizeBytes: number | undefined;
}

/** Elements and bytes of one block of a ggml type that we convert. */
export interface BlockLayout {
  /** Elements a block. */
  readonly elements: number;
  /** Bytes a block. */
  readonly bytes: number;
}

/** Layouts of the types that we convert, by number of the ggml type. */
export const BLOCK_LAYOUTS: ReadonlyMap<number, BlockLayout> = new Map([
  [GGMLQuantizationType.F32, { elements: 1, bytes: 4 }],
  [GGMLQuantizationType.F16, { elements: 1, bytes: 2 }],
  [GGMLQuantizationType.BF16, { elements: 1, bytes: 2 }],
  [GGMLQuantizationType.Q4_0, { elements: 32, bytes: 18 }],
  [GGMLQuantizationType.Q4_1, { elements: 32, bytes: 20 }],
  [GGMLQuantizationType.Q8_0, { elements: 32, bytes: 34 }],
]);

const HEADER_BYTES = 24;
/** The smallest tensor entry: empty name (8), dimension count (4), no dimension, type (4), offset (8). */
const TENSOR_ENTRY_BYTES_MIN = 24;
/** The smallest metadata entry: empty key (8), type (4), one byte. */
const METADATA_ENTRY_BYTES_MIN = 13;

/** An open GGUF file. The owner closes it. */
export class GgufFile implements Disposable {
  /** For messages. */
  readonly path: string;
  /** Tensors by name. */
  readonly tensors: ReadonlyMap<string, GgufTensor>;
  readonly #metadata: Readonly<Record<string, unknown>>;
  readonly #file: Deno.FsFile;

  private constructor(path: string, file: Deno.FsFile, header: Header) {
    this.path = path;
    this.#file = file;
    this.#metadata = header.metadata;
    this.tensors = header.tensors;
  }

  /**
   * Reads and checks the header.
   *
   * @throws {GgufError} If the header is damaged or a tensor lies outside the file.
   * @throws {GgufError} If the file can't be opened.
   */
  static async open(path: string): Promise<GgufFile> {
    const file = await Deno.open(path).catch((error: unknown) => {
      if (error instanceof Deno.errors.NotFound) throw new GgufError(path, "there is no such file");
      if (error instanceof Deno.errors.PermissionDenied) throw new GgufError(path, "it may not be read");
      throw error;
    });
    try {
      return new GgufFile(path, file, await readHeader(path, file));
    } catch (error) {
      file.close();
      throw error;
    }
  }

  /** Reads `into.length` bytes at `offsetBytes`. @throws {GgufError} If the file ends before. */
  async readAt(offsetBytes: number, into: Uint8Array): Promise<void> {
    await this.#file.seek(offsetBytes, Deno.SeekMode.Start);
    let doneBytes = 0;
    while (doneBytes < into.length) {
      const countBytes = await this.#file.read(into.subarray(doneBytes));
      if (countBytes === null) throw new GgufError(this.path, `it ends at byte ${offsetBytes + doneBytes}`);
      doneBytes += countBytes;
    }
  }

  /** True when the key is there, whatever its type. */
  has(key: string): boolean {
    return Object.hasOwn(this.#metadata, key);
  }

  /** A text. @throws {GgufError} If it is absent (and no fallback is given) or no text. */
  text(key: string, fallback?: string): string {
    return this.#value(key, "text", (value) => typeof value === "string" ? value : undefined, fallback);
  }

  /** A finite number. @throws {GgufError} If it is absent (and no fallback is given) or no number. */
  number(key: string, fallback?: number): number {
    return this.#value(key, "a number", toNumber, fallback);
  }

  /** A whole number ≥ 0. @throws {GgufError} If it is absent (and no fallback is given) or something else. */
  count(key: string, fallback?: number): number {
    return this.#value(key, "a whole number from 0", (value) => {
      const number = toNumber(value);
      return Number.isSafeInteger(number) && number! >= 0 ? number : undefined;
    }, fallback);
  }

  /** A boolean. @throws {GgufError} If it is absent (and no fallback is given) or something else. */
  flag(key: string, fallback?: boolean): boolean {
    return this.#value(key, "true or false", (value) => typeof value === "boolean" ? value : undefined, fallback);
  }

  /** A list of texts. @throws {GgufError} If it is absent or something else. */
  texts(key: string): readonly string[] {
    return this.#value(key, "a list of texts", (value) => isListOf(value, "string") ? value as string[] : undefined);
  }

  /** A list of numbers. @throws {GgufError} If it is absent or something else. */
  numbers(key: string): readonly number[] {
    return this.#value(key, "a list of numbers", (value) => isListOf(value, "number") ? value as number[] : undefined);
  }

  #value<T>(key: string, wanted: string, read: (value: unknown) => T | undefined, fallback?: T): T {
    if (!this.has(key)) {
      if (fallback !== undefined) return fallback;
      throw new GgufError(this.path, `the metadata has no ${key}; wanted is ${wanted}`);
    }
    const value = read(this.#metadata[key]);
    if (value === undefined) throw new GgufError(this.path, `the metadata's ${key} is not ${wanted}`);
    return value;
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#file.close();
  }
}

interface Header {
  metadata: Readonly<Record<string, unknown>>;
  tensors: ReadonlyMap<string, GgufTensor>;
}

async function readHeader(path: string, file: Deno.FsFile): Promise<Header> {
  const fileBytes = (await file.stat()).size;
  await checkCounts(path, file, fileBytes);
  const parsed = await gguf(path, { allowLocalFile: true }).catch((error: unknown) => {
    throw new GgufError(path, `its header is damaged: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (!parsed.littleEndian) throw new GgufError(path, "it is big-endian; only little-endian files are converted");
  // The library pads its buffer with zeros, so a header cut short can parse; its end gives it away.
  const dataOffsetBytes = Number(parsed.tensorDataOffset);
  if (parsed.tensorInfoByteRange[1] > fileBytes) {
    throw new GgufError(path, `its header needs ${parsed.tensorInfoByteRange[1]} bytes, the file has ${fileBytes}`);
  }
  const tensors = new Map<string, GgufTensor>();
  for (const info of parsed.tensorInfos) {
    const tensor = toTensor(path, info, dataOffsetBytes, fileBytes);
    if (tensors.has(tensor.name)) throw new GgufError(path, `two tensors are called ${tensor.name}`);
    tensors.set(tensor.name, tensor);
  }
  checkOverlap(path, [...tensors.values()]);
  return { metadata: parsed.metadata as unknown as Readonly<Record<string, unknown>>, tensors };
}

/** Magic, version and counts, before the library trusts them with loops and buffers. */
async function checkCounts(path: string, file: Deno.FsFile, fileBytes: number): Promise<void> {
  const head = new Uint8Array(HEADER_BYTES);
  let doneBytes = 0;
  while (doneBytes < HEADER_BYTES) {
    const countBytes = await file.read(head.subarray(doneBytes));
    if (countBytes === null) {
      throw new GgufError(path, `${fileBytes} bytes are no GGUF file; its head takes ${HEADER_BYTES}`);
    }
    doneBytes += countBytes;
  }
  const view = new DataView(head.buffer);
  if (new TextDecoder().decode(head.subarray(0, 4)) !== "GGUF") {
    throw new GgufError(path, "it does not start with the letters GGUF");
  }
  const version = view.getUint32(4, true);
  if (version !== 2 && version !== 3) throw new GgufError(path, `its version is ${version}; wanted is 2 or 3`);
  const tensorCount = view.getBigUint64(8, true);
  const entryCount = view.getBigUint64(16, true);
  const needBytes = tensorCount * BigInt(TENSOR_ENTRY_BYTES_MIN) + entryCount * BigInt(METADATA_ENTRY_BYTES_MIN);
  if (needBytes > BigInt(fileBytes)) {
    throw new GgufError(
      path,
      `it announces ${tensorCount} tensors and ${entryCount} metadata entries, more than ${fileBytes} bytes can hold`,
    );
  }
}

function toTensor(
  path: string,
  info: { name: string; shape: bigint[]; dtype: number; offset: bigint },
  dataOffsetBytes: number,
  fileBytes: number,
): GgufTensor {
  const layout = BLOCK_LAYOUTS.get(info.dtype);
  const shape = info.shape.map(Number).reverse();
  const elements = shape.reduce((product, size) => product * size, 1);
  const rowElements = shape.at(-1) ?? 1;
  if (shape.some((size) => size < 1) || !Number.isSafeInteger(elements)) {
    throw new GgufError(path, `tensor ${info.name} has the shape [${shape}]; every dimension must be at least 1`);
  }
  if (layout !== undefined && rowElements % layout.elements !== 0) {
    throw new GgufError(
      path,
      `tensor ${info.name} has rows of ${rowElements} elements; its type needs a multiple of ${layout.elements}`,
    );
  }
  const sizeBytes = layout && elements / layout.elements * layout.bytes;
  const offsetBytes = dataOffsetBytes + Number(info.offset);
  const endBytes = offsetBytes + (sizeBytes ?? 0);
  if (!(endBytes <= fileBytes)) {
    throw new GgufError(path, `tensor ${info.name} ends at byte ${endBytes}, the file at ${fileBytes}`);
  }
  const typeName = GGMLQuantizationType[info.dtype] ?? `type ${info.dtype}`;
  return { name: info.name, shape, type: info.dtype, typeName, offsetBytes, sizeBytes };
}

function checkOverlap(path: string, tensors: GgufTensor[]): void {
  const sorted = tensors.toSorted((left, right) => left.offsetBytes - right.offsetBytes);
  sorted.slice(1).forEach((tensor, index) => {
    const before = sorted[index]!;
    if (before.offsetBytes + (before.sizeBytes ?? 0) > tensor.offsetBytes) {
      throw new GgufError(path, `the data of tensors ${before.name} and ${tensor.name} overlap`);
    }
  });
}

function toNumber(value: unknown): number | undefined {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

function isListOf(value: unknown, type: "string" | "number"): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === type);
}
