/**
 * The server as a process: it ends when it is told to.
 *
 * @module
 */
import assert from "node:assert/strict";
import { serveProcess } from "./served_process.ts";

Deno.test({
  name: "SIGTERM lets a running answer finish and ends the process, though a client never sends its body",
  ignore: Deno.env.get("RMX_TEST_MODEL") === undefined,
  fn: async () => {
    await using served = await serveProcess();
    using connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(served.url).port) });
    const head = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{";
    await connection.write(new TextEncoder().encode(head));
    const answer = await fetch(`${served.url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ messages: [{ role: "user", content: "Count to ten." }], max_tokens: 20, stream: true }),
    });
    const stopped = served.stop();
    assert.match(await answer.text(), /data: \[DONE\]\n\n$/);
    assert.equal(await stopped, 0);
  },
});
