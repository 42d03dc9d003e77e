import assert from "node:assert/strict";
import { parseBody } from "./body.ts";
import { parseChatRequest } from "./chat_completions.ts";
import type { ConversationRequest } from "./conversation.ts";
import { RequestError } from "./errors.ts";

/** A chat request with more fields, as JSON text. */
function parse(fields: string, message = `{"role":"user","content":"Hi"}`): ConversationRequest {
  return parseChatRequest(parseBody(new TextEncoder().encode(`{"messages":[${message}],${fields}}`)));
}

Deno.test("a seed is any integer of 64 bits, exact to its last digit; a negative one is its low 63 bits", () => {
  const cases: [string, bigint][] = [
    ["0", 0n],
    ["-1", 2n ** 63n - 1n],
    ["-7", 2n ** 63n - 7n],
    ["9007199254740991", 2n ** 53n - 1n],
    ["9007199254740992", 2n ** 53n],
    ["9007199254740993", 2n ** 53n + 1n],
    ["1000000000000000000", 10n ** 18n],
    ["9223372036854775807", 2n ** 63n - 1n],
    ["-9223372036854775808", 0n],
    ['"9007199254740993"', 2n ** 53n + 1n],
  ];
  for (const [text, seed] of cases) assert.equal(parse(`"seed": ${text}`).sampling.seed, seed, text);
  // Only the body's own seed is read so: what tools and templates are given stays as it is.
  const nested = parse(`"seed": 9007199254740993, "chat_template_kwargs": {"seed": 9007199254740994}`);
  assert.equal(nested.sampling.seed, 2n ** 53n + 1n);
  assert.equal(nested.conversation.templateArguments.seed, 9007199254740994);
  for (const text of ["9223372036854775808", "-9223372036854775809", "1e20", "1.5", "true", '"x"', "1e999"]) {
    assert.throws(() => parse(`"seed": ${text}`), (error: unknown) => {
      assert.ok(error instanceof RequestError);
      assert.match(error.message, /`seed`: expected an integer from -2\^63 to 2\^63-1; found/, text);
      return true;
    });
  }
});

Deno.test("an empty name is none", () => {
  const request = parse(`"n": 1`, `{"role":"user","content":"Hi","name":""}`);
  assert.deepEqual(request.conversation.messages, [{ role: "user", content: [{ type: "text", text: "Hi" }] }]);
});

Deno.test("what is wrong with a field is a sentence without the words of a schema library", () => {
  const cases: [string, string][] = [
    [`"logit_bias": 3`, "`logit_bias`: expected an object; found 3."],
    [`"logit_bias": {"5": "x"}`, "`logit_bias.5`: expected a number; found a string."],
    [`"temperature": 1e999`, "`temperature`: expected a number; found a number that is too large."],
    [`"stream": "x"`, "`stream`: expected true or false; found a string."],
    [`"stream_options": 5`, "`stream_options`: expected an object; found 5."],
    [`"top_k": 99999999999`, "`top_k`: expected at most 1048576; found 99999999999."],
    [`"top_logprobs": 1.5`, "`top_logprobs`: expected an integer; found 1.5."],
  ];
  for (const [fields, message] of cases) {
    assert.throws(() => parse(fields), { message: `Invalid request body: ${message}` });
  }
});
