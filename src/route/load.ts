/**
 * Brings a served model up: weights into the core, templates and tokenizer into the text worker, side by side.
 *
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { ModelConfig } from "../ffi/core.ts";
import { findDialect } from "../output/parser_names.ts";
import type { TextModel } from "../prompt/text_model.ts";
import type { LoadedModel, ServedModel } from "./models.ts";

/** What a load needs. */
export interface LoadOptions {
  /** Folder of the checkpoint. */
  directory: string;
  /** Takes the weights. */
  engine: Pick<Engine, "loadModel" | "modelInfo" | "unloadModel">;
  /** Opens the text side of the folder. */
  openText: (directory: string) => Promise<TextModel>;
  /** How the core loads it; `contextTokens` also caps what is served. */
  modelConfig?: ModelConfig;
  /** The model's profile, found by its text side; absent: the checkpoint's own sampling and nothing else. */
  profile?: (
    text: TextModel,
  ) => Pick<LoadedModel, "sampling" | "templateArguments" | "dialect" | "toolBias" | "profile">;
}

/**
 * Loads a model and marks it ready, or failed.
 *
 * @throws What the core or the text side throws; nothing of the model stays loaded then.
 */
export async function loadServedModel(model: ServedModel, options: LoadOptions): Promise<void> {
  const { directory, engine, modelConfig = {} } = options;
  const onProgress = (perMille: number): void => {
    if (model.status.state === "loading") model.status.perMille = perMille;
  };
  const weights = engine.loadModel(directory, modelConfig, onProgress);
  const texts = options.openText(directory);
  const [core, text] = await Promise.allSettled([weights, texts]);
  if (core.status === "fulfilled" && text.status === "fulfilled") {
    const info = engine.modelInfo(core.value);
    const bounds = [info.contextTokens, text.value.contextTokens, modelConfig.contextTokens];
    model.status = {
      state: "ready",
      loaded: {
        handle: core.value,
        info,
        text: text.value,
        ...(options.profile?.(text.value) ?? withoutProfile(text.value)),
        contextTokens: Math.min(...bounds.filter((bound) => bound !== undefined)),
      },
    };
    return;
  }
  if (core.status === "fulfilled") await engine.unloadModel(core.value);
  if (text.status === "fulfilled") await text.value.close();
  const reason: unknown = core.status === "rejected" ? core.reason : text.status === "rejected" ? text.reason : "";
  model.status = { state: "failed", message: reason instanceof Error ? reason.message : String(reason) };
  throw reason;
}

/** The checkpoint's own sampling, and everything that it writes is content. */
function withoutProfile(text: TextModel): Pick<LoadedModel, "sampling" | "templateArguments" | "dialect"> {
  return { sampling: text.generationDefaults, templateArguments: {}, dialect: findDialect() };
}
