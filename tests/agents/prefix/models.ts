/**
 * Models that agents talk with in the prefix tests: real templates and tokenizers, and how such a model writes an
 * answer. What it writes is never just as its template would: JSON has blanks of its own and keys in another order.
 *
 * @module
 */
import type { Dialect } from "../../../src/output/decoder.ts";
import { requireTemplates } from "../../support/template_sdist.ts";
import { type GoldenModel, requireTextFolder } from "../../support/text_models.ts";

/** An answer, as it is meant. */
export interface Said {
  /** "" where it does not think. */
  reasoning: string;
  /** Text. */
  content: string;
  /** In order. */
  calls: { name: string; arguments: Record<string, unknown> }[];
}

/** A model. */
export interface PrefixModel {
  /** For the name of the test. */
  name: string;
  /** Folder with its text files. */
  folder: () => Promise<string>;
  /** How it is read. */
  dialect: Dialect;
  /** What it writes. @param prompt The end of its prompt. */
  write: (said: Said, prompt: string) => string;
  /** Its template shows one call a turn: answers with more are rendered, and not as they were written. */
  partsCalls?: true;
  /** Programs whose answers its template shows otherwise than it opens them, and why. */
  reopens?: Readonly<Record<string, string>>;
}

/** JSON with blanks as no template writes it, keys backwards. */
function toOddJson(value: Record<string, unknown>): string {
  const backwards = Object.fromEntries(Object.entries(value).reverse());
  return JSON.stringify(backwards, null, 1).replaceAll(/\n\s*/g, " ");
}

function thinkInTags({ reasoning }: Said, prompt: string): string {
  if (prompt.trimEnd().endsWith("</think>")) return "";
  const opened = prompt.trimEnd().endsWith("<think>");
  return `${opened ? "" : "<think>\n"}${reasoning}\n</think>\n\n`;
}

function writeHermes({ content, calls }: Said): string {
  const parts = calls.map(({ name, arguments: json }) =>
    `<tool_call>\n{"name":  "${name}", "arguments": ${toOddJson(json)}}\n</tool_call>`
  );
  return [...content === "" ? [] : [content], ...parts].join("\n");
}

function writeCoder({ content, calls }: Said): string {
  const parts = calls.map(({ name, arguments: json }) => {
    const parameters = Object.entries(json).reverse().map(([key, value]) =>
      `<parameter=${key}>\n${typeof value === "string" ? value : JSON.stringify(value)}\n</parameter>\n`
    );
    return `<tool_call>\n<function=${name}>\n${parameters.join("")}</function>\n</tool_call>`;
  });
  return [...content === "" ? [] : [content], ...parts].join("\n");
}

function writeDeepSeek({ content, calls }: Said): string {
  if (calls.length === 0) return content;
  const parts = calls.map(({ name, arguments: json }) =>
    `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${toOddJson(json)}\n\`\`\`<｜tool▁call▁end｜>`
  );
  return `${content}<｜tool▁calls▁begin｜>${parts.join("\n")}<｜tool▁calls▁end｜>`;
}

function writeLlama({ content, calls }: Said): string {
  if (calls.length === 0) return content;
  return calls.map(({ name, arguments: json }) => `{"name": "${name}",  "parameters": ${toOddJson(json)}}`).join("; ");
}

function writeHarmony({ reasoning, content, calls }: Said): string {
  const messages = [
    ...reasoning === "" ? [] : [`<|channel|>analysis<|message|>${reasoning}`],
    ...content === "" ? [] : [`<|channel|>${calls.length === 0 ? "final" : "commentary"}<|message|>${content}`],
    ...calls.map(({ name, arguments: json }) =>
      `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${toOddJson(json)}`
    ),
  ];
  return messages.join("<|end|><|start|>assistant") + (calls.length > 0 ? "<|call|>" : "");
}

/** A model of the goldens as it is. */
const own = (model: GoldenModel) => (): Promise<string> => requireTextFolder(model);

/** The tokenizer of a model with another line's template, which has the same control tokens. */
const withTemplate = (model: GoldenModel, template: string, endTokens: number[]) => async (): Promise<string> => {
  const source = (await requireTemplates()).get(template);
  if (source === undefined) throw new Error(`The package of templates has no ${template}`);
  const from = await requireTextFolder(model);
  const folder = await Deno.makeTempDir({ prefix: "prefix_model_" });
  for (const name of ["tokenizer.json", "tokenizer_config.json"]) {
    await Deno.copyFile(`${from}/${name}`, `${folder}/${name}`);
  }
  await Deno.writeTextFile(`${folder}/chat_template.jinja`, source);
  await Deno.writeTextFile(`${folder}/generation_config.json`, JSON.stringify({ "eos_token_id": endTokens }));
  return folder;
};

/** All of them. */
export const PREFIX_MODELS: readonly PrefixModel[] = [
  {
    name: "SmolLM2",
    folder: own("smollm2"),
    dialect: { tools: "hermes", reasoning: "none" },
    write: writeHermes,
  },
  {
    name: "Qwen3",
    folder: own("qwen3"),
    dialect: { tools: "hermes", reasoning: "qwen3" },
    write: (said, prompt) => thinkInTags(said, prompt) + writeHermes(said),
    reopens: { "opencode-messages": "thinking is off: an empty block opens answers and is not shown later" },
  },
  {
    name: "Qwen3.5",
    folder: withTemplate("qwen3", "Qwen3.5-4B", [151_645, 151_643]),
    dialect: { tools: "qwen3_coder_xml", reasoning: "qwen3" },
    write: (said, prompt) => thinkInTags(said, prompt) + writeCoder(said),
    reopens: { aider: "thinking before the last question is not shown" },
  },
  {
    name: "Qwen3-Coder",
    folder: withTemplate("qwen3", "Qwen3-Coder", [151_645, 151_643]),
    dialect: { tools: "qwen3_coder_xml", reasoning: "none" },
    write: writeCoder,
  },
  {
    name: "Llama 3",
    folder: withTemplate("llama3", "meta-llama-Llama-3.3-70B-Instruct", [128_001, 128_008, 128_009]),
    dialect: { tools: "llama", reasoning: "none" },
    write: writeLlama,
    partsCalls: true,
  },
  {
    name: "Gemma 3",
    folder: own("gemma3"),
    dialect: { tools: "hermes", reasoning: "none" },
    write: writeHermes,
  },
  {
    name: "DeepSeek V3",
    folder: own("deepseek_v3"),
    dialect: { tools: "deepseek_v3", reasoning: "none" },
    write: writeDeepSeek,
  },
  {
    name: "gpt-oss",
    folder: withTemplate("gptoss", "openai-gpt-oss-120b", [200_002, 199_999, 200_012]),
    dialect: { tools: "harmony", reasoning: "none" },
    write: writeHarmony,
    partsCalls: true,
  },
];
