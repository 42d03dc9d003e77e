/**
 * What turns a generation's tokens into what the client sees.
 *
 * Takes the engine's events in order, gives output events; `createDecoder` composes one. Knows no wire.
 *
 * @module
 */
import type { GenerationEvent, OutputEvent, Tool, Vocabulary } from "../flow.ts";
import type { CharacterAccount } from "./account.ts";
import { type AnswerParser, ChainedParser } from "./answer_parser.ts";
import { newCallId, newMistralId } from "./ids.ts";
import { createHarmony } from "./protocols/harmony.ts";
import { labelOf } from "./label.ts";
import { createReasoningParser, type ReasoningParserName } from "./reasoning/mod.ts";
import { readSpelledMarkers } from "./spelled_markers.ts";
import { StandardDecoder } from "./standard.ts";
import { TOOL_PARSERS, type ToolParserName, toolParsers } from "./tools/mod.ts";
import type { ToolContext } from "./tools/parser.ts";

/** One answer's decoder. */
export interface StreamDecoder {
  /** So far. */
  readonly account: Readonly<CharacterAccount>;
  /** Whether a stop string matched: nothing more will be shown, so the generation can be cancelled. */
  readonly stopped: boolean;
  /** What an event makes visible, possibly nothing. `finish` gives all that was held, then the finish event. */
  push(event: GenerationEvent): OutputEvent[];
}

/** How an answer is to be read. */
export interface DecoderOptions {
  /** The model's tokens. */
  vocabulary: Vocabulary;
  /** Never shown, whatever they spell. */
  endTokens: readonly number[];
  /** The text ends before the first of these; none is empty. */
  stop: readonly string[];
  /** Alternatives to report for each visible token, 0 to 20; undefined: no tokens are reported. */
  logprobsTop?: number;
  /** The answer goes on a text of the prompt (completions, a continued message): a leading space belongs to it. */
  continuesText?: boolean;
  /** How the model writes; absent: all of it is content. */
  dialect?: Dialect;
  /** Tools that may be called; none: nothing is a call. */
  tools?: readonly Tool[];
  /** Calls that may be made; further ones are named in repairs. Absent: any number. */
  callsMax?: number;
  /** The rendered prompt: shows whether its template opened the reasoning already. */
  prompt?: string;
  /** Makes ids of calls; absent: random ones of the dialect's kind. */
  newId?: () => string;
}

/** Names of the parsers of calls; `harmony` owns the whole stream. */
export const ANSWER_PARSERS = [...TOOL_PARSERS, "harmony"] as const;

/** Names of parsers, as a profile gives them. */
export interface Dialect {
  /** For `harmony` the parser of reasoning is not asked. */
  tools: ToolParserName | "harmony";
  /** Of reasoning. */
  reasoning: ReasoningParserName;
}

/** All content, for models of which nothing is known. */
const PLAIN: Dialect = { tools: "none", reasoning: "none" };

/** Makes the decoder of one answer. */
export function createDecoder(options: DecoderOptions): StreamDecoder {
  const dialect = options.dialect ?? PLAIN;
  const newId = options.newId ?? (dialect.tools === "mistral" ? newMistralId : newCallId);
  return new StandardDecoder(options, createAnswerParser(options, dialect), newId);
}

/** How reasoning is read: formats whose messages have headers need their reader also where nobody asked for it. */
export function reasoningOf({ tools, reasoning }: Dialect): ReasoningParserName {
  return reasoning === "none" && (tools === "muse" || tools === "functionary") ? tools : reasoning;
}

/** What parts an answer; `createDecoder` puts it behind the stages that make characters of tokens. */
export function createAnswerParser(
  options: Pick<DecoderOptions, "vocabulary" | "logprobsTop" | "tools" | "prompt">,
  dialect: Dialect,
): AnswerParser {
  const wholeTokens = options.logprobsTop !== undefined;
  const tools = new Map((options.tools ?? []).map((tool) => [tool.name, tool]));
  if (dialect.tools === "harmony") {
    return readSpelledMarkers(createHarmony({ tools, reasoningEnd: "", wholeTokens }), options.vocabulary);
  }
  const { prompt = "" } = options;
  const label = [dialect.tools, dialect.reasoning].includes("hy_v3") ? labelOf(options.vocabulary) : undefined;
  const start = { prompt, wholeTokens, ...label !== undefined && { label } };
  const reasoning = createReasoningParser(reasoningOf(dialect), start);
  const { endMarker, markers } = reasoning;
  // A model may think where nobody reads it: its answer begins behind that all the same.
  const reasoningEnd = dialect.reasoning === "none" ? "</think>" : endMarker;
  const context: ToolContext = { tools, reasoningEnd, reasoningMarkers: markers, ...start };
  const parser = toolParsers[tools.size === 0 ? "none" : dialect.tools](context);
  return new ChainedParser(parser, reasoning);
}
