/**
 * The command line: `rapid-mlx COMMAND`.
 *
 * Commands live in src/cli and are loaded when they run, so that a short one starts fast. What goes wrong ends here as
 * a sentence on standard error and exit code 1.
 *
 * @module
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { SERVE_FLAGS } from "./src/config.ts";

const NO_PACKAGES = ["--no-system-packages", "never install system packages during set-up"] as const;
const MODEL = ["[model]", "id, folder, or OWNER/NAME on the hub; absent: the embedded SmolLM2-135M"] as const;

/** Value of a flag. Without this check a word would become NaN, which JSON writes as null: accepted and ignored. */
function toNumber(text: string): number {
  if (text.trim() === "" || !Number.isFinite(Number(text))) throw new InvalidArgumentError("Wanted is a number.");
  return Number(text);
}

const program = new Command("rapid-mlx")
  .description("A local server for language models, on this machine's own processor.")
  .showHelpAfterError("(rapid-mlx --help shows the commands)");

const serve = program.command("serve").description("serve a model on 127.0.0.1").argument(...MODEL);
for (const { name, value, repeats, help } of SERVE_FLAGS) {
  const option = new Option(value === undefined ? `--${name}` : `--${name} <${value}>`, help);
  if (repeats) option.argParser((one: string, before: string[] | undefined) => [...before ?? [], one]);
  serve.addOption(option);
}
serve.option(...NO_PACKAGES).action(async (model: string | undefined, flags: Record<string, unknown>) => {
  // The text worker's modules load beside ours, so it starts before them.
  const worker = new (await import("./src/prompt/text_worker.ts")).TextWorker();
  // Commander turns --no-x into x: false; the configuration knows flags by their own names.
  await (await import("./src/cli/serve.ts")).serve(model, { ...flags, noDiskCache: flags.diskCache === false }, worker);
  // A client that never sent its body still holds a connection, which would keep the process alive.
  Deno.exit(0);
});

program.command("chat").description("talk to a model in the terminal").argument(...MODEL)
  .option("--url <URL>", "a running server's address, instead of loading the model here")
  .option("--api-key <KEY>", "key of that server")
  .option("--system <TEXT>", "system message")
  .option("--max-tokens <N>", "longest answer", toNumber)
  .option("--temperature <T>", "0 is greedy", toNumber)
  .option("--seed <N>", "makes answers repeat", toNumber)
  .option(...NO_PACKAGES)
  .action(async (model, flags) => await (await import("./src/cli/chat.ts")).chat(model, flags));

const atServer = (command: Command): Command =>
  command.option("--url <URL>", "the server's address (the first one of ours on ports 8000 to 8009)")
    .option("--api-key <KEY>", "key of that server (or RAPID_MLX_API_KEY)")
    .option("--model <ID>", "served id (the first one); launch loads it where no server answers");

atServer(program.command("launch")).description("start a coding agent on the server; starts one where none answers")
  .argument("<name>", "of `rapid-mlx agents`").argument("[args...]", "after --: the agent's own")
  .option(...NO_PACKAGES)
  .action(async (name, args, flags) =>
    Deno.exit(await (await import("./src/cli/launch.ts")).launch(name, args, flags))
  );

atServer(program.command("agents")).description("list coding agents, or set one up").argument("[name]", "of the list")
  .option("--config", "print its configuration (default)").option("--setup", "write it, after a diff and a question")
  .option("--test", "read it back and send one request").option("--remove", "put the former files back")
  .option("--yes", "don't ask")
  .action(async (name, flags) => await (await import("./src/cli/agents.ts")).agents(name, flags));

atServer(program.command("connect")).description("print all addresses of a running server").option("--json", "as JSON")
  .action(async (flags) => await (await import("./src/cli/connect.ts")).connect(flags));

program.command("explain").description("say what happened to a request: written, shown, repaired, cut, timed")
  .argument("[id]", "of the request or its answer; absent or `last`: the newest")
  .option("--url <URL>", "the running server's address (http://127.0.0.1:8000)")
  .option("--api-key <KEY>", "key of that server (or RAPID_MLX_API_KEY)")
  .option("--file <FILE>", "read a trace file instead of asking a server")
  .option("--json", "the record as JSON")
  .option("--full", "shorten nothing")
  .action(async (id, flags) => await (await import("./src/cli/explain.ts")).explain(id, flags));

program.command("replay").description("run a trace's tokens through today's decoders and compare what clients see")
  .argument("<file>", "written by serve --trace")
  .option("--id <ID>", "only this request")
  .option("--diff", "tell differences instead of what is seen")
  .action(async (file, flags) => await (await import("./src/cli/replay.ts")).replay(file, flags));

program.command("models").description("list the models on this disk")
  .option("--json", "as JSON")
  .action(async (flags) => await (await import("./src/cli/models.ts")).showModels(flags));

program.command("pull").description("fetch a model from the hub, or go on with it")
  .argument("<model>", "id or OWNER/NAME")
  .argument("[files...]", "only these files")
  .option("--revision <NAME>", "branch, tag or commit")
  .option(...NO_PACKAGES)
  .action(async (model, files, flags) => await (await import("./src/cli/pull.ts")).pull(model, files, flags));

program.command("convert").description("convert a GGUF file to an MLX folder, exactly")
  .argument("<file>", "GGUF file: Q4_0, Q4_1, Q8_0, F16, BF16, F32")
  .argument("<folder>", "new folder")
  .action(async (file, folder) => await (await import("./src/cli/convert.ts")).convert(file, folder));

program.command("info").description("say what a model is and what it needs").argument(...MODEL)
  .option("--json", "as JSON")
  .action(async (model, flags) => await (await import("./src/cli/info.ts")).showInfo(model, flags));

program.command("doctor").description("check set-up, core, kernels and models")
  .option("--json", "as JSON")
  .option("--deep", "check the kernels over more shapes (minutes)")
  .action(async (flags) => await (await import("./src/cli/doctor.ts")).doctor(flags));

program.command("version").description("show versions")
  .action(async () => await (await import("./src/cli/version.ts")).showVersion());

try {
  await program.parseAsync(Deno.args, { from: "user" });
} catch (error) {
  const { explain } = await import("./src/cli/errors.ts");
  Deno.stderr.writeSync(new TextEncoder().encode(`${explain(error)}\n`));
  Deno.exit(1);
}
