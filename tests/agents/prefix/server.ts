/**
 * The server on a core that draws what a model of models.ts writes, token by token.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { FakeReply } from "../../../src/ffi/fake_reply.ts";
import { openTextModel, type TextModel } from "../../../src/prompt/text_model.ts";
import { spell } from "../../../src/route/kept/read_turn.ts";
import { openTestApp, type TestApp } from "../../support/test_app.ts";
import type { PrefixModel, Said } from "./models.ts";
import type { Json } from "./wires.ts";

/** A prompt, and what was drawn to it without the end token. */
export interface Exchange {
  prompt: Int32Array;
  drawn: Int32Array;
}

/** A server with a model. */
export interface PrefixServer extends AsyncDisposable {
  /** The server. */
  app: TestApp;
  /** Of each request, in order. */
  exchanges: Exchange[];
  /** Asks; the model answers with what is said, or a word. @returns The answer. */
  ask(route: string, body: Json, said?: Said): Promise<Json>;
}

/** Tokens of the model's context. */
const CONTEXT_TOKENS = 131_072;

/** How templates open answers, as far as a model goes by it. */
const OPENINGS = ["", "<think>\n", "<think>\n\n</think>\n\n"];

const DONE: Said = { reasoning: "", content: "Done.", calls: [] };

/** Opens the text side of a model. */
export async function openPrefixText(model: PrefixModel): Promise<TextModel> {
  return await openTextModel(await model.folder());
}

/** Opens a server; the text model is the caller's to close. */
export async function openPrefixServer(model: PrefixModel, text: TextModel): Promise<PrefixServer> {
  const exchanges: Exchange[] = [];
  /** What the model may write next, by how its prompt ends. */
  let next = new Map<string, Int32Array>();
  const reply = ({ prompt }: { prompt: Int32Array }): FakeReply => {
    const end = spell(text.vocabulary, prompt.slice(-16));
    const opening = OPENINGS.findLast((one) => end.endsWith(one)) ?? "";
    const drawn = next.get(opening) ?? new Int32Array();
    const ends = text.endTokens.includes(drawn.at(-1) ?? -1);
    exchanges.push({ prompt: prompt.slice(), drawn: ends ? drawn.slice(0, -1) : drawn });
    return { tokens: [...drawn, ...ends ? [] : text.endTokens.slice(0, 1)] };
  };
  const app = await openTestApp({ text, dialect: model.dialect, contextTokens: CONTEXT_TOKENS, reply });
  return {
    app,
    exchanges,
    ask: async (route, body, said = DONE) => {
      const written = OPENINGS.map(async (opening): Promise<[string, Int32Array]> => [
        opening,
        await text.encode(model.write(said, opening), { addSpecial: false, parseSpecial: true }),
      ]);
      next = new Map(await Promise.all(written));
      const response = await app.post(route, { ...body, stream: false, stream_options: undefined, model: "default" });
      const answer = await response.text();
      assert.equal(response.status, 200, answer);
      return JSON.parse(answer);
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** Tokens that two prompts begin with. */
export function commonLength(left: Int32Array, right: Int32Array): number {
  const length = left.findIndex((id, at) => id !== right[at]);
  return length < 0 ? left.length : length;
}
