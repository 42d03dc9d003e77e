import assert from "node:assert/strict";
import { ModelNotFound, ModelNotReady, ServedModels } from "./models.ts";

Deno.test("a model is found by its id, its Hugging Face id, as default and without a name", () => {
  const models = new ServedModels();
  const first = models.add("one", 0, "org/One");
  const second = models.add("two", 0);
  assert.equal(models.require("one"), first);
  assert.equal(models.require("org/One"), first);
  assert.equal(models.require("default"), first);
  assert.equal(models.require(undefined), first);
  assert.equal(models.require("two"), second);
});

Deno.test("an unknown model is told with the served ids, and its name is quoted and cut", () => {
  const models = new ServedModels();
  models.add("one", 0);
  models.add("two", 0);
  for (const name of ["gpt-4o", "ONE", "", "__proto__", 'x"\n' + "y".repeat(1000)]) {
    assert.throws(() => models.require(name), (error: unknown) => {
      assert.ok(error instanceof ModelNotFound);
      assert.match(error.message, /Served: one, two\.$/);
      assert.ok(error.message.length < 250 && !error.message.includes("\n"));
      return true;
    });
  }
});

Deno.test("a model that loads or has failed is told apart from an unknown one", () => {
  const models = new ServedModels();
  const model = models.add("one", 0);
  model.status = { state: "loading", perMille: 421 };
  assert.throws(() => models.requireLoaded("one"), (error: unknown) => {
    assert.ok(error instanceof ModelNotReady && error.loading);
    assert.match(error.message, /42 %/);
    return true;
  });
  model.status = { state: "failed", message: "config.json is missing" };
  assert.throws(() => models.requireLoaded("one"), (error: unknown) => {
    assert.ok(error instanceof ModelNotReady && !error.loading);
    assert.match(error.message, /config\.json is missing/);
    return true;
  });
});
