/**
 * Two steps with a tool through clients of npm: a call, its result, an answer; streamed and not, on the wires that each
 * client speaks.
 *
 * A project of its own, with its own lock file, so that the server's stays small. Reads servers' addresses from the
 * command line; prints one JSON line a server, client and way.
 *
 * @module
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool as langchainTool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const PROMPT = "Note: buy figs";
const NOTE = z.object({ text: z.string() });

/** What a client called and was answered. */
interface Result {
  notes: string[];
  answer: string;
}

async function vercel(model: LanguageModel, stream: boolean): Promise<Result> {
  const notes: string[] = [];
  const request = {
    model,
    prompt: PROMPT,
    maxRetries: 0,
    stopWhen: stepCountIs(3),
    tools: {
      add_note: tool({
        description: "Keeps a note.",
        inputSchema: NOTE,
        execute: ({ text }): string => {
          notes.push(text);
          return "kept as 7";
        },
      }),
    },
  };
  const answer = stream ? await streamText(request).text : (await generateText(request)).text;
  return { notes, answer };
}

async function langchain(chat: ChatOpenAI | ChatAnthropic, stream: boolean): Promise<Result> {
  const notes: string[] = [];
  const addNote = langchainTool(({ text }: z.infer<typeof NOTE>): string => {
    notes.push(text);
    return "kept as 7";
  }, { name: "add_note", description: "Keeps a note.", schema: NOTE });
  const model = chat.bindTools([addNote]);
  const ask = async (messages: Parameters<typeof model.invoke>[0]): ReturnType<typeof model.invoke> => {
    if (!stream) return await model.invoke(messages);
    let joined: Awaited<ReturnType<typeof model.invoke>> | undefined;
    for await (const chunk of await model.stream(messages)) {
      joined = joined === undefined ? chunk : joined.concat(chunk);
    }
    if (joined === undefined) throw new Error("the stream was empty");
    return joined;
  };
  const human = new HumanMessage(PROMPT);
  const first = await ask([human]);
  const results: ToolMessage[] = [];
  for (const call of first.tool_calls ?? []) {
    results.push(
      new ToolMessage({ content: String(await addNote.invoke({ text: call.args.text })), tool_call_id: call.id ?? "" }),
    );
  }
  return { notes, answer: (await ask([human, first, ...results])).text };
}

/** Each client on each of its wires, against a server's address without `/v1`. */
const CLIENTS: Record<string, (url: string, stream: boolean) => Promise<Result>> = {
  vercel(url, stream) {
    const baseURL = `${url}/v1`;
    const provider = createOpenAICompatible({ name: "rapid-mlx", baseURL, apiKey: "unused", includeUsage: true });
    return vercel(provider("scripted"), stream);
  },
  "vercel on messages": (url, stream) =>
    vercel(createAnthropic({ baseURL: `${url}/v1`, apiKey: "unused" })("scripted"), stream),
  "vercel on responses": (url, stream) =>
    vercel(createOpenAI({ baseURL: `${url}/v1`, apiKey: "unused" }).responses("scripted"), stream),
  langchain(url, stream) {
    const configuration = { baseURL: `${url}/v1` };
    return langchain(new ChatOpenAI({ model: "scripted", apiKey: "unused", maxRetries: 0, configuration }), stream);
  },
  "langchain on messages": (url, stream) =>
    langchain(new ChatAnthropic({ model: "scripted", apiKey: "unused", maxRetries: 0, anthropicApiUrl: url }), stream),
  "langchain on responses"(url, stream) {
    const settings = { model: "scripted", apiKey: "unused", maxRetries: 0, useResponsesApi: true };
    return langchain(new ChatOpenAI({ ...settings, configuration: { baseURL: `${url}/v1` } }), stream);
  },
};

for (const url of Deno.args) {
  for (const [client, run] of Object.entries(CLIENTS)) {
    for (const stream of [false, true]) {
      // deno-lint-ignore no-console -- its output is its answer
      console.log(JSON.stringify({ url, client, stream, ...await run(url, stream) }));
    }
  }
}
