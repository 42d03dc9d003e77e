/**
 * The text worker: templates and tokenizers in an isolate of their own, because encoding a long prompt takes 100 ms and
 * would stop every stream meanwhile. Answers calls in order; a call that fails is answered, and never ends the worker.
 *
 * @module
 */
import { parentPort, type Transferable, workerData } from "node:worker_threads";
import { CheckpointText } from "./checkpoint_text.ts";
import { TextWorkerError } from "./errors.ts";
import { giveWay } from "./give_way.ts";
import { type TextCall, type TextReply, type TextRequest, type TextResults, toFailure } from "./protocol.ts";

if (workerData?.givesWay === true) giveWay();

const models = new Map<number, CheckpointText>();
let opened = 0;

/** Calls wait for the one before them: only `open` reads files, and a `close` must not overtake it. */
let queue: Promise<void> = Promise.resolve();

parentPort?.on("message", (data: TextRequest) => {
  queue = queue.then(async () => {
    let reply: TextReply;
    try {
      reply = { number: data.number, ok: true, result: await answer(data.call) };
    } catch (error) {
      reply = { number: data.number, ok: false, ...toFailure(error) };
    }
    parentPort?.postMessage(reply, reply.ok ? moved(reply.result) : []);
  });
});

async function answer(call: TextCall): Promise<TextResults[keyof TextResults]> {
  switch (call.type) {
    case "open": {
      const model = await CheckpointText.open(call.directory);
      const number = ++opened;
      const description = model.describe(number);
      models.set(number, model);
      return description;
    }
    case "render":
      return requireModel(call.model).render(call.conversation, call.tokensMax);
    case "encode":
      return requireModel(call.model).encode(call.text, call.options, call.tokensMax);
    case "close":
      models.delete(call.model);
      return null;
  }
}

function requireModel(number: number): CheckpointText {
  const model = models.get(number);
  if (model === undefined) throw new TextWorkerError("Cannot use the model's text: it is closed");
  return model;
}

/** Buffers that the reply gives away instead of copying. */
function moved(result: TextResults[keyof TextResults]): Transferable[] {
  if (result === null) return [];
  if (result instanceof Int32Array) return [result.buffer];
  if ("ids" in result) return [result.ids.buffer];
  return [result.table.bytes.buffer, result.table.offsets.buffer, result.table.special.buffer];
}
