// deno-lint-ignore-file camelcase -- the wires' own names
/**
 * Errors as the wire knows them: the codes, what each means for the client, and the envelope.
 *
 * Whoever finds fault with a request throws a RequestError with a code of this table; src/http/errors.ts turns it, and
 * the errors of other folders, into a response.
 *
 * @module
 */

/** Families of wires, by how they tell an error. */
export type Wire = "openai" | "anthropic";

/** What OpenAI's clients sort errors by, beside the status. */
export type ErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "rate_limit_error"
  | "api_error";

/** Every code that this server answers with: its status and type. */
export const ERROR_CODES = {
  invalid_json: { status: 400, type: "invalid_request_error" },
  invalid_request: { status: 400, type: "invalid_request_error" },
  request_body_too_deep: { status: 400, type: "invalid_request_error" },
  unsupported_field: { status: 400, type: "invalid_request_error" },
  unsupported_combination: { status: 400, type: "invalid_request_error" },
  context_length_exceeded: { status: 400, type: "invalid_request_error" },
  tool_choice_missing_name: { status: 400, type: "invalid_request_error" },
  tool_choice_required_without_tools: { status: 400, type: "invalid_request_error" },
  tool_choice_unknown_function: { status: 400, type: "invalid_request_error" },
  invalid_response_format_schema: { status: 400, type: "invalid_request_error" },
  strict_schema_required: { status: 400, type: "invalid_request_error" },
  invalid_grammar: { status: 400, type: "invalid_request_error" },
  invalid_tool_schema: { status: 400, type: "invalid_request_error" },
  template_error: { status: 400, type: "invalid_request_error" },
  insufficient_memory: { status: 400, type: "invalid_request_error" },
  host_not_allowed: { status: 400, type: "invalid_request_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  origin_not_allowed: { status: 403, type: "permission_error" },
  model_not_found: { status: 404, type: "not_found_error" },
  request_not_found: { status: 404, type: "not_found_error" },
  not_found: { status: 404, type: "not_found_error" },
  thread_not_found: { status: 404, type: "not_found_error" },
  response_not_found: { status: 404, type: "not_found_error" },
  previous_response_not_found: { status: 400, type: "invalid_request_error" },
  item_not_found: { status: 400, type: "invalid_request_error" },
  not_available_yet: { status: 404, type: "not_found_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  request_timeout: { status: 408, type: "invalid_request_error" },
  request_too_large: { status: 413, type: "invalid_request_error" },
  websocket_not_supported: { status: 426, type: "invalid_request_error" },
  tool_choice_required_unfulfilled: { status: 422, type: "invalid_request_error" },
  server_busy: { status: 429, type: "rate_limit_error" },
  client_closed_request: { status: 499, type: "api_error" },
  internal_error: { status: 500, type: "api_error" },
  fake_script_exhausted: { status: 500, type: "api_error" },
  scripted_refusal: { status: 500, type: "api_error" },
  model_loading: { status: 503, type: "api_error" },
  model_failed: { status: 503, type: "api_error" },
  server_shutting_down: { status: 503, type: "api_error" },
} as const satisfies Record<string, { status: number; type: ErrorType }>;

/** A key of ERROR_CODES. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** The body of an error response of OpenAI's wires, and of an error chunk in a stream. */
export interface ErrorEnvelope {
  /** What happened. */
  error: {
    /** A sentence that helps. */
    message: string;
    /** Family. */
    type: ErrorType;
    /** Which one. */
    code: ErrorCode;
    /** Path of the field at fault, e.g. `messages[0].role`. */
    param: string | null;
  };
}

/** What Anthropic's clients sort errors by, beside the status. */
export type AnthropicErrorType =
  | "invalid_request_error"
  | "authentication_error"
  | "permission_error"
  | "not_found_error"
  | "request_too_large"
  | "rate_limit_error"
  | "timeout_error"
  | "overloaded_error"
  | "api_error";

/** The body of an error response of the Messages wire, and of its `error` event. */
export interface AnthropicErrorEnvelope {
  /** Literal. */
  type: "error";
  /** What happened. */
  error: {
    /** Family. */
    type: AnthropicErrorType;
    /** A sentence that helps. */
    message: string;
    /** What the package's threads go by: they send the whole conversation then. */
    details?: { error_code: "thread_not_found" };
  };
  /** `req-…`, as in the header. */
  request_id: string;
}

/** More about a RequestError. */
export interface RequestErrorOptions {
  /** Path of the field at fault. */
  param?: string;
  /** Seconds after which a repetition makes sense. */
  retryAfterSeconds?: number;
  /** Methods that would have been right (405). */
  allow?: string;
  /** Status instead of the code's own, for refusals that a script makes. */
  status?: number;
}

/** A request that gets no answer, told to its client. */
export class RequestError extends Error {
  /** Row of ERROR_CODES. */
  readonly code: ErrorCode;
  /** The rest. */
  readonly options: RequestErrorOptions;

  /** @param code Row of ERROR_CODES. @param message For the client. @param options Field at fault, headers. */
  constructor(code: ErrorCode, message: string, options: RequestErrorOptions = {}) {
    super(message);
    this.name = "RequestError";
    this.code = code;
    this.options = options;
  }
}

/** The wire form of an error. @param requestId `req-…`, for the wires that tell it in the body. */
export function toErrorEnvelope(
  error: RequestError,
  wire: Wire,
  requestId: string,
): ErrorEnvelope | AnthropicErrorEnvelope {
  const { message, code, options } = error;
  if (wire === "anthropic") {
    const told = code === "unsupported_field" ? toExtraInput(message, options.param) : message;
    const details = code === "thread_not_found" && { details: { error_code: code } };
    return {
      type: "error",
      error: { type: toAnthropicType(error), message: told, ...details },
      "request_id": requestId,
    };
  }
  return { error: { message, type: ERROR_CODES[code].type, code, param: options.param ?? null } };
}

/** Anthropic's words for a field that is refused: Claude Code then sends the request again without exactly that. */
function toExtraInput(message: string, param = "body"): string {
  return `${param.replaceAll(/\[(\d+)\]/g, ".$1")}: Extra inputs are not permitted. ${message}`;
}

/** Types of the Messages wire by status; for others the type is that of OpenAI's wires. */
const ANTHROPIC_TYPES: Readonly<Record<number, AnthropicErrorType>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  529: "overloaded_error",
};

function toAnthropicType({ code, options }: RequestError): AnthropicErrorType {
  const { status, type } = ERROR_CODES[code];
  return ANTHROPIC_TYPES[options.status ?? status] ?? type;
}
