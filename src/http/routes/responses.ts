/**
 * /v1/responses: answers a conversation, counts one, gives what was kept of answers to the key that made them.
 *
 * @module
 */
import { fromJsonText, type JsonObject, toJsonText } from "../../api/body.ts";
import { RequestError } from "../../api/errors.ts";
import { ResponseEncoder } from "../../api/responses/answer.ts";
import { toInputItemList } from "../../api/responses/input_items.ts";
import { type KnownItems, parseResponsesRequest, type ResponsesRequest } from "../../api/responses/request.ts";
import { RESPONSE_BYTES_MAX } from "../../store/responses.ts";
import {
  answerConversation,
  type ConversationWire,
  COUNTED_TOKENS_MAX,
  readConversationBody,
  renderConversation,
} from "../answer_conversation.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";
import { toOwner } from "../guards.ts";

const WIRE: Omit<ConversationWire, "id" | "toEncoder"> = {
  route: "/v1/responses",
  wire: "openai",
  promptParam: "input",
  takesForeignNames: true,
  callsAreWhole: true,
};

/** Of what a row may have, what the client's part may: the answer needs some, and the response repeats the tools. */
const ITEMS_BYTES_MAX = RESPONSE_BYTES_MAX / 2;

/** Answers a conversation. @throws What src/http/errors.ts has rows for. */
export async function createResponse(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const { clock, seal } = dependencies;
  const request = parseResponsesRequest(
    await readConversationBody(context, dependencies),
    seal,
    toKnown(context, dependencies),
  );
  const key = context.get("requestKey");
  const items = request.store ? toKeptItems(request) : undefined;
  let encoder: ResponseEncoder | undefined;
  return await answerConversation(context, dependencies, request, {
    ...WIRE,
    id: `resp_${key}`,
    toEncoder: (head) =>
      encoder = new ResponseEncoder(head, {
        key,
        display: request.display,
        ...(request.sealsReasoning && { seal }),
        logprobs: request.logprobsTop !== undefined,
        kindOf: (name) => request.tools.kindOf(name),
        echo: request.echo,
        now: () => clock.epochSeconds(),
      }),
    onAnswered: () => {
      if (items !== undefined && encoder?.response) keep(context, dependencies, encoder.response, items);
    },
  });
}

/** Counts what would be prefilled for the same body. @throws What src/http/errors.ts has rows for. */
export async function countInputTokens(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const body = await readConversationBody(context, dependencies);
  const request = parseResponsesRequest(body, dependencies.seal, toKnown(context, dependencies));
  const { prompt } = await renderConversation(context, dependencies, request, WIRE, COUNTED_TOKENS_MAX);
  const response = context.json({ object: "response.input_tokens", "input_tokens": prompt.ids.length });
  const ignored = request.ignored.toHeader();
  if (ignored !== undefined) response.headers.set("x-rapid-mlx-ignored", ignored);
  return response;
}

/** A kept answer. @throws {RequestError} If the key has none of this id. */
export function showResponse(context: AppContext, dependencies: AppDependencies): Response {
  if (context.req.query("stream") === "true") {
    const message = "`stream` is not supported here: an answer is streamed while it is made.";
    throw new RequestError("unsupported_field", message, { param: "stream" });
  }
  const { response } = find(context, dependencies);
  return new Response(response, { headers: { "content-type": "application/json" } });
}

/** What its request added to the conversation. @throws {RequestError} If the key has none of this id. */
export function listInputItems(context: AppContext, dependencies: AppDependencies): Response {
  const { items } = find(context, dependencies);
  const { after, limit, order } = context.req.query();
  const list = toInputItemList(fromJsonText(items) as JsonObject[], toId(context), { after, limit, order });
  return new Response(toJsonText(list), { headers: { "content-type": "application/json" } });
}

/** Forgets a kept answer. @throws {RequestError} If the key has none of this id. */
export function deleteResponse(context: AppContext, { responses, config }: AppDependencies): Response {
  const id = toId(context);
  if (!responses.delete(toOwner(context.req.raw.headers, config), id)) throw notFound();
  return context.json({ id, object: "response", deleted: true });
}

function toId(context: AppContext): string {
  return context.req.param("id") ?? "";
}

function find(context: AppContext, { responses, config }: AppDependencies): { items: string; response: string } {
  const found = responses.get(toOwner(context.req.raw.headers, config), toId(context));
  if (found === undefined) throw notFound();
  return found;
}

function notFound(): RequestError {
  return new RequestError(
    "response_not_found",
    "No response of this id is kept for your key: it was made with `store: false`, was deleted, or gave way to newer ones.",
  );
}

/** What the client's key made earlier. */
function toKnown(context: AppContext, { responses, config }: AppDependencies): KnownItems {
  const owner = toOwner(context.req.raw.headers, config);
  return {
    conversationOf(responseId): JsonObject[] {
      const chain = responses.chain(owner, responseId);
      if (chain !== undefined) {
        return chain.flatMap(({ items, response }): JsonObject[] => [
          ...fromJsonText(items) as JsonObject[],
          ...JSON.parse(response).output,
        ]);
      }
      const message =
        "`previous_response_id` names a response that is not kept for your key, or goes on from one that " +
        "is not: send the whole conversation as `input`.";
      throw new RequestError("previous_response_not_found", message, { param: "previous_response_id" });
    },
    itemOf(id, param): JsonObject {
      const item = responses.item(owner, id);
      if (item !== undefined) return item;
      const message = `\`${param}\` names an item that is not kept for your key: send the item itself.`;
      throw new RequestError("item_not_found", message, { param });
    },
  };
}

/** What is kept of the request; undefined, and listed, where it is too large. */
function toKeptItems({ items, ignored }: ResponsesRequest): string | undefined {
  const text = toJsonText(items);
  if (text.length * 2 <= ITEMS_BYTES_MAX) return text;
  ignored.add("store");
  return undefined;
}

function keep(
  context: AppContext,
  { responses, config }: AppDependencies,
  response: object & { id: string; previous_response_id: string | null },
  items: string,
): void {
  const log = context.get("log");
  try {
    const owner = toOwner(context.req.raw.headers, config);
    const row = { previous: response.previous_response_id, items, response: JSON.stringify(response) };
    if (!responses.put(owner, response.id, row)) log.log("warning", "response is too large to be kept");
  } catch (error) {
    // The answer is whole; that it could not be kept is told where it is asked for.
    log.log("error", "response could not be kept", { error: String(error) });
  }
}
