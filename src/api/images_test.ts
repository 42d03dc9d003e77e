// deno-lint-ignore-file camelcase -- the wire's own names
import assert from "node:assert/strict";
import type { Message } from "../flow.ts";
import { parseChatRequest } from "./chat_completions.ts";
import { RequestError } from "./errors.ts";
import { IMAGE_NOT_SHOWN } from "./images.ts";

const IMAGE = { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "high" } };
const CALL = { id: "call_1", type: "function", function: { name: "read", arguments: "{}" } };

function parse(messages: object[]): { messages: Message[]; ignored: string[] } {
  const { conversation, ignored } = parseChatRequest({ messages });
  return { messages: conversation.messages, ignored: ignored.names() };
}

function textOf(message: Message | undefined): string | undefined {
  return message?.content.map(({ text }) => text).join("|");
}

Deno.test("an image of an earlier turn becomes a text that says so, and is listed", () => {
  for (const image of [IMAGE, { type: "input_image", image_url: "data:" }, { type: "image", source: {} }]) {
    const { messages, ignored } = parse([
      { role: "user", content: [{ type: "text", text: "What is this?" }, image] },
      { role: "assistant", content: "A cat." },
      { role: "user", content: "Sure?" },
    ]);
    assert.equal(textOf(messages[0]), `What is this?|${IMAGE_NOT_SHOWN}`);
    assert.deepEqual(ignored, [`messages[].content[].${image.type}`]);
  }
});

Deno.test("an image in the result of a tool becomes a text, and so does one that the client sends right behind it", () => {
  const turns = [
    { role: "user", content: "Look at it" },
    { role: "assistant", content: null, tool_calls: [CALL] },
  ];
  const inside = parse([...turns, { role: "tool", tool_call_id: "call_1", content: [IMAGE] }]);
  assert.equal(textOf(inside.messages[2]), IMAGE_NOT_SHOWN);
  const behind = parse([
    ...turns,
    { role: "tool", tool_call_id: "call_1", content: "Image read successfully" },
    { role: "user", content: [IMAGE] },
  ]);
  assert.equal(textOf(behind.messages[3]), IMAGE_NOT_SHOWN);
  assert.deepEqual(behind.ignored, ["messages[].content[].image_url"]);
});

Deno.test("an image in the newest message of the user is refused by its name, also while its tools run", () => {
  const asked = { role: "user", content: [{ type: "text", text: "What is this?" }, IMAGE] };
  for (
    const messages of [
      [asked],
      [{ role: "system", content: "s" }, asked],
      [asked, { role: "assistant", content: "", tool_calls: [CALL] }, {
        role: "tool",
        tool_call_id: "call_1",
        content: "x",
      }],
    ]
  ) {
    const index = messages.indexOf(asked);
    assert.throws(() => parse(messages), (error) => {
      assert(error instanceof RequestError);
      assert.equal(error.code, "unsupported_field");
      assert.equal(error.options.param, `messages[${index}].content[1]`);
      assert.match(error.message, /image/);
      return true;
    });
  }
});
