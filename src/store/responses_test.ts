import assert from "node:assert/strict";
import { RESPONSE_BYTES_MAX, ResponseStore, type StoredResponse } from "./responses.ts";

const idOf = (at: number): string => `resp_${at.toString(16).padStart(32, "0")}`;
const row = (text: string, previous: string | null = null): StoredResponse => ({
  previous,
  items: "[]",
  response: JSON.stringify({ output: [{ id: text }] }),
});

Deno.test("an answer is there for its owner alone, until it is deleted", () => {
  const store = new ResponseStore();
  assert.equal(store.get("a", idOf(1)), undefined);
  assert.equal(store.chain("a", idOf(1)), undefined);
  assert.equal(store.put("a", idOf(1), row("x")), true);
  assert.deepEqual(store.get("a", idOf(1)), row("x"));
  assert.deepEqual([store.get("b", idOf(1)), store.chain("b", idOf(1)), store.item("b", "x")], [
    undefined,
    undefined,
    undefined,
  ]);
  assert.equal(store.delete("b", idOf(1)), false);
  assert.equal(store.delete("a", idOf(1)), true);
  assert.equal(store.delete("a", idOf(1)), false);
  assert.equal(store.size, 0);
  store.close();
});

Deno.test("a chain is its answers in order; a part that is gone is the end of it", () => {
  const store = new ResponseStore();
  for (let at = 0; at < 5; at++) store.put("a", idOf(at), row(`${at}`, at === 0 ? null : idOf(at - 1)));
  assert.deepEqual(store.chain("a", idOf(4))?.map(({ response }) => JSON.parse(response).output[0].id), [
    "0",
    "1",
    "2",
    "3",
    "4",
  ]);
  store.delete("a", idOf(2));
  assert.equal(store.chain("a", idOf(4)), undefined);
  assert.equal(store.chain("a", idOf(1))?.length, 2);
  store.close();
});

Deno.test("a chain that someone has written into itself ends", () => {
  const store = new ResponseStore();
  store.put("a", idOf(1), row("1", idOf(2)));
  store.put("a", idOf(2), row("2", idOf(1)));
  assert.equal(store.chain("a", idOf(1)), undefined);
  store.close();
});

Deno.test("an item is found by the id that its answer gave it", () => {
  const store = new ResponseStore();
  const key = "0123456789abcdef".repeat(2);
  store.put("a", `resp_${key}`, row(`msg_${key}0000`));
  assert.deepEqual(store.item("a", `msg_${key}0000`), { id: `msg_${key}0000` });
  for (const id of [`msg_${key}0001`, "msg_1", `msg_${key}`, ""]) assert.equal(store.item("a", id), undefined);
  assert.equal(store.item("b", `msg_${key}0000`), undefined);
  store.close();
});

Deno.test("beyond the limits what was used least lately goes, and the parents of a chain before its end do not", () => {
  const store = new ResponseStore({ rowsMax: 4 });
  store.put("a", idOf(0), row("0"));
  store.put("a", idOf(1), row("1", idOf(0)));
  store.put("a", idOf(2), row("2"));
  store.put("a", idOf(3), row("3"));
  assert.equal(store.chain("a", idOf(1))?.length, 2);
  store.put("a", idOf(4), row("4"));
  store.put("a", idOf(5), row("5"));
  assert.deepEqual([2, 3].map((at) => store.get("a", idOf(at))), [undefined, undefined]);
  assert.equal(store.chain("a", idOf(1))?.length, 2);
  store.put("a", idOf(6), row("6"));
  store.put("a", idOf(7), row("7"));
  store.put("a", idOf(8), row("8"));
  // Of the chain its newest goes first: what comes before is of use without it, and not the other way round.
  assert.deepEqual([store.size, store.get("a", idOf(1)), store.get("a", idOf(0))], [4, undefined, row("0")]);
  store.close();
});

Deno.test("bytes are bounded, of all answers and of one", () => {
  const text = "x".repeat(1000);
  const store = new ResponseStore({ bytesMax: 10_000 });
  for (let at = 0; at < 20; at++) assert.equal(store.put("a", idOf(at), row(text)), true);
  assert.ok(store.size > 2 && store.size < 6, `${store.size}`);
  assert.equal(store.put("a", idOf(99), row("x".repeat(RESPONSE_BYTES_MAX / 2))), false);
  store.close();
});

Deno.test("a file keeps answers over a restart, its limits with it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/responses.sqlite`;
    const store = new ResponseStore({ path });
    for (let at = 0; at < 6; at++) store.put("a", idOf(at), row(`${at}`));
    store.close();
    const again = new ResponseStore({ path, rowsMax: 3 });
    assert.deepEqual([again.size, again.get("a", idOf(2)), again.get("a", idOf(5))], [3, undefined, row("5")]);
    again.put("a", idOf(6), row("6"));
    assert.equal(again.get("a", idOf(3)), undefined);
    again.close();
    assert.throws(() => new ResponseStore({ path: `${folder}/no/such/folder` }));
    await Deno.writeTextFile(`${folder}/other`, "This is a text and no database, which SQLite tells by its head.");
    assert.throws(() => new ResponseStore({ path: `${folder}/other` }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("two servers on one file see each other's answers, and the bounds hold for both together", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/responses.sqlite`;
    const one = new ResponseStore({ path, rowsMax: 4 });
    const other = new ResponseStore({ path, rowsMax: 4 });
    one.put("a", idOf(0), row("0"));
    other.put("a", idOf(1), row("1", idOf(0)));
    assert.deepEqual(one.chain("a", idOf(1))?.length, 2);
    for (let at = 2; at < 8; at++) (at % 2 === 0 ? one : other).put("a", idOf(at), row(`${at}`));
    assert.deepEqual([one.size, other.size], [4, 4]);
    assert.deepEqual([3, 4].map((at) => other.get("a", idOf(at))), [undefined, row("4")]);
    assert.deepEqual([one.delete("a", idOf(7)), other.delete("a", idOf(7)), other.size], [true, false, 3]);
    one.close();
    other.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
