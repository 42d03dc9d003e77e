/**
 * What the server knows of a client: which wire it speaks, what its configuration is, how it is started.
 *
 * A client is data and pure functions from a Target to values (src/agents/clients); reading, writing and starting are
 * elsewhere, so that what is written for each client can be tested as text.
 *
 * @module
 */

/** The API that a client calls. */
export type Wire = "chat" | "messages" | "responses";

/** What a client is pointed at. */
export interface Target {
  /** Without `/v1` and without a slash at the end, e.g. `http://127.0.0.1:8000`. */
  readonly baseUrl: string;
  /** The server's key; absent: it asks for none. */
  readonly apiKey?: string;
  /** Served id. */
  readonly model: string;
  /** Prompt plus answer, in tokens. */
  readonly contextTokens: number;
  /** Whether it can think before it answers. */
  readonly reasons: boolean;
}

/** Where a user's files are. */
export interface Places {
  /** Home folder. */
  readonly home: string;
  /** Folder of configurations (`XDG_CONFIG_HOME`, else `~/.config`). */
  readonly config: string;
  /** Folder of what apps with windows keep. */
  readonly applications: string;
  /** A variable of the environment; undefined where it is absent or empty. */
  readonly read: (name: string) => string | undefined;
}

/** One step of a path into a file: a key, or the entry of a list whose `key` is `is` (appended if there is none). */
export type PathPart = string | { readonly key: string; readonly is: string };

/** What JSON, TOML and YAML can all hold. */
export type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value };

/** One value to set; what else the file holds stays. */
export interface Edit {
  /** Never empty. */
  readonly path: readonly PathPart[];
  /** New value. */
  readonly value: Value;
  /** A value of the user's stays; ours is only for a file without one. */
  readonly isDefault?: true;
}

/** How a file that is edited is written. JSON may have comments. */
export type FileFormat = "json" | "toml" | "yaml";

/** What a file is to hold. */
export type ConfigFile =
  | { readonly kind: "edits"; readonly path: string; readonly format: FileFormat; readonly edits: readonly Edit[] }
  | { readonly kind: "whole"; readonly path: string; readonly text: string };

/** How a client is started without touching its files. */
export interface Launch {
  /** Variables to set. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of the user that would point it elsewhere. */
  readonly unset?: readonly string[];
  /** Before the user's own arguments. */
  readonly args?: readonly string[];
  /** Temporary files: name in the folder that was given → text. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A client. */
export interface Agent {
  /** On the command line, e.g. `claude-code`. */
  readonly id: string;
  /** As people call it. */
  readonly title: string;
  /** What it calls. */
  readonly wire: Wire;
  /** Program that `launch` starts; absent: the user's arguments are the command. */
  readonly program?: string;
  /** How to get the program, when it is not there. */
  readonly install: string;
  /** Files or folders that a user of it has. */
  traces(places: Places): readonly string[];
  /** What `--setup` writes. */
  files(target: Target, places: Places): readonly ConfigFile[];
  /** What `launch` sets; absent: it can't be started that way, and `notes` say why. @param folder For its files. */
  launch?(target: Target, folder: string): Launch;
  /** What the user must know or do. */
  notes?(target: Target): readonly string[];
  /** Why a target can't serve it; undefined: it can. */
  refuse?(target: Target): string | undefined;
}

/** Shown as key where a client wants one and the server asks for none. */
export const NO_KEY = "none-needed";

/** Longest silence that clients are told to bear while a prompt is read, in ms: half an hour. */
export const SILENCE_MS = 1_800_000;

/** Base URL of the OpenAI wires. */
export function toOpenAiBase({ baseUrl }: Target): string {
  return `${baseUrl}/v1`;
}

/** The key to show. */
export function toKey({ apiKey }: Target): string {
  return apiKey ?? NO_KEY;
}

/** Longest answer to ask for, in tokens: a quarter of the window, at most 32,000 as Claude Code asks for. */
export function toOutputTokens({ contextTokens }: Target): number {
  return Math.min(32_000, Math.max(256, Math.floor(contextTokens / 4)));
}

/** When to shorten a conversation, in tokens: while an answer of the longest kind still fits. */
export function toCompactTokens(target: Target): number {
  return target.contextTokens - toOutputTokens(target);
}

/** An environment as edits of a file that holds one under `path`. */
export function toEdits(path: readonly PathPart[], values: Readonly<Record<string, Value>>): Edit[] {
  return Object.entries(values).map(([name, value]) => ({ path: [...path, name], value }));
}
