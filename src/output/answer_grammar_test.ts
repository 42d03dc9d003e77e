/** Grammars of answers: what a walk through one writes, the dialect's own parser reads as valid calls, in one piece. */
import assert from "node:assert/strict";
import { judgeOf } from "../../tests/structure/judge.ts";
import { randomFrom } from "../../tests/golden/tokens/texts.ts";
import { walkSymbols } from "../../tests/support/random_walk.ts";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import type { OutputEvent, Tool } from "../flow.ts";
import { compileSchema } from "../grammar/schema/compile.ts";
import { FIRST_TOKEN_SYMBOL, toMachine } from "../guide/machine.ts";
import { States } from "../guide/states.ts";
import { type AnswerRequest, toAnswerGrammar } from "./answer_grammar.ts";
import { createDecoder, type Dialect } from "./decoder.ts";
import { callGrammars } from "./tools/call_grammars.ts";
import { CallRequest } from "./tools/call_request.ts";
import type { ToolParserName } from "./tools/mod.ts";

const WALKS = 25;
const TOOLS: Tool[] = [
  {
    name: "add_note",
    strict: true,
    parameters: {
      type: "object",
      properties: {
        text: { type: "string" },
        tag: { type: "string", enum: ["home", "work"] },
        count: { type: "integer", minimum: 0, maximum: 99 },
        urgent: { type: "boolean" },
        rooms: { type: "array", items: { type: "string", maxLength: 5 }, maxItems: 2 },
      },
      required: ["text", "count"],
      additionalProperties: false,
    },
  },
  {
    name: "list_notes",
    strict: true,
    parameters: {
      type: "object",
      properties: { since: { type: "string", format: "date" } },
      required: ["since"],
      additionalProperties: false,
    },
  },
];
const NOTHING_DROPPED = (tool: Tool, keyword: string): never => assert.fail(`${tool.name} lost ${keyword}`);

/** What a decoder makes of a walk: control tokens as such, all else byte by byte. */
function readWalk(request: AnswerRequest, hasControl: boolean, random: () => number): OutputEvent[] | undefined {
  const states = new States(toMachine(toAnswerGrammar(request), () => hasControl));
  const symbols = walkSymbols(states, random);
  if (symbols === undefined) return undefined;
  const { tokens } = states.machine;
  const vocabulary = new PieceVocabulary({ special: [...tokens] });
  const pieces = symbols.map((symbol) => {
    return symbol < FIRST_TOKEN_SYMBOL ? Uint8Array.of(symbol) : tokens[symbol - FIRST_TOKEN_SYMBOL] ?? "";
  });
  const decoder = createDecoder({
    vocabulary,
    endTokens: [],
    stop: [],
    dialect: request.dialect,
    tools: TOOLS,
    prompt: request.prompt,
  });
  return vocabulary.events(pieces).flatMap((event) => decoder.push(event));
}

/** Checks the calls of an answer. @returns How many there are. */
function checkCalls(events: readonly OutputEvent[], label: string): number {
  const calls: { name: string; json: string; whole: boolean }[] = [];
  for (const event of events) {
    if (event.type === "toolCallStart") calls.push({ name: event.name, json: "", whole: false });
    const last = calls.at(-1);
    if (event.type === "toolCallArguments" && last) last.json += event.json;
    if (event.type === "toolCallEnd" && last) last.whole = true;
    assert.notEqual(event.type, "toolCallBroken", label);
    assert.notEqual(event.type, "repair", `${label} ${JSON.stringify(event)}`);
  }
  for (const { name, json, whole } of calls) {
    const tool = TOOLS.find((one) => one.name === name);
    assert.ok(tool && whole, `${label} ${name}`);
    assert.equal(judgeOf(tool.parameters)(json), undefined, `${label}: ${name}(${json})`);
  }
  return calls.length;
}

const textOf = (events: readonly OutputEvent[], type: "text" | "reasoning"): string =>
  events.flatMap((event) => event.type === type ? [event.text] : []).join("");

const DIALECTS: Dialect[] = [
  ...Object.keys(callGrammars).map((tools): Dialect => ({ tools: tools as ToolParserName, reasoning: "none" })),
  { tools: "harmony", reasoning: "none" },
];

for (const dialect of DIALECTS) {
  Deno.test(`calls that must be made are valid in the eyes of ${dialect.tools}'s own parser`, () => {
    const random = randomFrom(7);
    let read = 0;
    for (let walk = 0; walk < WALKS; walk++) {
      const callsMax = walk % 2 === 0 ? 1 : null;
      const request = { dialect, prompt: "", calls: new CallRequest(TOOLS, callsMax, NOTHING_DROPPED) };
      // Harmony's markers are never spelled in text.
      const events = readWalk(request, dialect.tools === "harmony" || walk % 3 === 0, random);
      if (events === undefined) continue;
      read++;
      const count = checkCalls(events, `${dialect.tools}, walk ${walk}`);
      assert.ok(count >= 1 && (callsMax === null || count === 1), `${dialect.tools} made ${count} calls`);
      assert.equal(textOf(events, "text"), "");
    }
    assert.ok(read >= WALKS / 5, `${read} walks of ${dialect.tools} ended`);
  });
}

Deno.test("thinking comes first where the model thinks, and the bound answer behind it", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "integer" } },
    required: ["a"],
    additionalProperties: false,
  };
  const judge = judgeOf(schema);
  const random = randomFrom(11);
  const dialect: Dialect = { tools: "hermes", reasoning: "qwen3" };
  const seen = { thought: 0, plain: 0 };
  for (const prompt of ["<|im_start|>assistant\n", "assistant\n<think>\n", "assistant\n<think>\n\n</think>\n\n"]) {
    for (let walk = 0; walk < WALKS; walk++) {
      const events = readWalk({ dialect, prompt, content: compileSchema(schema) }, walk % 2 === 0, random);
      if (events === undefined) continue;
      const text = textOf(events, "text");
      assert.equal(judge(text), undefined, `${JSON.stringify(prompt)}: ${JSON.stringify(text)}`);
      if (textOf(events, "reasoning") === "") seen.plain++;
      else seen.thought++;
    }
  }
  assert.ok(seen.thought > 5 && seen.plain > 5, JSON.stringify(seen));
});

/** Dialects whose calls open with a text that prose can be kept from. */
const OPENED: readonly ToolParserName[] = [
  "hermes",
  "qwen3_coder_xml",
  "seed_oss",
  "glm47",
  "deepseek_v4_0731",
  "minicpm",
];

for (const tools of OPENED) {
  Deno.test(`beside bound content, calls may be made; beside free text, strict calls are bound: ${tools}`, () => {
    const random = randomFrom(13);
    const dialect: Dialect = { tools, reasoning: "none" };
    const calls = new CallRequest(TOOLS, 1, NOTHING_DROPPED);
    const kinds = new Set<string>();
    for (let walk = 0; walk < 4 * WALKS; walk++) {
      const content = walk % 2 === 0 ? compileSchema({ const: "done" }) : "free" as const;
      const events = readWalk({ dialect, prompt: "", calls, content }, false, random);
      if (events === undefined) continue;
      const count = checkCalls(events, `${tools}, walk ${walk}`);
      const text = textOf(events, "text");
      if (content !== "free") assert.ok(count === 1 ? text === "" : text === '"done"', text);
      kinds.add(`${content === "free"} ${count}`);
    }
    assert.ok(kinds.has("false 0") && kinds.has("false 1") && kinds.has("true 0"), [...kinds].join());
  });
}

Deno.test("a tool that is not strict loses what can't be kept, and says so; a strict one is refused", () => {
  const parameters = { type: "object", properties: { a: { type: "integer", multipleOf: 3 } }, required: ["a"] };
  const dropped: string[] = [];
  const dialect: Dialect = { tools: "hermes", reasoning: "none" };
  const make = (strict: boolean): unknown => {
    const tool: Tool = { name: "f", parameters, ...(strict && { strict }) };
    const calls = new CallRequest(
      [tool],
      null,
      ({ name }, keyword, path) => dropped.push(`${name} ${path} ${keyword}`),
    );
    return toAnswerGrammar({ dialect, prompt: "", calls });
  };
  make(false);
  assert.deepEqual(dropped, ["f #/properties/a multipleOf"]);
  assert.throws(() => make(true), { name: "GrammarError", keyword: "multipleOf", path: "#/properties/a" });
});

Deno.test("the text of a freeform tool fits its grammar, in every dialect whose calls can be bound", () => {
  const definition =
    'start: "*** Begin Patch" LF line+ "*** End Patch"\nline: ("+" | "-") /[ -~é"]{0,20}/ LF\n%import common.LF';
  const patch: Tool = {
    name: "add_note",
    strict: true,
    parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
    freeform: { grammar: { syntax: "lark", definition } },
  };
  const code: Tool = { ...patch, freeform: { grammar: { syntax: "regex", definition: "x[0-9]{2,4}" } } };
  const forms: [Tool, RegExp][] = [
    [patch, /^\*\*\* Begin Patch\n(?:[+-][ -~é"]{0,20}\n)+\*\*\* End Patch$/],
    [code, /^x[0-9]{2,4}$/],
  ];
  const random = randomFrom(17);
  for (const dialect of DIALECTS.filter(({ tools }) => tools !== "ui_tars")) {
    for (const [tool, form] of forms) {
      let read = 0;
      for (let walk = 0; walk < WALKS; walk++) {
        const request = { dialect, prompt: "", calls: new CallRequest([tool], 1, NOTHING_DROPPED) };
        const events = readWalk(request, dialect.tools === "harmony" || walk % 3 === 0, random);
        if (events === undefined) continue;
        const json = events.flatMap((event) => event.type === "toolCallArguments" ? [event.json] : []).join("");
        const { input } = JSON.parse(json);
        assert.match(String(input), form, `${dialect.tools}, walk ${walk}: ${JSON.stringify(input)}`);
        read++;
      }
      assert.ok(read >= WALKS / 5, `${read} walks of ${dialect.tools} ended`);
    }
  }
});
