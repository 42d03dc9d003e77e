/**
 * The other end of peers/protocol.py: a program that generates when asked, one JSON line a question.
 *
 * @module
 */
import { join } from "node:path";
import { z } from "zod";
import type { EngineConfig } from "../src/ffi/core.ts";
import { PROJECT_FOLDER } from "../src/setup/folders.ts";
import { readLines } from "./lines.ts";
import type { PeerCommand } from "./python.ts";

const Generated = z.object({ prefill_ms: z.number(), decode_ms: z.number(), decode_tokens: z.number() });
const Stepped = z.object({ step_ms: z.array(z.number()).min(1) });

/** What streams of a peer took. */
export interface Generated {
  /** From the prompts until every stream has its first token. */
  prefillMs: number;
  /** From there to the last token. */
  decodeMs: number;
  /** Tokens of all streams in that time. */
  decodeTokens: number;
}

/** A running peer. */
export class Peer implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #questions: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: AsyncGenerator<string, void>;
  readonly #program: string;

  private constructor(program: string, child: Deno.ChildProcess) {
    this.#program = program;
    this.#child = child;
    this.#questions = child.stdin.getWriter();
    this.#answers = readLines(child.stdout);
  }

  /** Starts a program; it loads its model by itself and answers when it has. */
  static start({ command, environment }: PeerCommand, ...more: readonly string[]): Peer {
    const [program, ...args] = [...command, ...more] as const;
    const options = { args, env: { ...environment }, stdin: "piped", stdout: "piped", stderr: "inherit" } as const;
    return new Peer(program, new Deno.Command(program, options).spawn());
  }

  /** Of its process. */
  get pid(): number {
    return this.#child.pid;
  }

  /** One stream a prompt, `tokens` tokens each, greedy. @throws If the program ends. */
  async generate(prompts: readonly (readonly number[])[], tokens: number): Promise<Generated> {
    const answer = Generated.parse(await this.#ask({ do: "generate", prompt: prompts, tokens }));
    return { prefillMs: answer.prefill_ms, decodeMs: answer.decode_ms, decodeTokens: answer.decode_tokens };
  }

  /** Times of steps of `prompt.length` rows, each after an empty context, in ms. @throws If the program ends. */
  async rows(prompt: readonly number[], times: number): Promise<number[]> {
    return Stepped.parse(await this.#ask({ do: "rows", prompt, times })).step_ms;
  }

  /** Ends the program. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#questions.close().catch(() => {});
    await this.#child.status;
  }

  async #ask(question: object): Promise<unknown> {
    await this.#questions.write(new TextEncoder().encode(`${JSON.stringify(question)}\n`));
    const answer = await this.#answers.next();
    if (answer.done) throw new Error(`${this.#program} ended without an answer; its own words are above`);
    return JSON.parse(answer.value);
  }
}

/** Our core as a peer. @param config Of its engine. */
export function rapidMlxPeer(library: string, folder: string, config: EngineConfig): PeerCommand {
  const script = join(PROJECT_FOLDER, "bench/peers/run_rapid_mlx.ts");
  return {
    command: [Deno.execPath(), "run", "-A", script, library, folder, JSON.stringify(config)],
    environment: {},
  };
}
