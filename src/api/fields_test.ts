import assert from "node:assert/strict";
import { RequestError } from "./errors.ts";
import { type FieldTable, IGNORED_NAMES_MAX, IgnoredFields, LISTED, nothingIf, sortFields, WORKS } from "./fields.ts";

const TABLE: FieldTable = {
  good: WORKS,
  extra: LISTED,
  bad: { rule: "refused", why: "it can't be done" },
  maybe: { rule: "refused", why: "only none can be done", judge: nothingIf("none") },
};

Deno.test("working fields are kept, nulls count as absent, listed and unknown ones are named", () => {
  const ignored = new IgnoredFields();
  const object = { good: 0, extra: 1, unknown: 2, bad: null, maybe: "none", constructor: 1 };
  assert.deepEqual(sortFields(TABLE, object, ignored), { good: 0 });
  assert.equal(ignored.toHeader(), "extra, unknown, constructor");
});

Deno.test("a refused field is named with its path and the reason", () => {
  for (const [name, value] of [["bad", 1], ["bad", false], ["maybe", "some"]] as const) {
    assert.throws(() => sortFields(TABLE, { [name]: value }, new IgnoredFields(), "at[0]"), (error: unknown) => {
      assert.ok(error instanceof RequestError);
      assert.deepEqual([error.code, error.options.param], ["unsupported_field", `at[0].${name}`]);
      assert.match(error.message, /can't be done|only none/);
      return true;
    });
  }
});

Deno.test("the list of ignored names is free of repetitions, foreign characters and growth", () => {
  const ignored = new IgnoredFields();
  assert.equal(ignored.toHeader(), undefined);
  for (let i = 0; i < 3; i++) sortFields(TABLE, { extra: 1, "a\r\nb": 1, "ü": 1, "": 1 }, ignored, "", "x[]");
  assert.equal(ignored.toHeader(), "x[].extra, x[].<field>");
  for (let i = 0; i < 100; i++) ignored.add(`field_${i}`);
  assert.match(ignored.toHeader() ?? "", new RegExp(`\\+${100 - (IGNORED_NAMES_MAX - 2)} more$`));
});
