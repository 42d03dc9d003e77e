// deno-lint-ignore-file camelcase -- the script's own names
/**
 * Every recorded request of a real program gets a whole answer, as text and as a call, and no field of it that matters
 * goes unheard.
 *
 * @module
 */
import assert from "node:assert/strict";
import { FOREIGN_SIGNATURE } from "../../src/api/messages/turns.ts";
import { FOREIGN_CONTENT } from "../../src/api/responses/items.ts";
import { serveScript } from "../support/scripted_server.ts";
import { HARMLESS_FIELDS } from "./judge.ts";
import { type Program, PROGRAMS } from "./programs.ts";
import { readRequests, type RecordedRequests } from "./record.ts";
import { CONTEXT_TOKENS } from "./scenarios.ts";

/** How the stream of a route ends when it is whole, and how it shows that a call is in it. */
const ENDS: Readonly<Record<string, { whole: RegExp; calls: RegExp }>> = {
  "/v1/chat/completions": { whole: /"finish_reason":"\w+".*\n\ndata: \[DONE\]\n\n$/s, calls: /"tool_calls"/ },
  "/v1/messages": { whole: /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/, calls: /"tool_use"/ },
  "/v1/responses": { whole: /event: response\.completed\ndata: .*\n\n$/s, calls: /"(function|custom_tool)_call"/ },
};

/** Headers that the programs of a wire send. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "anthropic-version": "2023-06-01",
  "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27",
};

/** Thinking was signed or sealed by the server of the recording, whose key is gone. */
const FOREIGN: readonly string[] = [FOREIGN_SIGNATURE, FOREIGN_CONTENT];

const recorded = await readRequests();

for (const program of PROGRAMS) {
  const fixture = recorded.get(program.id);
  Deno.test({
    name: `Recorded requests of ${program.id} (${fixture?.program}) get whole answers, said and called`,
    ignore: fixture === undefined,
    fn: () => answersAll(program, fixture!.requests),
  });
}

async function answersAll(program: Program, requests: RecordedRequests["requests"]): Promise<void> {
  assert(requests.length > 0);
  const call = program.calls?.read("hello.txt");
  const replies = [{ text: "Hello." }];
  if (call !== undefined) replies.push({ text: `<tool_call>\n${JSON.stringify(call)}\n</tool_call>` });
  const window = { context_tokens: CONTEXT_TOKENS };
  await using server = await serveScript({ tools: "hermes", reasoning: "qwen3", repeat: true, replies, ...window });
  for (const { route, body } of requests) {
    for (const reply of replies) {
      const query = route === "/v1/messages" ? "?beta=true" : "";
      const response = await fetch(`${server.url}${route}${query}`, {
        method: "POST",
        headers: HEADERS,
        body: JSON.stringify(body),
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const { whole, calls } = ENDS[route]!;
      assert.match(text, whole);
      // A request without tools shows the call's text as it is.
      if (reply !== replies[0] && Array.isArray(body.tools)) assert.match(text, calls);
      const ignored = (response.headers.get("x-rapid-mlx-ignored") ?? "").split(", ").filter((name) => name !== "");
      assert.deepEqual(ignored.filter((name) => !(name in HARMLESS_FIELDS) && !FOREIGN.includes(name)), []);
    }
  }
}
