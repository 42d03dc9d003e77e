/**
 * Makes small GGUF files for tests: real ones and damaged ones.
 *
 * Values carry their GGUF type, so that a test can write what a real file would hold or something else on purpose.
 *
 * @module
 */

/** A metadata value with its GGUF type. */
export type GgufValue =
  | { type: "u32" | "f32" | "u64"; value: number }
  | { type: "bool"; value: boolean }
  | { type: "string"; value: string }
  | { type: "strings"; value: readonly string[] }
  | { type: "i32s"; value: readonly number[] };

/** A tensor to write. */
export interface GgufTensorSource {
  /** Name in the file. */
  name: string;
  /** Outermost first. */
  shape: readonly number[];
  /** Number of the ggml type. */
  type: number;
  /** Raw blocks. */
  data: Uint8Array;
  /** Overrides the offset that would follow from the order. */
  offsetBytes?: number;
}

/** A whole file. */
export interface GgufSource {
  /** In order. */
  metadata: readonly (readonly [string, GgufValue])[];
  /** In order. */
  tensors: readonly GgufTensorSource[];
}

const ALIGNMENT_BYTES = 32;
const TYPE_NUMBERS = { u32: 4, f32: 6, bool: 7, string: 8, u64: 10 } as const;
const ARRAY_NUMBER = 9;

/** Bytes of the file. */
export function writeGguf(source: GgufSource): Uint8Array<ArrayBuffer> {
  const head = new ByteWriter();
  head.ascii("GGUF");
  head.u32(3);
  head.u64(source.tensors.length);
  head.u64(source.metadata.length);
  for (const [key, value] of source.metadata) writeEntry(head, key, value);
  let offsetBytes = 0;
  const placed: { tensor: GgufTensorSource; offsetBytes: number }[] = [];
  for (const tensor of source.tensors) {
    placed.push({ tensor, offsetBytes: tensor.offsetBytes ?? offsetBytes });
    offsetBytes = pad(offsetBytes + tensor.data.length);
  }
  for (const { tensor, offsetBytes } of placed) {
    head.string(tensor.name);
    head.u32(tensor.shape.length);
    for (const size of tensor.shape.toReversed()) head.u64(size);
    head.u32(tensor.type);
    head.u64(offsetBytes);
  }
  const dataStart = pad(head.bytes.length);
  const end = Math.max(dataStart, ...placed.map((one) => dataStart + one.offsetBytes + one.tensor.data.length));
  const file = new Uint8Array(end);
  file.set(head.bytes);
  for (const { tensor, offsetBytes } of placed) file.set(tensor.data, dataStart + offsetBytes);
  return file;
}

function writeEntry(head: ByteWriter, key: string, { type, value }: GgufValue): void {
  head.string(key);
  if (type === "strings" || type === "i32s") {
    head.u32(ARRAY_NUMBER);
    head.u32(type === "strings" ? TYPE_NUMBERS.string : 5);
    head.u64(value.length);
    for (const item of value) typeof item === "string" ? head.string(item) : head.u32(item >>> 0);
    return;
  }
  head.u32(TYPE_NUMBERS[type]);
  if (type === "string") head.string(value);
  else if (type === "bool") head.u8(value ? 1 : 0);
  else if (type === "f32") head.f32(value);
  else if (type === "u64") head.u64(value);
  else head.u32(value);
}

function pad(sizeBytes: number): number {
  return Math.ceil(sizeBytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
}

class ByteWriter {
  #buffer = new Uint8Array(1 << 16);
  #view = new DataView(this.#buffer.buffer);
  #sizeBytes = 0;

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#sizeBytes);
  }

  u8(value: number): void {
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
  }

  u32(value: number): void {
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
  }

  u64(value: number): void {
    const at = this.#grow(8);
    this.#view.setBigUint64(at, BigInt(value), true);
  }

  f32(value: number): void {
    const at = this.#grow(4);
    this.#view.setFloat32(at, value, true);
  }

  ascii(text: string): void {
    const encoded = new TextEncoder().encode(text);
    const at = this.#grow(encoded.length);
    this.#buffer.set(encoded, at);
  }

  string(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.u64(encoded.length);
    const at = this.#grow(encoded.length);
    this.#buffer.set(encoded, at);
  }

  /** Makes room and gives its position. */
  #grow(count: number): number {
    const at = this.#sizeBytes;
    this.#sizeBytes += count;
    if (this.#sizeBytes > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(2 * this.#buffer.length, this.#sizeBytes));
      larger.set(this.#buffer);
      this.#buffer = larger;
      this.#view = new DataView(larger.buffer);
    }
    return at;
  }
}
