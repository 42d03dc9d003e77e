/**
 * The real programs: what to install, how each is run without a person, and the calls by which each reads and edits.
 *
 * What points them at the server is what `rapid-mlx launch` sets (src/agents), so that is tried here too.
 *
 * @module
 */
import type { Launch, Target, Wire } from "../../src/agents/agent.ts";
import { requireAgent } from "../../src/agents/mod.ts";
import type { Package } from "./install.ts";

/** A call as a model makes it. */
export interface Call {
  /** The tool. */
  readonly name: string;
  /** Its arguments; of a freeform tool the text itself. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** A program under test. */
export interface Program {
  /** e.g. `opencode-messages`. */
  readonly id: string;
  /** Id in src/agents. */
  readonly agent: string;
  /** What is installed. */
  readonly package: Package;
  /** Its arguments for one request without a person. @param isPlain Nothing goes wrong: asides may come too. */
  args(prompt: string, isPlain: boolean): readonly string[];
  /** What a run without a person needs beside what `launch` sets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What `launch` sets, changed. */
  readonly adapt?: (launch: Launch, target: Target) => Launch;
  /** Calls that read and edit the file at a path; absent: it has no tools, and edits by text. */
  readonly calls?: { readonly read: (path: string) => Call; readonly edit: (path: string) => Call };
  /** What else it asks before the loop in a plain run, as a part of the last message. */
  readonly aside?: string;
}

/** What the file holds, and what it is to hold. */
export const BEFORE = "The sky is red.\n";
/** What it is to hold. */
export const AFTER = "The sky is blue.\n";
/** What every program is asked. */
export const PROMPT = "Change red to blue in hello.txt.";

const REPLACED = { old: "The sky is red.", new: "The sky is blue." };

const opencodePackage: Package = { from: "npm", name: "opencode-ai", version: "1.18.33", program: "opencode" };

const opencode = (wire: Wire, npm: string): Program => ({
  id: wire === "chat" ? "opencode" : `opencode-${wire}`,
  agent: "opencode",
  package: opencodePackage,
  // It asks for a title first, with the same last message; a title that is given keeps the script's order certain.
  args: (prompt, isPlain) => ["run", ...isPlain ? [] : ["--title", "Sky"], prompt],
  environment: {
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_PERMISSION: '{"*":"allow"}',
  },
  adapt: (launch) => {
    const text = launch.environment.OPENCODE_CONFIG_CONTENT ?? "";
    const content = text.replace("@ai-sdk/openai-compatible", npm);
    return { ...launch, environment: { ...launch.environment, OPENCODE_CONFIG_CONTENT: content } };
  },
  calls: {
    read: (path) => ({ name: "read", arguments: { filePath: path } }),
    edit: (path) => ({
      name: "edit",
      arguments: { filePath: path, oldString: REPLACED.old, newString: REPLACED.new },
    }),
  },
  aside: PROMPT,
});

/** In the order in which they are run. */
export const PROGRAMS: readonly Program[] = [
  {
    id: "claude-code",
    agent: "claude-code",
    package: { from: "npm", name: "@anthropic-ai/claude-code", version: "2.1.332", program: "claude" },
    args: (prompt) => ["-p", prompt, "--permission-mode", "acceptEdits"],
    calls: {
      read: (path) => ({ name: "Read", arguments: { file_path: path } }),
      edit: (path) => ({
        name: "Edit",
        arguments: { file_path: path, old_string: REPLACED.old, new_string: REPLACED.new },
      }),
    },
  },
  {
    id: "codex",
    agent: "codex",
    package: { from: "npm", name: "@openai/codex", version: "0.171.0", program: "codex" },
    args: (prompt) => ["exec", "--sandbox", "danger-full-access", "--skip-git-repo-check", prompt],
    calls: {
      read: () => ({ name: "exec_command", arguments: { cmd: "cat hello.txt" } }),
      edit: () => ({
        name: "apply_patch",
        arguments:
          `*** Begin Patch\n*** Update File: hello.txt\n@@\n-${REPLACED.old}\n+${REPLACED.new}\n*** End Patch\n`,
      }),
    },
  },
  opencode("chat", "@ai-sdk/openai-compatible"),
  opencode("messages", "@ai-sdk/anthropic"),
  opencode("responses", "@ai-sdk/openai"),
  {
    id: "qwen-code",
    agent: "qwen-code",
    package: { from: "npm", name: "@qwen-code/qwen-code", version: "0.24.4", program: "qwen" },
    args: (prompt) => ["-p", prompt, "--approval-mode", "yolo"],
    calls: {
      read: (path) => ({ name: "read_file", arguments: { file_path: path } }),
      edit: (path) => ({
        name: "edit",
        arguments: { file_path: path, old_string: REPLACED.old, new_string: REPLACED.new },
      }),
    },
  },
  {
    id: "continue",
    agent: "continue",
    package: { from: "npm", name: "@continuedev/cli", version: "1.5.47", program: "cn" },
    args: (prompt) => ["-p", "--auto", prompt],
    environment: { CONTINUE_TELEMETRY_ENABLED: "0" },
    calls: {
      read: (path) => ({ name: "Read", arguments: { filepath: path } }),
      edit: (path) => ({
        name: "Edit",
        arguments: { file_path: path, old_string: REPLACED.old, new_string: REPLACED.new },
      }),
    },
  },
  {
    id: "hermes",
    agent: "hermes",
    package: { from: "pip", name: "hermes-agent", version: "0.19.0", program: "hermes" },
    args: (prompt) => ["chat", "-Q", "--yolo", "-q", prompt],
    calls: {
      read: (path) => ({ name: "read_file", arguments: { path } }),
      edit: (path) => ({
        name: "patch",
        arguments: { mode: "replace", path, old_string: REPLACED.old, new_string: REPLACED.new },
      }),
    },
  },
  {
    id: "cline",
    agent: "cline",
    package: { from: "npm", name: "cline", version: "3.0.65", program: "cline" },
    args: (prompt) => ["--auto-approve", "true", prompt],
    calls: {
      read: (path) => ({ name: "read_files", arguments: { files: [{ path }] } }),
      edit: (path) => ({
        name: "editor",
        arguments: { path, old_text: REPLACED.old, new_text: REPLACED.new },
      }),
    },
  },
  {
    id: "aider",
    agent: "aider",
    package: { from: "pip", name: "aider-chat", version: "0.86.2", program: "aider" },
    args: (prompt) => [
      ...["--message", prompt, "--yes-always", "--no-git", "--no-check-update", "--analytics-disable"],
      ...["--no-show-release-notes", "--no-pretty", "--edit-format", "diff", "hello.txt"],
    ],
  },
];

/** What `launch` sets for a program. */
export function toLaunch(program: Program, target: Target, folder: string): Launch {
  const launch = requireAgent(program.agent).launch?.(target, folder);
  if (launch === undefined) throw new Error(`${program.agent} can't be launched.`);
  return program.adapt?.(launch, target) ?? launch;
}
