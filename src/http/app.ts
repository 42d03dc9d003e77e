/**
 * The Hono app: what every request passes, in order, and the table of routes.
 *
 * id, log and errors → Host → Origin → key → route. A path that no row knows is a 404 at once, a method that a path
 * does not have a 405; both, like every refusal, in the envelope of the wire.
 *
 * @module
 */
import { Hono } from "hono";
import { RequestError, toErrorEnvelope, type Wire } from "../api/errors.ts";
import type { AppContext, AppDependencies, AppEnvironment, Handler } from "./app_context.ts";
import { isInternal, toErrorResponse, toRequestError } from "./errors.ts";
import { checkHost, checkKey, checkOrigin, checkUpgrade, toCorsHeaders, toPreflightResponse } from "./guards.ts";
import { beginRecord, endRefused } from "./recording.ts";
import { chatCompletions } from "./routes/chat_completions.ts";
import { completions } from "./routes/completions.ts";
import { showFake } from "./routes/fake.ts";
import { health, healthz, hello, live, ready, root } from "./routes/health.ts";
import { countTokens, messages } from "./routes/messages.ts";
import { showMetrics } from "./routes/metrics.ts";
import { listModels, showModel } from "./routes/models.ts";
import { countInputTokens, createResponse, deleteResponse, listInputItems, showResponse } from "./routes/responses.ts";
import { listRequests, showRequest } from "./routes/requests.ts";
import { showStatus } from "./routes/status.ts";

/** One row of the table. */
interface Route {
  /** What metrics call it. */
  name: string;
  /** GET answers HEAD too. */
  method: "GET" | "POST" | "DELETE";
  /** Hono's pattern. */
  path: string;
  /** Also reached under `/v1`. */
  versioned?: true;
  /** No key is asked for. */
  open?: true;
  /** It makes answers: what happens to its requests is recorded. */
  recorded?: true;
  /** Whose words its refusals are in, and those of the paths below it; absent: OpenAI's. */
  wire?: Wire;
  /** Answers it. */
  handler: Handler;
}

/** Every route. */
export const ROUTES: readonly Route[] = [
  { name: "root", method: "GET", path: "/", open: true, handler: root },
  { name: "livez", method: "GET", path: "/livez", open: true, handler: live },
  { name: "healthz", method: "GET", path: "/healthz", open: true, handler: healthz },
  { name: "readyz", method: "GET", path: "/readyz", open: true, handler: ready },
  { name: "health.ready", method: "GET", path: "/health/ready", open: true, handler: ready },
  { name: "health", method: "GET", path: "/health", open: true, handler: health },
  { name: "hello", method: "GET", path: "/api/hello", open: true, handler: hello },
  { name: "metrics", method: "GET", path: "/metrics", handler: showMetrics },
  { name: "status", method: "GET", path: "/status", versioned: true, handler: showStatus },
  { name: "models", method: "GET", path: "/models", versioned: true, handler: listModels },
  { name: "models.show", method: "GET", path: "/models/:id{.+}", versioned: true, handler: showModel },
  {
    name: "chat.completions",
    method: "POST",
    path: "/chat/completions",
    versioned: true,
    recorded: true,
    handler: chatCompletions,
  },
  { name: "completions", method: "POST", path: "/completions", versioned: true, recorded: true, handler: completions },
  {
    name: "messages",
    method: "POST",
    path: "/messages",
    versioned: true,
    recorded: true,
    wire: "anthropic",
    handler: messages,
  },
  {
    name: "messages.count_tokens",
    method: "POST",
    path: "/messages/count_tokens",
    versioned: true,
    wire: "anthropic",
    handler: countTokens,
  },
  {
    name: "responses",
    method: "POST",
    path: "/responses",
    versioned: true,
    recorded: true,
    handler: createResponse,
  },
  {
    name: "responses.input_tokens",
    method: "POST",
    path: "/responses/input_tokens",
    versioned: true,
    handler: countInputTokens,
  },
  { name: "responses.show", method: "GET", path: "/responses/:id", versioned: true, handler: showResponse },
  { name: "responses.delete", method: "DELETE", path: "/responses/:id", versioned: true, handler: deleteResponse },
  {
    name: "responses.input_items",
    method: "GET",
    path: "/responses/:id/input_items",
    versioned: true,
    handler: listInputItems,
  },
  { name: "requests", method: "GET", path: "/requests", versioned: true, handler: listRequests },
  { name: "requests.show", method: "GET", path: "/requests/:id", versioned: true, handler: showRequest },
];

/** What only a scripted server has. */
const FAKE_ROUTE: Route = { name: "debug.fake", method: "GET", path: "/debug/fake", handler: showFake };

/** Paths of wires that are promised and not there yet: a 404 that says so, at once. */
export const NOT_AVAILABLE_YET: readonly string[] = [
  "/responses/compact",
  "/responses/:id/cancel",
  "/embeddings",
  "/audio/:kind{.+}",
  "/images/:kind{.+}",
  "/videos",
  "/videos/:id{.+}",
  "/mcp/:kind{.+}",
  "/cache/:kind{.+}",
  "/requests/:id/cancel",
];

/** Builds the app. It has no state of its own: all is in the parts it is given. */
export function createApp(dependencies: AppDependencies): Hono<AppEnvironment> {
  const app = new Hono<AppEnvironment>();
  app.use("*", async (context, next) => {
    const requestKey = crypto.randomUUID().replaceAll("-", "");
    const id = `req-${requestKey}`;
    context.set("requestKey", requestKey);
    context.set("arrivedMs", dependencies.clock.nowMs());
    context.set("log", dependencies.log.with({ request: id }));
    await next();
    context.res.headers.set("x-request-id", id);
    if (toWire(context) === "anthropic") context.res.headers.set("request-id", id);
  });
  app.use("*", async (context, next) => {
    const headers = context.req.raw.headers;
    checkHost(headers.get("host") ?? new URL(context.req.url).host, dependencies.config);
    checkUpgrade(headers);
    const origin = checkOrigin(headers, dependencies.config);
    if (origin === undefined) return await next();
    if (context.req.method === "OPTIONS" && headers.has("access-control-request-method")) {
      context.res = toPreflightResponse(headers, "GET, POST, DELETE, OPTIONS");
    } else await next();
    for (const [name, value] of Object.entries(toCorsHeaders(origin))) context.res.headers.set(name, value);
  });
  const routes = dependencies.script ? [...ROUTES, FAKE_ROUTE] : ROUTES;
  for (const route of routes) addRoute(app, route, dependencies);
  for (const path of NOT_AVAILABLE_YET) {
    for (const full of [path, `/v1${path}`]) {
      app.all(full, (context) => {
        checkKey(context.req.raw.headers, dependencies.config);
        throw new RequestError("not_available_yet", `${toShown(context)} is not available yet in this version.`);
      });
    }
  }
  refuseOtherMethods(app, routes);
  app.notFound((context) => {
    const error = new RequestError("not_found", `${toShown(context)} does not exist. The API is under /v1.`);
    return answerError(error, context, dependencies, "unknown");
  });
  app.onError((error, context) => answerError(error, context, dependencies, "guard"));
  return app;
}

/** Registers a row. */
function addRoute(app: Hono<AppEnvironment>, route: Route, dependencies: AppDependencies): void {
  for (const path of route.versioned ? [route.path, `/v1${route.path}`] : [route.path]) {
    app.on(route.method, path, async (context) => {
      try {
        if (!route.open) checkKey(context.req.raw.headers, dependencies.config);
        if (route.recorded) beginRecord(context, dependencies, `/v1${route.path}`);
        const response = await route.handler(context, dependencies);
        dependencies.activity.countResponse(route.name, response.status);
        return response;
      } catch (error) {
        return answerError(error, context, dependencies, route.name);
      }
    });
  }
}

/** What a path answers to methods that it does not have. */
function refuseOtherMethods(app: Hono<AppEnvironment>, routes: readonly Route[]): void {
  for (const [path, rows] of Map.groupBy(routes, ({ path }) => path)) {
    const methods = rows.map(({ method }) => method);
    const allow = methods.map((method) => method === "GET" ? "GET, HEAD" : method).join(", ");
    for (const full of rows.some(({ versioned }) => versioned) ? [path, `/v1${path}`] : [path]) {
      app.all(full, (context) => {
        const message = `${toShown(context)} takes ${methods.join(" or ")}, not ${context.req.method}.`;
        throw new RequestError("method_not_allowed", message, { allow });
      });
    }
  }
}

/** Tells the client, logs what is ours. */
function answerError(error: unknown, context: AppContext, dependencies: AppDependencies, route: string): Response {
  const requestId = `req-${context.get("requestKey")}`;
  const wire = toWire(context);
  const known = toRequestError(error, requestId, wire);
  const body = toErrorEnvelope(known, wire, requestId);
  const response = toErrorResponse(known, body);
  endRefused(context, dependencies, known, body);
  dependencies.activity.countResponse(route, response.status);
  const log = context.get("log");
  const fields = { route, status: response.status, code: known.code, param: known.options.param };
  if (isInternal(known)) {
    const stack = error instanceof Error ? error.stack : undefined;
    log.log("error", "request failed", { ...fields, error: stack ?? String(error) });
  } else log.log("info", "request refused", fields);
  return response;
}

/** Whose words a refusal is in: by the path, since the guards and the unknown paths have no route. */
function toWire(context: AppContext): Wire {
  const path = new URL(context.req.url).pathname.replace(/^\/v1(?=\/)/, "");
  const row = ROUTES.find((route) =>
    route.wire !== undefined && (path === route.path || path.startsWith(`${route.path}/`))
  );
  return row?.wire ?? "openai";
}

/** The path as it may be repeated in a message. */
function toShown(context: AppContext): string {
  const { pathname } = new URL(context.req.url);
  return /^[A-Za-z0-9/_.:-]{1,200}$/.test(pathname) ? pathname : "This path";
}
