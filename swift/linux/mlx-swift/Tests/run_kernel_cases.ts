/**
 * Random cases over the CPU kernels, built by clang alone: on this machine, for 64-bit ARM under qemu, and with
 * sanitizers.
 *
 *     run_kernel_cases.ts native     [--cases 1000] [--seed 1]   every variant of this machine, MLX's own ops beside
 *     run_kernel_cases.ts neon       [--cases 200]  [--seed 1]   neon and plain, under qemu-user
 *     run_kernel_cases.ts sanitizers [--cases 200]  [--seed 1]   AddressSanitizer with UBSan, then ThreadSanitizer
 *
 * Exit code 1 if a check failed or a sanitizer spoke. `neon` says what is missing and that nothing ran (exit code 0) on
 * a machine without the cross tools; `--required` makes that a failure.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { basename, dirname, join } from "node:path";
import { BUILD_FOLDER, PROJECT_FOLDER } from "../../../../src/setup/folders.ts";
import { findProgram } from "../../../../src/setup/run_command.ts";
import { findSwift } from "../../../../src/setup/toolchain.ts";

const PACKAGE = join(PROJECT_FOLDER, "swift/linux/mlx-swift");
const FACE = join(PACKAGE, "Sources/CMLX");
const KERNELS = join(FACE, "cpu");
const CASES = join(PACKAGE, "Tests/KernelCases");
const WHEEL = join(Deno.env.get("RMX_MLX_WHEEL") ?? join(BUILD_FOLDER, "mlx"), "mlx");

/** Sources of the kernels that know nothing of MLX. */
const TABLE = [
  "kernels.cpp",
  "threads.cpp",
  "sampling.cpp",
  "variant_avx512.cpp",
  "variant_avx2.cpp",
  "variant_neon.cpp",
]
  .concat("variant_plain.cpp");
/** Cases on ops and blocks. */
const MLX_CASES = ["op_cases.cpp", "product_op_cases.cpp", "block_cases.cpp"];

/** One program. */
interface Build {
  readonly name: string;
  readonly mlx: boolean;
  readonly flags: readonly string[];
  readonly link: readonly string[];
}

const note = (text: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));

async function run(command: readonly string[], environment: Record<string, string> = {}): Promise<boolean> {
  const [program, ...args] = command;
  if (program === undefined) throw new TypeError("A command without a program");
  return (await new Deno.Command(program, { args, env: environment }).spawn().status).success;
}

async function findClang(): Promise<string> {
  const swift = await findSwift();
  const beside = swift === undefined ? undefined : join(dirname(await Deno.realPath(swift)), "clang++");
  for (const clang of [beside, await findProgram("clang++")]) {
    if (clang !== undefined && await Deno.stat(clang).then(() => true, () => false)) return clang;
  }
  throw new Error("Missing: clang++, which comes with Swift (deno task ok) or with Debian's package clang");
}

async function sourcesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) if (name.endsWith(".cpp")) names.push(name);
  return names.sort().map((name) => join(folder, name));
}

/** Compiles and links; returns the program's path, or none after the compiler's words. */
async function build(clang: string, { name, mlx, flags, link }: Build): Promise<string | undefined> {
  const folder = join(BUILD_FOLDER, "kernel-cases", name);
  await Deno.mkdir(folder, { recursive: true });
  const kernels = mlx
    ? [...await sourcesIn(FACE), ...await sourcesIn(KERNELS)]
    : TABLE.map((file) => join(KERNELS, file));
  const cases = (await sourcesIn(CASES)).filter((path) => mlx || !MLX_CASES.includes(basename(path)));
  const common = ["-std=c++20", `-I${KERNELS}`, `-I${CASES}`, ...flags]
    .concat(
      mlx
        ? [`-I${FACE}`, `-I${join(FACE, "include")}`, "-isystem", join(WHEEL, "include")]
        : ["-DKERNEL_CASES_WITHOUT_MLX"],
    );
  const objects: string[] = [];
  note(`${name}: compiling ${kernels.length + cases.length} files`);
  for (const source of [...kernels, ...cases]) {
    const object = join(folder, `${basename(dirname(source))}-${basename(source)}.o`);
    if (!await run([clang, ...common, "-c", source, "-o", object])) return undefined;
    objects.push(object);
  }
  const program = join(folder, "kernel-cases");
  const libraries = mlx ? [`-L${join(WHEEL, "lib")}`, "-lmlx", `-Wl,-rpath,${join(WHEEL, "lib")}`] : [];
  const linked = await run([clang, "-fuse-ld=lld", ...flags, ...objects, ...libraries, ...link, "-o", program]);
  return linked ? program : undefined;
}

async function native(clang: string, counts: readonly string[]): Promise<boolean> {
  const program = await build(clang, { name: "native", mlx: true, flags: ["-O2"], link: [] });
  return program !== undefined && await run([program, ...counts]);
}

async function neon(clang: string, counts: readonly string[], required: boolean): Promise<boolean> {
  const missing: string[] = [];
  const qemu = await findProgram("qemu-aarch64") ?? await findProgram("qemu-aarch64-static");
  if (qemu === undefined) missing.push("qemu-user");
  const headers = "/usr/aarch64-linux-gnu/include/c++";
  if (!await Deno.stat(headers).then(() => true, () => false)) missing.push("g++-aarch64-linux-gnu");
  if (qemu === undefined || missing.length > 0) {
    note(`neon: SKIPPED, nothing was tested. Missing Debian packages: ${missing.join(", ")}`);
    return !required;
  }
  const flags = ["--target=aarch64-linux-gnu", "-O2"];
  const program = await build(clang, { name: "neon", mlx: false, flags, link: ["-static"] });
  // Emulated: products of two million multiply-adds at most.
  return program !== undefined && await run([qemu, program, ...counts, "0", "2"]);
}

async function sanitizers(clang: string, counts: readonly string[]): Promise<boolean> {
  const checks = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"];
  const address = await build(clang, { name: "address", mlx: true, flags: ["-O1", "-g", ...checks], link: [] });
  // What libmlx keeps until the end of the process is not ours to free.
  const options = {
    ASAN_OPTIONS: "detect_leaks=0:detect_stack_use_after_return=1",
    UBSAN_OPTIONS: "print_stacktrace=1",
  };
  const clean = address !== undefined && await run([address, ...counts, "0", "4"], options);
  // Swift's clang hooks libdispatch in its ThreadSanitizer.
  const libraries = join(dirname(clang), "../lib/swift/linux");
  const isSwift = await Deno.stat(join(libraries, "libdispatch.so")).then(() => true, () => false);
  const link = isSwift ? [`-L${libraries}`, "-ldispatch", "-lBlocksRuntime", `-Wl,-rpath,${libraries}`] : [];
  const thread = await build(clang, { name: "thread", mlx: false, flags: ["-O1", "-g", "-fsanitize=thread"], link });
  const ordered = thread !== undefined &&
    await run([thread, ...counts, "0", "1"], { TSAN_OPTIONS: "halt_on_error=1" });
  note(`sanitizers: address and undefined ${clean ? "clean" : "NOT CLEAN"}, thread ${ordered ? "clean" : "NOT CLEAN"}`);
  return clean && ordered;
}

const { positionals: [mode = "native"], values } = parseArgs({
  args: Deno.args,
  allowPositionals: true,
  options: { cases: { type: "string" }, seed: { type: "string" }, required: { type: "boolean" } },
});
const clang = await findClang();
const counts = [values.seed ?? "1", values.cases ?? (mode === "native" ? "1000" : "200")];
const passed = mode === "native"
  ? await native(clang, counts)
  : mode === "neon"
  ? await neon(clang, counts, values.required ?? false)
  : mode === "sanitizers"
  ? await sanitizers(clang, counts)
  : undefined;
if (passed === undefined) note(`There is no ${mode}; wanted native, neon or sanitizers`);
if (!passed) Deno.exit(1);
