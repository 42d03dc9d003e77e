/**
 * Scripted servers for other programs' clients: each plays a call and then an answer, in one format.
 *
 * @module
 */
import { DIALECTS } from "../api/tool_dialects.ts";
import { type ScriptedServer, serveScript } from "../support/scripted_server.ts";

/** Formats of six shapes: JSON in tags, tags, markers, a protocol, marks of its own, Python. */
export const FORMATS = ["hermes", "qwen3_coder_xml", "mistral", "harmony", "gemma4", "lfm"] as const;

/** Servers by format. */
export class ClientServers implements AsyncDisposable {
  /** Address without `/v1` → format. */
  readonly formats = new Map<string, string>();
  readonly #servers: ScriptedServer[] = [];

  /** Starts one for each format. */
  static async open(): Promise<ClientServers> {
    const opened = new ClientServers();
    for (const tools of FORMATS) {
      const end = tools === "harmony" ? "<|channel|>final<|message|>Noted." : "Noted.";
      const replies = [{ when: "kept as 7", text: end }, { text: DIALECTS[tools] }];
      const server = await serveScript({ tools, replies, repeat: true });
      opened.#servers.push(server);
      opened.formats.set(server.url, tools);
    }
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
  }
}
