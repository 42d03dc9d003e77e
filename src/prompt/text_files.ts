// deno-lint-ignore-file camelcase -- the names are those of checkpoints and templates
/**
 * The text files of a checkpoint: tokenizer.json, tokenizer_config.json, chat templates, generation_config.json and
 * what config.json says of ids and context. Read once at load, checked here, trusted after.
 *
 * Sources: transformers v5 `tokenization_utils_base.py` (where templates live, which one is taken), mlx-lm `utils.py`
 * (`generation_config.json` overrides config.json's `eos_token_id`).
 *
 * @module
 */
import { z } from "zod";
import { TextFilesError } from "./errors.ts";
import { JSON_FILE_BYTES_MAX } from "./limits.ts";

const AddedToken = z.looseObject({
  id: z.int().nonnegative(),
  content: z.string().min(1),
  single_word: z.boolean().default(false),
  lstrip: z.boolean().default(false),
  rstrip: z.boolean().default(false),
  normalized: z.boolean().optional(),
  special: z.boolean().default(false),
});

/** A token outside the model's own vocabulary. */
export type AddedTokenJson = z.infer<typeof AddedToken>;

/** A decoder, or one step of a `Sequence`. */
export interface DecoderJson {
  /** e.g. `ByteLevel`. */
  type: string;
  /** Of a `Sequence`. */
  decoders?: DecoderJson[] | undefined;
  /** Of `Replace`. */
  pattern?: { String?: string | undefined } | undefined;
  /** Of `Replace` and `Strip`. */
  content?: string | undefined;
  /** Of `Strip`. */
  start?: number | undefined;
  /** Of `Metaspace`. */
  replacement?: string | undefined;
  /** Of `Metaspace`. */
  prepend_scheme?: string | undefined;
}

const Decoder: z.ZodType<DecoderJson> = z.lazy(() =>
  z.looseObject({
    type: z.string(),
    decoders: z.array(Decoder).optional(),
    pattern: z.looseObject({ String: z.string().optional() }).optional(),
    content: z.string().optional(),
    start: z.number().optional(),
    replacement: z.string().optional(),
    prepend_scheme: z.string().optional(),
  })
);

/** A schema of 151k entries costs time and loses a token spelled `__proto__`: one plain pass does neither. */
function isVocabulary(value: unknown): boolean {
  if (Array.isArray(value)) {
    return value.every((entry) => Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "number");
  }
  if (typeof value !== "object" || value === null) return false;
  const ids = value as Readonly<Record<string, unknown>>;
  return Object.keys(ids).every((text) => typeof ids[text] === "number");
}

const Tokenizer = z.looseObject({
  added_tokens: z.array(AddedToken).default([]),
  normalizer: z.unknown().default(null),
  pre_tokenizer: z.unknown().default(null),
  post_processor: z.unknown().default(null),
  decoder: Decoder.nullable().default(null),
  model: z.looseObject({
    type: z.string().optional(),
    vocab: z.custom<Record<string, number> | [string, number][]>(isVocabulary, "must be an object or list of tokens"),
  }),
});

/** What we read of tokenizer.json; the tokenizer library reads the rest. */
export type TokenizerJson = z.infer<typeof Tokenizer>;

/** A token in tokenizer_config.json: its text, or an object with it. */
const NamedToken = z.union([z.string(), z.looseObject({ content: z.string() }).transform((token) => token.content)]);

const TokenizerConfig = z.looseObject({
  chat_template: z.union([z.string(), z.array(z.looseObject({ name: z.string(), template: z.string() }))]).nullish(),
  bos_token: NamedToken.nullish(),
  eos_token: NamedToken.nullish(),
  unk_token: NamedToken.nullish(),
  pad_token: NamedToken.nullish(),
  sep_token: NamedToken.nullish(),
  cls_token: NamedToken.nullish(),
  mask_token: NamedToken.nullish(),
});

const Ids = z.union([z.int().nonnegative().transform((id) => [id]), z.array(z.int().nonnegative())]);

const GenerationConfig = z.looseObject({
  eos_token_id: Ids.nullish(),
  do_sample: z.boolean().nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  // -1 is another way to say that it is off.
  top_k: z.int().min(-1).transform((count) => Math.max(0, count)).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().gt(0).nullish(),
});

const TextConfig = z.looseObject({
  model_type: z.string().optional(),
  eos_token_id: Ids.nullish(),
  max_position_embeddings: z.int().positive().nullish(),
});
const Config = TextConfig.extend({ text_config: TextConfig.nullish() });

/** Sampling that the checkpoint's makers recommend; absent: not said. */
export interface GenerationDefaults {
  /** 0: greedy (`do_sample: false`). */
  temperature?: number;
  /** (0, 1]. */
  topP?: number;
  /** 0: off. */
  topK?: number;
  /** [0, 1]. */
  minP?: number;
  /** > 0. */
  repetitionPenalty?: number;
}

/** A checkpoint's text side, checked. */
export interface TextFiles {
  /** tokenizer.json. */
  tokenizer: TokenizerJson;
  /** tokenizer_config.json as it is, for the tokenizer library. */
  tokenizerConfig: Record<string, unknown>;
  /** Templates by name; the unnamed one is `default`. */
  templates: Map<string, string>;
  /** `bos_token` and so on, as templates see them. */
  namedTokens: Record<string, string>;
  /** Ids that end an answer, in order, without repeats. */
  endTokens: number[];
  /** From generation_config.json. */
  generationDefaults: GenerationDefaults;
  /** `model_type` of config.json. */
  modelType?: string;
  /** `max_position_embeddings` of config.json. */
  contextTokens?: number;
}

/** Reads a checkpoint's text files. @throws {TextFilesError} If one is missing or damaged, with its path. */
export async function loadTextFiles(directory: string): Promise<TextFiles> {
  const tokenizer = await readJson(directory, "tokenizer.json", Tokenizer);
  if (tokenizer === undefined) {
    throw new TextFilesError(
      `Cannot open ${directory}: tokenizer.json is missing, and no other tokenizer is supported`,
    );
  }
  const tokenizerConfig = await readJson(directory, "tokenizer_config.json", TokenizerConfig) ?? {};
  const generation = await readJson(directory, "generation_config.json", GenerationConfig) ?? {};
  const config = await readJson(directory, "config.json", Config) ?? {};
  const contextTokens = config.text_config?.max_position_embeddings ?? config.max_position_embeddings ?? undefined;
  const namedTokens = toNamedTokens(tokenizerConfig);
  return {
    tokenizer,
    tokenizerConfig,
    templates: await loadTemplates(directory, tokenizerConfig.chat_template),
    namedTokens,
    endTokens: toEndTokens(
      generation.eos_token_id ?? config.eos_token_id ?? config.text_config?.eos_token_id ?? [],
      namedTokens["eos_token"],
      tokenizer,
    ),
    generationDefaults: toDefaults(generation),
    ...(config.model_type === undefined ? {} : { modelType: config.model_type }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
  };
}

async function readText(directory: string, name: string): Promise<string | undefined> {
  const path = `${directory}/${name}`;
  try {
    const { size } = await Deno.stat(path);
    if (size > JSON_FILE_BYTES_MAX) {
      throw new TextFilesError(`Cannot read ${path}: it has ${size} bytes; at most ${JSON_FILE_BYTES_MAX} are read`);
    }
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof TextFilesError) throw error;
    throw new TextFilesError(`Cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function readJson<T>(directory: string, name: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readText(directory, name);
  if (text === undefined) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TextFilesError(`Cannot read ${directory}/${name}: it is no JSON (${reason})`);
  }
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue === undefined || issue.path.length === 0 ? "the document" : issue.path.join(".");
  throw new TextFilesError(`Cannot read ${directory}/${name}: ${where}: ${issue?.message ?? "not as wanted"}`);
}

/** chat_template.jinja wins, then chat_template.json, then tokenizer_config.json (transformers v5's order). */
async function loadTemplates(
  directory: string,
  inConfig: z.infer<typeof TokenizerConfig>["chat_template"],
): Promise<Map<string, string>> {
  const templates = new Map<string, string>();
  if (typeof inConfig === "string") templates.set("default", inConfig);
  else for (const { name, template } of inConfig ?? []) templates.set(name, template);
  const inJson = await readJson(directory, "chat_template.json", z.looseObject({ chat_template: z.string() }));
  if (inJson !== undefined) templates.set("default", inJson.chat_template);
  const inFile = await readText(directory, "chat_template.jinja");
  if (inFile !== undefined) templates.set("default", inFile);
  return templates;
}

function toNamedTokens(config: z.infer<typeof TokenizerConfig>): Record<string, string> {
  const names = ["bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"] as const;
  return Object.fromEntries(names.flatMap((name) => {
    const token = config[name];
    return typeof token === "string" ? [[name, token]] : [];
  }));
}

function toEndTokens(ids: number[], eosToken: string | undefined, tokenizer: TokenizerJson): number[] {
  const vocabulary = tokenizer.model.vocab;
  const added = tokenizer.added_tokens.find((token) => token.content === eosToken)?.id;
  const own = eosToken === undefined
    ? undefined
    : Array.isArray(vocabulary)
    ? vocabulary.findIndex(([text]) => text === eosToken)
    : Object.hasOwn(vocabulary, eosToken)
    ? vocabulary[eosToken]
    : undefined;
  const id = added ?? own;
  return [...new Set(id === undefined || id < 0 ? ids : [...ids, id])];
}

function toDefaults(config: z.infer<typeof GenerationConfig>): GenerationDefaults {
  const temperature = config.do_sample === false ? 0 : config.temperature;
  return {
    ...(typeof temperature === "number" ? { temperature } : {}),
    ...(typeof config.top_p === "number" ? { topP: config.top_p } : {}),
    ...(typeof config.top_k === "number" ? { topK: config.top_k } : {}),
    ...(typeof config.min_p === "number" ? { minP: config.min_p } : {}),
    ...(typeof config.repetition_penalty === "number" ? { repetitionPenalty: config.repetition_penalty } : {}),
  };
}
