/**
 * Sixteen requests at once on the real model, four of which leave: the others say what each says alone.
 *
 * @module
 */
import assert from "node:assert/strict";
import OpenAI from "openai";
import { type ServedProcess, serveProcess } from "./served_process.ts";

const MODEL_ID = "smollm2-135m-instruct";
const COUNT = 16;
/** These leave after their first piece of text. */
const LEAVING = new Set([2, 5, 8, 13]);

interface Job {
  content: string;
  temperature: number;
  seed: number;
}

/** Greedy and seeded in turn, of different lengths. */
const JOBS: Job[] = Array.from({ length: COUNT }, (_, index) => ({
  content: `Request ${index}: name ${index + 1} words. ${"Please be brief. ".repeat(index % 5)}`,
  temperature: index % 2 === 0 ? 0 : 1,
  seed: 500 + index,
}));

/** The text of an answer; undefined for a client that left. */
async function ask(client: OpenAI, { content, temperature, seed }: Job, leaves: boolean): Promise<string | undefined> {
  const stream = await client.chat.completions.create({
    model: MODEL_ID,
    messages: [{ role: "user", content }],
    temperature,
    seed,
    max_tokens: 16,
    stream: true,
  });
  let text = "";
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? "";
    if (leaves && text !== "") return undefined; // leaving the loop closes the connection
  }
  return text;
}

/** The status once nothing runs any more. */
async function quietStatus(served: ServedProcess): Promise<Record<string, unknown>> {
  for (;;) {
    const status = await (await fetch(`${served.url}/v1/status`)).json();
    if (status.num_running + status.num_waiting === 0 && status.requests.length === 0) return status;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

Deno.test({
  name: "sixteen requests at once say what each says alone, and four that leave are gone without a trace",
  ignore: Deno.env.get("RMX_TEST_MODEL") === undefined,
  fn: async () => {
    await using served = await serveProcess();
    const client = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: "unused", maxRetries: 0, timeout: 300_000 });
    const alone: (string | undefined)[] = [];
    for (const job of JOBS) alone.push(await ask(client, job, false));
    const before = await quietStatus(served);
    const together = await Promise.all(JOBS.map((job, index) => ask(client, job, LEAVING.has(index))));
    for (const [index, text] of together.entries()) {
      assert.equal(text, LEAVING.has(index) ? undefined : alone[index], JOBS[index]?.content);
    }
    const after = await quietStatus(served);
    assert.equal(
      Number(after.total_requests_processed) - Number(before.total_requests_processed),
      COUNT - LEAVING.size,
    );
    const bytes = (status: Record<string, unknown>): unknown => Reflect.get(Object(status.memory), "kv_bytes");
    assert.equal(bytes(after), bytes(before));
    const metrics = await (await fetch(`${served.url}/metrics`)).text();
    assert.match(metrics, new RegExp(`^rapid_mlx_requests_cancelled_via_disconnect_total ${LEAVING.size}$`, "m"));
    assert.match(metrics, /^rapid_mlx_requests_failed_total 0$/m);
  },
});
