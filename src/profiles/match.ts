/**
 * Which line covers a checkpoint. The only place that looks at names and templates to find out how to talk with one.
 *
 * @module
 */
import type { LineProfile } from "./schema.ts";
import { DEFAULT_LINE_ID, ProfileError, type Profiles } from "./store.ts";

/** What is known of a checkpoint when it is loaded. */
export interface Checkpoint {
  /** Hugging Face id, or the folder's name. */
  name: string;
  /** `model_type` of config.json. */
  modelType?: string;
  /** The template that plain chats use. */
  chatTemplate?: string;
}

/** A line and why it was taken. */
export interface Match {
  /** The line. */
  line: LineProfile;
  /** For the log and `/v1/models`, e.g. `name *smollm2*`. */
  reason: string;
}

/**
 * The line for a checkpoint: of those with a condition that holds, the one whose condition says most (first the longest
 * name pattern, then the most text of the template, then a model_type); else the default line.
 */
export function matchLine(profiles: Profiles, checkpoint: Checkpoint): Match {
  let best: (Match & { rank: Rank }) | undefined;
  for (const line of profiles.lines.values()) {
    for (const condition of line.match) {
      const found = rankOf(condition, checkpoint);
      if (found !== undefined && (best === undefined || isHigher(found.rank, best.rank))) best = { line, ...found };
    }
  }
  if (best !== undefined) return { line: best.line, reason: best.reason };
  const line = profiles.lines.get(DEFAULT_LINE_ID);
  if (line === undefined) throw new ProfileError(`lines/${DEFAULT_LINE_ID}.json is missing`);
  return { line, reason: `no line covers ${checkpoint.name} (model_type ${checkpoint.modelType ?? "unknown"})` };
}

/** Literal characters of the name pattern, of the template's texts, and whether the model_type is named. */
type Rank = [name: number, template: number, modelType: number];

function isHigher(rank: Rank, other: Rank): boolean {
  const i = rank.findIndex((value, at) => value !== other[at]);
  return i >= 0 && (rank[i] ?? 0) > (other[i] ?? 0);
}

function rankOf(
  condition: LineProfile["match"][number],
  checkpoint: Checkpoint,
): { rank: Rank; reason: string } | undefined {
  const reasons: string[] = [];
  const rank: Rank = [0, 0, 0];
  if (condition.name !== undefined) {
    const fitting = condition.name.filter((glob) => toRegExp(glob).test(checkpoint.name));
    const longest = fitting.sort((a, b) => literals(b) - literals(a))[0];
    if (longest === undefined) return undefined;
    rank[0] = literals(longest);
    reasons.push(`name ${longest}`);
  }
  if (condition.template !== undefined) {
    const template = checkpoint.chatTemplate ?? "";
    if (!condition.template.every((text) => template.includes(text))) return undefined;
    rank[1] = condition.template.join("").length;
    reasons.push(`template with ${condition.template.join(" and ")}`);
  }
  if (condition.model_type !== undefined) {
    if (checkpoint.modelType === undefined || !condition.model_type.includes(checkpoint.modelType)) return undefined;
    rank[2] = 1;
    reasons.push(`model_type ${checkpoint.modelType}`);
  }
  return { rank, reason: reasons.join(", ") };
}

function literals(glob: string): number {
  return glob.replaceAll("*", "").length;
}

function toRegExp(glob: string): RegExp {
  const parts = glob.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*")}$`, "i");
}
