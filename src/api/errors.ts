/**
 * Errors as the wire knows them: the codes, what each means for the client, and the envelope.
 *
 * Whoever finds fault with a request throws a RequestError with a code of this table; src/http/errors.ts turns it, and
 * the errors of other folders, into a response.
 *
 * @module
 */

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
  not_available_yet: { status: 404, type: "not_found_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  request_timeout: { status: 408, type: "invalid_request_error" },
  request_too_large: { status: 413, type: "invalid_request_error" },
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

/** The body of every error response, and of an error chunk in a stream. */
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

/** The wire form of an error. */
export function toErrorEnvelope(error: RequestError): ErrorEnvelope {
  const { type } = ERROR_CODES[error.code];
  return { error: { message: error.message, type, code: error.code, param: error.options.param ?? null } };
}
