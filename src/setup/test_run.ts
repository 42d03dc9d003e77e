/**
 * `deno task test`: set-up, then every test there is, then one line with the sum.
 *
 * The sum is read from the JUnit files that the runners write; a runner that fails, writes none, or ran nothing fails
 * the whole. Arguments name suites (`server`, `core`, `mlx-swift`); none: all.
 *
 * @module
 */
import { join } from "node:path";
import { SetupError } from "./errors.ts";
import { BUILD_FOLDER, PROJECT_FOLDER } from "./folders.ts";
import { addCounts, parseJunit, type TestCounts, toSummary } from "./junit.ts";
import { openReport } from "./report.ts";
import { ensureCore, ensureDefaultModel } from "./setup.ts";
import { findSwift } from "./toolchain.ts";

/** One runner. */
interface Suite {
  readonly name: string;
  /** The command, given the path that its JUnit file is to have. */
  readonly command: (junit: string) => readonly [string, ...string[]];
  /** The JUnit file, given that path. */
  readonly result: (junit: string) => string;
}

const RESULTS = join(BUILD_FOLDER, "test");
const report = openReport();

/**
 * Swift Testing adds its name to the path that it is given. One test at a time: arithmetic and kernel variant belong to
 * the process, and a test that sets them changed what others computed beside it.
 */
const swiftSuite = (name: string, swift: string, folder: string): Suite => ({
  name,
  command: (junit) => [swift, "test", "--no-parallel", "--package-path", folder, "--xunit-output", junit],
  result: (junit) => junit.replace(/\.xml$/, "-swift-testing.xml"),
});

async function runSuite(suite: Suite, environment: Record<string, string>): Promise<TestCounts | string> {
  const junit = join(RESULTS, `${suite.name}.xml`);
  await Deno.remove(suite.result(junit)).catch(() => {});
  const [program, ...args] = suite.command(junit);
  report.step(`Tests: ${suite.name}`);
  const startMs = performance.now();
  const options = { args, cwd: PROJECT_FOLDER, env: environment, stdin: "null" } as const;
  const { code } = await new Deno.Command(program, options).spawn().status;
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const text = await Deno.readTextFile(suite.result(junit)).catch(() => undefined);
  if (text === undefined) return `${suite.name}: exit code ${code} after ${seconds} s, and no result file`;
  const counts = parseJunit(text);
  report.note(`${suite.name}: ${toSummary(counts)} in ${seconds} s`);
  if (counts.passed + counts.failed === 0) return `${suite.name}: no test ran`;
  if (code !== 0 && counts.failed === 0) return `${suite.name}: exit code ${code}, although no test failed`;
  return counts;
}

async function run(wanted: readonly string[]): Promise<boolean> {
  const model = await setUp();
  const swift = await findSwift();
  if (swift === undefined) throw new SetupError("Swift was there for the build and is gone now.");
  const denoTest = [Deno.execPath(), "test", "-A", "--quiet"] as const;
  const suites: readonly Suite[] = [
    {
      name: "server",
      command: (junit) => [...denoTest, `--junit-path=${junit}`, "src", "tests", "swift", "bench"],
      result: (junit) => junit,
    },
    swiftSuite("core", swift, PROJECT_FOLDER),
    ...Deno.build.os === "linux" ? [swiftSuite("mlx-swift", swift, join(PROJECT_FOLDER, "swift/linux/mlx-swift"))] : [],
  ];
  const unknown = wanted.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    throw new SetupError(`No suite is called ${unknown[0]}; there are ${suites.map(({ name }) => name).join(", ")}.`);
  }
  await Deno.mkdir(RESULTS, { recursive: true });
  const outcomes: (TestCounts | string)[] = [];
  for (const suite of suites) {
    if (wanted.length > 0 && !wanted.includes(suite.name)) continue;
    outcomes.push(await runSuite(suite, { RMX_TEST_MODEL: model, CI: Deno.env.get("CI") ?? "1" }));
  }
  const broken = outcomes.filter((outcome) => typeof outcome === "string");
  broken.forEach((text) => report.note(text));
  const sum = addCounts(outcomes.filter((outcome) => typeof outcome !== "string"));
  await Deno.stdout.write(new TextEncoder().encode(`${toSummary(sum)}\n`));
  return broken.length === 0 && sum.failed === 0;
}

async function setUp(): Promise<string> {
  await ensureCore({ report });
  return await ensureDefaultModel({ report });
}

try {
  if (!await run(Deno.args)) Deno.exit(1);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  report.note(error.message);
  Deno.exit(1);
}
