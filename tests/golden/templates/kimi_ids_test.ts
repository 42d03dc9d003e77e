/**
 * The ids that Kimi writes come back to it: from its answer to the client, and from there into the next prompt.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ChatTemplate } from "../../../src/prompt/template.ts";
import { decode } from "../tools/suite.ts";
import { goldenTemplates } from "./golden.ts";

Deno.test("Ids of Kimi's calls go to the client as they are and stand in the next prompt", async () => {
  const call = (id: string, json: string): string =>
    `<|tool_call_begin|>${id}<|tool_call_argument_begin|>${json}<|tool_call_end|>`;
  const wanted = ["functions.add_note:0", "functions.get_time:1"];
  const text = `<|tool_calls_section_begin|>${call(wanted[0]!, '{"text": "figs"}')}${call(wanted[1]!, "{}")}` +
    "<|tool_calls_section_end|>";
  const transcript = { shows: "", source: "", text, expect: {} };
  const { ids, calls } = decode(transcript, "kimi", { pieces: [text], special: [] });
  assert.deepEqual(ids, wanted);
  const { "moonshotai-Kimi-K2": golden } = await goldenTemplates();
  assert.ok(golden);
  const template = new ChatTemplate({
    templates: new Map([["default", golden.template]]),
    namedTokens: golden.tokens,
    addedTokens: [],
  });
  const parts = (content: string): { type: "text"; text: string }[] => [{ type: "text", text: content }];
  const pieces = template.render({
    messages: [
      { role: "user", content: parts("Note: figs") },
      {
        role: "assistant",
        content: parts(""),
        toolCalls: calls.map(({ name, arguments: given }, i) => (
          { id: ids[i] ?? "", name, arguments: JSON.stringify(given) }
        )),
      },
      ...ids.map((toolCallId) => ({ role: "tool" as const, content: parts("kept"), toolCallId })),
    ],
    tools: [],
    templateArguments: {},
    addGenerationPrompt: true,
  });
  const prompt = pieces.map((piece) => piece.text).join("");
  for (const id of ids) {
    assert.ok(prompt.includes(`<|tool_call_begin|>${id}<|tool_call_argument_begin|>`), prompt);
    assert.ok(prompt.includes(`## Return of ${id}`), prompt);
  }
});
