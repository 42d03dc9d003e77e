/**
 * Writes one .safetensors file of known layout, tensor bytes in any order and in pieces.
 *
 * The header goes first, so every name, dtype and shape must be planned; then pieces land at their offsets and memory
 * holds no more than a piece. Format: https://huggingface.co/docs/safetensors (u64 header size, JSON, data).
 *
 * @module
 */

/** Bytes of one element. */
const DTYPE_BYTES = { U32: 4, F32: 4, F16: 2, BF16: 2 } as const;

/** The dtypes that a conversion makes. */
export type SafetensorsDtype = keyof typeof DTYPE_BYTES;

/** One tensor of the file to be. */
export interface PlannedTensor {
  /** As the model names it. */
  readonly name: string;
  /** Element type. */
  readonly dtype: SafetensorsDtype;
  /** Outermost dimension first. */
  readonly shape: readonly number[];
}

/** Size of a planned tensor's data. */
export function sizeBytes(tensor: PlannedTensor): number {
  return tensor.shape.reduce((product, size) => product * size, DTYPE_BYTES[tensor.dtype]);
}

/** An open file that is being filled. */
export class SafetensorsWriter {
  readonly #file: Deno.FsFile;
  readonly #offsets: ReadonlyMap<string, number>;
  readonly #endBytes: number;
  #missingBytes: number;

  private constructor(file: Deno.FsFile, offsets: ReadonlyMap<string, number>, endBytes: number, dataBytes: number) {
    this.#file = file;
    this.#offsets = offsets;
    this.#endBytes = endBytes;
    this.#missingBytes = dataBytes;
  }

  /** Creates the file and writes its header. The file must not exist. */
  static async create(path: string, tensors: readonly PlannedTensor[]): Promise<SafetensorsWriter> {
    // Widest elements first, so that all data stay aligned however odd a count is.
    const sorted = tensors.toSorted((left, right) => DTYPE_BYTES[right.dtype] - DTYPE_BYTES[left.dtype]);
    const entries: Record<string, unknown> = { __metadata__: { format: "mlx" } };
    let dataBytes = 0;
    for (const tensor of sorted) {
      const endBytes = dataBytes + sizeBytes(tensor);
      entries[tensor.name] = { dtype: tensor.dtype, shape: tensor.shape, data_offsets: [dataBytes, endBytes] };
      dataBytes = endBytes;
    }
    const json = new TextEncoder().encode(JSON.stringify(entries));
    const head = new Uint8Array(8 + Math.ceil(json.length / 8) * 8).fill(0x20);
    new DataView(head.buffer).setBigUint64(0, BigInt(head.length - 8), true);
    head.set(json, 8);
    const offsets = new Map<string, number>();
    let offsetBytes = head.length;
    for (const tensor of sorted) {
      offsets.set(tensor.name, offsetBytes);
      offsetBytes += sizeBytes(tensor);
    }
    const file = await Deno.open(path, { write: true, createNew: true });
    const writer = new SafetensorsWriter(file, offsets, offsetBytes, dataBytes);
    await writer.#writeAt(0, head);
    return writer;
  }

  /** Writes a piece of a planned tensor; pieces must not overlap. */
  async write(name: string, offsetBytes: number, bytes: Uint8Array): Promise<void> {
    const start = this.#offsets.get(name);
    if (start === undefined) throw new TypeError(`the tensor ${name} was not planned`);
    this.#missingBytes -= bytes.length;
    await this.#writeAt(start + offsetBytes, bytes);
  }

  /** Flushes and closes. @throws {TypeError} If a planned byte was never written: a bug of the caller. */
  async finish(): Promise<void> {
    if (this.#missingBytes !== 0) throw new TypeError(`${this.#missingBytes} planned bytes were not written`);
    await this.#file.syncData();
    const { size } = await this.#file.stat();
    if (size !== this.#endBytes) throw new TypeError(`the file has ${size} bytes, planned were ${this.#endBytes}`);
    this.#file.close();
  }

  /** Closes without a check, after a failure. */
  abandon(): void {
    this.#file.close();
  }

  async #writeAt(offsetBytes: number, bytes: Uint8Array): Promise<void> {
    await this.#file.seek(offsetBytes, Deno.SeekMode.Start);
    let doneBytes = 0;
    while (doneBytes < bytes.length) doneBytes += await this.#file.write(bytes.subarray(doneBytes));
  }
}
