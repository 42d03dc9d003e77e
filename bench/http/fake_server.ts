/**
 * The whole server on the fake core, whose steps take no time: what is left is the server's own cost. The text worker
 * is left out too: a model of bytes stands for it.
 *
 * @module
 */
import { findDialect } from "../../src/output/parser_names.ts";
import { FAKE_CONTEXT_TOKENS, openFake } from "./fake_engine.ts";
import { serveUntilSignal } from "./served_parts.ts";

const { engine, handle, info, text } = await openFake();
await serveUntilSignal(engine, "bytes", {
  handle,
  info,
  text,
  sampling: {},
  templateArguments: {},
  dialect: findDialect(),
  contextTokens: FAKE_CONTEXT_TOKENS,
});
Deno.exit(0);
