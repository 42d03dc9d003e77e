/**
 * Prompts of real chat templates and small ones, and ids of whole conversations, equal to the reference
 * (tests/golden/README.md).
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Conversation } from "../../../src/flow.ts";
import { CheckpointText } from "../../../src/prompt/checkpoint_text.ts";
import { JinjaError } from "../../../src/prompt/jinja/errors.ts";
import { parseJson } from "../../../src/prompt/jinja/json.ts";
import { JinjaTemplate } from "../../../src/prompt/jinja/template.ts";
import { Dict } from "../../../src/prompt/jinja/values.ts";
import { ChatTemplate } from "../../../src/prompt/template.ts";
import { requireTextFolder } from "../../support/text_models.ts";
import { CONVERSATIONS, HOSTILE } from "./conversations.ts";
import expected from "./expected.json" with { type: "json" };
import expectedIds from "./expected_ids.json" with { type: "json" };
import expectedSnippets from "./expected_snippets.json" with { type: "json" };
import { digestText, goldenTemplates, TEMPLATED_MODELS } from "./golden.ts";
import small from "./snippets.json" with { type: "json" };

/** The reference's clock stands at the same time. */
const NOW = (): Date => new Date(2026, 10, 30, 9, 5, 7);

Deno.test("Every chat template renders every conversation as transformers does", async (t) => {
  const templates = await goldenTemplates();
  assert.deepEqual(Object.keys(templates), Object.keys(expected.templates));
  assert.deepEqual(Object.keys(CONVERSATIONS), expected.conversations);
  for (const [name, { template, tokens }] of Object.entries(templates)) {
    await t.step(name, () => {
      const ours = new ChatTemplate(
        { templates: new Map([["default", template]]), namedTokens: tokens, addedTokens: [] },
        NOW,
      );
      const want = (expected.templates as Record<string, string[]>)[name] ?? [];
      Object.entries(CONVERSATIONS).forEach(([key, conversation], i) => {
        assert.equal(outcome(() => textOf(ours, conversation), want[i] ?? ""), want[i], key);
      });
    });
  }
});

Deno.test("Every small template renders as Jinja does", () => {
  const variables = parseJson(small.variables);
  assert.ok(variables instanceof Dict);
  const named = new Map([...variables.entries].map(([key, value]) => [String(key), value]));
  assert.equal(small.snippets.length, expectedSnippets.snippets.length);
  small.snippets.forEach((source, i) => {
    const want: { text?: string; error?: string } = expectedSnippets.snippets[i] ?? {};
    const render = (): string => new JinjaTemplate(source).render(named, NOW, { steps: 1e6, characters: 1e6 });
    if (want.text !== undefined) assert.equal(render(), want.text, source);
    else assert.throws(render, JinjaError, `${source} should fail: ${want.error}`);
  });
});

for (const model of TEMPLATED_MODELS) {
  Deno.test(`Ids of whole conversations of ${model} equal transformers', clients' control tokens as text`, async () => {
    const checkpoint = await CheckpointText.open(await requireTextFolder(model));
    const want: Record<string, string> = expectedIds.ids[model];
    for (const [key, conversation] of Object.entries({ ...CONVERSATIONS, ...HOSTILE })) {
      const expectation = want[key] ?? "";
      const ours = outcome(() => checkpoint.renderAsGiven(conversation).ids.join(" "), expectation, key in HOSTILE);
      assert.equal(ours, expectation, key);
    }
  });
}

function textOf(template: ChatTemplate, conversation: Conversation): string {
  return template.render(conversation).map((piece) => piece.text).join("");
}

/** A hash of a text, or the text; an expected error if there is one too, and the template's own words are kept. */
function outcome(render: () => string, want: string, whole = false): string {
  if (!want.startsWith("error: ")) return whole ? render() : digestText(render());
  assert.throws(render, (error) => {
    const raised = /^error: TemplateError: (.*)$/s.exec(want)?.[1];
    return error instanceof Error && (raised === undefined || error.message.endsWith(raised));
  });
  return want;
}
