import assert from "node:assert/strict";
import type { Conversation, Message } from "../flow.ts";
import { textFiles, writeTextCheckpoint } from "../../tests/support/text_checkpoint.ts";
import { TemplateError, TextFilesError, TextWorkerError } from "./errors.ts";
import { openTextModel, type TextModel } from "./text_model.ts";
import { TextWorker } from "./text_worker.ts";

Deno.test("A text model renders, encodes and knows its tokens", async () => {
  await withModel(textFiles(), async (model) => {
    const { text, ids } = await model.render(chat([user("hello")]));
    assert.equal(text, "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n");
    assert.equal(bytesOf(model, ids), text);
    assert.equal(ids.filter((id) => id === 1).length, 2);
    assert.deepEqual(model.endTokens, [2, 0]);
    assert.deepEqual(model.generationDefaults, { temperature: 0.7, topP: 0.9 });
    assert.equal(model.contextTokens, 512);
    assert.ok(model.vocabulary.isSpecial(2));
    assert.ok(!model.vocabulary.isSpecial(3));
  });
});

Deno.test("A text that spells a special token is that token only where it is asked for", async () => {
  await withModel(textFiles(), async (model) => {
    const parsed = await model.encode("a<|im_end|>", { addSpecial: false, parseSpecial: true });
    const plain = await model.encode("a<|im_end|>", { addSpecial: false, parseSpecial: false });
    assert.equal(parsed.at(-1), 2);
    assert.ok(!plain.includes(2));
    assert.equal(bytesOf(model, plain), "a<|im_end|>");
  });
});

Deno.test("A template that raises gives a TemplateError with its own words", async () => {
  const template = "{% if messages[0].content == 'a' %}{{ raise_exception('Not for me') }}{% endif %}";
  await withModel({ ...textFiles(), "chat_template.jinja": template }, async (model) => {
    await assert.rejects(model.render(chat([user("a")])), (error) => {
      assert.ok(error instanceof TemplateError);
      assert.match(error.message, /Not for me/);
      return true;
    });
  });
});

Deno.test("What a template refuses or has no place for is repaired, and the repairs are told", async () => {
  await withModel(textFiles(), async (model) => {
    const tool: Message = { role: "tool", toolCallId: "c1", content: [{ type: "text", text: "x" }] };
    const call: Message = { role: "assistant", content: [], toolCalls: [{ id: "c1", name: "f", arguments: "{}" }] };
    const { text, repairs } = await model.render(chat([user("a"), call, tool]));
    assert.match(text, /user\n<tool_response>\nx\n<\/tool_response>/);
    assert.deepEqual(repairs?.map(({ name }) => name), ["calls_written_as_text", "results_written_as_text"]);
  });
});

Deno.test("A model without a template refuses to chat by name", async () => {
  await withModel({ ...textFiles(), "tokenizer_config.json": {} }, async (model) => {
    await assert.rejects(model.render(chat([user("a")])), /has no chat template/);
  });
});

Deno.test("A last message that is to be continued stays open", async () => {
  await withModel(textFiles(), async (model) => {
    const assistant: Message = { role: "assistant", content: [{ type: "text", text: "Once upon " }] };
    const conversation = { ...chat([user("a"), assistant]), addGenerationPrompt: false };
    assert.match((await model.render(conversation)).text, /assistant\nOnce upon $/);
  });
});

Deno.test("chat_template.jinja wins over tokenizer_config.json", async () => {
  await withModel({ ...textFiles(), "chat_template.jinja": "{{ messages[0].content }}!" }, async (model) => {
    assert.equal((await model.render(chat([user("a")]))).text, "a!");
  });
});

const BAD_FILES: [string, Record<string, unknown>, RegExp][] = [
  ["a missing tokenizer", { "tokenizer.json": undefined }, /tokenizer\.json is missing/],
  ["a truncated tokenizer", { "tokenizer.json": '{"model": {' }, /tokenizer\.json: it is no JSON/],
  ["a vocabulary of another kind", { "tokenizer.json": { model: { vocab: 3 } } }, /model\.vocab/],
  ["an unknown decoder", {
    "tokenizer.json": { model: { type: "BPE", vocab: { a: 0 }, merges: [] }, decoder: { type: "CTC" } },
  }, /CTC/],
  ["sampling out of range", { "generation_config.json": { top_p: 3 } }, /generation_config\.json: top_p/],
  ["ids that are no ids", { "generation_config.json": { eos_token_id: "x" } }, /generation_config\.json: eos_token_id/],
];

for (const [name, changes, message] of BAD_FILES) {
  Deno.test(`A checkpoint with ${name} is refused with the file's name`, async () => {
    const files = Object.fromEntries(
      Object.entries({ ...textFiles(), ...changes }).filter(([, content]) => content !== undefined),
    );
    const directory = await writeTextCheckpoint(files);
    try {
      await assert.rejects(openTextModel(directory), (error) => {
        assert.ok(error instanceof TextFilesError, String(error));
        assert.match(error.message, message);
        return true;
      });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

Deno.test("Models share one worker, and closing one leaves the other", async () => {
  const directory = await writeTextCheckpoint();
  const worker = new TextWorker();
  try {
    const first = await openTextModel(directory, worker);
    const second = await openTextModel(directory, worker);
    await first.close();
    await assert.rejects(first.encode("a", { addSpecial: false, parseSpecial: false }), TextWorkerError);
    assert.equal((await second.encode("a", { addSpecial: false, parseSpecial: false })).length, 1);
  } finally {
    worker.close();
    await Deno.remove(directory, { recursive: true });
  }
});

/** A worker's module that answers a message with these statements. */
function toWorker(statements: string): URL {
  const text = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { ${statements} });`;
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

Deno.test("A worker that ends fails the waiting calls and the later ones with one sentence", async () => {
  const worker = new TextWorker(toWorker("throw new Error('burnt')"));
  const waiting = [worker.call({ type: "close", model: 1 }), worker.call({ type: "close", model: 2 })];
  for (const call of waiting) await assert.rejects(call, /The text worker ended: .*burnt/);
  await assert.rejects(worker.call({ type: "close", model: 3 }), TextWorkerError);
  worker.close();
});

Deno.test("Closing a worker fails the calls that wait", async () => {
  const worker = new TextWorker(toWorker(""));
  const waiting = worker.call({ type: "close", model: 1 });
  worker.close();
  await assert.rejects(waiting, /The text worker is closed/);
});

async function withModel(files: Record<string, unknown>, use: (model: TextModel) => Promise<void>): Promise<void> {
  const directory = await writeTextCheckpoint(files);
  try {
    const model = await openTextModel(directory);
    try {
      await use(model);
    } finally {
      await model.close();
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function user(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

function chat(messages: Message[]): Conversation {
  return { messages, tools: [], templateArguments: {}, addGenerationPrompt: true };
}

function bytesOf(model: TextModel, ids: Int32Array): string {
  return new TextDecoder().decode(Uint8Array.from([...ids].flatMap((id) => [...model.vocabulary.bytes(id)])));
}
