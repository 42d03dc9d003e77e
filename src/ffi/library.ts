/**
 * The core's library: opens it, checks that it speaks this server's version of rmx.h with the same layouts,
 * and calls the functions that need no engine.
 *
 * @module
 */
import * as z from "zod";
import { CONSTANTS, STRUCTS, SYMBOLS } from "./abi.gen.ts";
import { CoreError, type DeviceInfo, type ModelConfig } from "./core.ts";
import { ErrorBuffer, OutNumber } from "./structs.ts";

const Manifest = z.object({
  abi: z.tuple([z.int(), z.int()]),
  structs: z.record(z.string(), z.object({ size: z.int(), fields: z.record(z.string(), z.int()) })),
  core: z.string(),
  mlx: z.string(),
  platform: z.string(),
});

const Device = z.object({
  device: z.enum(["cpu", "gpu"]),
  name: z.string(),
  memory_bytes: z.int(),
  working_set_bytes: z.int(),
  threads: z.int(),
  cpu_variant: z.string(),
});

const Selftest = z.object({
  ok: z.boolean(),
  kernels: z.array(z.object({
    name: z.string(),
    ok: z.boolean(),
    cases: z.int(),
    max_error: z.number().nullable(),
    message: z.string(),
  })),
});

/** What the kernels' self-test found. */
export interface SelftestReport {
  /** Whether every kernel agrees with its reference. */
  ok: boolean;
  /** One entry a kernel. */
  kernels: {
    /** e.g. `quantizedMM`. */
    name: string;
    /** Whether all its cases passed. */
    ok: boolean;
    /** Cases run. */
    cases: number;
    /** Largest absolute difference seen; undefined if one was not a number, or a case threw. */
    maxError: number | undefined;
    /** The first case that failed; empty if none. */
    message: string;
  }[];
}

type Symbols = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

const utf8 = new TextEncoder();
const text = new TextDecoder();

/** Bytes of JSON that a first try has room for; a longer answer costs a second call. */
const JSON_BYTES = 16 * 1024;

/** A JSON-writing function of rmx.h, its first arguments bound. */
type JsonCall = (json: Uint8Array<ArrayBuffer>, cap: number, length: Uint8Array<ArrayBuffer>) => number;

/** An open library whose version and layouts have been checked. */
export class Library {
  /** Versions and platform, as the library states them. */
  readonly version: { abi: string; core: string; mlx: string; platform: string };
  readonly #library: Deno.DynamicLibrary<typeof SYMBOLS>;
  readonly #error = new ErrorBuffer();

  private constructor(library: Deno.DynamicLibrary<typeof SYMBOLS>, manifest: z.infer<typeof Manifest>) {
    this.#library = library;
    const { abi, core, mlx, platform } = manifest;
    this.version = { abi: abi.join("."), core, mlx, platform };
  }

  /**
   * Opens the library at `path`.
   *
   * @throws {CoreError} `io` if it can't be loaded; `internal` if its version or a layout is not this server's: the
   * message has both versions and the path.
   */
  static open(path: string): Library {
    const manifest = readManifest(path);
    checkLayouts(path, manifest);
    return new Library(dlopen(path, SYMBOLS), manifest);
  }

  /** The functions of rmx.h. */
  get symbols(): Symbols {
    return this.#library.symbols;
  }

  /** What runs the steps. */
  deviceInfo(): DeviceInfo {
    const json = this.readJson(Device, (...out) => this.symbols.rmx_device_info(...out, this.#error.bytes));
    return {
      device: json.device,
      name: json.name,
      memoryBytes: json.memory_bytes,
      workingSetBytes: json.working_set_bytes,
      threads: json.threads,
      cpuVariant: json.cpu_variant,
    };
  }

  /**
   * Runs every kernel whose name contains `filter` against its reference; takes seconds, `deep` minutes.
   *
   * @throws {CoreError} If the run itself failed; a kernel that is wrong is part of the report.
   */
  async selftest(options: { filter?: string; deep?: boolean } = {}): Promise<SelftestReport> {
    const request = utf8.encode(JSON.stringify(options));
    const error = new ErrorBuffer();
    const length = new OutNumber();
    let json = new Uint8Array(4 * JSON_BYTES);
    for (;;) {
      const { rmx_selftest: run } = this.symbols;
      const status = await run(request, request.length, json, json.length, length.bytes, error.bytes);
      if (status === CONSTANTS.RMX_ERR_SPACE) {
        json = new Uint8Array(length.uint32());
        continue;
      }
      if (status !== CONSTANTS.RMX_OK) throw error.read(status);
      const { ok, kernels } = Selftest.parse(JSON.parse(text.decode(json.subarray(0, length.uint32()))));
      return {
        ok,
        kernels: kernels.map(({ max_error: maxError, ...kernel }) => ({ ...kernel, maxError: maxError ?? undefined })),
      };
    }
  }

  /**
   * What a checkpoint will take, from its headers.
   *
   * @throws {CoreError} io, format or model: the file, what was found and what is wanted.
   */
  async estimate(path: string, config: ModelConfig): Promise<{ weightBytes: number; kvBytesPerToken: number }> {
    const name = utf8.encode(path);
    const json = writeModelConfig(config);
    const [weights, kv, error] = [new OutNumber(), new OutNumber(), new ErrorBuffer()];
    const { rmx_model_estimate: estimate } = this.symbols;
    const status = await estimate(name, name.length, json, json.length, weights.bytes, kv.bytes, error.bytes);
    if (status !== CONSTANTS.RMX_OK) throw error.read(status);
    return { weightBytes: weights.uint64(), kvBytesPerToken: kv.uint64() };
  }

  /** Calls a function that writes JSON, with more room if it asks, and parses what it wrote. */
  readJson<T>(schema: z.ZodType<T>, call: JsonCall, error = this.#error): T {
    return readJson(schema, call, error);
  }

  /** Gives the library back; no call may be in flight. The system keeps it in memory (see Package.swift). */
  close(): void {
    this.#library.close();
  }
}

/** The JSON of rmx_model_load. */
export function writeModelConfig(config: ModelConfig): Uint8Array<ArrayBuffer> {
  return utf8.encode(JSON.stringify({ "context_tokens": config.contextTokens, dtype: config.dtype }));
}

function readJson<T>(schema: z.ZodType<T>, call: JsonCall, error: ErrorBuffer): T {
  const length = new OutNumber();
  let json = new Uint8Array(JSON_BYTES);
  let status = call(json, json.length, length.bytes);
  if (status === CONSTANTS.RMX_ERR_SPACE) {
    json = new Uint8Array(length.uint32());
    status = call(json, json.length, length.bytes);
  }
  if (status !== CONSTANTS.RMX_OK) throw error.read(status);
  return schema.parse(JSON.parse(text.decode(json.subarray(0, length.uint32()))));
}

function dlopen<S extends Deno.ForeignLibraryInterface>(path: string, symbols: S): Deno.DynamicLibrary<S> {
  try {
    return Deno.dlopen(path, symbols);
  } catch (error) {
    throw new CoreError("io", `Cannot load the core library ${path}: ${(error as Error).message}`);
  }
}

/** Reads version and manifest before anything else is bound: a library of another version may lack the rest. */
function readManifest(path: string): z.infer<typeof Manifest> {
  const { rmx_abi_version, rmx_abi_manifest } = SYMBOLS;
  const library = dlopen(path, { rmx_abi_version, rmx_abi_manifest });
  try {
    checkVersion(path, library.symbols.rmx_abi_version());
    const error = new ErrorBuffer();
    return readJson(Manifest, (...out) => library.symbols.rmx_abi_manifest(...out, error.bytes), error);
  } finally {
    library.close();
  }
}

/**
 * Majors must be equal; the library's minor may be newer.
 *
 * @throws {CoreError} `internal`, with both versions and the path.
 */
export function checkVersion(path: string, found: number): void {
  const [major, minor] = [found >>> 16, found & 0xffff];
  const { RMX_ABI_MAJOR: majorWanted, RMX_ABI_MINOR: minorWanted } = CONSTANTS;
  if (major === majorWanted && minor >= minorWanted) return;
  throw new CoreError(
    "internal",
    `The core library ${path} has ABI version ${major}.${minor}, this server wants ${majorWanted}.${minorWanted} or a ` +
      `newer minor: build the core again`,
  );
}

/**
 * Every struct of this server's table must lie in the library as it lies here.
 *
 * @throws {CoreError} `internal`, naming struct, field, both numbers and the path.
 */
export function checkLayouts(path: string, manifest: Pick<z.infer<typeof Manifest>, "structs">): void {
  const refuse = (what: string, found: number | undefined, wanted: number): never => {
    const detail = `${what} is ${found ?? "absent"} in the library and ${wanted} in this server`;
    throw new CoreError("internal", `The core library ${path} has another layout: ${detail}; build the core again`);
  };
  for (const [name, { size, fields }] of Object.entries(STRUCTS)) {
    const found = manifest.structs[name];
    if (found?.size !== size) refuse(`the size of ${name}`, found?.size, size);
    for (const [field, { offset }] of Object.entries(fields)) {
      if (found?.fields[field] !== offset) refuse(`${name}.${field}`, found?.fields[field], offset);
    }
  }
}
