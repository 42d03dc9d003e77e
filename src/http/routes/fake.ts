/**
 * GET /debug/fake: what the last requests asked of a scripted model.
 *
 * @module
 */
import { toFakeRequests } from "../../api/fake.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";

/** The last requests, oldest first. */
export function showFake(context: AppContext, { script }: AppDependencies): Response {
  return context.json(toFakeRequests(script?.recent() ?? []));
}
