import assert from "node:assert/strict";
import { isSameArguments } from "./same_arguments.ts";

const SCHEMA = {
  type: "object",
  properties: {
    path: { type: "string" },
    all: { type: "boolean", default: false },
    edits: { type: "array", items: { type: "object", properties: { all: { default: true } } } },
    toString: { default: "x" },
  },
};

Deno.test("Arguments are the same whatever the order of keys, blanks and escapes", () => {
  const same: [string, string][] = [
    ["{}", " { } "],
    ['{"a":1,"b":[{"c":null,"d":"é/"}]}', '{"b": [{"d": "\\u00e9\\/", "c": null}], "a": 1.0}'],
    ["not JSON", "not JSON"],
  ];
  for (const [written, returned] of same) assert(isSameArguments(written, returned), returned);
});

Deno.test("Arguments are others if a value, a key or a type differs", () => {
  const written = '{"a":1,"b":["x","y"],"c":{"d":true}}';
  const others = [
    '{"a":2,"b":["x","y"],"c":{"d":true}}',
    '{"a":"1","b":["x","y"],"c":{"d":true}}',
    '{"a":1,"b":["y","x"],"c":{"d":true}}',
    '{"a":1,"b":["x"],"c":{"d":true}}',
    '{"a":1,"b":{"0":"x","1":"y"},"c":{"d":true}}',
    '{"a":1,"b":["x","y"]}',
    '{"a":1,"b":["x","y"],"c":{"d":true},"e":null}',
    '{"a":1,"b":["x","y"],"c":null}',
    "[]",
    "{",
  ];
  for (const returned of others) assert(!isSameArguments(written, returned), returned);
  // JSON.parse takes these two for one number.
  assert(!isSameArguments('{"n":9007199254740993}', '{"n": 9007199254740992}'));
});

Deno.test("What a client puts in is no change if it is the schema's default, at any depth", () => {
  const written = '{"path":"f","edits":[{}]}';
  assert(isSameArguments(written, '{"all":false,"path":"f","edits":[{"all":true}]}', SCHEMA));
  assert(!isSameArguments(written, '{"all":true,"path":"f","edits":[{}]}', SCHEMA));
  assert(!isSameArguments(written, '{"path":"f","edits":[{"all":false}]}', SCHEMA));
  assert(!isSameArguments(written, '{"all":false,"path":"f","edits":[{}]}'));
  assert(!isSameArguments(written, '{"valueOf":"x","path":"f","edits":[{}]}', SCHEMA));
  assert(!isSameArguments('{"all":false,"path":"f"}', '{"path":"f"}', SCHEMA));
});

Deno.test("Arguments that nest without end are taken as changed", () => {
  const deep = (blank: string): string => "[".repeat(100) + blank + "]".repeat(100);
  assert(!isSameArguments(deep(""), deep(" ")));
});
