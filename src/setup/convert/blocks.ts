/**
 * ggml blocks → MLX's affine layout, bit for bit what MLX's own GGUF loader makes of them.
 *
 * A block is 32 elements: an f16 scale `d`, for Q4_1 an f16 minimum `m`, then the quants. MLX wants the quants of a row
 * packed in order (4-bit: element 0 in the low half of byte 0), and scales and biases in arrays of their own, with
 * w = scale · q + bias. Nibbles move, bytes flip a bit, and the bias of the symmetric types is a power of two times d.
 * Source: MLX v0.31.1 mlx/io/gguf_quants.cpp (same results, own code).
 *
 * @module
 */
import { GGMLQuantizationType } from "@huggingface/gguf";

/** Elements that share a scale and a bias. */
export const GROUP_ELEMENTS = 32;

/** Where unpacked blocks go: as many groups in each as there are blocks. */
export interface AffineParts {
  /** `bits` · 32 / 8 bytes a group. */
  readonly weight: Uint8Array;
  /** One f16 a group. */
  readonly scales: Uint8Array;
  /** One f16 a group. */
  readonly biases: Uint8Array;
}

/** A ggml type with an exact affine twin. */
export interface AffineType {
  /** Bits a weight: 4 or 8. */
  readonly bits: 4 | 8;
  /** Bytes of one ggml block. */
  readonly blockBytes: number;
  /** Unpacks all blocks of `blocks`; `blocks.length` is a multiple of blockBytes. */
  readonly unpack: (blocks: Uint8Array, into: AffineParts) => void;
}

/** By number of the ggml type. */
export const AFFINE_TYPES: ReadonlyMap<number, AffineType> = new Map<number, AffineType>([
  [GGMLQuantizationType.Q4_0, { bits: 4, blockBytes: 18, unpack: unpackQ4Symmetric }],
  [GGMLQuantizationType.Q4_1, { bits: 4, blockBytes: 20, unpack: unpackQ4WithMinimum }],
  [GGMLQuantizationType.Q8_0, { bits: 8, blockBytes: 34, unpack: unpackQ8Symmetric }],
]);

const HALF_BYTES = 2;

/** Q4_0: d, 16 bytes. w = d · (q − 8). */
function unpackQ4Symmetric(blocks: Uint8Array, into: AffineParts): void {
  const biases = new DataView(into.biases.buffer, into.biases.byteOffset, into.biases.byteLength);
  const source = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  for (let at = 0, group = 0; at < blocks.length; at += 18, group++) {
    copyHalf(blocks, at, into.scales, group);
    biases.setFloat16(group * HALF_BYTES, -8 * source.getFloat16(at, true), true);
    packNibbles(blocks, at + 2, into.weight, group * 16);
  }
}

/** Q4_1: d, m, 16 bytes. w = d · q + m. */
function unpackQ4WithMinimum(blocks: Uint8Array, into: AffineParts): void {
  for (let at = 0, group = 0; at < blocks.length; at += 20, group++) {
    copyHalf(blocks, at, into.scales, group);
    copyHalf(blocks, at + 2, into.biases, group);
    packNibbles(blocks, at + 4, into.weight, group * 16);
  }
}

/** Q8_0: d, 32 signed bytes. w = d · q; MLX's quants are unsigned: the sign bit flips and the bias takes it back. */
function unpackQ8Symmetric(blocks: Uint8Array, into: AffineParts): void {
  const biases = new DataView(into.biases.buffer, into.biases.byteOffset, into.biases.byteLength);
  const source = new DataView(blocks.buffer, blocks.byteOffset, blocks.byteLength);
  for (let at = 0, group = 0; at < blocks.length; at += 34, group++) {
    copyHalf(blocks, at, into.scales, group);
    biases.setFloat16(group * HALF_BYTES, -128 * source.getFloat16(at, true), true);
    for (let i = 0; i < 32; i++) into.weight[group * 32 + i] = blocks[at + 2 + i]! ^ 0x80;
  }
}

function copyHalf(from: Uint8Array, at: number, into: Uint8Array, group: number): void {
  into[group * HALF_BYTES] = from[at]!;
  into[group * HALF_BYTES + 1] = from[at + 1]!;
}

/** ggml: byte j holds element j low and element j + 16 high. MLX: byte i holds element 2i low and 2i + 1 high. */
function packNibbles(from: Uint8Array, at: number, into: Uint8Array, target: number): void {
  for (let i = 0; i < 8; i++) {
    const even = from[at + 2 * i]!;
    const odd = from[at + 2 * i + 1]!;
    into[target + i] = (even & 0x0f) | (odd & 0x0f) << 4;
    into[target + 8 + i] = even >> 4 | (odd & 0xf0);
  }
}
