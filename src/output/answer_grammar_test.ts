// deno-lint-ignore-file camelcase -- names of parsers and actions
/** Grammars of answers: what a walk through one writes, the dialect's own parser reads as valid calls, in one piece. */
import assert from "node:assert/strict";
import { judgeOf } from "../../tests/structure/judge.ts";
import { randomFrom } from "../../tests/golden/tokens/texts.ts";
import { walkSymbols } from "../../tests/support/random_walk.ts";
import { PieceVocabulary } from "../../tests/support/vocabulary.ts";
import type { OutputEvent, Tool } from "../flow.ts";
import { compileSchema } from "../grammar/schema/compile.ts";
import { FIRST_TOKEN_SYMBOL, toMachine } from "../guide/machine.ts";
import { type State, States } from "../guide/states.ts";
import { type AnswerRequest, toAnswerGrammar } from "./answer_grammar.ts";
import { createDecoder, type Dialect } from "./decoder.ts";
import { callGrammars } from "./tools/call_grammars.ts";
import { closingOf } from "./thinking_watch.ts";
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
  // UI-TARS has one tool, and a test of its own.
  ...Object.keys(callGrammars).filter((tools) => tools !== "ui_tars")
    .map((tools): Dialect => ({ tools: tools as ToolParserName, reasoning: "none" })),
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
  "mistral",
  "granite",
  "deepseek",
  "deepseek_v3",
  "deepseek_v31",
  "kimi",
  "minimax",
  "lfm",
  "k2_horizon",
  "gemma4",
  "hy_v3",
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
  for (const dialect of DIALECTS) {
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

Deno.test("where answers are segments, thinking comes first and calls or bound content behind it", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "integer" } },
    required: ["a"],
    additionalProperties: false,
  };
  const judge = judgeOf(schema);
  const dialects: [Dialect, prompts: string[]][] = [
    [{ tools: "gemma4", reasoning: "gemma4" }, ["<|turn>model\n", "<|turn>model\n<|channel>thought\n"]],
    [{ tools: "muse", reasoning: "muse" }, ["<|start|>assistant"]],
    [{ tools: "functionary", reasoning: "functionary" }, ["<|im_start|>assistant\n", "<|start|>assistant\n>>>"]],
    [{ tools: "none", reasoning: "north" }, ["<|CHATBOT_TOKEN|>", "<|CHATBOT_TOKEN|><|START_THINKING|>"]],
    [{ tools: "ui_tars", reasoning: "ui_tars" }, ["<|im_start|>assistant\n"]],
  ];
  const random = randomFrom(19);
  for (const [dialect, prompts] of dialects) {
    const seen = { thought: 0, called: 0, content: 0 };
    for (const prompt of prompts) {
      for (let walk = 0; walk < 2 * WALKS; walk++) {
        const label = `${dialect.tools} ${dialect.reasoning}, walk ${walk} of ${JSON.stringify(prompt)}`;
        const isCall = walk % 2 === 0 && dialect.tools !== "none" && dialect.tools !== "ui_tars";
        const calls = { calls: new CallRequest(TOOLS, 1, NOTHING_DROPPED, { prompt }) };
        const request = { dialect, prompt, ...(isCall ? calls : { content: compileSchema(schema) }) };
        const events = readWalk(request, walk % 3 > 0, random);
        if (events === undefined) continue;
        if (textOf(events, "reasoning") !== "") seen.thought++;
        if (isCall) {
          seen.called += checkCalls(events, label);
          assert.equal(textOf(events, "text").trim(), "", label);
        } else {
          seen.content++;
          const text = textOf(events, "text");
          assert.equal(judge(text), undefined, `${label}: ${JSON.stringify(text)}`);
        }
      }
    }
    const thinks = dialect.reasoning !== "functionary" && dialect.reasoning !== "ui_tars";
    const mayCall = dialect.tools !== "none" && dialect.tools !== "ui_tars";
    assert.ok(seen.content > 5 && (!thinks || seen.thought > 5) && (!mayCall || seen.called > 5), JSON.stringify(seen));
  }
});

Deno.test("actions of UI-TARS that must be made are calls of its one tool, those that its schema lists", () => {
  const action = { type: "string", enum: ["click", "type", "drag", "scroll"] };
  const computer: Tool = { name: "computer", parameters: { type: "object", properties: { action } } };
  const random = randomFrom(23);
  const dialect: Dialect = { tools: "ui_tars", reasoning: "ui_tars" };
  const kinds = new Set<string>();
  for (let walk = 0; walk < 4 * WALKS; walk++) {
    const callsMax = walk % 2 === 0 ? 1 : null;
    const request = { dialect, prompt: "", calls: new CallRequest([computer], callsMax, NOTHING_DROPPED) };
    const states = new States(toMachine(toAnswerGrammar(request), () => false));
    const symbols = walkSymbols(states, random);
    if (symbols === undefined) continue;
    const vocabulary = new PieceVocabulary({ special: [] });
    const given = { vocabulary, endTokens: [], stop: [], dialect, tools: [computer], prompt: "" };
    const decoder = createDecoder(given);
    const events = vocabulary.events(symbols.map((symbol) => Uint8Array.of(symbol))).flatMap((one) =>
      decoder.push(one)
    );
    const calls = events.filter(({ type }) => type === "toolCallStart").length;
    assert.ok(calls >= 1 && (callsMax === null || calls === 1), `walk ${walk}: ${calls} calls`);
    assert.equal(textOf(events, "text").trim(), "", `walk ${walk}`);
    for (const event of events) {
      assert.notEqual(event.type, "repair", `walk ${walk} ${JSON.stringify(event)}`);
      if (event.type !== "toolCallArguments") continue;
      const json = JSON.parse(event.json);
      kinds.add(json.action);
      if (json.action === "scroll") assert.ok(Array.isArray(json.point) && typeof json.direction === "string");
    }
  }
  assert.deepEqual([...kinds].toSorted(), action.enum.toSorted());
});

Deno.test("tags of Hunyuan 3 have the label that the vocabulary has, required and beside free text", () => {
  const random = randomFrom(29);
  const dialect: Dialect = { tools: "hy_v3", reasoning: "none" };
  let called = 0;
  for (let walk = 0; walk < 2 * WALKS; walk++) {
    const calls = new CallRequest(TOOLS, 1, NOTHING_DROPPED, { label: ":acme" });
    const events = readWalk({ dialect, prompt: "", calls, ...walk % 2 === 0 && { content: "free" } }, true, random);
    if (events !== undefined) called += checkCalls(events, `walk ${walk}`);
  }
  assert.ok(called > WALKS / 5, `${called} calls`);
});

Deno.test("what closes a thought in the model's stead is what the grammar of calls goes on from", () => {
  const vocabulary = new PieceVocabulary();
  for (const name of ["qwen3", "gemma4", "muse", "ui_tars"] as const) {
    const tools = name === "qwen3" ? "hermes" : name;
    const dialect: Dialect = { tools, reasoning: name };
    const closing = closingOf(dialect, vocabulary, true);
    const opening = {
      qwen3: "<think>",
      gemma4: "<|channel>thought\n",
      muse: "to=self<|message|>",
      ui_tars: "Thought: ",
    };
    const calls = new CallRequest([{ name: "computer" }], 1, NOTHING_DROPPED);
    const states = new States(toMachine(toAnswerGrammar({ dialect, prompt: "", calls }), () => false));
    let state: State | null = states.start();
    for (const byte of new TextEncoder().encode(`${opening[name]}Hm.${closing}`)) {
      state = state && states.step(state, byte);
    }
    assert.ok(state, `${name} can't go on behind ${JSON.stringify(closing)}`);
  }
});
