/** The built library keeps the promises of Core, with a tiny random checkpoint. */
import { openNativeCore } from "../../src/ffi/native_core.ts";
import { coreSuite } from "./core_suite.ts";
import { findBuiltLibrary, findTinyCheckpoint } from "./built.ts";

const library = findBuiltLibrary();
const checkpoint = findTinyCheckpoint();

coreSuite("NativeCore", {
  open: (config) => openNativeCore(library ?? "", config),
  modelPath: checkpoint ?? "",
  ...(library === undefined
    ? { missing: "needs a built core" }
    : checkpoint === undefined
    ? { missing: "needs a checkpoint" }
    : {}),
});
