/**
 * The parts of an app that nobody chooses: a server, a test and a replay have the same.
 *
 * @module
 */
import { Seal } from "../api/seal.ts";
import { GrammarWorker } from "../guide/grammar_worker.ts";
import { KeptTurns } from "../route/kept/store.ts";
import { Activity } from "./activity.ts";
import type { AppDependencies } from "./app_context.ts";
import { Lifecycle } from "./lifecycle.ts";

/** What has to be given. */
type Given = "config" | "engine" | "models" | "records" | "responses" | "clock" | "log" | "version";

/** The parts, those that are given and new ones. Whoever asks ends the grammar worker. */
export function toParts<T extends Pick<AppDependencies, Given> & Partial<AppDependencies>>(
  given: T,
): T & AppDependencies & { grammars: GrammarWorker; activity: Activity; lifecycle: Lifecycle } {
  return {
    grammars: new GrammarWorker(),
    activity: new Activity(given.clock),
    lifecycle: new Lifecycle(),
    seal: new Seal(),
    turns: new KeptTurns(),
    ...given,
  };
}
