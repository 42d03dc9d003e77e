/**
 * What a bound answer's grammar is made of, as plain data: it crosses to the grammar worker, which makes the grammar.
 * Sixty tools take a hundred milliseconds, and no stream should wait for that.
 *
 * @module
 */
import type { Tool } from "../flow.ts";
import type { Grammar } from "../grammar/expr.ts";
import { type AnswerRequest, toAnswerGrammar } from "./answer_grammar.ts";
import { CallRequest } from "./tools/call_request.ts";

/** An answer, before any of its tools' schemas is looked at. */
export interface AnswerSource extends Omit<AnswerRequest, "calls"> {
  /** Calls that may be made; absent: none. */
  calls?: {
    /** At least one. */
    tools: readonly Tool[];
    /** Most calls of an answer; null: any number. */
    callsMax: number | null;
    /** What follows the colon in this vocabulary's tags (hy_v3); absent: what the template writes. */
    label?: string;
  };
}

/** What is made of it. */
export interface MadeAnswer {
  /** What may be written. */
  grammar: Grammar;
  /** Keywords of tools that it does not keep. */
  dropped: readonly string[];
}

/** Makes the grammar. @throws {GrammarError} For a schema of a strict tool that can't be honoured. */
export function makeAnswer({ calls, ...source }: AnswerSource): MadeAnswer {
  if (calls === undefined) return { grammar: toAnswerGrammar(source), dropped: [] };
  const dropped = new Set<string>();
  const { tools, callsMax, ...label } = calls;
  const onDropped = (_tool: Tool, keyword: string): void => void dropped.add(keyword);
  const request = new CallRequest(tools, callsMax, onDropped, { prompt: source.prompt, ...label });
  return { grammar: toAnswerGrammar({ ...source, calls: request }), dropped: [...dropped] };
}
