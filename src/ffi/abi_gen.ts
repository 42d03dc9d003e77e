/**
 * Reads rmx.h and writes abi.gen.ts: what `Deno.dlopen` must know, where each field lies, what each constant is.
 *
 *     deno task abi:gen     writes src/ffi/abi.gen.ts
 *     deno task abi:check   fails if it is not current
 *
 * The header's dialect is small on purpose: fixed-width numbers, pointers, plain structs, enums with explicit values,
 * one RMX_FAST or RMX_BLOCKING a function. A declaration outside of it is an error here, not a wrong call later.
 *
 * @module
 */

/** A function of the header in the shape of `Deno.ForeignFunction`. */
export interface AbiFunction {
  /** Deno's names of the parameter types, in order. */
  parameters: string[];
  /** Deno's name of the result type. */
  result: string;
  /** Set for RMX_BLOCKING: Deno runs the call on a pool thread. */
  nonblocking?: true;
}

/** A field of a struct. */
export interface AbiField {
  /** Bytes from the struct's start. */
  offset: number;
  /** Deno's name of the element type. */
  type: string;
  /** Elements, for arrays only. */
  count?: number;
}

/** A struct of the header. */
export interface AbiStruct {
  /** What C's sizeof gives, in bytes. */
  size: number;
  /** By field name, in order. */
  fields: Record<string, AbiField>;
}

/** All that crosses the boundary. */
export interface Abi {
  /** By symbol. */
  functions: Record<string, AbiFunction>;
  /** By type name. */
  structs: Record<string, AbiStruct>;
  /** Enumerators by name. */
  constants: Record<string, number>;
}

const SCALARS: ReadonlyMap<string, string> = new Map([
  ["uint8_t", "u8"],
  ["uint16_t", "u16"],
  ["int32_t", "i32"],
  ["uint32_t", "u32"],
  ["int64_t", "i64"],
  ["uint64_t", "u64"],
  ["float", "f32"],
]);

/** Bytes of a type by Deno's name: the digits in it are its bits. */
function sizeOf(type: string): number {
  return Number(type.slice(1)) / 8;
}

/**
 * Parses the text of the header.
 *
 * @param header The whole of rmx.h.
 * @returns What it declares.
 * @throws {SyntaxError} If a declaration is outside the dialect.
 */
export function parseAbi(header: string): Abi {
  const text = header.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/^\s*#.*$/gm, " ").replace(/\s+/g, " ");
  const types = new Map(SCALARS);
  const abi: Abi = { functions: {}, structs: {}, constants: {} };
  for (const declaration of declarationsOf(text)) {
    const alias = /^typedef (\w+) (\w+)$/.exec(declaration);
    const struct = /^typedef struct \{(.*)\} (\w+)$/.exec(declaration);
    const list = /^enum \w+ \{(.*)\}$/.exec(declaration);
    const signature = /^RMX_API RMX_(FAST|BLOCKING) (\w+) (rmx_\w+)\((.*)\)$/.exec(declaration);
    if (alias) {
      types.set(alias[2]!, denoType(alias[1]!, types));
    } else if (struct) {
      abi.structs[struct[2]!] = parseStruct(struct[1]!, types);
    } else if (list) {
      Object.assign(abi.constants, parseEnum(list[1]!));
    } else if (signature) {
      abi.functions[signature[3]!] = {
        parameters: parseParameters(signature[4]!, types),
        result: denoType(signature[2]!, types),
        ...(signature[1] === "BLOCKING" && { nonblocking: true as const }),
      };
    } else {
      throw new SyntaxError(`Cannot read "${declaration}": it is no typedef, struct, enum or marked function`);
    }
  }
  return abi;
}

/** Splits at the semicolons outside of braces. */
function declarationsOf(text: string): string[] {
  const declarations: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "{") depth++;
    if (text[i] === "}") depth--;
    if (text[i] === ";" && depth === 0) {
      declarations.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  const rest = text.slice(start).trim();
  if (rest !== "") throw new SyntaxError(`Cannot read "${rest}": the header ends inside a declaration`);
  return declarations;
}

function denoType(name: string, types: ReadonlyMap<string, string>): string {
  const type = types.get(name);
  if (type === undefined) throw new SyntaxError(`Cannot map the C type "${name}" to Deno`);
  return type;
}

/** `const uint8_t *json, uint32_t cap` gives `["buffer", "u32"]`. */
function parseParameters(list: string, types: ReadonlyMap<string, string>): string[] {
  if (list.trim() === "void") return [];
  return list.split(",").map((parameter) => {
    const parts = /^ ?(?:const )?(\w+) (\*?)\w+$/.exec(parameter.trim());
    if (!parts) throw new SyntaxError(`Cannot read the parameter "${parameter.trim()}"`);
    const pointsTo = parts[1]!;
    if (parts[2] === "*") return "buffer";
    return denoType(pointsTo, types);
  });
}

/** Lays fields out as C does with natural alignment. */
function parseStruct(body: string, types: ReadonlyMap<string, string>): AbiStruct {
  const fields: Record<string, AbiField> = {};
  let end = 0;
  let alignment = 1;
  for (const field of body.split(";").map((line) => line.trim()).filter((line) => line !== "")) {
    const parts = /^(\w+) (\w+)(?:\[(\d+)\])?$/.exec(field);
    if (!parts) throw new SyntaxError(`Cannot read the field "${field}"`);
    const type = denoType(parts[1]!, types);
    const bytes = sizeOf(type);
    const offset = Math.ceil(end / bytes) * bytes;
    fields[parts[2]!] = { offset, type, ...(parts[3] !== undefined && { count: Number(parts[3]) }) };
    end = offset + bytes * Number(parts[3] ?? 1);
    alignment = Math.max(alignment, bytes);
  }
  return { size: Math.ceil(end / alignment) * alignment, fields };
}

function parseEnum(body: string): Record<string, number> {
  const constants: Record<string, number> = {};
  for (const enumerator of body.split(",").map((part) => part.trim()).filter((part) => part !== "")) {
    const parts = /^(RMX_\w+) ?= ?(-?\d+)$/.exec(enumerator);
    if (!parts) throw new SyntaxError(`Cannot read the enumerator "${enumerator}": its value must be written out`);
    constants[parts[1]!] = Number(parts[2]);
  }
  return constants;
}

/** The text of abi.gen.ts for what `parseAbi` gave, as `deno fmt` leaves it. */
export function renderAbi(abi: Abi): string {
  const functions = Object.entries(abi.functions).map(([name, f]) =>
    `  ${name}: {\n    parameters: [${f.parameters.map((type) => `"${type}"`).join(", ")}],\n` +
    `    result: "${f.result}",\n${f.nonblocking ? "    nonblocking: true,\n" : ""}  },\n`
  );
  const structs = Object.entries(abi.structs).map(([name, struct]) =>
    `  ${name}: {\n    size: ${struct.size},\n    fields: {\n${
      Object.entries(struct.fields).map(([field, { offset, type, count }]) =>
        `      ${field}: { offset: ${offset}, type: "${type}"${count === undefined ? "" : `, count: ${count}`} },\n`
      ).join("")
    }    },\n  },\n`
  );
  const constants = Object.entries(abi.constants).map(([name, value]) => `  ${name}: ${value},\n`);
  return [
    "// GENERATED by `deno task abi:gen` from swift/CABI/include/rmx.h. Do not edit.\n\n",
    "/** Functions, as `Deno.dlopen` takes them; `nonblocking` is the header's RMX_BLOCKING. */\n",
    `export const SYMBOLS = {\n${functions.join("")}} as const;\n\n`,
    "/** Structs: size and field offsets in bytes. */\n",
    `export const STRUCTS = {\n${structs.join("")}} as const;\n\n`,
    "/** Every enumerator. */\n",
    `export const CONSTANTS = {\n${constants.join("")}} as const;\n`,
  ].join("");
}

/** Where the header lies. */
export const HEADER_URL = new URL("../../swift/CABI/include/rmx.h", import.meta.url);
/** Where the table goes. */
export const TABLE_URL = new URL("./abi.gen.ts", import.meta.url);

if (import.meta.main) {
  const current = renderAbi(parseAbi(Deno.readTextFileSync(HEADER_URL)));
  if (!Deno.args.includes("--check")) {
    Deno.writeTextFileSync(TABLE_URL, current);
  } else if (Deno.readTextFileSync(TABLE_URL) !== current) {
    throw new Error("src/ffi/abi.gen.ts is not what rmx.h gives: run `deno task abi:gen` and commit the result");
  }
}
