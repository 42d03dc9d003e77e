/**
 * Cursor: its own servers call the address, so it must be public, over https, and have a key.
 *
 * @module
 */
import { join } from "node:path";
import { type Agent, toEdits, toKey, toOpenAiBase } from "../agent.ts";

/** Cursor. */
export const cursor: Agent = {
  id: "cursor",
  title: "Cursor",
  wire: "chat",
  install: "https://cursor.com",
  traces: ({ home, applications }) => [join(applications, "Cursor"), join(home, ".cursor")],
  files: (target, { applications }) => [{
    kind: "edits",
    path: join(applications, "Cursor/User/settings.json"),
    format: "json",
    edits: toEdits([], {
      "cursor.aiprovider.openai.baseUrl": toOpenAiBase(target),
      "cursor.aiprovider.openai.apiKey": toKey(target),
      "cursor.aiprovider.openai.model": target.model,
    }),
  }],
  refuse: ({ baseUrl, apiKey }) => {
    const { protocol, hostname } = new URL(baseUrl);
    if (protocol !== "https:" || isPrivate(hostname)) {
      return "Cursor's own servers call the address, so they can't reach " +
        `${baseUrl}: put a tunnel with https before the server and give its address with --url https://….`;
    }
    if (apiKey === undefined) {
      return "A public address needs a key: start the server with --api-key and --allow-host, and give --api-key here.";
    }
    return undefined;
  },
  notes: ({ baseUrl, model }) => [
    `The server must answer for the tunnel's name: rapid-mlx serve --api-key KEY --allow-host ${
      new URL(baseUrl).hostname
    }`,
    `If Cursor shows other values, enter them under Settings, Models: OpenAI key, override base URL, model ${model}.`,
  ],
};

function isPrivate(host: string): boolean {
  return host === "localhost" || host.endsWith(".local") || host.startsWith("[") ||
    /^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(host);
}
