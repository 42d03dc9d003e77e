import assert from "node:assert/strict";
import { parseBody } from "./body.ts";
import { IgnoredFields } from "./fields.ts";
import { toMessages } from "./messages.ts";

Deno.test("arguments that come as an object keep their numbers to the last digit", () => {
  const given = '{"id":12345678901234567890,"in":{"list":[0.1000000000000000055511151231257827,-1e400]}}';
  const call = `{"id":"a","type":"function","function":{"name":"f","arguments":${given}}}`;
  const body = `{"messages":[{"role":"assistant","tool_calls":[${call}]}]}`;
  const [message] = toMessages(parseBody(new TextEncoder().encode(body)).messages, new IgnoredFields());
  assert.equal(message?.toolCalls?.[0]?.arguments, given);
});
