/**
 * POST /v1/messages and /v1/messages/count_tokens: what is Anthropic's own of a conversation.
 *
 * @module
 */
import { MessageEncoder } from "../../api/messages/answer.ts";
import { parseMessagesRequest } from "../../api/messages/request.ts";
import {
  answerConversation,
  type ConversationWire,
  COUNTED_TOKENS_MAX,
  readConversationBody,
  renderConversation,
} from "../answer_conversation.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";

/** Clients that know of the stop reason by which the end of the context is told apart. */
const CONTEXT_END_BETA = "model-context-window-exceeded";

const WIRE: Omit<ConversationWire, "id" | "toEncoder"> = {
  route: "/v1/messages",
  wire: "anthropic",
  promptParam: "messages",
  takesForeignNames: true,
};

/** Answers a conversation. @throws What src/http/errors.ts has rows for. */
export async function messages(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const { seal } = dependencies;
  const request = parseMessagesRequest(await readConversationBody(context, dependencies), seal);
  const tellsContextEnd = (context.req.header("anthropic-beta") ?? "").includes(CONTEXT_END_BETA);
  return await answerConversation(context, dependencies, request, {
    ...WIRE,
    id: `msg_${context.get("requestKey")}`,
    reasoningShown: request.display,
    toEncoder: (head, { promptTokens, boundByContext }) =>
      new MessageEncoder(head, {
        promptTokens,
        tellsContextEnd: tellsContextEnd && boundByContext,
        display: request.display,
        seal,
      }),
  });
}

/** Counts what would be prefilled for the same body. @throws What src/http/errors.ts has rows for. */
export async function countTokens(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const request = parseMessagesRequest(await readConversationBody(context, dependencies), dependencies.seal);
  const { prompt } = await renderConversation(context, dependencies, request, WIRE, COUNTED_TOKENS_MAX);
  const response = context.json({ "input_tokens": prompt.ids.length });
  const ignored = request.ignored.toHeader();
  if (ignored !== undefined) response.headers.set("x-rapid-mlx-ignored", ignored);
  return response;
}
