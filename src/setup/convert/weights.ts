/**
 * The tensors of a GGUF file → one model.safetensors, in bounded memory.
 *
 * Takes an open file and its graph, gives back which modules are quantized to how many bits. Copies plain tensors byte
 * for byte, unpacks blocks (blocks.ts), and puts permuted rows back. Knows nothing of config.json or tokenizers.
 *
 * @module
 */
import { GGMLQuantizationType } from "@huggingface/gguf";
import { AFFINE_TYPES, type AffineType, GROUP_ELEMENTS } from "./blocks.ts";
import { BLOCK_LAYOUTS, GgufError, type GgufFile, type GgufTensor } from "./gguf_file.ts";
import { type GraphNames, requirePlace, ROPE_FACTORS, type TensorPlace } from "./graphs.ts";
import { type PlannedTensor, type SafetensorsDtype, SafetensorsWriter } from "./safetensors_writer.ts";

/** Bytes of the file that are in memory at once, at most (one row or one head more). */
const PIECE_BYTES = 4 << 20;

const PLAIN_DTYPES: ReadonlyMap<number, SafetensorsDtype> = new Map([
  [GGMLQuantizationType.F32, "F32"],
  [GGMLQuantizationType.F16, "F16"],
  [GGMLQuantizationType.BF16, "BF16"],
]);

/** What config.json must say about the written weights. */
export interface WrittenWeights {
  /** Bits of each quantized module, by path. All are affine with groups of 32. */
  readonly quantizedBits: ReadonlyMap<string, 4 | 8>;
  /** Paths of all parameters written, e.g. `lm_head.weight`. */
  readonly names: ReadonlySet<string>;
}

interface Job {
  tensor: GgufTensor;
  place: TensorPlace;
}

/**
 * Writes all tensors to `path`, which must not exist.
 *
 * @param onProgress Called with the bytes of the GGUF file done so far, and all.
 * @throws {GgufError} If a tensor has a type or a name that we don't convert; nothing is written then.
 */
export async function writeWeights(
  file: GgufFile,
  graph: GraphNames,
  path: string,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<WrittenWeights> {
  const jobs: Job[] = [...file.tensors.values()]
    .filter((tensor) => tensor.name !== ROPE_FACTORS)
    .map((tensor) => ({ tensor, place: requirePlace(file, graph, tensor) }));
  for (const { tensor } of jobs) requireType(file, tensor);
  const plan = jobs.flatMap(planTensors);
  const totalBytes = jobs.reduce((sum, { tensor }) => sum + (tensor.sizeBytes ?? 0), 0);
  const writer = await SafetensorsWriter.create(path, plan);
  try {
    let doneBytes = 0;
    for (const job of jobs) {
      await writeTensor(file, job, writer);
      doneBytes += job.tensor.sizeBytes ?? 0;
      onProgress(doneBytes, totalBytes);
    }
    await writer.finish();
  } catch (error) {
    writer.abandon();
    throw error;
  }
  const quantized = jobs.flatMap(({ tensor, place }) => {
    const affine = AFFINE_TYPES.get(tensor.type);
    return affine ? [[place.module, affine.bits] as const] : [];
  });
  return { quantizedBits: new Map(quantized), names: new Set(plan.map(({ name }) => name)) };
}

/** A type that we convert, and quantized only where the core can take it. */
function requireType(file: GgufFile, tensor: GgufTensor): void {
  if (tensor.sizeBytes === undefined) {
    throw new GgufError(
      file.path,
      `tensor ${tensor.name} is ${tensor.typeName}; convertible are Q4_0, Q4_1, Q8_0, F16, BF16 and F32`,
    );
  }
  if (AFFINE_TYPES.has(tensor.type) && (tensor.shape.length !== 2 || !tensor.name.endsWith(".weight"))) {
    throw new GgufError(
      file.path,
      `tensor ${tensor.name} with the shape [${tensor.shape}] is ${tensor.typeName}; only matrices may be quantized`,
    );
  }
}

function planTensors({ tensor, place }: Job): PlannedTensor[] {
  const name = `${place.module}.${place.parameter}`;
  const affine = AFFINE_TYPES.get(tensor.type);
  if (affine === undefined) return [{ name, dtype: PLAIN_DTYPES.get(tensor.type)!, shape: tensor.shape }];
  const [rows, columns] = tensor.shape as [number, number];
  const groups = [rows, columns / GROUP_ELEMENTS];
  return [
    { name, dtype: "U32", shape: [rows, columns * affine.bits / 32] },
    { name: `${place.module}.scales`, dtype: "F16", shape: groups },
    { name: `${place.module}.biases`, dtype: "F16", shape: groups },
  ];
}

/** Piece by piece: read rows, restore their order, unpack, write. */
async function writeTensor(file: GgufFile, { tensor, place }: Job, writer: SafetensorsWriter): Promise<void> {
  // A vector is a column of one-element rows here, so that a permuted bias moves like its matrix.
  const rows = tensor.shape[0] ?? 1;
  const layout = BLOCK_LAYOUTS.get(tensor.type)!;
  const rowElements = tensor.shape.slice(1).reduce((product, size) => product * size, 1);
  const rowBytes = rowElements / layout.elements * layout.bytes;
  const unitRows = place.permutedHeads === undefined ? 1 : rows / place.permutedHeads;
  const pieceRows = Math.max(1, Math.floor(PIECE_BYTES / (rowBytes * unitRows))) * unitRows;
  const name = `${place.module}.${place.parameter}`;
  const affine = AFFINE_TYPES.get(tensor.type);
  for (let row = 0; row < rows; row += pieceRows) {
    const read = new Uint8Array(Math.min(pieceRows, rows - row) * rowBytes);
    await file.readAt(tensor.offsetBytes + row * rowBytes, read);
    const piece = place.permutedHeads === undefined ? read : restoreRows(read, rowBytes, unitRows);
    if (affine === undefined) await writer.write(name, row * rowBytes, piece);
    else await writeAffine(writer, place.module, affine, row * rowElements / GROUP_ELEMENTS, piece);
  }
}

async function writeAffine(
  writer: SafetensorsWriter,
  module: string,
  affine: AffineType,
  firstGroup: number,
  blocks: Uint8Array,
): Promise<void> {
  const groups = blocks.length / affine.blockBytes;
  const groupBytes = affine.bits * GROUP_ELEMENTS / 8;
  const parts = {
    weight: new Uint8Array(groups * groupBytes),
    scales: new Uint8Array(groups * 2),
    biases: new Uint8Array(groups * 2),
  };
  affine.unpack(blocks, parts);
  await writer.write(`${module}.weight`, firstGroup * groupBytes, parts.weight);
  await writer.write(`${module}.scales`, firstGroup * 2, parts.scales);
  await writer.write(`${module}.biases`, firstGroup * 2, parts.biases);
}

/**
 * Undoes llama.cpp's permutation of q and k: row 2b + a of a head goes back to row a · D/2 + b (a < 2, b < D/2).
 *
 * Source: `LlamaModel.permute` of llama.cpp's convert_hf_to_gguf.py: reshape(H, 2, D/2, …).swapaxes(1, 2).
 */
export function restoreRows(rows: Uint8Array, rowBytes: number, headRows: number): Uint8Array {
  const restored = new Uint8Array(rows.length);
  const half = headRows / 2;
  for (let row = 0; row < rows.length / rowBytes; row++) {
    const inHead = row % headRows;
    const source = row - inHead + 2 * (inHead % half) + Math.floor(inHead / half);
    restored.set(rows.subarray(source * rowBytes, (source + 1) * rowBytes), row * rowBytes);
  }
  return restored;
}
