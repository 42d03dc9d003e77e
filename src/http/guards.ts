/**
 * Who may call: Host and Origin checks against web pages that reach for a local server, and the key.
 *
 * A page of a foreign site can make a browser send requests here. It can't forge its Origin, and to read answers by DNS
 * rebinding it must send its own name as Host; both are refused unless allowed by name. Programs send no Origin.
 *
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { RequestError } from "../api/errors.ts";
import { type Config, isLoopback } from "../config.ts";

/** What the guards need of the configuration. */
export type GuardConfig = Pick<Config, "host" | "apiKey" | "allowHosts" | "allowOrigins">;

/** @throws {RequestError} `host_not_allowed`, if the Host header names neither loopback, nor the bound address, nor an
 * allowed host. On another interface than loopback any IP address passes: rebinding needs a name. */
export function checkHost(header: string | null, config: GuardConfig): void {
  const name = toHostName(header ?? "");
  const allowed = isLoopback(name) || name === config.host.toLowerCase() || name === `[${config.host.toLowerCase()}]` ||
    config.allowHosts.includes(name) || (!isLoopback(config.host) && isAddress(name));
  if (allowed) return;
  throw new RequestError(
    "host_not_allowed",
    "The Host header names a host that this server does not answer for. Use localhost or the address that it " +
      "listens on, or start it with --allow-host NAME.",
  );
}

/** @throws {RequestError} `websocket_not_supported`: Codex asks for one first and then goes on over HTTP. */
export function checkUpgrade(headers: Headers): void {
  if (headers.get("upgrade")?.toLowerCase() !== "websocket") return;
  throw new RequestError("websocket_not_supported", "This server answers over HTTP, not over WebSockets.");
}

/**
 * @returns The origin that the answer may name in `access-control-allow-origin`; undefined if there is none.
 * @throws {RequestError} `origin_not_allowed`, for a page that is neither this server's own nor allowed.
 */
export function checkOrigin(headers: Headers, config: GuardConfig): string | undefined {
  const origin = headers.get("origin");
  if (origin === null) return undefined;
  if (config.allowOrigins.includes("*") || config.allowOrigins.includes(origin)) return origin;
  const host = headers.get("host") ?? ""; // checked before; https where a proxy of the user's stands in front
  if (origin === `http://${host}` || origin === `https://${host}`) return origin;
  throw new RequestError(
    "origin_not_allowed",
    "Pages of other origins may not call this server. To let one, start it with --allow-origin ORIGIN.",
  );
}

/** @throws {RequestError} `invalid_api_key`, unless every credential that is shown is the key. */
export function checkKey(headers: Headers, config: GuardConfig): void {
  if (config.apiKey === undefined) return;
  const shown = toCredentials(headers);
  if (shown.length === 0) {
    throw new RequestError(
      "invalid_api_key",
      "API key required: send `Authorization: Bearer KEY` or `x-api-key: KEY`.",
    );
  }
  const expected = digest(config.apiKey);
  let matching = 0;
  for (const credential of shown) matching += timingSafeEqual(digest(credential), expected) ? 1 : 0;
  if (matching !== shown.length) throw new RequestError("invalid_api_key", "Invalid API key.");
}

/** Requests of one client share their turn: one number a key, or an address without one. */
export function toClientNumber(headers: Headers, remote: string): number {
  const [credential] = toCredentials(headers);
  return digest(credential ?? remote).readUInt32LE(0);
}

/** Whose a request is: of the key that it showed. Without a key to show, all are of one. */
export function toOwner(headers: Headers, config: GuardConfig): string {
  if (config.apiKey === undefined) return "";
  return createHash("sha256").update(toCredentials(headers)[0] ?? "").digest("base64");
}

/** CORS headers of an answer to an allowed origin. */
export function toCorsHeaders(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "x-request-id, request-id, x-rapid-mlx-ignored, retry-after, server-timing",
    "vary": "origin",
  };
}

/** The answer to a preflight of an allowed origin: what it asks for, since the key and not the header protects. */
export function toPreflightResponse(headers: Headers, methods: string): Response {
  const asked = headers.get("access-control-request-headers") ?? "";
  const names = /^[A-Za-z0-9, _-]{0,1000}$/.test(asked) ? asked : "";
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": methods,
      ...(names !== "" && { "access-control-allow-headers": names }),
      ...(headers.has("access-control-request-private-network") && { "access-control-allow-private-network": "true" }),
      "access-control-max-age": "3600",
    },
  });
}

function toCredentials(headers: Headers): string[] {
  const shown: string[] = [];
  const authorization = headers.get("authorization");
  if (authorization !== null) shown.push(authorization.replace(/^bearer +/i, ""));
  const key = headers.get("x-api-key");
  if (key !== null) shown.push(key);
  return shown;
}

/** Equal lengths for a comparison that takes the same time wherever two keys differ. */
function digest(text: string): Uint8Array & { readUInt32LE(offset: number): number } {
  return createHash("sha256").update(text).digest();
}

/** `[::1]:8000` → `[::1]`, `Localhost:8000` → `localhost`. */
function toHostName(header: string): string {
  return header.toLowerCase().replace(/:\d{1,5}$/, "");
}

function isAddress(name: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(name) || /^\[[0-9a-f:.]+\]$/.test(name);
}
