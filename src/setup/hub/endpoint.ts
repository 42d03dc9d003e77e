/**
 * Where models are fetched from, and how: endpoint, token, offline switch, and one fetch that holds the rules.
 *
 * The variables are those of Hugging Face's own libraries: HF_ENDPOINT, HF_TOKEN (else the file that `hf auth login`
 * writes), HF_HUB_OFFLINE. The token goes to the endpoint's origin and nowhere else; big files are served by others.
 *
 * @module
 */
import { join } from "node:path";
import { homeFolder, readProcessVariable, type ReadVariable } from "../folders.ts";

/** How to reach the hub. */
export interface HubEndpoint {
  /** Without a slash at the end, e.g. `https://huggingface.co`. */
  readonly url: string;
  /** Sent as bearer token to the endpoint. */
  readonly token: string | undefined;
  /** Nothing may be fetched. */
  readonly isOffline: boolean;
}

/** The hub can't be used as asked, or gave something else than it should. The message is for the person who asked. */
export class HubError extends Error {
  /** @param message Tried, found, wanted. */
  constructor(message: string) {
    super(message);
    this.name = "HubError";
  }
}

const DEFAULT_URL = "https://huggingface.co";

/** Reads the environment and the token file. @throws {HubError} If HF_ENDPOINT is no http address. */
export async function openEndpoint(read: ReadVariable = readProcessVariable): Promise<HubEndpoint> {
  const url = (read("HF_ENDPOINT") ?? DEFAULT_URL).replace(/\/+$/, "");
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new HubError(`HF_ENDPOINT is ${url}; wanted is an address that starts with https:// or http://.`);
  }
  const isOffline = /^(1|true|yes|on)$/i.test(read("HF_HUB_OFFLINE") ?? "");
  return { url, token: read("HF_TOKEN") ?? await readTokenFile(read), isOffline };
}

async function readTokenFile(read: ReadVariable): Promise<string | undefined> {
  const hubHome = read("HF_HOME") ?? join(read("XDG_CACHE_HOME") ?? join(homeFolder(read), ".cache"), "huggingface");
  const path = read("HF_TOKEN_PATH") ?? join(hubHome, "token");
  const text = await Deno.readTextFile(path).catch(() => "");
  return text.trim() || undefined;
}

/** A fetch for this endpoint. @throws {HubError} When it is offline. */
export function toFetch(endpoint: HubEndpoint): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    if (endpoint.isOffline) throw new HubError("HF_HUB_OFFLINE is set: nothing is fetched.");
    if (endpoint.token !== undefined && new URL(request.url).origin === new URL(endpoint.url).origin) {
      request.headers.set("authorization", `Bearer ${endpoint.token}`);
    }
    return await fetch(request);
  };
}
