/** FakeCore keeps the promises of Core. */
import { FakeCore } from "../../src/ffi/fake_core.ts";
import { coreSuite } from "./core_suite.ts";

coreSuite("FakeCore", {
  open: (config) => new FakeCore({ reply: ({ prompt }) => ({ tokens: [prompt.length % 50, 51, 52] }), config }),
  modelPath: "fake",
  guides: true,
});
