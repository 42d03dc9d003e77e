/**
 * The ranges of rmx_params, checked in TypeScript for cores without a Bridge. swift/Bridge checks the same fields in the
 * same order; tests/abi/core_suite.ts holds both to it.
 *
 * @module
 */
import { CONSTANTS } from "./abi.gen.ts";
import { CoreError, type ModelInfo, type SubmitRequest } from "./core.ts";

const UINT32_MAX = 0xffff_ffff;

interface Range {
  field: string;
  ok: (value: number) => boolean;
  wanted: string;
  value: (request: SubmitRequest) => number;
}

/** Every number of a request: its name in rmx.h and its range. NaN is in no range. */
const RANGES: readonly Range[] = [
  { field: "tag", value: (r) => r.tag, ok: (v) => isCount(v) && v > 0, wanted: "1 to 4294967295" },
  { field: "max_tokens", value: (r) => r.maxTokens, ok: (v) => isCount(v) && v > 0, wanted: "1 to 4294967295" },
  {
    field: "temperature",
    value: (r) => r.temperature,
    ok: (v) => v >= 0 && v < Infinity,
    wanted: "a finite number, at least 0",
  },
  { field: "top_p", value: (r) => r.topP, ok: (v) => v > 0 && v <= 1, wanted: "more than 0, at most 1" },
  { field: "min_p", value: (r) => r.minP, ok: (v) => v >= 0 && v <= 1, wanted: "0 to 1" },
  { field: "top_k", value: (r) => r.topK, ok: isCount, wanted: "0 to 4294967295" },
  {
    field: "repetition_penalty",
    value: (r) => r.repetitionPenalty,
    ok: (v) => v > 0 && v < Infinity,
    wanted: "a finite number, more than 0",
  },
  { field: "presence_penalty", value: (r) => r.presencePenalty, ok: (v) => v >= -2 && v <= 2, wanted: "-2 to 2" },
  { field: "frequency_penalty", value: (r) => r.frequencyPenalty, ok: (v) => v >= -2 && v <= 2, wanted: "-2 to 2" },
  { field: "penalty_window_tokens", value: (r) => r.penaltyWindowTokens, ok: isCount, wanted: "0 to 4294967295" },
  {
    field: "logprobs_top",
    value: (r) => r.logprobsTop ?? 0,
    ok: (v) => isCount(v) && v <= CONSTANTS.RMX_LOGPROBS_TOP_MAX,
    wanted: `0 to ${CONSTANTS.RMX_LOGPROBS_TOP_MAX}`,
  },
];

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= UINT32_MAX;
}

/**
 * Checks a request against the header and a model.
 *
 * @throws {CoreError} `argument`, naming the field, what was found and what is wanted.
 */
export function checkSubmit(request: SubmitRequest, info: ModelInfo): void {
  for (const { field, value, ok, wanted } of RANGES) {
    if (!ok(value(request))) {
      throw new CoreError("argument", `Cannot submit the request: ${field} is ${value(request)}, wanted ${wanted}`);
    }
  }
  if (request.prompt.length === 0) {
    throw new CoreError("argument", "Cannot submit the request: token_count is 0, wanted at least 1");
  }
  if (request.prompt.length >= info.contextTokens) {
    throw new CoreError(
      "argument",
      `Cannot submit the request: the prompt has ${request.prompt.length} tokens, the context of ${info.contextTokens} ` +
        "leaves no room for a token",
    );
  }
  const vocabulary = info.vocabularySize;
  for (const token of [...request.prompt, ...request.logitBias.keys()]) {
    if (token < 0 || token >= vocabulary) {
      throw new CoreError(
        "argument",
        `Cannot submit the request: token ${token} is not in the vocabulary, wanted 0 to ${vocabulary - 1}`,
      );
    }
  }
  for (const [token, bias] of request.logitBias) {
    // Minus infinity forbids a token; plus infinity and NaN would leave no distribution.
    if (!(bias < Infinity)) {
      throw new CoreError(
        "argument",
        `Cannot submit the request: the bias of token ${token} is ${bias}, wanted a number or minus infinity`,
      );
    }
  }
}
