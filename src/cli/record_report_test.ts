import assert from "node:assert/strict";
import { serveScript } from "../../tests/support/scripted_server.ts";
import { type RequestRecord, RequestRecordSchema } from "../api/request_record.ts";
import { findings, toReport } from "./record_report.ts";

const TOOLS = [{ type: "function", function: { name: "add_note", parameters: { type: "object" } } }];

async function record(
  reply: Record<string, unknown>,
  body: Record<string, unknown> = {},
  path = "/v1/chat/completions",
): Promise<RequestRecord> {
  await using server = await serveScript({ tools: "hermes", reasoning: "qwen3", replies: [reply] });
  const tools = path === "/v1/messages" ? [] : TOOLS;
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], tools, ...body }),
  });
  await response.text();
  return RequestRecordSchema.parse(await (await fetch(`${server.url}/v1/requests/last`)).json());
}

Deno.test("A report shows what the model wrote beside what the client saw", async () => {
  const text = '<think>Hm.</think>Kept.<tool_call>\n{"name": "add_note", "arguments": {"a": 1}}\n</tool_call>';
  const report = toReport(await record({ text }), { full: false }).join("\n");
  assert.match(report, /read by {3}hermes \(calls\), qwen3 \(reasoning\)/);
  assert.match(report, /reasoning .*client "Hm\."/);
  assert.match(report, /content .*client "Kept\."/);
  assert.match(report, /call .*model .*tool_call.*client "add_note \(call_\w+\)"/);
  assert.match(report, /lost 0/);
  assert.match(report, /=> Nothing was repaired, cut or lost/);
});

Deno.test("A report lays a damaged call, a cut and an empty answer to the model, and tells limits and stops", async () => {
  const blame = async (reply: Record<string, unknown>, body = {}): Promise<string> =>
    findings(await record(reply, body)).join("\n");
  assert.match(
    await blame({ text: "<tool_call>{nonsense}</tool_call>" }),
    /Model: choice 0: it wrote a call that can't/,
  );
  assert.match(await blame({ text: "Once upon", finish: "length" }), /Cut: choice 0 reached its limit/);
  assert.match(await blame({ text: "One. Two." }, { stop: "Two" }), /ended at a stop string/);
  assert.match(await blame({ text: "<think>Hm.</think>" }), /has no content, only reasoning/);
  assert.match(await blame({ text: "No." }, { tool_choice: "required" }), /^Model: The model answered without/);
  assert.match(await blame({ status: 429, retry_after: 1 }), /Not answered \(server_busy\)/);
});

Deno.test("A report tells of reasoning that the client did not see, on the wire where it has to ask", async () => {
  const blame = async (body = {}): Promise<string> =>
    findings(await record({ text: "<think>Hm.</think>So." }, body, "/v1/messages")).join("\n");
  assert.equal(await blame(), "Not asked for: the client was not shown the reasoning.");
  assert.match(await blame({ thinking: { type: "adaptive", display: "omitted" } }), /given the reasoning sealed/);
  assert.match(await blame({ thinking: { type: "adaptive" } }), /^Nothing was repaired, cut or lost/);
});

Deno.test("A report lays an inner failure and lost characters to the server", async () => {
  assert.match(findings(await record({ text: "One", finish: "error" })).join("\n"), /^Server fault: the answer failed/);
  const whole = await record({ text: "One" });
  const [choice] = whole.choices;
  assert.ok(choice);
  choice.characters.lost = 3;
  assert.match(findings(whole)[0] ?? "", /^Server fault: 3 characters/);
});

Deno.test("Long texts and long lists are cut, unless all is asked for", async () => {
  const long = await record({ chunks: Array.from({ length: 300 }, (_, at) => at % 2 === 0 ? `word${at} ` : "<|x|>") });
  const cut = toReport(long, { full: false }).join("\n");
  assert.match(cut, /more rows \(--full\)/);
  assert.doesNotMatch(cut, /word298/);
  assert.match(toReport(long, { full: true }).join("\n"), /word298/);
});
