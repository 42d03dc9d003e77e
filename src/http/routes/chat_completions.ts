/**
 * POST /v1/chat/completions: what is its own of a conversation, the parser and the writer of its wire.
 *
 * @module
 */
import { ChatEncoder } from "../../api/chat_answer.ts";
import { parseChatRequest } from "../../api/chat_completions.ts";
import { answerConversation, readConversationBody } from "../answer_conversation.ts";
import type { AppContext, AppDependencies } from "../app_context.ts";

/** Answers a chat. @throws What src/http/errors.ts has rows for. */
export async function chatCompletions(context: AppContext, dependencies: AppDependencies): Promise<Response> {
  const request = parseChatRequest(await readConversationBody(context, dependencies));
  return await answerConversation(context, dependencies, request, {
    id: `chatcmpl-${context.get("requestKey")}`,
    route: "/v1/chat/completions",
    wire: "openai",
    promptParam: "messages",
    toEncoder: (head) => new ChatEncoder(head, request.logprobsTop !== undefined, request.toolUse.legacy),
  });
}
