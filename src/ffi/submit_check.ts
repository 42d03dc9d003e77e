/**
 * The ranges of rmx_params, checked in TypeScript for cores without a library. swift/Engine checks the same fields;
 * tests/abi/core_suite.ts holds both to it.
 *
 * @module
 */
import { CONSTANTS } from "./abi.gen.ts";
import { CoreError, type ModelInfo, type SubmitRequest } from "./core.ts";
import { writeParams } from "./structs.ts";

/** A field of rmx.h, its value in a request, and its range. NaN is in no range. */
type Range = [field: string, value: (request: SubmitRequest) => number, ok: (value: number) => boolean, wanted: string];

const TOP_MAX = CONSTANTS.RMX_LOGPROBS_TOP_MAX;

const RANGES: readonly Range[] = [
  ["tag", (r) => r.tag, (v) => v > 0, "1 or more"],
  ["max_tokens", (r) => r.maxTokens, (v) => v > 0, "1 or more"],
  ["temperature", (r) => r.temperature, (v) => v >= 0 && v < Infinity, "0 (greedy) or more"],
  ["top_p", (r) => r.topP, (v) => v > 0 && v <= 1, "over 0, up to 1"],
  ["min_p", (r) => r.minP, (v) => v >= 0 && v <= 1, "0 to 1"],
  ["repetition_penalty", (r) => r.repetitionPenalty, (v) => v > 0 && v < Infinity, "over 0"],
  ["presence_penalty", (r) => r.presencePenalty, (v) => v >= -2 && v <= 2, "-2 to 2"],
  ["frequency_penalty", (r) => r.frequencyPenalty, (v) => v >= -2 && v <= 2, "-2 to 2"],
  ["logprobs_top", (r) => r.logprobsTop ?? 0, (v) => v <= TOP_MAX, `0 to ${TOP_MAX}`],
];

/**
 * Checks a request against the header and a model.
 *
 * @throws {CoreError} `argument`, naming the field, what was found and what is wanted.
 */
export function checkSubmit(request: SubmitRequest, info: ModelInfo): void {
  writeParams(request);
  for (const [field, value, ok, wanted] of RANGES) {
    if (!ok(value(request))) {
      throw new CoreError("argument", `Cannot submit the request: ${field} is ${value(request)}, wanted ${wanted}`);
    }
  }
  if (request.prompt.length === 0) {
    throw new CoreError("argument", "Cannot submit the request: the prompt is empty, wanted is at least one token");
  }
  if (request.prompt.length >= info.contextTokens) {
    throw new CoreError(
      "argument",
      `Cannot submit the request: the prompt has ${request.prompt.length} tokens, the context of ${info.contextTokens} ` +
        "leaves no room for a token",
    );
  }
  const vocabulary = info.vocabularySize;
  const refuseUnknown = (where: string, token: number): void => {
    if (token >= 0 && token < vocabulary) return;
    throw new CoreError(
      "argument",
      `Cannot submit the request: token ${token} of the ${where} is not in the vocabulary, wanted 0 to ${
        vocabulary - 1
      }`,
    );
  };
  // An iterator over 60,000 tokens takes a millisecond, in which no stream gets on.
  const { prompt } = request;
  for (let at = 0; at < prompt.length; at++) refuseUnknown("prompt", prompt[at] ?? 0);
  for (const [token, bias] of request.logitBias) {
    refuseUnknown("logit bias", token);
    // Minus infinity forbids a token; plus infinity and NaN would leave no distribution.
    if (!(bias < Infinity)) {
      throw new CoreError(
        "argument",
        `Cannot submit the request: the bias of token ${token} is ${bias}, wanted a number or minus infinity`,
      );
    }
  }
}
