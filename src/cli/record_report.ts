/**
 * A record as lines for people: what the model wrote, what the client saw, and which of the two to blame.
 *
 * @module
 */
import type {
  ChoiceContent,
  NamedCount,
  RecordChoice,
  RecordContent,
  RequestRecord,
  ShownEvent,
} from "../api/request_record.ts";

/** Longest text of a cell, in characters, unless all is asked for. */
export const CELL_LENGTH_MAX = 160;
/** Most rows of a choice, unless all are asked for. */
export const ROWS_MAX = 60;

/** How much is shown. */
export interface ReportOptions {
  /** Whole texts and every row. */
  full: boolean;
}

/** The lines. */
export function toReport(record: RequestRecord, options: ReportOptions): string[] {
  const content = record.content;
  return [
    ...toHead(record),
    ...record.choices.flatMap((choice) => ["", ...toChoice(record, choice, options)]),
    "",
    ...findings(record).map((finding) => `=> ${finding}`),
    ...(content === null && record.content_note !== null ? ["", record.content_note] : []),
  ];
}

/** What a reader wants to know first, one sentence each; server faults come first. */
export function findings(record: RequestRecord): string[] {
  const { error, choices, state } = record;
  const lost = choices.reduce((sum, { characters }) => sum + Math.abs(characters.lost), 0);
  const found: string[] = [];
  if (lost > 0) found.push(`Server fault: ${lost} characters that the model wrote are not accounted for.`);
  if (error?.code === "internal_error") found.push("Server fault: the answer failed inside; the log says more.");
  else if (error?.code === "tool_choice_required_unfulfilled") found.push(`Model: ${error.message}`);
  else if (error !== null) found.push(`Not answered (${error.code}): ${error.message}`);
  if (state === "left") found.push("The client left before the answer was whole.");
  if (state === "running") found.push("It is being answered.");
  for (const choice of choices) found.push(...choiceFindings(choice));
  if (choices.some(({ characters }) => characters.reasoning > 0)) {
    found.push(...REASONING_SHOWN[record.reasoning_shown]);
  }
  if (found.length > 0) return found;
  return ["Nothing was repaired, cut or lost: what the client saw is what the model wrote."];
}

/** What the commonest repairs say. */
const REPAIRS: Readonly<Record<string, string>> = {
  "tool_call_shown_as_text":
    "it wrote a call that can't be read or names no declared tool; it is text, and nothing ran",
  "special_token_hidden": "it wrote a special token that has no meaning here; it is not shown",
  "surplus_tool_call_dropped": "it made more calls than the request allows; the others are named, not sent",
};

/** What became of reasoning on its way. */
const REASONING_SHOWN: Readonly<Record<RequestRecord["reasoning_shown"], readonly string[]>> = {
  text: [],
  sealed: ["Asked for: the client was given the reasoning sealed; it keeps it and can't read it."],
  none: ["Not asked for: the client was not shown the reasoning."],
};

function choiceFindings(
  { index, repairs, finish_reason: finish, stop_string_matched: stopped, characters }: RecordChoice,
): string[] {
  const found: string[] = [];
  for (const { name, count } of repairs) {
    const what = REPAIRS[name] ?? "what it wrote needed a repair";
    found.push(`Model: choice ${index}: ${what} (${name}${count === 1 ? "" : ` ×${count}`}).`);
  }
  if (finish === "length") {
    found.push(`Cut: choice ${index} reached its limit of tokens; a call that was cut is no call.`);
  }
  if (stopped) found.push(`Cut: choice ${index} ended at a stop string of the request.`);
  if (finish !== null && characters.content === 0 && finish !== "tool_calls") {
    found.push(`Choice ${index} has no content${characters.reasoning > 0 ? ", only reasoning" : ""}.`);
  }
  return found;
}

function toHead(record: RequestRecord): string[] {
  const { times_ms: times, usage, sampling, limits, dialect } = record;
  const started = new Date(record.created * 1000).toISOString();
  const mode = record.stream ? "stream" : "whole answer";
  const rows: [string, string | undefined][] = [
    ["state", `${record.state}${record.status === null ? "" : ` (${record.status})`}, ${started}, ${mode}`],
    [
      "time",
      `${toMs(times.total)}: prepare ${toMs(times.prepare)}, queue ${toMs(times.queue)}, prefill ${
        toMs(times.prefill)
      }, ` +
      `decode ${toMs(times.decode)}; first token after ${toMs(times.first_token)}`,
    ],
    [
      "tokens",
      `prompt ${usage.prompt_tokens} (${usage.cached_tokens} cached), answer ${usage.completion_tokens} ` +
      `(${usage.reasoning_tokens} reasoning)`,
    ],
    [
      "sampling",
      sampling === null ? undefined : Object.entries(sampling).map(([name, value]) => `${name} ${value}`).join(", "),
    ],
    [
      "limits",
      limits === null ? undefined : `${limits.max_tokens} tokens of a context of ${limits.context_tokens}, ` +
        `${limits.stop_count} stop strings`,
    ],
    ["read by", dialect === null ? undefined : `${dialect.tools} (calls), ${dialect.reasoning} (reasoning)`],
    ["bound by", record.constraint ?? undefined],
    ["ignored", record.ignored.length === 0 ? undefined : record.ignored.join(", ")],
    ["prompt", record.prompt_repairs.length === 0 ? undefined : toNames(record.prompt_repairs)],
  ];
  const lines = rows.filter(([, text]) => text !== undefined).map(([name, text]) => `  ${name.padEnd(9)} ${text}`);
  return [`${record.id}  ${record.route}  ${record.model ?? "no model"}`, ...lines];
}

function toChoice(record: RequestRecord, choice: RecordChoice, options: ReportOptions): string[] {
  const { raw, lost, ...parts } = choice.characters;
  const sum = Object.entries(parts).filter(([, count]) => count > 0).map(([name, count]) => `${count} ${name}`).join(
    " + ",
  );
  const content = record.content?.choices[choice.index];
  return [
    `choice ${choice.index}: ${choice.finish_reason ?? "no end"}; the core ended with ${
      choice.core_finish ?? "nothing"
    }, ` +
    `seed ${choice.seed}`,
    `  ${raw} characters written = ${sum === "" ? "0" : sum}; lost ${lost}`,
    ...(choice.repairs.length === 0 ? [] : [`  repairs: ${toNames(choice.repairs)}`]),
    ...(record.content === null || content === undefined ? [] : toRows(record.content, content, options)),
  ];
}

interface Row {
  from: number;
  to: number;
  kind: string;
  text: string;
}

/** Tokens on the left, what they showed on the right; steps of one kind in a row. */
function toRows(content: RecordContent, choice: ChoiceContent, { full }: ReportOptions): string[] {
  const rows: Row[] = [];
  let from = 0;
  for (const { at, shown } of choice.steps) {
    for (const event of shown) {
      const { kind, text } = describe(event);
      const last = rows.at(-1);
      if (last?.kind === kind && JOINED.has(kind)) {
        last.text += text;
        last.to = at;
      } else rows.push({ from: Math.min(from, at), to: at, kind, text });
      from = at + 1;
    }
  }
  const cut = (text: string): string =>
    JSON.stringify(full || text.length <= CELL_LENGTH_MAX ? text : `${text.slice(0, CELL_LENGTH_MAX)}…`);
  const lines = rows.flatMap(({ from, to, kind, text }) => {
    const written = choice.tokens.slice(from, to + 1).map((token) => spell(content, token)).join("");
    const tokens = from >= choice.tokens.length ? "end" : from === to ? String(from) : `${from}-${to}`;
    const model = written === "" ? "" : `  model ${cut(written)}`;
    const isSame = JOINED.has(kind) && written === text;
    return [`  ${tokens.padEnd(9)} ${kind.padEnd(10)}${isSame ? "" : model}  client ${cut(text)}`];
  });
  if (full || lines.length <= ROWS_MAX) return lines;
  return [...lines.slice(0, ROWS_MAX), `  … ${lines.length - ROWS_MAX} more rows (--full)`];
}

const JOINED = new Set(["content", "reasoning", "arguments"]);

function describe(event: ShownEvent): { kind: string; text: string } {
  if ("text" in event) return { kind: "content", text: event.text };
  if ("reasoning" in event) return { kind: "reasoning", text: event.reasoning };
  if ("call" in event) return { kind: "call", text: `${event.call.name} (${event.call.id})` };
  if ("arguments" in event) return { kind: "arguments", text: event.arguments };
  if ("call_end" in event) return { kind: "call end", text: String(event.call_end) };
  if ("call_broken" in event) return { kind: "no call", text: String(event.call_broken) };
  if ("repair" in event) return { kind: "repair", text: `${event.repair}: ${event.detail}` };
  return {
    kind: "finish",
    text: event.stop_string === null ? event.finish : `${event.finish} at ${event.stop_string}`,
  };
}

function spell({ vocabulary }: RecordContent, token: number): string {
  const piece = vocabulary.pieces[String(token)];
  if (piece === undefined) return "";
  return "text" in piece
    ? piece.text
    : `\\x${[...atob(piece.base64)].map((c) => c.charCodeAt(0).toString(16)).join("\\x")}`;
}

function toNames(counts: readonly NamedCount[]): string {
  return counts.map(({ name, count }) => count === 1 ? name : `${name} ×${count}`).join(", ");
}

function toMs(value: number | null): string {
  return value === null ? "–" : `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
