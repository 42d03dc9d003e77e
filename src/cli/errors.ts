/**
 * Errors at the command line: a sentence for what can go wrong, a stack for what is a bug.
 *
 * @module
 */
import { ConfigFileError } from "../agents/edits/edit.ts";
import { AgentNameError } from "../agents/mod.ts";
import { ServerError } from "../agents/server.ts";
import { ConfigError } from "../config.ts";
import { CoreError } from "../ffi/core.ts";
import { ScriptError } from "../fake/script.ts";
import { ProfileError } from "../profiles/store.ts";
import { TextFilesError } from "../prompt/errors.ts";
import { GgufError } from "../setup/convert/gguf_file.ts";
import { TraceError } from "../trace/trace_file.ts";
import { SetupError } from "../setup/errors.ts";
import { HubError } from "../setup/hub/endpoint.ts";

/** A command can't do what it was asked to. The message says what was tried, found and wanted. */
export class CommandError extends Error {
  /** @param message Tried, found, wanted. */
  constructor(message: string) {
    super(message);
    this.name = "CommandError";
  }
}

const EXPECTED = [
  AgentNameError,
  CommandError,
  ConfigError,
  ConfigFileError,
  CoreError,
  GgufError,
  HubError,
  ProfileError,
  ScriptError,
  ServerError,
  SetupError,
  TextFilesError,
  TraceError,
  Deno.errors.AddrInUse,
  Deno.errors.AddrNotAvailable,
  Deno.errors.NotFound,
  Deno.errors.PermissionDenied,
];

/** What to print for an error that ended a command. */
export function explain(error: unknown): string {
  if (EXPECTED.some((kind) => error instanceof kind)) return `rapid-mlx: ${(error as Error).message}`;
  return `rapid-mlx: this is a bug.\n${error instanceof Error ? error.stack ?? error.message : String(error)}`;
}
