/**
 * Libraries: `launch` runs the user's own program with the variables that they read; `--setup` writes these into a file
 * to source.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, type ConfigFile, type Places, type Target, toKey, toOpenAiBase } from "../agent.ts";

/** LangChain, of Python and JavaScript. */
export const langchain: Agent = toLibrary({
  id: "langchain",
  title: "LangChain",
  install: "pip install langchain-openai, or npm install @langchain/openai",
  environment: (target) => ({ ...toOpenAiVariables(target), OPENAI_API_BASE: toOpenAiBase(target) }),
  example: ({ model }) => `ChatOpenAI(model="${model}")`,
});

/** PydanticAI. */
export const pydanticAi: Agent = toLibrary({
  id: "pydantic-ai",
  title: "PydanticAI",
  install: "pip install pydantic-ai",
  environment: toOpenAiVariables,
  example: ({ model }) => `Agent("openai-chat:${model}")`,
});

/** smolagents. */
export const smolagents: Agent = toLibrary({
  id: "smolagents",
  title: "smolagents",
  install: "pip install smolagents[openai]",
  environment: toOpenAiVariables,
  example: ({ model }) => `OpenAIModel(model_id="${model}")`,
});

interface Library {
  readonly id: string;
  readonly title: string;
  readonly install: string;
  readonly environment: (target: Target) => Record<string, string>;
  readonly example: (target: Target) => string;
}

function toLibrary({ id, title, install, environment, example }: Library): Agent {
  return {
    id,
    title,
    wire: "chat",
    install,
    traces: () => [],
    files: (target, places) => [toEnvironmentFile(id, environment(target), places)],
    launch: (target) => ({ environment: environment(target) }),
    notes: (target) => [`In your program: ${example(target)}`],
  };
}

/** A file of ours with variables, for a shell to source. */
export function toEnvironmentFile(id: string, environment: Record<string, string>, { config }: Places): ConfigFile {
  const path = join(config, "rapid-mlx", `${id}.env`);
  const lines = Object.entries(environment).map(([name, value]) => `export ${name}=${quote(value)}`);
  return { kind: "whole", path, text: `# Source it:  . ${quote(path)}\n${lines.join("\n")}\n` };
}

function toOpenAiVariables(target: Target): Record<string, string> {
  return { OPENAI_BASE_URL: toOpenAiBase(target), OPENAI_API_KEY: toKey(target) };
}

function quote(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
