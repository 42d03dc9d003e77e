import assert from "node:assert/strict";
import type { OutputEvent } from "../../flow.ts";
import { Seal } from "../seal.ts";
import { addStep, type BlockStep, ContentBlocks, type MessageBlock } from "./content.ts";
import type { ThinkingDisplay } from "./thinking.ts";

const SEAL = new Seal();

function run(
  events: OutputEvent[],
  display: ThinkingDisplay = "text",
): { steps: BlockStep[]; content: MessageBlock[] } {
  const blocks = new ContentBlocks(display, SEAL);
  const steps = [...events, { type: "toolCallEnd", index: 9 } as const].flatMap((event) => blocks.push(event));
  const content: MessageBlock[] = [];
  for (const step of steps) addStep(content, step);
  return { steps, content };
}

const text = (text: string): OutputEvent => ({ type: "text", text, tokens: [] });
const thought = (text: string): OutputEvent => ({ type: "reasoning", text });
const call = (index: number, ...json: string[]): OutputEvent[] => [
  { type: "toolCallStart", index, id: `c${index}`, name: "f" },
  ...json.map((json): OutputEvent => ({ type: "toolCallArguments", index, json })),
  { type: "toolCallEnd", index },
];

/** What a client must be able to rely on: blocks one after the other, each delta in the block that is open. */
function assertNested(steps: readonly BlockStep[]): void {
  let open: number | undefined;
  let next = 0;
  for (const step of steps) {
    if (step.type === "start") {
      assert.deepEqual([open, step.index], [undefined, next]);
      open = next++;
    } else assert.equal(step.index, open);
    if (step.type === "stop") open = undefined;
  }
  assert.equal(open, undefined);
}

Deno.test("blocks follow each other in the order of the model's text, whatever follows what", () => {
  const pieces: OutputEvent[][] = [[text("a")], [text("b")], [thought("t")], call(0, '{"a"', ": 1}"), call(1, "{}")];
  for (let n = 0; n < pieces.length ** 4; n++) {
    const order = [n % 5, Math.floor(n / 5) % 5, Math.floor(n / 25) % 5, Math.floor(n / 125)];
    const { steps, content } = run(order.flatMap((at) => pieces[at] ?? []));
    assertNested(steps);
    const said = content.map((block) =>
      block.type === "text" ? block.text : block.type === "thinking" ? "t" : block.id
    );
    const meant = order.map((at) => ["a", "b", "t", "c0", "c1"][at]).join("").replace(/t+/g, "t");
    assert.equal(said.join(""), meant);
  }
});

Deno.test("thinking is signed whole, or sealed and not sent, or neither is there", () => {
  const events = [thought("Let me "), thought("see."), text("So.")];
  const [shown] = run(events).content;
  assert.ok(shown?.type === "thinking" && shown.thinking === "Let me see.");
  assert.equal(SEAL.open(shown.signature, shown.thinking).state, "signature");
  const sealed = run(events, "sealed");
  const [hidden] = sealed.content;
  assert.ok(hidden?.type === "thinking" && hidden.thinking === "");
  assert.deepEqual(SEAL.open(hidden.signature, ""), { state: "sealed", text: "Let me see." });
  assert.ok(!JSON.stringify(sealed.steps).includes("see."));
  assertNested(sealed.steps);
  assert.deepEqual(run(events, "none").content.map(({ type }) => type), ["text"]);
});

Deno.test("numbers of a whole call's arguments are written as the model wrote them", () => {
  const json = '{"id":12345678901234567890,"x":1.0,"y":-0,"z":1e3,"a":[0.1,"1.0",null,true]}';
  const [block] = run(call(0, json.slice(0, 20), json.slice(20))).content;
  assert.ok(block?.type === "tool_use");
  assert.equal(JSON.stringify(block.input), json);
  const [empty] = run(call(0)).content;
  assert.deepEqual(empty, { type: "tool_use", id: "c0", name: "f", input: {}, caller: { type: "direct" } });
});

Deno.test("a call that broke after its first part went out is closed, and its text follows", () => {
  const events: OutputEvent[] = [
    { type: "toolCallStart", index: 0, id: "c0", name: "f" },
    { type: "toolCallArguments", index: 0, json: '{"a": ' },
    { type: "toolCallBroken", index: 0 },
    text('{"a": '),
  ];
  const blocks = new ContentBlocks("text", SEAL);
  const steps = events.flatMap((event) => blocks.push(event));
  assert.deepEqual(steps.map(({ type }) => type), ["start", "delta", "stop", "start", "delta"]);
});
