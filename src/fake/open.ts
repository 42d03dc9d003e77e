/**
 * A script → a core that plays it and a model to serve.
 *
 * @module
 */
import type { EngineConfig } from "../ffi/core.ts";
import { FAKE_MODEL_INFO, FakeCore, type FakeCoreOptions } from "../ffi/fake_core.ts";
import type { Dialect } from "../output/decoder.ts";
import { findDialect, markersOf, UnknownParser } from "../output/parser_names.ts";
import { closingOf } from "../output/thinking_watch.ts";
import { recommendSampling } from "../profiles/sampling.ts";
import type { LineProfile } from "../profiles/schema.ts";
import type { Profiles } from "../profiles/store.ts";
import { openTextModel } from "../prompt/text_model.ts";
import type { LoadedModel } from "../route/models.ts";
import { cutText, SpecialSpellings, toPieces } from "./pieces.ts";
import { type CutReply, ScriptPlayer } from "./player.ts";
import { ScriptError, type ScriptFile, type ScriptReply } from "./script.ts";
import { FakeTextModel } from "./text_model.ts";

/** What a scripted model is opened with. */
export interface FakeModelOptions {
  /** The script. */
  file: ScriptFile;
  /** Its name, for errors. */
  name: string;
  /** For the profile that it names. */
  profiles: Profiles;
  /** Folder of a model that is on the disk; of the embedded one without a name. */
  findFolder: (name: string | undefined) => Promise<string | undefined>;
  /** Limits of the core. */
  config: EngineConfig;
  /** What delays and speeds are measured by; absent: real time. */
  clock?: Pick<FakeCoreOptions, "nowMs" | "pace">;
}

/** A scripted model. */
export interface FakeModel {
  /** Plays. */
  core: FakeCore;
  /** Chooses what. */
  player: ScriptPlayer;
  /** To be served once the core has it. */
  model: Omit<LoadedModel, "handle" | "info">;
  /** What cuts texts into tokens, for the log. */
  cutBy: string;
}

/** Opens one. @throws {ScriptError} If the script names what is not there. */
export async function openFakeModel(options: FakeModelOptions): Promise<FakeModel> {
  const { file } = options;
  const line = findLine(options);
  const folder = await findTokenizer(options);
  const text = new FakeTextModel(folder === undefined ? undefined : await openTextModel(folder));
  const dialect = toDialect(options, line);
  const special = new SpecialSpellings(markersOf(dialect));
  const replies: CutReply[] = [];
  for (const reply of file.replies) replies.push(await cutReply(reply, special, text));
  const closing = await cutText(closingOf(dialect, text.vocabulary), special, text.cut);
  const player = new ScriptPlayer(replies, file.repeat, closing);
  // The ids of a reply are places in it.
  const longest = replies.reduce((most, { pieces }) => Math.max(most, pieces.length), 0);
  const vocabularySize = Math.max(text.vocabulary.size, longest + closing.length);
  const core = new FakeCore({
    reply: ({ prompt }) => player.replyTo(prompt),
    models: { [file.model]: { ...FAKE_MODEL_INFO, vocabularySize, contextTokens: file.context_tokens } },
    config: { ...options.config, prefillChunkTokens: file.context_tokens },
    ...(options.clock ?? { nowMs: () => performance.now() }),
  });
  return {
    core,
    player,
    model: {
      text,
      sampling: line === undefined ? {} : recommendSampling(line, {}),
      templateArguments: line?.prompt.arguments ?? {},
      dialect,
      ...line?.tools.logit_bias !== undefined && { toolBias: line.tools.logit_bias },
      profile: {
        id: line?.id ?? "none",
        because: line === undefined ? "the script names parsers" : "the script names it",
      },
      contextTokens: file.context_tokens,
    },
    cutBy: folder ?? "simple rule",
  };
}

async function cutReply(reply: ScriptReply, special: SpecialSpellings, text: FakeTextModel): Promise<CutReply> {
  if (reply.chunks !== undefined) return { reply, pieces: toPieces(reply.chunks, special) };
  return { reply, pieces: await cutText(reply.text ?? "", special, text.cut) };
}

/** How replies are read: as the line says, or the script itself. */
function toDialect({ file, name }: FakeModelOptions, line: LineProfile | undefined): Dialect {
  try {
    return line === undefined
      ? findDialect(file.tools, file.reasoning)
      : findDialect(line.tools.parser, line.reasoning.parser);
  } catch (error) {
    if (error instanceof UnknownParser) throw new ScriptError(`${name}: ${error.kind}: ${error.message}`);
    throw error;
  }
}

/** The line that `profile` names, itself or through a model. */
function findLine({ file, name, profiles }: FakeModelOptions): LineProfile | undefined {
  if (file.profile === undefined) return undefined;
  const line = profiles.lines.get(profiles.models.get(file.profile)?.line ?? file.profile);
  if (line !== undefined) return line;
  const known = [...profiles.lines.keys(), ...profiles.models.keys()].join(", ");
  throw new ScriptError(`${name}: profile: expected one of ${known}; found ${JSON.stringify(file.profile)}`);
}

/** The folder of the profile's model if that is on the disk, else of the embedded one. */
async function findTokenizer({ file, profiles, findFolder }: FakeModelOptions): Promise<string | undefined> {
  const model = file.profile !== undefined && profiles.models.has(file.profile) ? file.profile : undefined;
  return (model === undefined ? undefined : await findFolder(model)) ?? await findFolder(undefined);
}
