/** The built library keeps the promises of Core, with a tiny random checkpoint. */
import { openNativeCore } from "../../src/ffi/native_core.ts";
import { findBuiltLibrary, TINY_CHECKPOINT } from "./built.ts";
import { coreSuite } from "./core_suite.ts";

const library = findBuiltLibrary();

coreSuite("NativeCore", {
  open: (config) => openNativeCore(library ?? "", config),
  modelPath: TINY_CHECKPOINT,
  guides: true,
  ...(library === undefined && { missing: "needs the built core" }),
});
