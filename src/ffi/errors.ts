/**
 * Statuses of rmx.h ↔ `CoreError`. Numbers come in from structs and events, names go out; nothing else in the server
 * sees a status number.
 *
 * @module
 */
import { CONSTANTS } from "./abi.gen.ts";
import { CoreError, type CoreErrorCode } from "./core.ts";

/** The status of each code, as rmx.h numbers them. */
export const STATUS_OF: Readonly<Record<CoreErrorCode, number>> = {
  argument: CONSTANTS.RMX_ERR_ARGUMENT,
  handle: CONSTANTS.RMX_ERR_HANDLE,
  space: CONSTANTS.RMX_ERR_SPACE,
  closed: CONSTANTS.RMX_ERR_CLOSED,
  busy: CONSTANTS.RMX_ERR_BUSY,
  memory: CONSTANTS.RMX_ERR_MEMORY,
  io: CONSTANTS.RMX_ERR_IO,
  format: CONSTANTS.RMX_ERR_FORMAT,
  model: CONSTANTS.RMX_ERR_MODEL,
  internal: CONSTANTS.RMX_ERR_INTERNAL,
};

const CODE_OF = new Map(Object.entries(STATUS_OF).map(([code, status]) => [status, code as CoreErrorCode]));

/**
 * Makes the error of a call or an event that failed.
 *
 * @param status Negative, as the core gave it. One that this server does not know becomes `internal` and is named.
 * @param message What was tried, found and wanted; empty if the core gave none.
 */
export function toCoreError(status: number, message: string): CoreError {
  const code = CODE_OF.get(status);
  if (code === undefined) return new CoreError("internal", `${message} (unknown status ${status} of the core)`.trim());
  return new CoreError(code, message === "" ? `The core answered ${code} (${status}) without a message` : message);
}
