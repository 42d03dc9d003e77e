/**
 * Flags of commands that talk to a running server → how it is looked for.
 *
 * @module
 */
import type { ServerQuery } from "../agents/server.ts";
import { PORT_FIRST, PORT_LAST } from "../config.ts";

/** Flags that those commands share. */
export interface ServerFlags {
  /** The server's address. */
  readonly url?: string;
  /** Its key (or RAPID_MLX_API_KEY). */
  readonly apiKey?: string;
  /** Served id. */
  readonly model?: string;
}

/** Ports that `serve` takes when none is given. */
export const USUAL_PORTS: readonly number[] = Array.from(
  { length: PORT_LAST - PORT_FIRST + 1 },
  (_, at) => PORT_FIRST + at,
);

/** The query. */
export function toServerQuery(
  { url, apiKey, model }: ServerFlags,
  environment: Readonly<Record<string, string | undefined>>,
): ServerQuery {
  return { url, model, apiKey: apiKey ?? (environment.RAPID_MLX_API_KEY || undefined), ports: USUAL_PORTS };
}
