/**
 * A checkpoint → how to talk with it: its line, else what its chat template says.
 *
 * @module
 */
import type { Dialect } from "../output/decoder.ts";
import { findDialect } from "../output/parser_names.ts";
import { detectDialect } from "./detect.ts";
import { type Checkpoint, matchLine } from "./match.ts";
import type { LineProfile } from "./schema.ts";
import { DEFAULT_LINE_ID, type Profiles } from "./store.ts";

/** How to talk with a checkpoint, and why so. */
export interface Resolved {
  /** The line. */
  line: LineProfile;
  /** The line's parsers, or those that the template shows. */
  dialect: Dialect;
  /** For the log and `/v1/models`. */
  reason: string;
}

/** The line of a checkpoint; the default line says nothing of the dialect, so the template is read for it. */
export function resolveProfile(profiles: Profiles, checkpoint: Checkpoint): Resolved {
  const { line, reason } = matchLine(profiles, checkpoint);
  if (line.id !== DEFAULT_LINE_ID) {
    return { line, dialect: findDialect(line.tools.parser, line.reasoning.parser), reason };
  }
  const { reason: marks, ...dialect } = detectDialect(checkpoint.chatTemplate);
  return { line, dialect, reason: `${reason}; ${marks}` };
}
