import assert from "node:assert/strict";
import { type ModelPage, toModelEntry, toModelList } from "./models.ts";

const ENTRIES = ["a", "b", "c", "d"].map((id) =>
  toModelEntry({
    id,
    hfId: undefined,
    createdSeconds: 1_700_000_000,
    state: "loading",
    contextTokens: undefined,
    quantization: undefined,
    capabilities: [],
    profile: undefined,
  })
);

function page(asked: ModelPage): [ids: string, more: boolean] {
  const { data, has_more: more, first_id: first, last_id: last } = toModelList(ENTRIES, asked);
  assert.deepEqual([first, last], [data[0]?.id ?? null, data.at(-1)?.id ?? null]);
  return [data.map(({ id }) => id).join(""), more];
}

Deno.test("pages of the models follow an id or end before one", () => {
  assert.deepEqual(page({}), ["abcd", false]);
  assert.deepEqual(page({ limit: 2 }), ["ab", true]);
  assert.deepEqual(page({ limit: 2, after: "b" }), ["cd", false]);
  assert.deepEqual(page({ limit: 2, before: "d" }), ["bc", true]);
  assert.deepEqual(page({ limit: 2, before: "c" }), ["ab", false]);
  assert.deepEqual(page({ before: "a" }), ["", false]);
  assert.deepEqual(page({ after: "d" }), ["", false]);
  assert.deepEqual(page({ limit: 1, after: "nobody" }), ["a", true]);
  assert.deepEqual(page({ limit: 1, before: "nobody" }), ["a", true]);
});
