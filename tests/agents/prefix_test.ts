/**
 * What two consecutive prompts of an agent share, token by token: real programs' recorded requests, real templates and
 * tokenizers, and a model that never writes a call as its template would. `PREFIX_FIGURES=1` prints the figures, of
 * every program with every model.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { TextModel } from "../../src/prompt/text_model.ts";
import { type Chain, toChains } from "./prefix/chains.ts";
import { PREFIX_MODELS, type PrefixModel } from "./prefix/models.ts";
import { playChain } from "./prefix/play.ts";
import { commonLength, type Exchange, openPrefixServer, openPrefixText } from "./prefix/server.ts";
import { readRequests } from "./record.ts";

/** Least part of a prompt, up to its last turn, that the next one begins with. */
const SHARED_MIN = 0.99;

/** Models that every program is played with, and programs that are played with every model: one a wire. */
const EVERY_PROGRAM = ["SmolLM2", "Qwen3"];
const EVERY_MODEL = ["claude-code", "codex", "opencode"];
const ALL = Deno.env.has("PREFIX_FIGURES");

const recorded = await readRequests();
const programs = [...recorded].map(([id, requests]) => ({ id, chains: toChains(requests) }))
  .sort((a, b) => a.id < b.id ? -1 : 1);

/** Tokens of prompts up to their last turn and of answers, and those of both that the next prompt begins with. */
interface Shared {
  prompts: number;
  promptsKept: number;
  answers: number;
  answersKept: number;
}

for (const model of PREFIX_MODELS) {
  Deno.test(`Prompts of recorded agents stay cached with ${model.name}`, async (context) => {
    const text = await openPrefixText(model);
    try {
      const lines: string[] = [];
      for (const { id, chains } of programs) {
        if (!ALL && !EVERY_PROGRAM.includes(model.name) && !EVERY_MODEL.includes(id)) continue;
        await context.step(id, async () => {
          const { promptsKept, prompts, answersKept, answers } = await play(model, text, id, chains);
          lines.push(`${id}: ${promptsKept} of ${prompts} in prompts, ${answersKept} of ${answers} in answers`);
        });
      }
      // deno-lint-ignore no-console -- figures were asked for
      if (ALL) console.log(`${model.name}\n${lines.join("\n")}`);
    } finally {
      await text.close();
    }
  });
}

async function play(model: PrefixModel, text: TextModel, id: string, chains: readonly Chain[]): Promise<Shared> {
  const total: Shared = { prompts: 0, promptsKept: 0, answers: 0, answersKept: 0 };
  assert(chains.length > 0);
  for (const chain of chains) {
    await using server = await openPrefixServer(model, text);
    await playChain(server, chain);
    assert.equal(server.exchanges.length, chain.steps.length);
    for (const [at, before] of server.exchanges.slice(0, -1).entries()) {
      const { prompt: after } = server.exchanges[at + 1]!;
      const boundary = findBoundary(before.prompt, text);
      const common = commonLength(toAll(before), after);
      const shared = Math.min(common, boundary);
      assert(shared >= SHARED_MIN * boundary, `step ${at}: ${shared} of ${boundary} tokens are shared`);
      const answer = before.drawn.length;
      const kept = Math.max(0, common - before.prompt.length);
      const calls = chain.steps[at]?.said?.calls.length ?? 0;
      const mayChange = model.reopens?.[id] !== undefined || (model.partsCalls === true && calls > 1);
      assert(kept === answer || mayChange, `step ${at}: ${kept} of ${answer} tokens that were drawn are kept`);
      total.prompts += boundary;
      total.promptsKept += shared;
      total.answers += answer;
      total.answersKept += kept;
    }
  }
  return total;
}

/** Where the last turn of a prompt ends: behind its last control token, which opens the answer. */
function findBoundary(prompt: Int32Array, { vocabulary }: TextModel): number {
  return prompt.findLastIndex((id) => vocabulary.isSpecial(id)) + 1;
}

function toAll({ prompt, drawn }: Exchange): Int32Array {
  return Int32Array.from([...prompt, ...drawn]);
}
