/**
 * The one table from error classes to what a client is told: status, type, code, param, headers.
 *
 * An error that no row knows is a fault of ours: the client hears no detail, the log has it under the request's id.
 *
 * @module
 */
import { ERROR_CODES, type ErrorCode, RequestError, toErrorEnvelope, type Wire } from "../api/errors.ts";
import { CoreError, type CoreErrorCode } from "../ffi/core.ts";
import { TemplateError, TextCallDropped } from "../prompt/errors.ts";
import { ContextExceeded } from "../route/context.ts";
import { ModelNotFound, ModelNotReady } from "../route/models.ts";
import { CallMissing } from "../route/whole_calls.ts";

/** Seconds that a client is asked to wait while every place in the queue is taken. */
export const BUSY_RETRY_SECONDS = 1;
/** Seconds that a client is asked to wait while a model loads. */
export const LOADING_RETRY_SECONDS = 2;
/** Seconds that a client is asked to wait while the server ends, perhaps to be restarted. */
export const CLOSING_RETRY_SECONDS = 5;

/** Those core errors that tell something about the request; the others are faults of ours. */
const CORE_ERRORS: Partial<Record<CoreErrorCode, { code: ErrorCode; retryAfterSeconds?: number }>> = {
  busy: { code: "server_busy", retryAfterSeconds: BUSY_RETRY_SECONDS },
  memory: { code: "insufficient_memory" },
  closed: { code: "server_shutting_down", retryAfterSeconds: CLOSING_RETRY_SECONDS },
};

/**
 * What a client is told of an error.
 *
 * @param requestId Named when the log knows more.
 * @param wire Whose words say that a prompt is too long: agents search for them.
 */
export function toRequestError(error: unknown, requestId: string, wire: Wire): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof ModelNotFound) return new RequestError("model_not_found", error.message, { param: "model" });
  if (error instanceof ModelNotReady) {
    return error.loading
      ? new RequestError("model_loading", error.message, { param: "model", retryAfterSeconds: LOADING_RETRY_SECONDS })
      : new RequestError("model_failed", error.message, { param: "model" });
  }
  if (error instanceof ContextExceeded) {
    const message = wire === "anthropic" ? error.anthropicMessage : error.message;
    return new RequestError("context_length_exceeded", message, { param: error.field });
  }
  if (error instanceof TextCallDropped) return new RequestError("client_closed_request", error.message);
  if (error instanceof TemplateError) return new RequestError("template_error", error.message, { param: "messages" });
  if (error instanceof CallMissing) {
    return new RequestError("tool_choice_required_unfulfilled", error.message, { param: "tool_choice" });
  }
  if (error instanceof CoreError) {
    const row = CORE_ERRORS[error.code];
    if (row) {
      const { code, ...options } = row;
      return new RequestError(code, error.message, options);
    }
  }
  return new RequestError("internal_error", `Internal server error; the log says more under request ${requestId}.`);
}

/** The response of a request that gets no answer. @param body Its envelope. */
export function toErrorResponse(error: RequestError, body: object = toErrorEnvelope(error, "openai", "")): Response {
  const { retryAfterSeconds, allow, status = ERROR_CODES[error.code].status } = error.options;
  const headers = new Headers({ "content-type": "application/json" });
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  if (allow !== undefined) headers.set("allow", allow);
  if (status === 401) headers.set("www-authenticate", "Bearer");
  // What is left of such a body is not read, so the connection can't be used again.
  if (status === 408 || status === 413) headers.set("connection", "close");
  return new Response(JSON.stringify(body), { status, headers });
}

/** True if nothing is known of an error but that it is ours. */
export function isInternal(error: RequestError): boolean {
  return error.code === "internal_error";
}
